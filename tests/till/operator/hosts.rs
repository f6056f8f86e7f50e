//! The host names that the admin listener accepts: none that a page on the web could choose.

use serde_json::json;

use crate::harness::{Pair, Server, Wire};

const PATHS: [&str; 4] = ["/metrics", "/docs/", "/openapi.json", "/admin"];

#[test]
fn the_admin_listener_answers_no_name_that_is_not_its_own() {
    let server = Server::start();
    let admin = Wire::new(server.admin_address());
    for path in PATHS {
        let answer = admin.send("GET", path, &[("Host", "rebound.example:9090")], b"");
        assert_eq!((answer.status, answer.code()), (421, "MISDIRECTED_REQUEST"), "{path}");
        assert!(answer.message().contains("admin_listen"), "{}", answer.message());
        for host in ["127.0.0.1:9090", "localhost:9090", "[::1]:9090", "192.168.1.7"] {
            assert_eq!(admin.receive("GET", path, &[("Host", host)], b"").status, 200, "{host}{path}");
        }
    }
    let public = Wire::to(&server);
    assert_eq!(public.receive("GET", "/merchants", &[("Host", "pay.shop.example")], b"").status, 200);
}

#[test]
fn with_tls_the_certificate_determines_the_valid_names() {
    let pair = Pair::new();
    let server = pair.start().server();
    let client = server.admin_client().header("Host", "till.example");
    assert_eq!(client.post("/admin/list-merchants", &json!({})).status, 200);
}
