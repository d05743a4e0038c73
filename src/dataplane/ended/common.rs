//! One line of the access log as web servers write it: the Common Log Format, and with Referer and User-Agent the
//! combined one.
//!
//! `192.0.2.7 - - [29/Nov/2026:22:50:17 +0000] "GET /a HTTP/1.1" 200 512 "https://example.test/" "curl/8.5"`

use std::io::Write;
use std::net::IpAddr;

/// What a line says.
pub(super) struct Entry<'a> {
    pub client: IpAddr,
    pub at: jiff::Timestamp,
    /// Method, path without its query, protocol; `None`: no request could be read, or it is a connection (L4).
    pub asked: Option<(&'a [u8], &'a [u8], &'a str)>,
    /// 0: the client was told nothing.
    pub status: u16,
    /// Of the body that the client got.
    pub bytes: u64,
    pub referer: &'a [u8],
    pub agent: &'a [u8],
}

/// Appends the line without its end. Nobody has logged in with us, so both names of users are `-`.
pub(super) fn write(out: &mut Vec<u8>, entry: &Entry<'_>, combined: bool) {
    // Writing to memory does not fail.
    let _ = write!(out, "{} - - [{}] \"", entry.client, entry.at.strftime("%d/%b/%Y:%H:%M:%S +0000"));
    match entry.asked {
        Some((method, path, protocol)) => {
            // A blank would begin the next part.
            escaped(out, method, b' ');
            out.push(b' ');
            escaped(out, path, b' ');
            let _ = write!(out, " {protocol}");
        }
        None => out.push(b'-'),
    }
    let numbers = [u64::from(entry.status), entry.bytes].map(|n| if n == 0 { "-".to_owned() } else { n.to_string() });
    let _ = write!(out, "\" {} {}", numbers[0], numbers[1]);
    if combined {
        for field in [entry.referer, entry.agent] {
            out.extend_from_slice(b" \"");
            escaped(out, if field.is_empty() { b"-" } else { field }, b'"');
            out.push(b'"');
        }
    }
}

/// Bytes of anybody's choice: quotation marks, backslashes, `more` and all that is not printable ASCII as `\xHH`, so that
/// nothing in them can end the value or the line, whatever reads it.
fn escaped(out: &mut Vec<u8>, text: &[u8], more: u8) {
    for &b in text {
        if (b.is_ascii_graphic() || b == b' ') && !matches!(b, b'"' | b'\\') && b != more {
            out.push(b);
        } else {
            let _ = write!(out, "\\x{b:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(path: &'a [u8], agent: &'a [u8]) -> Entry<'a> {
        Entry {
            client: "192.0.2.7".parse().unwrap(),
            at: "2026-11-29T22:50:17.9Z".parse().unwrap(),
            asked: Some((b"GET", path, "HTTP/1.1")),
            status: 200,
            bytes: 512,
            referer: b"https://example.test/",
            agent,
        }
    }

    fn line(entry: &Entry<'_>, combined: bool) -> String {
        let mut out = Vec::new();
        write(&mut out, entry, combined);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_those_that_every_reader_of_web_logs_knows() {
        let begin = "192.0.2.7 - - [29/Nov/2026:22:50:17 +0000]";
        let plain = entry(b"/a", b"curl/8.5");
        assert_eq!(line(&plain, false), format!("{begin} \"GET /a HTTP/1.1\" 200 512"));
        let combined = format!("{begin} \"GET /a HTTP/1.1\" 200 512 \"https://example.test/\" \"curl/8.5\"");
        assert_eq!(line(&plain, true), combined);
        let silent = Entry { referer: b"", ..entry(b"/a", b"") };
        assert_eq!(line(&silent, true), format!("{begin} \"GET /a HTTP/1.1\" 200 512 \"-\" \"-\""));
        let unchanged = Entry { status: 304, bytes: 0, client: "2001:db8::1".parse().unwrap(), ..entry(b"/a", b"x") };
        let expected = "2001:db8::1 - - [29/Nov/2026:22:50:17 +0000] \"GET /a HTTP/1.1\" 304 -";
        assert_eq!(line(&unchanged, false), expected);
        let connection = Entry { asked: None, status: 0, bytes: 1_048_576, referer: b"", ..entry(b"", b"") };
        assert_eq!(line(&connection, true), format!("{begin} \"-\" - 1048576 \"-\" \"-\""));
        let hostile = Entry { referer: b"\xc3\xa9", ..entry(b"/\" \\\x1b[2J", b"\"quoted\" \\ back\ttab\xff") };
        let expected =
            r#" "GET /\x22\x20\x5C\x1B[2J HTTP/1.1" 200 512 "\xC3\xA9" "\x22quoted\x22 \x5C back\x09tab\xFF""#;
        assert_eq!(line(&hostile, true), format!("{begin}{expected}"));
    }

    #[test]
    fn no_byte_can_write_a_line_or_a_part_of_its_own() {
        for b in 0..=255_u8 {
            let hostile = [b'a', b, b'b'];
            let line = line(&Entry { referer: &hostile, ..entry(&hostile, &hostile) }, true);
            assert!(line.bytes().all(|b| b.is_ascii_graphic() || b == b' '), "{b}: {line:?}");
            assert_eq!(line.matches('"').count(), 6, "{b}: {line}");
            let request = line.split('"').nth(1).unwrap();
            assert_eq!(request.split(' ').count(), 3, "{b}: {line}");
        }
    }
}
