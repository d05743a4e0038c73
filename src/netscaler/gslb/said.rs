//! What GSLB lines say: objects with their options, whichever line says them.

use std::collections::HashMap;

use super::super::document::check_name;
use super::super::line::Token;
use super::Pending;

/// One keyword with its value, and the line that has it.
#[derive(Clone)]
pub(super) struct Opt {
    pub line: usize,
    /// As it is written, without its dash.
    pub key: String,
    /// The words behind it, joined.
    pub value: String,
}

/// What is bound to an object.
#[derive(Clone)]
pub(super) struct Bound {
    pub line: usize,
    pub options: Vec<Opt>,
}

#[derive(Clone, Default)]
pub(super) struct Object {
    pub name: String,
    pub line: usize,
    /// What stands behind the name without a keyword.
    pub words: Vec<String>,
    /// Of `add`, then of each `set`.
    pub options: Vec<Opt>,
    pub bound: Vec<Bound>,
}

#[derive(Clone, Default)]
pub(super) struct Objects {
    list: Vec<Object>,
    by_name: HashMap<String, usize>,
}

/// What an option means where nothing is made of it.
pub(super) struct Known {
    pub key: &'static str,
    /// With one of these values it changes nothing; empty: with any.
    pub same: &'static [&'static str],
    /// Why another value is left out.
    pub why: &'static str,
    /// Whether traffic misses it.
    pub traffic: bool,
}

const fn any(key: &'static str) -> Known {
    Known { key, same: &[], why: "", traffic: false }
}

const fn only(key: &'static str, same: &'static [&'static str], why: &'static str) -> Known {
    Known { key, same, why, traffic: true }
}

const fn harmless(key: &'static str, same: &'static [&'static str], why: &'static str) -> Known {
    Known { key, same, why, traffic: false }
}

const COMMENT: Known = harmless("comment", &[""], "a comment stands behind `#`");
const NO_EXCHANGE: &str = "sites tell each other nothing here";
const OF_TRAFFIC: &str = "a record leads clients to an address; what is there sees to its traffic";

pub(super) const SITE: &[Known] = &[
    any("publicIP"),
    any("publicCLIP"),
    any("clip"),
    any("metricExchange"),
    any("nwMetricExchange"),
    any("sessionExchange"),
    any("naptrReplacementSuffix"),
    harmless("parentSite", &[], NO_EXCHANGE),
    harmless("backupParentList", &["None"], NO_EXCHANGE),
    only("triggerMonitor", &["ALWAYS"], "monitors probe always: there is no exchange that could say more"),
];

pub(super) const SERVICE: &[Known] = &[
    any("publicPort"),
    any("cltTimeout"),
    any("svrTimeout"),
    any("cookieTimeout"),
    any("downStateFlush"),
    any("appflowLog"),
    any("naptrReplacement"),
    any("naptrOrder"),
    any("naptrServices"),
    any("naptrDomainTTL"),
    any("naptrPreference"),
    any("hashId"),
    only("maxClient", &["0"], OF_TRAFFIC),
    only("maxBandwidth", &["0"], OF_TRAFFIC),
    only("maxAAAUsers", &["0"], OF_TRAFFIC),
    harmless("cip", &["DISABLED"], OF_TRAFFIC),
    only("sitePersistence", &["NONE"], "a connection is not led on to the site that a client had before"),
    only("sitePrefix", &[""], "a site has no domain of its own"),
    only("viewName", &[""], "all clients are told the same address"),
    only("viewIP", &[""], "all clients are told the same address"),
    COMMENT,
];

pub(super) const VSERVER: &[Known] = &[
    any("backupLBMethod"),
    any("persistenceId"),
    any("timeout"),
    any("appflowLog"),
    any("ecsAddrValidation"),
    any("iptype"),
    only("tolerance", &["0"], "round trips are not measured"),
    only("persistMask", &["255.255.255.255"], "a client is its whole address, or the subnet that its resolver tells"),
    only("v6persistmasklen", &["128"], "a client is its whole address, or the subnet that its resolver tells"),
    only("netmask", &["255.255.255.255"], "a client is its whole address, or the subnet that its resolver tells"),
    only("v6netmasklen", &["128"], "a client is its whole address, or the subnet that its resolver tells"),
    only("dynamicWeight", &["DISABLED"], "weights are those of the bindings"),
    only(
        "state",
        &["ENABLED"],
        "whether it is disabled is state, no configuration: set `enabled = false` of its records",
    ),
    only("soMethod", &["NONE"], "load at a site moves nobody to another one"),
    any("soThreshold"),
    any("soPersistence"),
    any("soPersistenceTimeOut"),
    any("soBackupAction"),
    only("toggleOrder", &["ASCENDING"], "members have no order"),
    only("orderThreshold", &["0"], "members have no order"),
    only("backupSessionTimeout", &["0"], "an answer is chosen anew for each question"),
    COMMENT,
];

/// Beside `-domainName` of a binding.
pub(super) const DOMAIN: &[Known] = &[
    any("sitedomainTTL"),
    only("cookie_domain", &[""], "no cookie leads clients back to a site"),
    any("cookieTimeout"),
];

/// Beside `-serviceName` of a binding.
pub(super) const MEMBER: &[Known] = &[only("order", &["0"], "members have no order; use a backup vserver")];

// === impl Known ===

impl Known {
    pub fn changes_nothing(&self, value: &str) -> bool {
        let never = self.same.is_empty() && self.why.is_empty();
        never || self.same.iter().any(|same| same.eq_ignore_ascii_case(value))
    }
}

// === impl Object ===

impl Object {
    pub fn new(name: &str, words: Vec<String>) -> Object {
        Object { name: name.to_owned(), words, ..Object::default() }
    }

    /// The last value of an option, which is not left any more.
    pub fn take(&mut self, key: &str) -> Option<Opt> {
        take(&mut self.options, key)
    }

    /// The last value of an option.
    pub fn value(&self, key: &str) -> Option<&str> {
        value(&self.options, key)
    }

    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        let at = self.options.iter().position(|option| option.key.eq_ignore_ascii_case(key));
        let option = Opt { line: 0, key: key.to_owned(), value: value.into() };
        match at {
            Some(at) => self.options[at] = option,
            None => self.options.push(option),
        }
    }

    /// What is bound by this option, with all that the binding says.
    pub fn bound<'a>(&'a self, by: &'a str) -> impl Iterator<Item = (&'a str, &'a Bound)> + 'a {
        self.bound.iter().filter_map(move |bound| Some((value(&bound.options, by)?, bound)))
    }

    /// Takes away what is bound by this option and named so; whether there was anything.
    pub fn unbind(&mut self, by: &str, name: &str) -> bool {
        let before = self.bound.len();
        self.bound.retain(|bound| value(&bound.options, by) != Some(name));
        self.bound.len() < before
    }

    /// Whether both say the same, in whatever order.
    pub fn says_as(&self, other: &Object) -> bool {
        let said = |options: &[Opt]| {
            let mut all: Vec<String> =
                options.iter().map(|option| format!("{} {}", option.key.to_ascii_lowercase(), option.value)).collect();
            all.sort();
            all
        };
        let bound = |object: &Object| {
            let mut all: Vec<Vec<String>> = object.bound.iter().map(|bound| said(&bound.options)).collect();
            all.sort();
            all
        };
        self.words == other.words && said(&self.options) == said(&other.options) && bound(self) == bound(other)
    }
}

// === impl Bound ===

impl Bound {
    pub fn new(options: &[(&str, &str)]) -> Bound {
        let option = |(key, value): &(&str, &str)| Opt { line: 0, key: (*key).to_owned(), value: (*value).to_owned() };
        Bound { line: 0, options: options.iter().map(option).collect() }
    }
}

/// The last value of an option.
pub(super) fn value<'a>(options: &'a [Opt], key: &str) -> Option<&'a str> {
    options.iter().rev().find(|option| option.key.eq_ignore_ascii_case(key)).map(|option| &option.value[..])
}

/// The last value of an option, which is not left any more.
pub(super) fn take(options: &mut Vec<Opt>, key: &str) -> Option<Opt> {
    let found = options.iter().rev().find(|option| option.key.eq_ignore_ascii_case(key)).cloned();
    options.retain(|option| !option.key.eq_ignore_ascii_case(key));
    found
}

// === impl Objects ===

impl Objects {
    /// `add gslb KIND NAME …`
    pub fn add(&mut self, at: usize, line: &Pending) -> Result<(), String> {
        let name = line.text(3).ok_or("its name is missing")?.to_owned();
        check_name(&name).map_err(|error| error.message)?;
        if self.by_name.contains_key(&name) {
            return Err(format!("`{name}` is added twice"));
        }
        let (words, options) = said(at, line.tokens.get(4..).unwrap_or_default());
        self.by_name.insert(name.clone(), self.list.len());
        self.list.push(Object { name, line: at, words, options, bound: Vec::new() });
        Ok(())
    }

    /// `set …` and `bind …` of what another line adds.
    pub fn change(&mut self, at: usize, line: &Pending) -> Result<(), String> {
        let name = line.text(3).unwrap_or_default();
        let Some(object) = self.by_name.get(name).and_then(|index| self.list.get_mut(*index)) else {
            return Err(format!("no GSLB {} `{name}` is in the file", line.word(2)));
        };
        let (words, options) = said(at, line.tokens.get(4..).unwrap_or_default());
        if !words.is_empty() {
            return Err(format!("what `{}` means here is not known", words.join(" ")));
        }
        if line.word(0) == "set" {
            object.options.extend(options);
        } else {
            object.bound.push(Bound { line: at, options });
        }
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&Object> {
        self.by_name.get(name).and_then(|index| self.list.get(*index))
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Object> {
        self.by_name.get(name).and_then(|index| self.list.get_mut(*index))
    }

    /// In the place of what has its name, else at the end.
    pub fn put(&mut self, object: Object) {
        match self.by_name.get(&object.name).and_then(|index| self.list.get_mut(*index)) {
            Some(old) => *old = object,
            None => {
                self.by_name.insert(object.name.clone(), self.list.len());
                self.list.push(object);
            }
        }
    }

    pub fn remove(&mut self, name: &str) {
        self.list.retain(|object| object.name != name);
        self.by_name = self.list.iter().enumerate().map(|(at, object)| (object.name.clone(), at)).collect();
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Object> {
        self.list.iter_mut()
    }

    /// In the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Object> {
        self.list.iter()
    }
}

/// Words without a keyword, then keywords with what stands behind them.
pub(super) fn said(line: usize, tokens: &[Token]) -> (Vec<String>, Vec<Opt>) {
    let keyword = |token: &Token| {
        let word = token.text.strip_prefix('-').filter(|_| !token.quoted)?;
        word.starts_with(|c: char| c.is_ascii_alphabetic()).then(|| word.to_owned())
    };
    let mut words = Vec::new();
    let mut options: Vec<Opt> = Vec::new();
    for token in tokens {
        match (keyword(token), options.last_mut()) {
            (Some(key), _) => options.push(Opt { line, key, value: String::new() }),
            (None, None) => words.push(token.text.clone()),
            (None, Some(option)) => {
                if !option.value.is_empty() {
                    option.value.push(' ');
                }
                option.value.push_str(&token.text);
            }
        }
    }
    (words, options)
}
