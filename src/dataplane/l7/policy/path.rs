//! The path as a server would see it.
//!
//! A rule that answers 403 for `/api/` must not be passed by `/%61pi/`, `/x/../api/`, `//api/`, `/x//../api/`,
//! `/x/..;/api/`, `/x\..\api/` or `/x%2fy/../api/`, and one that answers 403 for all but `/public/` not by
//! `/public/../secret`. What a server makes of these differs: some merge slashes, some cut parameters off segments, some
//! take a backslash for a slash, some leave encoded slashes be; and each does so before or after it decodes and resolves
//! dot segments. So a path is read in all these ways in every order, each as often as it still changes something, except
//! that nothing is decoded twice; a condition is asked once for each reading that comes of it, and holds where it holds
//! for *any* of them: whoever names a path, or all others, protects it in each of its spellings. The path goes to the
//! server as it was sent. One with more readings than [`READINGS_MAX`] is nobody's honest address, and refused.
//!
//! Not covered, as it is no matter of spelling: servers that compare paths without case (`(?i)` in a regular expression
//! does that here too), and those that decode twice.

use std::borrow::Cow;

/// Readings of one path at most, those on the way to a decoded one included.
pub const READINGS_MAX: usize = 64;

/// Readings of one path, at least one; the first is the path decoded once. Bytes that are no UTF-8 become U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    readings: Vec<String>,
    refused: bool,
}

/// What one server does with a path, decoding apart.
const STEPS: [fn(&str) -> String; 5] = [resolve, merge, without_parameters, with_slashes, decode_no_slashes];

// === impl Path ===

impl Path {
    /// Of a target in origin form; the query is left out.
    pub fn new(target: &str) -> Path {
        let path = target.split('?').next().unwrap_or_default();
        let decoded = decode(path).into_owned();
        if decoded == path && is_plain(path) {
            return Path { readings: vec![decoded], refused: false };
        }
        // Everything that some steps make of it, with whether it has been decoded.
        let mut seen = vec![(decoded, true), (path.to_owned(), false)];
        let mut at = 0;
        while at < seen.len() && seen.len() <= READINGS_MAX {
            let (path, is_decoded) = seen[at].clone();
            let steps = if is_decoded { &STEPS[..4] } else { &STEPS[..] };
            let made = steps.iter().map(|step| (step(&path), is_decoded));
            let decoded = (!is_decoded).then(|| (decode(&path).into_owned(), true));
            for reading in made.chain(decoded) {
                if !seen.contains(&reading) {
                    seen.push(reading);
                }
            }
            at += 1;
        }
        let refused = seen.len() > READINGS_MAX;
        let readings = seen.into_iter().filter(|(_, is_decoded)| *is_decoded).map(|(path, _)| path).collect();
        Path { readings, refused }
    }

    pub fn readings(&self) -> &[String] {
        &self.readings
    }

    /// It has more readings than are looked at, so that no rule can be trusted to have seen it.
    pub fn is_refused(&self) -> bool {
        self.refused
    }
}

/// No step but decoding changes it.
fn is_plain(path: &str) -> bool {
    !(path.contains("//") || path.contains("/.") || path.contains([';', '\\']))
}

/// Each segment up to its first `;` (RFC 3986 §3.3).
fn without_parameters(path: &str) -> String {
    let segments: Vec<&str> = path.split('/').map(|segment| segment.split(';').next().unwrap_or_default()).collect();
    segments.join("/")
}

fn with_slashes(path: &str) -> String {
    path.replace('\\', "/")
}

/// Decodes all but what would part segments, and what would then be decoded a second time.
fn decode_no_slashes(path: &str) -> String {
    decode_but(path, b"/\\%").into_owned()
}

/// Percent-decoding, once. A `%` that no two hex digits follow stands for itself.
pub(super) fn decode(path: &str) -> Cow<'_, str> {
    decode_but(path, b"")
}

fn decode_but<'a>(path: &'a str, kept: &[u8]) -> Cow<'a, str> {
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
        let byte = byte.filter(|byte| !kept.contains(byte));
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
            "/x%2fy/../api/x",
            "/x%5cy/../api/x",
            "/api/x%2fy/../../x",
            "/x/y%2fz/../../api/x",
            "/x//..//..//api/",
            "/x//../%2e%2e/api/",
            "/x;y/../api;a/..;/x",
            "/x%2fy/%2e%2e;/api/x",
            "/x%2fy/..%3b/api/x",
            "/x;/y%5c..;z/../..\\api;/..;//x",
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

    #[test]
    fn what_browsers_and_people_write_is_not_refused_and_what_has_countless_readings_is() {
        for target in [
            "/a/b;v=1/c%20d/../e//f.html",
            "/x/%2e%2e;a\\b//..%2fapi/y",
            "/search%2Fterm/a%5Cb;p=1/./%C3%A4//x",
            "https%3A%2F%2Fa.test%2F..%2Fb",
        ] {
            assert!(!Path::new(target).is_refused(), "{target}: {:?}", Path::new(target));
        }
        let worst = "/a;b//..%2f\\..;/%2e%2e%3b%5c".repeat(8);
        let path = Path::new(&worst);
        assert!(path.is_refused(), "{}", path.readings().len());
        assert!(path.readings().len() <= READINGS_MAX + 6);
    }

    /// Servers, each by what it does in its order. `d` decodes, `o` decodes all but slashes, `r` resolves, `m` merges, `s`
    /// strips parameters, `b` takes a backslash for a slash.
    fn served(order: &str, path: &str) -> String {
        order.chars().fold(path.to_owned(), |path, step| match step {
            'd' => decode(&path).into_owned(),
            'o' => decode_no_slashes(&path),
            'r' => resolve(&path),
            'm' => merge(&path),
            's' => without_parameters(&path),
            _ => with_slashes(&path),
        })
    }

    /// Something between the slashes of a path that is read in more than one way.
    fn ambiguous() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "/", "/", "/", "..", "..", ".", "%2e", "%2f", "%2F", "%5c", "\\", ";", "%3b", "a", "api", "admin", "%252f",
        ]);
        prop::collection::vec(piece, 0..9).prop_map(|pieces| format!("/{}", pieces.concat()))
    }

    proptest! {
        #[test]
        fn whatever_a_server_does_in_whatever_order_its_reading_is_among_those_asked(
            path in ambiguous(),
            before in "[ormsb]{0,4}",
            after in "[rmsb]{0,4}",
        ) {
            let asked = Path::new(&path);
            let order = format!("{before}d{after}");
            let served = served(&order, &path);
            prop_assert!(asked.is_refused() || asked.readings().contains(&served), "{order}: {served}: {asked:?}");
        }

        #[test]
        fn no_target_panics_or_has_many_readings(target in "(\\PC|[/.;%\\\\])*") {
            // One look more than the bound goes to its end.
            prop_assert!((1..=READINGS_MAX + 6).contains(&Path::new(&target).readings().len()));
        }

        #[test]
        fn a_resolved_path_has_no_dot_segments(target in "(/(\\.|\\.\\.|a|%2e|))*") {
            let resolved = resolve(&decode(&target));
            prop_assert!(!resolved.split('/').any(|s| s == "..") || !target.starts_with('/'));
        }
    }
}
