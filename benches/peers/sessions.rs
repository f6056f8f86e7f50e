//! Makes payment sessions beforehand, as customers' devices would.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread;

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::json;

/// Connections that make sessions at the same time.
const CONNECTIONS: usize = 64;

/// A merchant with the ids and keys that a session needs.
#[derive(Deserialize)]
struct SessionShop {
    merchant_id: String,
    installation_id: String,
    token: String,
    key: String,
}

/// Makes `count` sessions of the merchants in turns, and writes `key session` in a line for each, in the same order.
pub(super) fn make(address: SocketAddr, shops: &Path, count: usize, out: &Path) -> anyhow::Result<()> {
    let shops: Vec<SessionShop> = serde_json::from_reader(BufReader::new(File::open(shops)?))?;
    ensure!(!shops.is_empty(), "no merchant is given");
    let made = thread::scope(|scope| {
        let make = |first: usize| {
            let shops = &shops;
            scope.spawn(move || every(address, shops, first, count))
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(make).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<anyhow::Result<Vec<_>>>()
    })?;
    let mut lines = BufWriter::new(File::create(out)?);
    for number in 0..count {
        let session = &made[number % CONNECTIONS][number / CONNECTIONS];
        writeln!(lines, "{} {session}", shops[number % shops.len()].key)?;
    }
    Ok(lines.flush()?)
}

/// The sessions whose numbers are `first` and each [`CONNECTIONS`] further.
fn every(address: SocketAddr, shops: &[SessionShop], first: usize, count: usize) -> anyhow::Result<Vec<String>> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut connection = BufReader::new(stream);
    let numbers = (first..count).step_by(CONNECTIONS);
    numbers.map(|number| session(&mut connection, &shops[number % shops.len()])).collect()
}

fn session(connection: &mut BufReader<TcpStream>, shop: &SessionShop) -> anyhow::Result<String> {
    let body = json!({
        "merchant_id": shop.merchant_id, "installation_id": shop.installation_id, "amount": 10_000,
        "currency": "THB", "payment_method": "CARD", "token": shop.token,
    });
    let body = body.to_string();
    let head = "POST /sdk/select-payment-method HTTP/1.1\r\nHost: till\r\nContent-Type: application/json";
    let request = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    connection.get_mut().write_all(request.as_bytes())?;
    serde_json::from_slice(&answer(connection)?).context("a session is answered as a text")
}

/// Reads an answer that is no failure.
fn answer(connection: &mut BufReader<TcpStream>) -> anyhow::Result<Vec<u8>> {
    let (mut line, mut status, mut length) = (String::new(), String::new(), 0);
    while line != "\r\n" {
        line.clear();
        ensure!(connection.read_line(&mut line)? > 0, "the server closed the connection");
        if status.is_empty() {
            status = line.clone();
        }
        let lower = line.to_ascii_lowercase();
        if let Some(bytes) = lower.strip_prefix("content-length:") {
            length = bytes.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body)?;
    ensure!(status.contains(" 200 "), "{}{}", status, String::from_utf8_lossy(&body));
    Ok(body)
}
