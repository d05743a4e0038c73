//! The path as a server would see it.
//!
//! A rule that answers 403 for `/api/` must not be passed by `/%61pi/`, `/x/../api/`, `//api/`, `/x//../api/`,
//! `/x/..;/api/` or `/x\..\api/`, and one that answers 403 for all but `/public/` not by `/public/../secret`. What a
//! server makes of these differs: some merge slashes, some resolve dot segments first, some cut parameters off segments,
//! some take a backslash for a slash. So a condition is asked once for each reading that a server may take, and holds
//! where it holds for *any* of them: whoever names a path, or all others, protects it in each of its spellings. The path
//! goes to the server as it was sent.
//!
//! Not covered, as it is no matter of spelling: servers that compare paths without case (`(?i)` in a regular expression
//! does that here too), and those that decode twice.

use std::borrow::Cow;

/// Readings of one path, at least one; the first is the path decoded once. Bytes that are no UTF-8 become U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    readings: Vec<String>,
}

// === impl Path ===

impl Path {
    /// Of a target in origin form; the query is left out.
    pub fn new(target: &str) -> Path {
        let path = target.split('?').next().unwrap_or_default();
        let decoded = decode(path).into_owned();
        let mut readings = vec![decoded];
        add(&mut readings, '\\', |path| path.replace('\\', "/"));
        add(&mut readings, ';', without_parameters);
        for at in 0..readings.len() {
            let reading = &readings[at];
            if reading.contains("//") || reading.contains("/.") {
                let (resolved, merged) = (resolve(reading), resolve(&merge(reading)));
                for reading in [resolved, merged] {
                    if !readings.contains(&reading) {
                        readings.push(reading);
                    }
                }
            }
        }
        Path { readings }
    }

    pub fn readings(&self) -> &[String] {
        &self.readings
    }
}

/// Adds what `other` makes of the readings with `mark` in them.
fn add(readings: &mut Vec<String>, mark: char, other: impl Fn(&str) -> String) {
    let more: Vec<String> = readings.iter().filter(|r| r.contains(mark)).map(|r| other(r)).collect();
    readings.extend(more);
}

/// Each segment up to its first `;` (RFC 3986 §3.3).
fn without_parameters(path: &str) -> String {
    let segments: Vec<&str> = path.split('/').map(|segment| segment.split(';').next().unwrap_or_default()).collect();
    segments.join("/")
}

/// Percent-decoding, once. A `%` that no two hex digits follow stands for itself.
pub(super) fn decode(path: &str) -> Cow<'_, str> {
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
        Path::new(target).readings().iter().any(|path| path.starts_with("/api/"))
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
            "/api;a=b/x",
            "/;/api/x",
            "/x/..;/api/x",
            "/x/%2e%2e;a/api/x",
            "/x;/../api/x",
            "/api%3b/x",
            "\\api\\x",
            "/x\\..\\api/x",
            "/x/..%5capi%5cx",
            "/x\\..;\\api/",
            "/.;\\//api/",
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
        assert_eq!(Path::new("/a;b/c").readings(), ["/a;b/c", "/a/c"]);
    }

    proptest! {
        #[test]
        fn no_target_panics_or_has_many_readings(target in "(\\PC|[/.;%\\\\])*") {
            prop_assert!((1..=12).contains(&Path::new(&target).readings().len()));
        }

        #[test]
        fn a_resolved_path_has_no_dot_segments(target in "(/(\\.|\\.\\.|a|%2e|))*") {
            let path = Path::new(&target);
            let resolved = path.readings().last().cloned().unwrap_or_default();
            prop_assert!(!resolved.split('/').any(|s| s == "..") || !target.starts_with('/'));
        }
    }
}
