//! An acquirer that lists nothing.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

/// The address of an acquirer that answers every request with an empty list. It listens until the test's process ends.
pub(crate) fn empty_acquirer() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _whole = stream.read(&mut [0; 16 * 1024]);
            let list = json!({ "object": "list", "data": [], "has_more": false }).to_string();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", list.len());
            let _disconnected = stream.write_all((head + &list).as_bytes());
        }
    });
    url
}
