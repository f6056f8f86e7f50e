//! Pages give their turn away, as only a socket shows: the web server polls a request as it likes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::judgement_tests::{Hooks, serve};
use super::page::{BrowserPages, PageDeclaration, browser_page};
use super::page_reply::PageReply;
use super::{CallLimits, Dispatcher};
use crate::declaration::Package;

static PAGE: PageDeclaration = PageDeclaration { pattern: "/page", has_form: true };

/// Connections that ask for the page at the same moment.
const CONNECTIONS: usize = 24;

/// The time in which a request that was sent reaches the thread that reads it.
const ARRIVAL: Duration = Duration::from_millis(200);

/// The highest number of pages that held a permit at once while one was made. The first ends once all others have
/// arrived.
fn most_at_once(request: &str) -> usize {
    let (limits, most) = (CallLimits::new(1), Arc::new(AtomicUsize::new(0)));
    let are_sent = Arc::new(AtomicBool::new(false));
    let context = (limits.clone(), Arc::clone(&most), Arc::clone(&are_sent));
    let page = browser_page(&PAGE, context, async |(limits, most, are_sent), _| {
        if most.fetch_max(limits.count().in_flight, Ordering::SeqCst) == 0 {
            while !are_sent.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(ARRIVAL);
        }
        Ok(PageReply::html(String::new()))
    });
    let pages = BrowserPages { pages: vec![page], ..BrowserPages::NONE };
    let hooks = Arc::new(Hooks);
    let dispatcher = Dispatcher::builder(&[Package::Merchants], hooks.clone()).limits(limits).gate(hooks).pages(pages);
    let address = serve(Arc::new(dispatcher.build()));
    let connect = |_| TcpStream::connect(address).unwrap_or_else(|error| panic!("{error}"));
    let mut connections: Vec<TcpStream> = (0..CONNECTIONS).map(connect).collect();
    for connection in &mut connections {
        connection.write_all(request.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    }
    are_sent.store(true, Ordering::SeqCst);
    for connection in &mut connections {
        let mut status = [0; 12];
        connection.read_exact(&mut status).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(&status, b"HTTP/1.1 200");
    }
    most.load(Ordering::SeqCst)
}

#[test]
fn the_permits_of_one_caller_bound_its_pages_that_are_ready_to_run() {
    assert_eq!(most_at_once("GET /page HTTP/1.1\r\nHost: a\r\n\r\n"), 4);
    let form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1\r\n\r\na";
    assert_eq!(most_at_once(&format!("POST /page HTTP/1.1\r\nHost: a\r\n{form}")), 8);
}
