//! DNS lines, and the zones in which names stand.
//!
//! Where the file says no zone for a name, the name becomes a zone of its own: NetScaler answers for the domains that it
//! knows and for nothing beside them, and a zone of the parent domain would deny names that others have. A CNAME, which no
//! apex can be, and names of services (`_sip._tcp.…`) stand in a zone of the domain above them.

mod kept;

use std::collections::HashMap;
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::said::{self, Opt, take};
use super::{Books, Carrying, Pending};
use crate::config::zonefile;
use crate::model::zone::DnsName;
use kept::Zone;
pub(super) use kept::Zones;

/// `add dns KIND`
pub(super) const KINDS: [&str; 10] =
    ["zone", "soarec", "nsrec", "addrec", "aaaarec", "cnamerec", "mxrec", "txtrec", "srvrec", "ptrrec"];

/// NetScaler's TTL where none is said.
pub(super) const TTL: u32 = 3600;
/// Largest TTL (RFC 2181 §8); the times of a SOA have the same bound here.
const TTL_MOST: u32 = 0x7fff_ffff;

/// One line of DNS, or one record of it.
#[derive(Clone)]
pub(super) struct Record {
    pub line: usize,
    /// In lower case, without the last dot.
    pub owner: String,
    what: What,
}

#[derive(Clone)]
enum What {
    Zone(Vec<Opt>),
    Soa(Vec<Opt>),
    Data { rtype: &'static str, data: String, ttl: u32, options: Vec<Opt> },
}

/// Errors: what cannot be read.
pub(super) fn record(at: usize, line: &Pending) -> Result<Vec<Record>, String> {
    let owner = domain(line.text(3).ok_or("a name is missing")?)?;
    let (words, mut options) = said::said(at, line.tokens.get(4..).unwrap_or_default());
    let kind = line.word(2);
    match &kind[..] {
        "zone" => return Ok(vec![Record { line: at, owner, what: What::Zone(options) }]),
        "soarec" => return Ok(vec![Record { line: at, owner, what: What::Soa(options) }]),
        _ => {}
    }
    let ttl = match take(&mut options, "TTL") {
        Some(said) => ttl(&said.value).ok_or("-TTL is a number of seconds, up to 2147483647")?,
        None => TTL,
    };
    let mut number = |key: &str, default: u32| match take(&mut options, key) {
        Some(option) => option.value.parse::<u32>().map_err(|_| format!("-{key} is a number")),
        None => Ok(default),
    };
    let one = |what: &str| match &words[..] {
        [one] => host(one),
        _ => Err(format!("one {what} belongs behind the name")),
    };
    let addresses = |fits: fn(&IpAddr) -> bool| match words.iter().find(|word| !word.parse().is_ok_and(|ip| fits(&ip)))
    {
        Some(word) => Err(format!("`{word}` is no address of this type")),
        None => Ok(words.clone()),
    };
    let (rtype, data) = match &kind[..] {
        "addrec" => ("A", addresses(IpAddr::is_ipv4)?),
        "aaaarec" => ("AAAA", addresses(IpAddr::is_ipv6)?),
        "txtrec" => ("TXT", vec![words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")]),
        "nsrec" => ("NS", vec![one("name server")?]),
        "cnamerec" => ("CNAME", vec![one("name")?]),
        "ptrrec" => ("PTR", vec![one("name")?]),
        "mxrec" => {
            let preference = number("pref", 10)?;
            let mx = take(&mut options, "mx").ok_or("-mx is missing")?;
            ("MX", vec![format!("{preference} {}", host(&mx.value)?)])
        }
        _ => {
            let (priority, weight) = (number("priority", 0)?, number("weight", 0)?);
            let port = take(&mut options, "port").ok_or("-port is missing")?;
            let port: u16 = port.value.parse().map_err(|_| "-port is a number")?;
            ("SRV", vec![format!("{priority} {weight} {port} {}", one("target")?)])
        }
    };
    if data.iter().all(String::is_empty) {
        return Err("its value is missing".into());
    }
    let make = |data: &String| Record {
        line: at,
        owner: owner.clone(),
        what: What::Data { rtype, data: data.clone(), ttl, options: options.clone() },
    };
    Ok(data.iter().map(make).collect())
}

/// A record as a line of its zone's text, `owner` the name in it. `None`: it says more than a text has place for, or
/// cannot stand there.
pub(super) fn line(record: &Record, owner: &str) -> Option<String> {
    match &record.what {
        What::Data { rtype, data, ttl, options } if options.is_empty() && !(*rtype == "CNAME" && owner == "@") => {
            Some(text_line(owner, *ttl, rtype, data) + "\n")
        }
        _ => None,
    }
}

fn text_line(owner: &str, ttl: u32, rtype: &str, data: &str) -> String {
    format!("{owner:<8} {ttl:>5} {rtype:<5} {data}")
}

/// A TTL in seconds.
pub(super) fn ttl(text: &str) -> Option<u32> {
    text.parse().ok().filter(|ttl| *ttl <= TTL_MOST)
}

/// In lower case, without the last dot. Of letters, digits and `-_*/`: what else a label could hold would mean something
/// else in the text of a zone, or in the key of an RRset.
pub(super) fn domain(text: &str) -> Result<String, String> {
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_*/.".contains(&b);
    let is_name = name.bytes().all(is_plain) && DnsName::parse(&format!("{name}."), &DnsName::root()).is_some();
    if is_name && !name.is_empty() { Ok(name) } else { Err(format!("`{text}` is no domain name")) }
}

/// A name as data, in full.
pub(super) fn host(text: &str) -> Result<String, String> {
    domain(text).map(|name| format!("{name}."))
}

/// A string of a TXT record (RFC 1035 §5.1).
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:03}")),
        }
    }
    out.push('"');
    out
}

/// The domain in whose zone a name stands where the file says none; `None`: it would be a top-level domain.
pub(super) fn zone_for(name: &str, below: bool) -> Option<&str> {
    let mut rest = name;
    while let Some((first, above)) = rest.split_once('.')
        && (first.starts_with('_') || first == "*")
    {
        rest = above;
    }
    if below && rest == name {
        rest = rest.split_once('.')?.1;
    }
    (rest == name || rest.contains('.')).then_some(rest)
}

// === impl Carrying ===

impl Carrying<'_> {
    /// The zones that the file says, and those that its names need.
    pub(super) fn plan(&mut self, books: &Books) {
        for record in &books.records {
            self.zones.first_line.get_or_insert(record.line);
            match &record.what {
                What::Zone(options) => self.zone(record, options.clone(), books),
                What::Soa(options) => self.soa(record, options.clone()),
                What::Data { .. } => {}
            }
        }
        // The name, the line, and whether no apex can be it.
        let mut names: Vec<(String, usize, bool)> = Vec::new();
        for record in &books.records {
            if let What::Data { rtype, .. } = &record.what {
                names.push((record.owner.clone(), record.line, matches!(*rtype, "CNAME" | "PTR")));
            }
        }
        for vserver in books.vservers.iter() {
            let of_type = |option: &Opt| option.key.eq_ignore_ascii_case("dnsRecordType");
            let is_alias = vserver.options.iter().any(|o| of_type(o) && o.value.eq_ignore_ascii_case("CNAME"));
            for bound in &vserver.bound {
                let named = bound.options.iter().find(|option| option.key.eq_ignore_ascii_case("domainName"));
                if let Some(Ok(name)) = named.map(|option| domain(&option.value)) {
                    self.zones.first_line.get_or_insert(bound.line);
                    names.push((name, bound.line, is_alias));
                }
            }
        }
        names.sort_by_cached_key(|(name, line, below)| (name.matches('.').count(), *below, *line));
        for (name, _, below) in names {
            if self.zones.holder(&name).is_some_and(|(_, owner)| !(below && owner == "@")) {
                continue;
            }
            if let Some(zone) = zone_for(&name, below).filter(|zone| !self.zones.zones.contains_key(*zone)) {
                let made = Zone { is_made: true, ..Zone::default() };
                self.zones.zones.insert(zone.to_owned(), made);
            }
        }
    }

    fn zone(&mut self, record: &Record, mut options: Vec<Opt>, books: &Books) {
        let proxies = take(&mut options, "proxyMode").is_none_or(|option| !option.value.eq_ignore_ascii_case("NO"));
        let has_soa = books.records.iter().any(|r| matches!(r.what, What::Soa(_)) && r.owner == record.owner);
        if proxies && !has_soa {
            return self.missing(record.line, "answers of other servers are not passed on: -proxyMode NO is a zone");
        }
        let zone = self.zones.zones.entry(record.owner.clone()).or_default();
        zone.table.entry("ttl").or_insert_with(|| format!("{TTL}s").into());
        self.carried(record.line);
        for option in options {
            let same = ["DISABLED", "NONE"].iter().any(|same| option.value.eq_ignore_ascii_case(same));
            if !same {
                let what = format!("-{} {}: see `dnssec` of a zone", option.key, option.value);
                self.leave_out(record.line, what, true);
            }
        }
    }

    fn soa(&mut self, record: &Record, mut options: Vec<Opt>) {
        let mut soa = Map::new();
        for (key, into) in [("originServer", "mname"), ("contact", "rname")] {
            let name = take(&mut options, key).map(|option| host(&option.value.replacen('@', ".", 1)));
            match name {
                Some(Ok(name)) => soa.insert(into.into(), name.into()),
                Some(Err(why)) => return self.missing(record.line, why),
                None => return self.missing(record.line, format!("-{key} is missing")),
            };
        }
        // NetScaler's own where nothing is said.
        let numbers =
            [("serial", 100), ("refresh", 3600), ("retry", 3), ("expire", 3600), ("minimum", 5), ("TTL", TTL)];
        let mut ttl = Value::Null;
        for (key, default) in numbers {
            let most = if key == "serial" { u32::MAX } else { TTL_MOST };
            let said = take(&mut options, key).map(|option| option.value.parse::<u32>().ok());
            let Some(number) = said.unwrap_or(Some(default)).filter(|number| *number <= most) else {
                return self.missing(record.line, format!("-{key} is a number, up to {most}"));
            };
            match key {
                "TTL" => ttl = format!("{number}s").into(),
                "serial" => drop(soa.insert(key.into(), number.into())),
                _ => drop(soa.insert(key.into(), format!("{number}s").into())),
            }
        }
        let zone = self.zones.zones.entry(record.owner.clone()).or_default();
        zone.table.insert("ttl".into(), ttl);
        zone.table.insert("soa".into(), soa.into());
        self.carried(record.line);
        for option in options {
            self.leave_out(record.line, format!("-{}: nothing here does this", option.key), false);
        }
    }

    /// Records that nothing steers become zone text.
    pub(super) fn records(&mut self, records: &[Record]) {
        let mut ttls: HashMap<(&str, &str), u32> = HashMap::new();
        for record in records {
            let What::Data { rtype, data, ttl, options } = &record.what else { continue };
            let Some((zone_name, owner)) = self.zones.holder(&record.owner) else {
                self.missing(record.line, "no zone can hold it: say one by `add dns soaRec`");
                continue;
            };
            if *rtype == "CNAME" && owner == "@" {
                self.missing(record.line, "a CNAME cannot stand at the apex of a zone, beside its SOA");
                continue;
            }
            let one_ttl = *ttls.entry((&record.owner, *rtype)).or_insert(*ttl);
            if one_ttl != *ttl {
                self.note(record.line, format!("one TTL for all {rtype} records of a name: {one_ttl}"));
            }
            let Some(zone) = self.zones.zones.get_mut(&zone_name) else { continue };
            let steered = |key: &String| {
                key.split_once(' ')
                    .is_some_and(|(name, of)| name == owner && (of == *rtype || of == "CNAME" || *rtype == "CNAME"))
            };
            if zone.rrsets.keys().any(steered) {
                self.missing(record.line, "a GSLB vserver answers for this name");
                continue;
            }
            zone.text.push((record.line, text_line(&owner, one_ttl, rtype, data)));
            self.made(record.line, &record.owner, &zone_name, &owner);
            self.carried(record.line);
            for option in options {
                self.leave_out(record.line, format!("-{} {}: nothing here does this", option.key, option.value), false);
            }
        }
        self.judge();
    }

    /// Lines that are no zone text are missing, with what the reader of zones says of them.
    fn judge(&mut self) {
        let mut refused = Vec::new();
        for (name, zone) in &mut self.zones.zones {
            let Some(origin) = DnsName::parse(&format!("{name}."), &DnsName::root()) else { continue };
            let (_, problems) = zonefile::read(&zone.text(), &origin, zone.ttl());
            let mut bad: Vec<(usize, usize, String)> = Vec::new();
            for problem in problems {
                let index = (problem.line as usize).saturating_sub(1);
                if let Some((line, _)) = zone.text.get(index) {
                    bad.push((index, *line, problem.what));
                }
            }
            let mut index = 0;
            zone.text.retain(|_| {
                index += 1;
                !bad.iter().any(|(at, _, _)| at + 1 == index)
            });
            refused.extend(bad.into_iter().map(|(_, line, what)| (line, what)));
        }
        for (line, what) in refused {
            self.missing(line, what);
        }
    }

    /// Takes an RRset into its zone. Errors: it cannot stand there; why.
    pub(super) fn rrset(&mut self, line: usize, name: &str, rtype: &str, table: Value) -> Result<(), String> {
        let Some((zone_name, owner)) = self.zones.holder(name) else {
            return Err("no zone can hold it: say one by `add dns soaRec`".into());
        };
        let Some(zone) = self.zones.zones.get_mut(&zone_name) else { return Ok(()) };
        let same_owner = |key: &&String| key.split_once(' ').is_some_and(|(other, _)| other == owner);
        if let Some(other) = zone
            .rrsets
            .keys()
            .filter(same_owner)
            .find(|key| key.ends_with(&format!(" {rtype}")) || key.ends_with(" CNAME") || rtype == "CNAME")
        {
            return Err(format!("another GSLB vserver answers for `{other}` in {zone_name}"));
        }
        if rtype == "CNAME" && owner == "@" {
            return Err("a CNAME cannot stand at the apex of a zone, beside its SOA".into());
        }
        zone.rrsets.insert(format!("{owner} {rtype}"), table);
        self.made(line, name, &zone_name, &owner);
        Ok(())
    }

    /// Tells once that a zone stands in no line of the file.
    fn made(&mut self, line: usize, name: &str, zone_name: &str, owner: &str) {
        let Some(zone) = self.zones.zones.get_mut(zone_name).filter(|zone| zone.is_made && !zone.is_told) else {
            return;
        };
        zone.is_told = true;
        let whole = if owner == "@" { "a zone of its own, and nothing beside it is answered" } else { "made for it" };
        self.note(line, format!("the file says no zone for {name}: `{zone_name}` is {whole}"));
    }
}
