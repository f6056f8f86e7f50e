//! Listeners that speak TLS: certificates that are replaced while the server runs, and certificates that cannot be
//! used.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use rcgen::KeyPair;
use rustls::pki_types::CertificateDer;
use rustls::version::{TLS12, TLS13};
use serde_json::json;

use crate::harness::{
    Client, PATIENCE, Pair, Secured, Server, Start, connect, directory, holds_within, host, wait_until,
};

/// Makes a call without an API key on a connection that stays open, and returns the text of the answer.
fn ask(connection: &mut Secured) -> std::io::Result<String> {
    connection.write_all(b"POST /merchants/get-balance HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")?;
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while !text.contains("UNAUTHORIZED") {
        let length = connection.read(&mut bytes)?;
        assert!(length > 0, "the connection was closed: {text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
    Ok(text)
}

fn presented(connection: &Secured) -> CertificateDer<'static> {
    connection
        .conn
        .peer_certificates()
        .and_then(|chain| chain.first())
        .expect("the server presents a certificate")
        .clone()
        .into_owned()
}

#[test]
fn both_listeners_and_the_commands_speak_tls() {
    let pair = Pair::new();
    let server = pair.start().server();
    assert!(server.public().starts_with("https://") && server.admin_address().starts_with("https://"));
    let shop = server.shop();
    shop.pay(100);
    let listed = server.command().args(["merchant", "list"]).output().expect("the binary can be started");
    assert!(String::from_utf8_lossy(&listed.stdout).contains(&shop.merchant_id), "{listed:?}");
    // A command on another machine has no certificate of the server, and trusts those in `TILL_ADMIN_CA_FILE`.
    let mut elsewhere = server.command();
    elsewhere.env_remove("TILL_ADMIN_TLS_CERTIFICATE_FILE").env_remove("TILL_ADMIN_TLS_KEY_FILE");
    let listed = elsewhere.env("TILL_ADMIN_CA_FILE", pair.certificate()).args(["merchant", "list"]).output();
    assert!(listed.expect("the binary can be started").status.success());
    let other = Pair::new();
    let mut distrustful = server.command();
    let refused = distrustful.env("TILL_ADMIN_CA_FILE", other.certificate()).args(["merchant", "list"]).output();
    assert!(
        !refused.expect("the binary can be started").status.success(),
        "a certificate of no trusted authority is refused"
    );
    let document = server.client().get("/merchants").ok();
    assert!(document["base_url"].as_str().is_some_and(|url| url.starts_with("https://")), "{document}");
}

#[test]
fn a_command_with_http_to_a_tls_listener_names_the_setting() {
    let server = Pair::new().start().server();
    let mut command = server.command();
    command.env_remove("TILL_ADMIN_TLS_CERTIFICATE_FILE").env_remove("TILL_ADMIN_TLS_KEY_FILE");
    let refused = command.args(["merchant", "list"]).output().expect("the binary can be started");
    let printed = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{printed}");
    for part in [host(server.admin_address()), "When it speaks TLS", "TILL_ADMIN_CA_FILE"] {
        assert!(printed.contains(part), "{part} is not in {printed}");
    }
}

#[test]
fn both_versions_of_tls_are_accepted_and_plain_http_is_not() {
    let pair = Pair::new();
    let server = pair.start().server();
    for version in [&TLS12, &TLS13] {
        let mut connection = connect(server.public(), &[pair.der()], &[version]);
        assert!(ask(&mut connection).expect("it answers").starts_with("HTTP/1.1 4"));
        assert_eq!(connection.conn.protocol_version(), Some(version.version));
        assert_eq!(connection.conn.alpn_protocol(), None, "the client offers no ALPN protocol");
    }
    let plain = Client::new(&format!("http://{}", host(server.public())));
    assert_eq!(plain.get("/merchants").status, 0, "no answer");
}

#[test]
fn new_connections_see_a_replaced_certificate() {
    let pair = Pair::new();
    let server = pair.start().server();
    let first = pair.der();
    let mut old = connect(server.public(), std::slice::from_ref(&first), &[&TLS13]);
    ask(&mut old).expect("it answers");
    assert_eq!(presented(&old), first);
    pair.renew();
    let second = pair.der();
    // The caller still trusts the first certificate, and the file has the second one.
    let trusted = [first.clone(), second.clone()];
    server.signal("HUP");
    wait_until(PATIENCE, "the signal did not replace the certificate in time", || {
        let mut new = connect(server.public(), &trusted, &[&TLS13]);
        ask(&mut new).expect("it answers");
        presented(&new) == second
    });
    ask(&mut old).expect("the old connection goes on");
    assert_eq!(presented(&old), first);
    // A certificate and a key that do not match are not accepted.
    fs::write(pair.key(), KeyPair::generate().expect("randomness").serialize_pem()).expect("a file can be written");
    let kept = server.admin("reload", &json!({})).ok();
    let text = kept["kept"].to_string();
    assert!(text.contains("cannot be used together") && text.contains("admin_tls"), "{text}");
    let reload = server.command().args(["reload"]).env("TILL_ADMIN_CA_FILE", pair.certificate()).output();
    assert_eq!(reload.expect("the binary can be started").status.code(), Some(1), "it kept a file");
    let mut third = connect(server.public(), &trusted, &[&TLS13]);
    ask(&mut third).expect("it answers");
    assert_eq!(presented(&third), second, "the certificate that was in use is kept");
}

/// The time at which the certificates of the public listener expire, as the metric shows it.
fn end_of_tls(server: &Server) -> String {
    let metrics = server.metrics();
    let name = "till_tls_certificate_end_timestamp_seconds{what=\"tls\"} ";
    let value = metrics.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
    value.unwrap_or_else(|| panic!("{name} is not in\n{metrics}"))
}

#[test]
fn the_expiry_metric_follows_a_reloaded_certificate() {
    let (pair, of_admin) = (Pair::new(), Pair::new());
    pair.renew_until(2051);
    let certificate = pair.certificate().display().to_string();
    let start = of_admin.start().with("TILL_TLS_CERTIFICATE_FILE", &certificate);
    let server = start.with("TILL_TLS_KEY_FILE", &pair.key().display().to_string()).server();
    let (in_2051, in_2049) = ("2561241600", "2498169600"); // The first of March in both years.
    assert_eq!(end_of_tls(&server), in_2051);
    pair.renew_until(2049);
    assert_eq!(end_of_tls(&server), in_2051, "the metric is about the certificate in use, not the file");
    server.admin("reload", &json!({})).ok();
    assert_eq!(end_of_tls(&server), in_2049);
}

fn refused(start: &Start, data: &Path) -> String {
    start.try_server_on(data, None).map(|_| ()).expect_err("it is refused")
}

#[test]
fn a_start_with_unusable_certificates_is_refused_with_a_reason() {
    let (pair, other) = (Pair::new(), Pair::new());
    let data = pair.certificate().with_file_name("data");
    let wrong = pair.start().with("TILL_TLS_KEY_FILE", &other.key().display().to_string());
    let message = refused(&wrong, &data);
    assert!(message.contains("failed to serve tls") && message.contains("cannot be used together"), "{message}");
    assert!(message.contains(&other.key().display().to_string()) && !message.contains("BEGIN"), "{message}");
    let missing = refused(&pair.start().with("TILL_ADMIN_TLS_CERTIFICATE_FILE", "/nonexistent/c.pem"), &data);
    assert!(missing.contains("failed to serve admin_tls") && missing.contains("/nonexistent/c.pem"), "{missing}");
    let swapped = refused(&pair.start().with("TILL_TLS_CERTIFICATE_FILE", &pair.key().display().to_string()), &data);
    assert!(swapped.contains("holds no certificate"), "{swapped}");
    let half = Start::default().with("TILL_TLS_KEY_FILE", &pair.key().display().to_string());
    assert!(refused(&half, &data).contains("tls_certificate_file is missing"));
    assert!(missing.matches("(os error").count() == 1, "the message has the system's error once: {missing}");
    assert!(!data.exists(), "no data directory was made");
}

#[test]
fn a_start_says_that_its_certificate_has_ended() {
    let place = directory();
    let (log, pair) = (place.path().join("log"), Pair::new());
    pair.renew_until(2025);
    let mut start = pair.start().command(&place.path().join("data"));
    start.arg("serve").stdout(Stdio::null()).stderr(File::create(&log).expect("it can be made"));
    // No client that trusts the certificate could see that the server is ready.
    let mut server = start.spawn().expect("the binary can be started");
    let is_told = || fs::read_to_string(&log).is_ok_and(|said| said.contains("the certificate has ended"));
    let told = holds_within(PATIENCE, is_told);
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    assert!(told, "{}", fs::read_to_string(&log).unwrap_or_default());
}

#[test]
fn unfinished_handshakes_block_nobody_and_are_closed() {
    let pair = Pair::new();
    let start = pair.start().with("TILL_HTTP_THREADS", "1").with("TILL_CONNECTIONS_MAX", "400");
    let server: Server = start.with("TILL_CONNECTIONS_PER_ADDRESS_MAX", "400").server();
    let silent: Vec<TcpStream> =
        (0..300).map(|_| TcpStream::connect(host(server.public())).expect("it listens")).collect();
    let began = Instant::now();
    let mut connection = connect(server.public(), &[pair.der()], &[&TLS13]);
    ask(&mut connection).expect("it answers");
    let newest = silent.last().expect("there are some");
    newest.set_nonblocking(true).expect("an option can be set");
    let closed = newest.peek(&mut [0]).map_err(|error| error.kind());
    assert_eq!(closed, Err(ErrorKind::WouldBlock), "the answer comes before the silent connections are closed");
    newest.set_nonblocking(false).expect("an option can be set");
    for mut stream in silent {
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit can be set");
        assert_eq!(stream.read(&mut [0; 8]).unwrap_or(0), 0, "the silent connection was closed");
    }
    assert!(began.elapsed() < PATIENCE);
}
