//! Requests as bytes.

use std::ops::Range;

use serde_json::Value;

use crate::target::ServerAddress;

/// The beginning that all requests of one caller to one endpoint share.
// No Debug: it holds a key.
#[derive(Clone)]
pub(crate) struct RequestHead(Vec<u8>);

impl RequestHead {
    /// The head of `POST path`, with a bearer token or without.
    pub(crate) fn new(server: &ServerAddress, path: &str, bearer: Option<&str>) -> RequestHead {
        let authorization = bearer.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{authorization}\
             Content-Type: application/json\r\nContent-Length: ",
            server.authority()
        );
        RequestHead(head.into_bytes())
    }

    /// Writes the request with this body to `request`, whose memory is used again.
    pub(crate) fn write(&self, body: &[u8], request: &mut Vec<u8>) {
        request.clear();
        request.extend_from_slice(&self.0);
        request.extend_from_slice(body.len().to_string().as_bytes());
        request.extend_from_slice(b"\r\n\r\n");
        request.extend_from_slice(body);
    }

    /// The request with this body.
    pub(crate) fn with(&self, body: &Value) -> Vec<u8> {
        let mut request = Vec::new();
        self.write(body.to_string().as_bytes(), &mut request);
        request
    }
}

/// The request of a browser that opens a page.
pub(crate) fn page_request(server: &ServerAddress, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: text/html\r\n\r\n", server.authority()).into_bytes()
}

/// The request of a browser that sends the form of a page, which is the server's own.
pub(crate) fn form_request(server: &ServerAddress, path: &str, form: &str) -> Vec<u8> {
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nOrigin: {server}\r\nAccept: text/html\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        server.authority(),
        form.len()
    );
    request.into_bytes()
}

/// A request in which only one id of a fixed length changes from call to call.
#[derive(Clone)]
pub(crate) struct Template {
    request: Vec<u8>,
    hole: Range<usize>,
}

impl Template {
    /// The request with this body, which contains `placeholder` once; each call replaces it.
    pub(crate) fn new(head: &RequestHead, body: &Value, placeholder: &str) -> Template {
        let request = head.with(body);
        let at = request.windows(placeholder.len()).position(|window| window == placeholder.as_bytes());
        let start = at.expect("the body has the placeholder");
        Template { request, hole: start..start + placeholder.len() }
    }

    /// Writes the request with `id`, which is as long as the placeholder, to `request`.
    pub(crate) fn write(&self, id: &[u8], request: &mut Vec<u8>) {
        request.clear();
        request.extend_from_slice(&self.request);
        request[self.hole.clone()].copy_from_slice(id);
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use serde_json::json;

    use super::*;

    fn head() -> RequestHead {
        let server = ServerAddress::without_tls(SocketAddr::from(([127, 0, 0, 1], 80)));
        RequestHead::new(&server, "/a", Some("key"))
    }

    #[test]
    fn a_request_is_whole_and_has_its_length() {
        let text = String::from_utf8(head().with(&json!({ "a": 1 }))).unwrap_or_default();
        assert_eq!(
            text,
            "POST /a HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAuthorization: Bearer key\r\n\
             Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
        );
    }

    #[test]
    fn a_form_comes_from_a_page_of_the_server() {
        let server = ServerAddress::without_tls(SocketAddr::from(([127, 0, 0, 1], 80)));
        let text = String::from_utf8(form_request(&server, "/a", "b=c")).unwrap_or_default();
        assert_eq!(
            text,
            "POST /a HTTP/1.1\r\nHost: 127.0.0.1:80\r\nOrigin: http://127.0.0.1:80\r\nAccept: text/html\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n\r\nb=c"
        );
    }

    #[test]
    fn a_template_is_the_request_with_another_id() {
        let template = Template::new(&head(), &json!({ "id": "xxx" }), "xxx");
        let mut request = b"left over".to_vec();
        template.write(b"abc", &mut request);
        assert_eq!(request, head().with(&json!({ "id": "abc" })));
    }
}
