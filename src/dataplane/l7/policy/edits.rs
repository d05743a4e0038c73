//! What the rules change in a head: a plan that an engine carries out in one pass over the fields, whatever its own form
//! of a head is.
//!
//! The edits of all rules that acted are folded into one plan in their order: a field that is removed after it was added
//! is not added. Values are filled in from the request as it was sent, so a rule never sees what another has changed.

use std::borrow::Cow;

use super::{Request, fill_in};
use crate::dataplane::l7::head::TARGET_MAX_BYTES;
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
                    self.remove(name);
                    self.added.push((name.clone(), fill_in(value, of)));
                }
                Edit::Add { name, value } => self.added.push((name.clone(), fill_in(value, of))),
                Edit::Remove { name } => self.remove(name),
                Edit::RemoveCookie { name } => self.cookies_removed.push(name.clone()),
                Edit::SetCookie { name, value } => {
                    self.cookies_removed.push(name.clone());
                    self.added.push(("Set-Cookie".into(), format!("{name}={}", fill_in(value, of))));
                }
                Edit::Status(status) => self.status = Some(*status),
                Edit::Path { to, .. } => {
                    if let Some(target) = path_of(nth).and_then(|pattern| replaced(pattern, to, of.target)) {
                        self.target = Some(target);
                    }
                }
            }
        }
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
