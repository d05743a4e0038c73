//! GSLB and DNS lines as zones, steered records and scenarios.
//!
//! A GSLB vserver with a domain is a steered RRset: its services are the records, each with the check that NetScaler would
//! take the state from, and its backup vservers are DR sets, each switched by a scenario that says what NetScaler says by
//! itself: all members of the one before are down. Lines are read first, all of them ([`Books`]); then every vserver that
//! has a domain is carried with all that it needs ([`vserver`]), then the other records ([`zones`]).

mod change;
mod export;
mod lines;
mod member;
mod read;
mod records;
mod said;
mod show;
#[cfg(test)]
mod tests;
mod vserver;
mod write;
mod zones;

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;

use serde_json::{Map, Value, json};

use super::document::Document;
use super::import::{Fate, Pending};
use super::resource::Resource;
pub(super) use change::{append, execute};
pub(super) use export::export;
pub(super) use read::{Book, kept_user};
use said::{Object, Objects, Opt};
pub(super) use show::objects;
use zones::{Record, Zones};

/// Of a line that nobody has needed yet.
const UNUSED: &str = "nothing that is carried uses it; `[gslb] lines` keeps it";

/// All lines of GSLB and DNS, as they are written.
#[derive(Clone, Default)]
pub(super) struct Books {
    sites: Objects,
    services: Objects,
    vservers: Objects,
    records: Vec<Record>,
    /// Addresses of ADNS services, in the order of the file, each with its line.
    listen: Vec<(usize, String)>,
    /// Addresses of the box itself.
    own: HashSet<IpAddr>,
}

/// What is being written, and what becomes of the lines.
struct Carrying<'a> {
    document: &'a mut Document,
    lines: &'a mut [Pending],
    zones: Zones,
    /// Of lines that are carried: what is left out of them, and whether traffic misses it.
    left: BTreeMap<usize, Vec<(String, bool)>>,
    /// Services that are carried, by name: how a record has them, or why not.
    members: BTreeMap<String, Result<member::Member, String>>,
}

/// Takes its lines out of the file, before the tables look at it.
pub(super) fn collect(lines: &mut [Pending]) -> Books {
    let mut books = Books::default();
    let mut later = Vec::new();
    for (at, line) in lines.iter_mut().enumerate().filter(|(_, line)| line.fate.is_none()) {
        let words = [line.word(0), line.word(1), line.word(2)];
        let taken = match [&words[0][..], &words[1][..], &words[2][..]] {
            ["add", "service", _] if is_adns(line.text(4)) => Ok(()),
            // As data centres and scenarios are named in conditions.
            ["add", "gslb", "site"] => without(line, "@#").and_then(|()| books.sites.add(at, line)),
            ["add", "gslb", "service"] => without(line, "!,").and_then(|()| books.services.add(at, line)),
            ["add", "gslb", "vserver"] => without(line, "!,").and_then(|()| books.vservers.add(at, line)),
            ["set" | "bind", "gslb", "site" | "service" | "vserver"] => {
                later.push(at);
                continue;
            }
            ["add", "dns", kind] if zones::KINDS.contains(&kind) => {
                zones::record(at, line).map(|found| books.records.extend(found))
            }
            [verb, "gslb", "site" | "service" | "vserver"] => Err(format!("`{verb}` is no line of a saved file")),
            _ => continue,
        };
        match taken {
            Ok(()) => line.fate = Some(Fate::Irrelevant(UNUSED)),
            Err(why) => line.missing(vec![why]),
        }
    }
    for at in later {
        let line = &mut lines[at];
        let objects = match &line.word(2)[..] {
            "site" => &mut books.sites,
            "service" => &mut books.services,
            _ => &mut books.vservers,
        };
        match objects.change(at, line) {
            Ok(()) => line.fate = Some(Fate::Irrelevant(UNUSED)),
            Err(why) => line.missing(vec![why]),
        }
    }
    books.own_address(lines);
    books.listeners(lines);
    books
}

/// Refuses a name that holds one of the letters.
fn without(line: &Pending, letters: &str) -> Result<(), String> {
    match line.text(3).and_then(|name| name.chars().find(|letter| letters.contains(*letter))) {
        Some(letter) => Err(format!("a name with `{letter}` in it cannot stand in a condition; give it another")),
        None => Ok(()),
    }
}

fn is_adns(kind: Option<&str>) -> bool {
    kind.is_some_and(|kind| ["ADNS", "ADNS_TCP"].iter().any(|known| known.eq_ignore_ascii_case(kind)))
}

// === impl Books ===

impl Books {
    fn own_address(&mut self, lines: &[Pending]) {
        for line in lines.iter().filter(|line| line.word(1) == "ns") {
            let address = match [&line.word(0)[..], &line.word(2)[..]] {
                ["add", "ip" | "ip6"] => line.text(3),
                ["set", "config"] => line.value("IPAddress"),
                _ => None,
            };
            let address = address.and_then(|text| text.split('/').next());
            self.own.extend(address.and_then(|text| text.parse::<IpAddr>().ok()));
        }
    }

    /// ADNS services say where questions come in.
    fn listeners(&mut self, lines: &mut [Pending]) {
        let mut servers = BTreeMap::new();
        for line in lines.iter().filter(|line| line.word(0) == "add" && line.word(1) == "server") {
            let address = line.text(3).and_then(|text| text.parse::<IpAddr>().ok());
            if let (Some(name), Some(address)) = (line.text(2), address) {
                servers.insert(name.to_owned(), address);
            }
        }
        let mut names = HashSet::new();
        for (at, line) in lines.iter_mut().enumerate() {
            if line.word(0) == "add" && line.word(1) == "service" && is_adns(line.text(4)) {
                let host = line.text(3).unwrap_or_default();
                let ip = host.parse::<IpAddr>().ok().or_else(|| servers.get(host).copied());
                let port = line.text(5).and_then(|port| port.parse::<u16>().ok()).filter(|port| *port > 0);
                match ip.zip(port) {
                    Some((ip, port)) => {
                        line.fate = Some(Fate::Carried);
                        self.listen.push((at, std::net::SocketAddr::new(ip, port).to_string()));
                        names.extend(line.text(2).map(str::to_owned));
                    }
                    None => line.missing(vec!["an address and a port say where questions come in".into()]),
                }
            }
        }
        for line in lines.iter_mut().filter(|line| line.fate.is_none() && line.word(1) == "service") {
            if line.word(0) == "bind" && line.text(2).is_some_and(|name| names.contains(name)) {
                line.fate = Some(Fate::Irrelevant("no monitor watches the box's own DNS server"));
            }
        }
    }

    /// Carries over what belongs together, and gives all its lines a fate.
    pub(super) fn carry(self, document: &mut Document, lines: &mut [Pending]) {
        let mut carrying =
            Carrying { document, lines, zones: Zones::default(), left: BTreeMap::new(), members: BTreeMap::new() };
        carrying.sites(&self);
        carrying.plan(&self);
        vserver::carry(&mut carrying, &self);
        carrying.records(&self.records);
        carrying.listen(&self);
        carrying.finish();
        self.keep(document, lines);
    }

    /// What no table says: addresses of sites, names of aliases, and objects that nothing uses yet.
    fn keep(&self, document: &mut Document, lines: &[Pending]) {
        let mut books = self.clone();
        let own = document.root().get("appliance").and_then(|appliance| appliance.get("site")?.as_str());
        for site in books.sites.iter_mut() {
            let kind = if own == Some(&site.name[..]) { "LOCAL" } else { "REMOTE" };
            let is_address = |word: &&String| word.parse::<IpAddr>().is_ok_and(|ip| !ip.is_unspecified());
            let address = site.words.iter().find(is_address).cloned();
            let words = std::iter::once(kind.to_owned()).chain(address).collect();
            *site = Object::new(&site.name, words);
        }
        let kept = books.lines(|kind, object| {
            let is_alias = object.value("cnameEntry").is_some();
            match lines.get(object.line).map(|line| &line.fate) {
                _ if kind == "site" => object.words.len() > 1,
                Some(Some(Fate::Irrelevant(_))) => true,
                Some(Some(Fate::Missing { whole: true, .. })) | None => false,
                Some(_) => kind == "service" && is_alias,
            }
        });
        if !kept.is_empty() {
            let mut root = std::mem::take(document).into_root();
            root.insert("gslb".into(), json!({ "lines": kept }));
            *document = Document::from_root(root);
        }
    }
}

// === impl Carrying ===

impl Carrying<'_> {
    fn carried(&mut self, line: usize) {
        self.left.entry(line).or_default();
    }

    fn leave_out(&mut self, line: usize, what: String, traffic: bool) {
        self.left.entry(line).or_default().push((what, traffic));
    }

    fn missing(&mut self, line: usize, why: impl Into<String>) {
        self.left.remove(&line);
        self.lines[line].missing(vec![why.into()]);
    }

    fn note(&mut self, line: usize, note: impl Into<String>) {
        let note = note.into();
        if !self.lines[line].notes.contains(&note) {
            self.lines[line].notes.push(note);
        }
    }

    /// Options of an object that nothing was made of: those in `known` with why, the others as unknown.
    fn settle(&mut self, object: &Object, known: &[said::Known]) {
        self.carried(object.line);
        for Opt { line, key, value } in &object.options {
            self.carried(*line);
            let found = known.iter().find(|known| known.key.eq_ignore_ascii_case(key));
            let said = format!("-{key} {value}");
            let said = said.trim_end();
            match found {
                Some(known) if known.changes_nothing(value) => {}
                Some(known) => self.leave_out(*line, format!("{said}: {}", known.why), known.traffic),
                None => self.leave_out(*line, format!("{said}: nothing here does this"), true),
            }
        }
    }

    /// Writes into a section, made where it is not there.
    fn section(&mut self, section: &str) -> Map<String, Value> {
        let root = std::mem::take(self.document).into_root();
        let found = root.get(section).and_then(Value::as_object).cloned().unwrap_or_default();
        *self.document = Document::from_root(root);
        found
    }

    fn store(&mut self, section: &str, tables: Map<String, Value>) {
        let mut root = std::mem::take(self.document).into_root();
        if !tables.is_empty() {
            root.insert(section.into(), tables.into());
        }
        *self.document = Document::from_root(root);
    }

    fn put(&mut self, section: &str, name: &str, table: Value) {
        let mut root = std::mem::take(self.document).into_root();
        let tables = root.entry(section.to_owned()).or_insert_with(|| json!({}));
        if let Value::Object(tables) = tables {
            tables.insert(name.to_owned(), table);
        }
        *self.document = Document::from_root(root);
    }

    /// Sites are data centres; the one of this box is its own.
    fn sites(&mut self, books: &Books) {
        let mut own = Vec::new();
        for site in books.sites.iter() {
            let word = site.words.first().map(|word| word.to_ascii_uppercase());
            let address = site.words.iter().find_map(|word| word.parse::<IpAddr>().ok());
            let is_local = match word.as_deref() {
                Some("LOCAL") => true,
                Some("REMOTE") => false,
                _ => address.is_some_and(|address| books.own.contains(&address)),
            };
            self.put("datacenter", &site.name, json!({}));
            if is_local {
                own.push(site.name.clone());
            }
            self.settle(site, said::SITE);
            if !is_local {
                self.note(site.line, "sites tell each other nothing here: this box probes what stands at another one");
            }
            for bound in &site.bound {
                self.missing(bound.line, "sites are bound to nothing here");
            }
        }
        if let [name] = &own[..] {
            self.put("appliance", "site", name.clone().into());
        }
    }

    fn listen(&mut self, books: &Books) {
        let mut addresses: Vec<&str> = books.listen.iter().map(|(_, address)| &address[..]).collect();
        addresses.dedup();
        let mut seen = HashSet::new();
        addresses.retain(|address| seen.insert(*address));
        if !addresses.is_empty() {
            let addresses = json!(addresses);
            self.put("dns", "listen", addresses);
        } else if let Some(line) = self.zones.first_line() {
            self.note(line, "no ADNS service of the file says where questions come in: write `[dns] listen`");
        }
    }

    fn finish(mut self) {
        let zones = std::mem::take(&mut self.zones);
        let mut tables = self.section("zone");
        for (name, table) in zones.into_tables() {
            tables.insert(name, table.into());
        }
        self.store("zone", tables);
        for (line, left) in std::mem::take(&mut self.left) {
            let traffic = left.iter().any(|(_, traffic)| *traffic);
            let what: Vec<String> = left.into_iter().map(|(what, _)| what).collect();
            self.lines[line].fate =
                Some(if what.is_empty() { Fate::Carried } else { Fate::Missing { what, whole: false, traffic } });
        }
    }
}

/// Whether an object of GSLB or DNS has this name. Records of a name are many, so none of them has one.
pub(super) fn has(document: &Document, resource: &Resource, name: &str) -> bool {
    match resource.nitro {
        "gslbsite" => document.table("datacenter", name).is_some(),
        "gslbservice" => Book::of(document).books.services.get(name).is_some(),
        "gslbvserver" => Book::of(document).books.vservers.get(name).is_some(),
        "dnszone" => document.table("zone", name).is_some(),
        "dnssoarec" => document.table("zone", name).is_some_and(|zone| zone.contains_key("soa")),
        _ => false,
    }
}
