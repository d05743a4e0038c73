//! The path as a server would see it.
//!
//! A rule that answers 403 for `/api/` must not be passed by `/%61pi/`, `/x/../api/`, `//api/` or `/x//../api/`. What a
//! server makes of these differs: some merge slashes, some resolve dot segments first, some do neither. So a criterion
//! holds where it holds for *any* reading: the path decoded once, the same with dot segments resolved, and the same
//! with slashes merged before. This errs to the side of the rule that names the path, which is the side of a rule that
//! protects it. The path goes to the server as it was sent.

use std::borrow::Cow;

/// Readings of one path; the first is the path decoded once. Bytes that are no UTF-8 become U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    readings: Vec<String>,
}

// === impl Path ===

impl Path {
    /// Of a target in origin form; the query is left out.
    pub fn new(target: &str) -> Path {
        let path = target.split('?').next().unwrap_or_default();
        let decoded = decode(path);
        let mut readings = vec![decoded.into_owned()];
        if readings[0].contains("//") || readings[0].contains("/.") {
            let resolved = resolve(&readings[0]);
            let merged = resolve(&merge(&readings[0]));
            for reading in [resolved, merged] {
                if !readings.contains(&reading) {
                    readings.push(reading);
                }
            }
        }
        Path { readings }
    }

    /// Whether any reading passes.
    pub fn any(&self, mut passes: impl FnMut(&str) -> bool) -> bool {
        self.readings.iter().any(|reading| passes(reading))
    }

    pub fn readings(&self) -> &[String] {
        &self.readings
    }
}

/// Percent-decoding, once. A `%` that no two hex digits follow stands for itself.
fn decode(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut rest = path.as_bytes();
    let mut decoded = Vec::with_capacity(rest.len());
    while let Some((&first, after)) = rest.split_first() {
        let byte = match rest {
            [b'%', high, low, ..] => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        decoded.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &rest[3..] } else { after };
    }
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

/// Removes dot segments (RFC 3986 §5.2.4).
fn resolve(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part {
            "." | ".." => {
                if part == ".." {
                    segments.pop();
                }
                if last {
                    segments.push("");
                }
            }
            other => segments.push(other),
        }
    }
    format!("/{}", segments.join("/"))
}

fn merge(path: &str) -> String {
    let mut merged = String::with_capacity(path.len());
    for c in path.chars() {
        if c != '/' || !merged.ends_with('/') {
            merged.push(c);
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn under_api(target: &str) -> bool {
        Path::new(target).any(|path| path.starts_with("/api/"))
    }

    #[test]
    fn a_protected_path_cannot_be_reached_by_another_spelling() {
        for target in [
            "/api/x",
            "/%61pi/x",
            "/x/../api/x",
            "/./api/x",
            "//api/x",
            "/x/%2e%2e/api/x",
            "/x%2f..%2fapi/x",
            "/api//..//x",
            "/x//../api/x",
            "/x/y/../../api/",
            "/api/../x",
            "/../api/",
            "/x//..//..//api/",
        ] {
            assert!(under_api(target), "{target}: {:?}", Path::new(target));
        }
        for target in ["/apix/", "/%2561pi/x", "/x/api/", "/", "/x?/api/", "*"] {
            assert!(!under_api(target), "{target}: {:?}", Path::new(target));
        }
    }

    #[test]
    fn an_ordinary_path_has_one_reading() {
        assert_eq!(Path::new("/a/b.html?q=/../").readings(), ["/a/b.html"]);
        assert_eq!(Path::new("/a%2Gb%").readings(), ["/a%2Gb%"]);
        assert_eq!(Path::new("/a/..").readings(), ["/a/..", "/"]);
        assert_eq!(Path::new("/a/b/.").readings(), ["/a/b/.", "/a/b/"]);
    }

    proptest! {
        #[test]
        fn no_target_panics(target in "\\PC*") {
            let _ = Path::new(&target);
        }

        #[test]
        fn a_resolved_path_has_no_dot_segments(target in "(/(\\.|\\.\\.|a|%2e|))*") {
            let resolved = Path::new(&target).readings().last().cloned().unwrap_or_default();
            prop_assert!(!resolved.split('/').any(|s| s == "..") || !target.starts_with('/'));
        }
    }
}
