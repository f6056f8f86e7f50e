//! Servers that are called with TLS.

use serde_json::json;

use super::tester::{Ended, SHORT, Tester};
use crate::harness::{Pair, Server, host};

/// Runs `ping` against both listeners of a server. `system` stands for the certificates that the system trusts.
fn ping(tester: &Tester, server: &Server, file: Option<&Pair>, system: &Pair) -> Ended {
    let target = format!("--target {} --admin {}", server.public(), server.admin_address());
    let trust = file.map_or_else(String::new, |pair| format!(" --ca-file {}", pair.certificate().display()));
    let mut command = tester.command(&format!("ping {SHORT} --json report.json {target}{trust}"));
    command.env("TILL_ADMIN_TOKEN", "admin-token-of-a-test").env("SSL_CERT_FILE", system.certificate());
    Ended::of(command.output().expect("it starts"))
}

#[test]
fn both_listeners_are_called_with_tls_by_a_trusted_file() {
    let (pair, other, tester) = (Pair::new(), Pair::new(), Tester::new());
    let server = pair.start().server();
    let ended = ping(&tester, &server, Some(&pair), &other);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.output.contains("server on the same machine, with TLS"), "{ended:?}");
    let report = tester.json("report.json");
    let point = &report["points"][0];
    assert!(report["server"]["tls"] == json!(true) && point["operations"].as_u64() > Some(0), "{report}");
    assert_eq!((&point["failures"], &point["wrong"]["count"]), (&json!({}), &json!(0)), "{point}");
    let refused = ping(&tester, &server, Some(&other), &pair);
    assert!(refused.code == 1 && refused.errors.contains("no trusted authority issued"), "{refused:?}");
}

#[test]
fn the_systems_certificates_count_unless_a_file_is_named() {
    let (pair, other, tester) = (Pair::new(), Pair::new(), Tester::new());
    let server = pair.start().server();
    let trusted = ping(&tester, &server, None, &pair);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    let refused = ping(&tester, &server, None, &other);
    assert_eq!(refused.code, 1, "{refused:?}");
    let told = "no trusted authority issued the server's certificate; name further ones with --ca-file FILE";
    assert!(refused.errors.contains(told), "{refused:?}");
}

#[test]
fn a_listener_of_the_other_protocol_is_recognized() {
    let (pair, tester) = (Pair::new(), Tester::new());
    let (secured, plain) = (pair.start().server(), Server::start());
    let run = |public: &str, admin: &str, arguments: &str| {
        let line = format!("ping {SHORT} --target {public} --admin {admin}{arguments}");
        Ended::of(tester.command(&line).env("TILL_ADMIN_TOKEN", "admin-token-of-a-test").output().expect("it starts"))
    };
    let trust = format!(" --ca-file {}", pair.certificate().display());
    let https = plain.admin_address().replace("http://", "https://");
    let refused = run(plain.public(), &https, &trust);
    assert!(refused.code == 1 && refused.errors.contains("the server does not speak TLS"), "{refused:?}");
    let http = format!("http://{}", host(secured.admin_address()));
    let refused = run(secured.public(), &http, &trust);
    assert_eq!(refused.code, 1, "{refused:?}");
    let needless = run(plain.public(), plain.admin_address(), &trust);
    assert!(needless.code == 1 && needless.errors.contains("--ca-file: needs a server with TLS"), "{needless:?}");
}

#[test]
fn an_own_server_with_certificates_is_called_with_tls() {
    let (pair, tester) = (Pair::new(), Tester::new());
    let (certificate, key) = (pair.certificate(), pair.key());
    let settings = format!(
        "--server-setting tls_certificate_file={} --server-setting tls_key_file={} --ca-file {}",
        certificate.display(),
        key.display(),
        certificate.display()
    );
    let ended = tester.run(&format!("ping {SHORT} {settings} --json report.json"));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(tester.json("report.json")["server"]["tls"], json!(true));
}
