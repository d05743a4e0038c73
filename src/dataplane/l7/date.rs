//! The Date field of answers (RFC 9110 §6.6.1): what the server says stands; where it says nothing, ours does.

use std::cell::RefCell;
use std::time::SystemTime;

thread_local! {
    /// The second since 1970 that was written last, and how.
    static LAST: RefCell<(u64, String)> = const { RefCell::new((0, String::new())) };
}

/// `at` as HTTP writes it: `Sun, 29 Nov 2026 22:50:17 GMT`.
pub(super) fn http(at: SystemTime) -> String {
    let at = jiff::Timestamp::try_from(at).unwrap_or(jiff::Timestamp::MAX);
    at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

/// Hands over what the field says now.
pub(super) fn now<T>(take: impl FnOnce(&str) -> T) -> T {
    let now = SystemTime::now();
    let second = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    LAST.with_borrow_mut(|(last, text)| {
        if *last != second || text.is_empty() {
            (*last, *text) = (second, http(now));
        }
        take(text)
    })
}

/// Gives a head as an engine wrote it the Date that it is to have, or none. `None`: this is no head of a final answer.
pub(super) fn settle(head: &[u8], date: Option<&[u8]>) -> Option<Vec<u8>> {
    if !head.starts_with(b"HTTP/1.") || head.get(8..10) == Some(b" 1") && head.get(9..12) != Some(b"101") {
        return None;
    }
    let mut settled = Vec::with_capacity(head.len() + 64);
    let mut rest = head;
    while let Some(end) = memchr::memchr(b'\n', rest) {
        let (line, behind) = rest.split_at(end + 1);
        if line == b"\r\n" {
            break;
        }
        if !line.get(..5).is_some_and(|name| name.eq_ignore_ascii_case(b"date:")) {
            settled.extend_from_slice(line);
        }
        rest = behind;
    }
    if let Some(date) = date {
        settled.extend_from_slice(b"Date: ");
        settled.extend_from_slice(date);
        settled.extend_from_slice(b"\r\n");
    }
    settled.extend_from_slice(rest);
    Some(settled)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_date_is_written_as_http_has_it() {
        assert_eq!(http(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT");
        let (first, second) = (now(str::to_owned), now(str::to_owned));
        assert!(first.len() == 29 && first.ends_with(" GMT") && second.ends_with(" GMT"), "{first} {second}");
    }

    #[test]
    fn the_date_of_a_head_is_the_servers_or_none_and_the_body_is_left_alone() {
        let head = "HTTP/1.1 200 OK\r\nA: b\r\nDate: ours\r\nC: d\r\n\r\ndate: of the body\r\n";
        let settled =
            |date: Option<&str>| String::from_utf8(settle(head.as_bytes(), date.map(str::as_bytes)).unwrap()).unwrap();
        let body = "\r\ndate: of the body\r\n";
        assert_eq!(settled(Some("theirs")), format!("HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\nDate: theirs\r\n{body}"));
        assert_eq!(settled(None), format!("HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n{body}"));
        for other in ["HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "5\r\nhello\r\n"] {
            assert_eq!(settle(other.as_bytes(), Some(b"theirs")), None, "{other}");
        }
        assert!(settle(b"HTTP/1.1 101 Switching Protocols\r\nDate: a\r\n\r\n", None).is_some());
    }
}
