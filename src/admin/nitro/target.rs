//! What a request is about: the path and the query, read as NetScaler's clients write them.
//!
//! Clients escape names twice and put values of `args` and `filter` into the query in three ways, so everything is
//! decoded up to twice and compared with what exists.

mod pairs;

use super::answer::Fault;
pub(super) use pairs::{Filter, decode};
use pairs::{Pairs, decoded};

/// Names and values may be this long.
const NAME_MAX: usize = 1_024;
const PAGE_MAX: usize = 100_000;

/// `config` or `stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Config,
    Stat,
}

/// A path and its query.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub space: Space,
    /// As written; `None`: the space itself.
    pub resource: Option<String>,
    pub name: Option<Named>,
    pub asked: Asked,
}

/// A name in a path: what it says after no, one and two rounds of decoding, without repetitions, most decoded last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named(Vec<String>);

/// The parameters of a query.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    pub action: Option<String>,
    pub args: Vec<(String, String)>,
    pub attrs: Vec<String>,
    pub filters: Vec<Filter>,
    pub summary: bool,
    pub count: bool,
    /// Size and number (from 1).
    pub page: Option<(usize, usize)>,
    pub warning: bool,
    pub idempotent: bool,
    pub statbindings: bool,
    /// `onerror` in the query, beside the header.
    pub onerror: Option<String>,
}

// === impl Target ===

impl Target {
    /// Whether it clears counters: an act, although it is got.
    pub fn clears(&self) -> bool {
        self.space == Space::Stat && self.asked.arg("clearstats").is_some()
    }

    /// `path` begins with `/nitro`, as it came.
    pub fn parse(path: &str, query: &str) -> Result<Target, Fault> {
        let nothing = || Fault::saying(1088, format!("No such command [{}]", printable(path)));
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        if segments.next() != Some("nitro") || segments.next() != Some("v1") {
            return Err(nothing());
        }
        let space = match segments.next() {
            Some("config") => Space::Config,
            Some("stat") => Space::Stat,
            _ => return Err(nothing()),
        };
        let resource = segments.next().map(decoded).transpose()?;
        let rest: Vec<&str> = segments.collect();
        let name = if rest.is_empty() { None } else { Some(Named::parse(&rest.join("/"))?) };
        Ok(Target { space, resource, name, asked: Asked::parse(query)? })
    }
}

/// At most 100 printable characters.
pub(super) fn printable(text: &str) -> String {
    text.chars().take(100).map(|c| if c.is_control() { '?' } else { c }).collect()
}

// === impl Named ===

impl Named {
    pub fn parse(raw: &str) -> Result<Named, Fault> {
        let once = decode(raw)?;
        let twice = decode(&once)?;
        if twice.len() > NAME_MAX || once.chars().chain(twice.chars()).any(char::is_control) {
            return Err(Fault::new(278, "name"));
        }
        let mut spelt = vec![once];
        if !spelt.contains(&twice) {
            spelt.push(twice);
        }
        Ok(Named(spelt))
    }

    /// The spelling that exists, the least decoded first; where none does, the one that was most likely meant.
    pub fn find(&self, exists: impl Fn(&str) -> bool) -> &str {
        self.0.iter().find(|name| exists(name)).unwrap_or_else(|| self.meant_ref()).as_str()
    }

    pub fn meant(&self) -> &str {
        self.meant_ref()
    }

    fn meant_ref(&self) -> &String {
        // There is always one.
        &self.0[self.0.len() - 1]
    }
}

// === impl Asked ===

impl Asked {
    pub fn parse(query: &str) -> Result<Asked, Fault> {
        let mut asked = Asked::default();
        let (mut size, mut number) = (None, None);
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (key, raw) = part.split_once('=').unwrap_or((part, ""));
            let key = decoded(key)?;
            match &key.to_ascii_lowercase()[..] {
                "action" => asked.action = Some(decoded(raw)?),
                "args" => asked.args.extend(Pairs::parse(raw)?.plain()),
                "attrs" => asked.attrs.extend(list(raw)?),
                "filter" => asked.filters.extend(Pairs::parse(raw)?.filters()?),
                "view" => asked.summary = one_of(raw, &["detail", "summary"])? == 1,
                "count" => asked.count = yes(&key, raw)?,
                "pagesize" => size = Some(whole(&key, raw)?),
                "pageno" => number = Some(whole(&key, raw)?),
                "warning" => asked.warning = yes(&key, raw)?,
                "idempotent" => asked.idempotent = yes(&key, raw)?,
                "statbindings" => asked.statbindings = yes(&key, raw)?,
                "onerror" => asked.onerror = Some(decoded(raw)?),
                // Of statistics, where some clients write it beside `args`.
                "clearstats" => asked.args.push(("clearstats".into(), decoded(raw)?)),
                // What NetScaler's clients send along and what changes nothing here.
                "format" | "sessionid" | "pagination" | "withnames" | "bulkbindings" | "_" => {}
                _ => return Err(Fault::new(1090, printable(&key))),
            }
        }
        asked.page = match (size, number) {
            (None, None) => None,
            // NetScaler's own size of a page.
            (size, number) => Some((size.unwrap_or(25), number.unwrap_or(1))),
        };
        Ok(asked)
    }

    /// Whether an argument is `yes` or `true`.
    pub fn says_yes(&self, name: &str) -> bool {
        self.arg(name).is_some_and(|value| matches!(&value.to_ascii_lowercase()[..], "yes" | "true"))
    }

    /// The value of an argument, whatever its case.
    pub fn arg(&self, name: &str) -> Option<&str> {
        self.args.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| &value[..])
    }
}

fn list(raw: &str) -> Result<Vec<String>, Fault> {
    Ok(decoded(raw)?.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect())
}

fn yes(key: &str, raw: &str) -> Result<bool, Fault> {
    match &decoded(raw)?.to_ascii_lowercase()[..] {
        "yes" | "true" | "" => Ok(true),
        "no" | "false" => Ok(false),
        other => Err(Fault::new(1097, format!("{key}, {}", printable(other)))),
    }
}

fn whole(key: &str, raw: &str) -> Result<usize, Fault> {
    let number = decoded(raw)?.parse().ok().filter(|number| (1..=PAGE_MAX).contains(number));
    number.ok_or_else(|| Fault::new(1097, format!("{key}, {}", printable(raw))))
}

/// The position of the word.
fn one_of(raw: &str, words: &[&str]) -> Result<usize, Fault> {
    let word = decoded(raw)?;
    let at = words.iter().position(|known| known.eq_ignore_ascii_case(&word));
    at.ok_or_else(|| Fault::new(1097, format!("view, {}", printable(&word))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> Target {
        Target::parse(path, "").unwrap()
    }

    #[test]
    fn double_slashes_are_one() {
        let target = target("/nitro/v1/config//lbvserver_service_binding/web");
        assert_eq!(target.resource.as_deref(), Some("lbvserver_service_binding"));
        assert_eq!(target.name.unwrap().meant(), "web");
    }

    #[test]
    fn a_name_is_decoded_up_to_twice_and_the_spelling_that_exists_wins() {
        let name = target("/nitro/v1/config/service/a%252Fb%2520c").name.unwrap();
        assert_eq!(name.find(|n| n == "a/b c"), "a/b c");
        assert_eq!(name.find(|n| n == "a%2Fb%20c"), "a%2Fb%20c");
        assert_eq!(name.find(|_| false), "a/b c");
        assert_eq!(target("/nitro/v1/config/service/a%2fb").name.unwrap().meant(), "a/b");
        assert_eq!(target("/nitro/v1/config/service/spare/s1").name.unwrap().meant(), "spare/s1");
        assert_eq!(target("/nitro/v1/config/service/100%25").name.unwrap().meant(), "100%");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for path in ["/nitro/v1/config/service/a%0d%0ab", "/nitro/v1/config/service/%ff", "/nitro/v1/config/x/a%250ab"]
        {
            assert_eq!(Target::parse(path, "").unwrap_err().code, 278, "{path}");
        }
        for path in ["/nitro", "/nitro/v2/config/service", "/nitro/v1/other"] {
            assert_eq!(Target::parse(path, "").unwrap_err().code, 1088, "{path}");
        }
    }

    #[test]
    fn args_and_filters_are_read_in_every_way_in_which_clients_write_them() {
        for query in ["args=type:HTTP,monitorname:a%2Cb", "args=type%3AHTTP%2Cmonitorname%3Aa%252Cb"] {
            let asked = Asked::parse(query).unwrap();
            assert_eq!((asked.arg("type"), asked.arg("monitorName")), (Some("HTTP"), Some("a,b")), "{query}");
        }
        let asked = Asked::parse("count=yes&pagesize=2&pageno=3&view=summary&attrs=name,%20state").unwrap();
        assert_eq!((asked.count, asked.page, asked.summary), (true, Some((2, 3)), true));
        assert_eq!(asked.attrs, ["name", "state"]);
        for bad in ["count=maybe", "pageno=0", "pagesize=x", "view=all", "nonsense=1", "filter=name:/(/"] {
            assert!(Asked::parse(bad).is_err(), "{bad}");
        }
    }
}
