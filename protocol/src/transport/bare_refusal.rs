//! Refusals by the web server itself: a request that it cannot parse never reaches the dispatcher, and is refused by a
//! head without a body. They are recognized in the output, so that another answer can replace them.

/// The limit of bytes of such a head, which has three headers.
const BARE_BYTES_MAX: usize = 256;

/// Finds such a refusal at the end of the output, a head with only the headers that the web server adds to every head.
/// Returns its start and its status. Answers of the dispatcher all have more headers, and none of their texts ends like
/// a head.
pub(super) fn bare_refusal(bytes: &[u8]) -> Option<(usize, u16)> {
    const BEGINNING: &[u8] = b"HTTP/1.";
    let (before, tail) = bytes.split_at(bytes.len().saturating_sub(BARE_BYTES_MAX));
    let tail = tail.strip_suffix(b"\r\n\r\n")?;
    let begin = tail.windows(BEGINNING.len()).rposition(|window| window == BEGINNING)?;
    let mut lines = str::from_utf8(&tail[begin..]).ok()?.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    (status >= 400 && lines.all(is_of_every_head)).then_some((before.len() + begin, status))
}

fn is_of_every_head(line: &str) -> bool {
    line == "content-length: 0" || line.starts_with("connection: ") || line.starts_with("date: ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\ndate: Sun, 22 Nov 2026 \
        21:00:00 GMT\r\n\r\n";

    #[test]
    fn a_head_of_the_web_servers_own_is_recognized_at_the_end() {
        assert_eq!(bare_refusal(BARE.as_bytes()), Some((0, 400)));
        let before = format!("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nx-request-id: {}\r\n\r\ntrue", "a".repeat(300));
        let both = format!("{before}{BARE}");
        assert_eq!(bare_refusal(both.as_bytes()), Some((before.len(), 400)));
    }

    #[test]
    fn no_other_answer_is_taken_for_one() {
        for answer in [
            BARE.replace("date: ", "x-request-id: req_1\r\ndate: "),
            BARE.replace("400 Bad Request", "200 OK"),
            BARE.replace("HTTP/1.1", "HTTP/2"),
            format!("{BARE}true"),
            "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
            "\r\n\r\n".to_owned(),
            String::new(),
        ] {
            assert_eq!(bare_refusal(answer.as_bytes()), None, "{answer:?}");
        }
    }
}
