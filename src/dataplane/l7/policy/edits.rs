//! What the rules change in a head: a plan that an engine carries out in one pass over the fields, whatever its own form
//! of a head is.
//!
//! The edits of all rules that acted are folded into one plan in their order: a field that is removed after it was added
//! is not added. Values are filled in from the request as it was sent, so a rule never sees what another has changed.

use std::borrow::Cow;
use std::fmt::Write;

use super::{Request, fill_in, fill_in_with};
use crate::dataplane::l7::forward::is_look_alike;
use crate::dataplane::l7::head::{TARGET_MAX_BYTES, is_authority};
use crate::model::filled::Filled;
use crate::model::id::Name;
use crate::model::rule::Edit;
use regex::Regex;

/// Changes of one head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadEdits {
    /// The new target, query included (request).
    pub target: Option<String>,
    /// The new status (response).
    pub status: Option<u16>,
    removed: Vec<Name>,
    added: Vec<(Name, String)>,
    cookies_removed: Vec<Name>,
}

// === impl HeadEdits ===

impl HeadEdits {
    pub fn is_empty(&self) -> bool {
        *self == HeadEdits::default()
    }

    /// Whether fields of this name (in any case) are left out.
    pub fn removes(&self, name: &str) -> bool {
        self.removed.iter().any(|removed| removed.eq_ignore_ascii_case(name))
    }

    /// Whether fields of this name are left out of a request: with a field go those that a server may take for it.
    pub fn removes_from_request(&self, name: &str) -> bool {
        self.removes(name) || self.removed.iter().any(|removed| is_look_alike(name, removed))
    }

    /// Fields to write behind those that stay.
    pub fn added(&self) -> impl Iterator<Item = (&str, &str)> {
        self.added.iter().map(|(name, value)| (&**name, value.as_str()))
    }

    /// The value of a `Cookie` field without the cookies that are removed; `None` where nothing is left of it.
    pub fn cookie<'v>(&self, value: &'v [u8]) -> Option<Cow<'v, [u8]>> {
        if self.cookies_removed.is_empty() {
            return Some(Cow::Borrowed(value));
        }
        let kept: Vec<&[u8]> = value
            .split(|&b| b == b';')
            .map(<[u8]>::trim_ascii)
            .filter(|pair| !pair.is_empty() && !self.removes_cookie(pair))
            .collect();
        (!kept.is_empty()).then(|| Cow::Owned(kept.join(&b"; "[..])))
    }

    /// Whether a `Set-Cookie` field with this value stays.
    pub fn keeps_set_cookie(&self, value: &[u8]) -> bool {
        !self.removes_cookie(value.split(|&b| b == b';').next().unwrap_or_default().trim_ascii())
    }

    fn removes_cookie(&self, pair: &[u8]) -> bool {
        let name = pair.split(|&b| b == b'=').next().unwrap_or_default().trim_ascii();
        // Names of cookies are case-sensitive (RFC 6265 §5.3).
        self.cookies_removed.iter().any(|removed| removed.as_bytes() == name)
    }

    /// Folds in the edits of one more rule; `path_of` gives the compiled pattern of the n-th edit.
    pub(super) fn fold<'r>(&mut self, edits: &[Edit], path_of: impl Fn(usize) -> Option<&'r Regex>, of: &Request<'_>) {
        for (nth, edit) in edits.iter().enumerate() {
            match edit {
                Edit::Set { name, value } => {
                    let filled = fill_in(value, of);
                    if name.eq_ignore_ascii_case("host") && Filled::find(value).is_some() && !is_host(&filled) {
                        continue;
                    }
                    self.remove(name);
                    self.added.push((name.clone(), filled));
                }
                Edit::Add { name, value } => self.added.push((name.clone(), fill_in(value, of))),
                Edit::Remove { name } => self.remove(name),
                Edit::RemoveCookie { name } => self.cookies_removed.push(name.clone()),
                Edit::SetCookie { name, value } => {
                    self.cookies_removed.push(name.clone());
                    self.added.push(("Set-Cookie".into(), format!("{name}={}", fill_in_with(value, of, in_cookie))));
                }
                Edit::Status(status) => self.status = Some(*status),
                Edit::Url { to, whole } => self.target = composed(to, *whole, of).or(self.target.take()),
                Edit::Path { to, .. } => {
                    if let Some(target) = path_of(nth).and_then(|pattern| replaced(pattern, to, of.target)) {
                        self.target = Some(target);
                    }
                }
            }
        }
    }

    /// Replaces a field.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let name = Name::from(name);
        self.remove(&name);
        self.added.push((name, value.to_owned()));
    }

    /// Carries out `later` after this.
    pub(super) fn join(&mut self, later: &HeadEdits) {
        later.removed.iter().for_each(|name| self.remove(name));
        self.added.extend(later.added.iter().cloned());
        self.cookies_removed.extend(later.cookies_removed.iter().cloned());
        self.target = later.target.clone().or(self.target.take());
        self.status = later.status.or(self.status);
    }

    fn remove(&mut self, name: &Name) {
        self.added.retain(|(added, _)| !added.eq_ignore_ascii_case(name));
        if !self.removes(name) {
            self.removed.push(name.clone());
        }
    }
}

/// Whether what a client has said may be a Host (RFC 9110 §7.2): one name or address, with a port or without. A comma,
/// which the grammar of names would allow, is that of a list.
fn is_host(text: &str) -> bool {
    is_authority(text.as_bytes()) && !text.contains(',')
}

/// What stands in a cookie for something that a client has said: nothing of it ends the value (RFC 6265 §4.1.1).
fn in_cookie(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ';' | ',' | '"' | '\\' | ' ' => write!(encoded, "%{:02X}", u32::from(c)).expect("text"),
            c => encoded.push(c),
        }
    }
    encoded
}

/// The target with its path replaced; `None` where the pattern does not match, or the result is no target.
fn replaced(pattern: &Regex, to: &str, target: &str) -> Option<String> {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    if !pattern.is_match(path) {
        return None;
    }
    let mut new = pattern.replace(path, to).into_owned();
    if !new.starts_with('/') {
        new.insert(0, '/');
    }
    if let Some(query) = query {
        new.push('?');
        new.push_str(query);
    }
    (new.len() <= TARGET_MAX_BYTES).then_some(new)
}

/// The target that a text with its values makes; `whole` false: its path, before the query as it was sent. `None` where it
/// is too long.
fn composed(to: &str, whole: bool, of: &Request<'_>) -> Option<String> {
    let mut target = fill_in_with(to, of, |value| in_target(value, whole));
    if !target.starts_with('/') {
        target.insert(0, '/');
    }
    if let (false, Some((_, query))) = (whole, of.target.split_once('?')) {
        target.push('?');
        target.push_str(query);
    }
    (target.len() <= TARGET_MAX_BYTES).then_some(target)
}

/// What a client has said, as a part of a target: nothing of it ends the target, nor, within a path, the path.
fn in_target(text: &str, whole: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for b in text.bytes() {
        match b {
            b'#' => encoded.push_str("%23"),
            b'?' if !whole => encoded.push_str("%3F"),
            0x21..=0x7e => encoded.push(char::from(b)),
            _ => write!(encoded, "%{b:02X}").expect("text"),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_says_adds_no_attribute_to_a_cookie() {
        let client = "192.0.2.1".parse().unwrap();
        let target = "/a;%20Domain=b.test;\"\\,x?q;Max-Age=1";
        let of = Request { target, host: "a;b", ..Request::connection(client, 80, None, false) };
        let set = Edit::SetCookie { name: "c".into(), value: "{path}|{query}|{host}|{client}; HttpOnly".into() };
        let mut edits = HeadEdits::default();
        edits.fold(&[set], |_| None, &of);
        let cookie = edits.added().next().unwrap().1;
        assert_eq!(cookie, "c=/a%3B%20Domain=b.test%3B%22%5C%2Cx|q%3BMax-Age=1|a%3Bb|192.0.2.1; HttpOnly");
    }

    #[test]
    fn what_is_set_or_removed_in_a_request_cannot_come_under_a_name_that_servers_take_for_it() {
        let of = Request::connection("192.0.2.1".parse().unwrap(), 80, None, false);
        for edit in [Edit::Set { name: "X-User".into(), value: "a".into() }, Edit::Remove { name: "X-User".into() }] {
            let mut edits = HeadEdits::default();
            edits.fold(&[edit], |_| None, &of);
            for name in ["X-User", "x-user", "X_User", "x_USER"] {
                assert!(edits.removes_from_request(name), "{name}");
            }
            assert!(!edits.removes_from_request("XUser") && !edits.removes("X_User"));
        }
    }

    #[test]
    fn a_host_that_is_filled_in_is_one_or_stays_as_it_was() {
        let client = "192.0.2.1".parse().unwrap();
        let host = |value: &str, sent: &[&str]| {
            let fields: Vec<(&str, &[u8])> = sent.iter().map(|value| ("X-H", value.as_bytes())).collect();
            let of = Request { fields: &fields, ..Request::connection(client, 80, None, false) };
            let mut edits = HeadEdits::default();
            edits.fold(&[Edit::Set { name: "host".into(), value: value.into() }], |_| None, &of);
            assert_eq!(edits.removes("Host"), !edits.added.is_empty(), "what is not set stays");
            edits.added.pop().map(|(_, value)| value)
        };
        for sent in ["a.test", "a.test:8080", "[2001:db8::1]:80", "192.0.2.1"] {
            assert_eq!(host("{header:X-H}", &[sent]).as_deref(), Some(sent));
        }
        let wrong =
            ["", "evil.test:80 GET /", "a/b@c,d", "u@a.test", "a,b", "a.test:x", "a.test:80:80", "{header:X-H}"];
        for sent in wrong {
            assert_eq!(host("{header:X-H}", &[sent]), None, "{sent}");
        }
        assert_eq!(host("{header:X-H}", &[]), None, "absent");
        assert_eq!(host("{header:X-H}", &["a", "b"]), None, "twice");
        assert_eq!(host("{header:X-H}.a.test", &["b"]).as_deref(), Some("b.a.test"));
        assert_eq!(host("{header:X-H}.a.test", &[]), None, "an empty label");
        assert_eq!(host("as it is configured", &[]).as_deref(), Some("as it is configured"));
    }

    #[test]
    fn a_target_is_put_together_and_stays_one_whatever_a_client_says() {
        let fields: [(&str, &[u8]); 1] = [("X-Id", "7 #?\u{fc}".as_bytes())];
        let client = "192.0.2.1".parse().unwrap();
        let of = Request { target: "/a/b?c=d", fields: &fields, ..Request::connection(client, 80, None, false) };
        let target = |to: &str, whole| {
            let mut edits = HeadEdits::default();
            edits.fold(&[Edit::Url { to: to.into(), whole }], |_| None, &of);
            edits.target.unwrap_or_default()
        };
        assert_eq!(target("/v2{url}", true), "/v2/a/b?c=d");
        assert_eq!(target("/new", true), "/new");
        assert_eq!(target("v2{path}", false), "/v2/a/b?c=d");
        assert_eq!(target("/{header:X-Id}?q={query}", true), "/7%20%23?%C3%BC?q=c=d");
        assert_eq!(target("/{header:X-Id}", false), "/7%20%23%3F%C3%BC?c=d");
        assert_eq!(target(&format!("/{}", "{url}".repeat(10_000)), true), "", "over the bound of a target");
    }
}
