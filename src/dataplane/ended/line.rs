//! One line of the access log, as `key=value` or as JSON: the same keys in the same order.

use std::fmt::Display;
use std::io::Write;

/// A line in the making.
pub(super) struct Line<'a> {
    out: &'a mut Vec<u8>,
    json: bool,
    first: bool,
}

// === impl Line ===

impl<'a> Line<'a> {
    /// `json`: as JSON, else as `key=value`.
    pub fn new(json: bool, out: &'a mut Vec<u8>) -> Line<'a> {
        if json {
            out.push(b'{');
        }
        Line { out, json, first: true }
    }

    fn key(&mut self, key: &str) {
        let first = std::mem::take(&mut self.first);
        // Writing to memory does not fail.
        let _ = match (self.json, first) {
            (false, true) => write!(self.out, "{key}="),
            (false, false) => write!(self.out, " {key}="),
            (true, true) => write!(self.out, "\"{key}\":"),
            (true, false) => write!(self.out, ",\"{key}\":"),
        };
    }

    /// A number, or anything that needs no quotes in either format.
    pub fn bare(&mut self, key: &str, value: impl Display) {
        self.key(key);
        let _ = write!(self.out, "{value}");
    }

    /// Text of anybody's choice: nothing in it can end the line or the value. Left out where it is empty.
    pub fn text(&mut self, key: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        self.key(key);
        let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'"' | b'=' | b'\\');
        if !self.json && value.bytes().all(plain) {
            self.out.extend_from_slice(value.as_bytes());
        } else {
            // The quotes and escapes of JSON in both formats.
            let _ = serde_json::to_writer(&mut *self.out, value);
        }
    }

    pub fn end(self) {
        if self.json {
            self.out.push(b'}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: bool, path: &str) -> String {
        let mut out = Vec::new();
        let mut line = Line::new(json, &mut out);
        line.text("path", path);
        line.text("rule", "");
        line.bare("status", 200);
        line.end();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn both_formats_say_the_same() {
        assert_eq!(line(false, "/a?b"), "path=/a?b status=200");
        assert_eq!(line(true, "/a?b"), r#"{"path":"/a?b","status":200}"#);
    }

    #[test]
    fn nobody_can_write_a_line_or_a_value_of_his_own() {
        for forged in ["a\nstatus=500", "a status=500", "a\" status=500", "a\r\u{1b}[2J", "a=b"] {
            for json in [false, true] {
                let line = line(json, forged);
                assert!(!line.contains(['\n', '\r', '\u{1b}']), "{line:?}");
                let quoted = line.split_once(['=', ':']).unwrap().1;
                let read: String = serde_json::Deserializer::from_str(quoted).into_iter().next().unwrap().unwrap();
                assert_eq!(read, forged);
            }
        }
    }
}
