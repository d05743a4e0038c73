//! Zones and questions from a seed.

use std::collections::BTreeSet;
use std::fmt::Write;

pub const ORIGIN: &str = "corpus.test";

/// splitmix64.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const LABELS: &[&str] = &["a", "b", "www", "Mail", "x-1", "_sip", "\\000z", "\\255", "with\\.dot", "z"];
const ODD: &[&str] =
    &["TYPE65400 \\# 3 010203", "CAA 0 issue \"ca.example\"", "SRV 1 2 443 host0", "PTR host1.corpus.test."];

/// A whole zone, absolute but for names that end in a label of their own.
pub fn zone_text(chance: &mut Chance) -> String {
    let mut text = format!(
        "$ORIGIN {ORIGIN}.\n@ 60 SOA ns1 hostmaster 7 3600 600 86400 30\n@ 60 NS ns1\n@ 60 NS ns.elsewhere.example.\nns1 60 A \
         192.0.2.1\n@ 60 MX 10 host0\nhost0 60 A 192.0.2.2\nhost1 60 AAAA 2001:db8::2\n"
    );
    // Owners that have something of their own: nothing else may stand there, or below cuts and DNAMEs.
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut fresh = |chance: &mut Chance, depth: usize| loop {
        let labels: Vec<&str> = (0..=depth).map(|_| chance.one(LABELS)).collect();
        let name = format!("{}.n{}", labels.join("."), chance.below(1 << 16));
        if taken.insert(name.to_ascii_lowercase()) {
            return name;
        }
    };
    let mut owners = vec!["host0".to_owned(), "ns1".to_owned()];
    for at in 0..40 {
        let depth = chance.below(3);
        let owner = fresh(chance, depth);
        for _ in 0..=chance.below(3) {
            let _ = match chance.below(5) {
                0 => writeln!(text, "{owner} 60 A 198.51.100.{}", chance.below(250)),
                1 => writeln!(text, "{owner} 60 AAAA 2001:db8::{:x}", chance.below(9_999)),
                2 => writeln!(text, "{owner} 60 TXT \"text {at}\" \"{}\"", "y".repeat(chance.below(60))),
                3 => writeln!(text, "{owner} 60 MX {} host{}", chance.below(9), chance.below(2)),
                _ => writeln!(text, "{owner} 60 {}", chance.one(ODD)),
            };
        }
        owners.push(owner);
    }
    for _ in 0..12 {
        // Chains among the names that are there, out of the zone, and to nowhere.
        let alias = fresh(chance, 0);
        let target = match chance.below(6) {
            0 => "out.elsewhere.example.".to_owned(),
            1 => "nothing.there".to_owned(),
            2 => format!("below.{}", owners[chance.below(owners.len())]),
            _ => owners[chance.below(owners.len())].clone(),
        };
        let _ = writeln!(text, "{alias} 60 CNAME {target}");
        owners.push(alias);
    }
    for _ in 0..6 {
        let owner = fresh(chance, 0);
        let _ = match chance.below(3) {
            0 => writeln!(text, "*.{owner} 60 CNAME {}", owners[chance.below(owners.len())]),
            1 => writeln!(text, "*.{owner} 60 TXT \"a wildcard\"\n*.{owner} 60 A 203.0.113.9"),
            // An empty non-terminal beside the wildcard hides it.
            _ => writeln!(text, "*.{owner} 60 A 203.0.113.1\nx.ent.{owner} 60 A 203.0.113.2"),
        };
        owners.push(format!("some.{owner}"));
    }
    for at in 0..6 {
        let cut = fresh(chance, 0);
        let _ = match at % 3 {
            0 => writeln!(text, "{cut} 60 NS ns.{cut}\nns.{cut} 60 A 192.0.2.53\nns.{cut} 60 AAAA 2001:db8::53"),
            1 => writeln!(text, "{cut} 60 NS ns1\n{cut} 60 NS ns.elsewhere.example."),
            _ => writeln!(
                text,
                "{cut} 60 NS ns.{cut}\nns.{cut} 60 A 192.0.2.54\n{cut} 60 DS 60485 13 2 \
                 D4B7D520E7BB5F0F67674A0CCEB1E3E0614B93C4F9E99B8383F6A1E4469DA50A"
            ),
        };
        owners.push(cut);
    }
    for _ in 0..3 {
        let owner = fresh(chance, 0);
        let _ = writeln!(text, "{owner} 60 DNAME {}", owners[chance.below(12)]);
        owners.push(owner);
    }
    for at in 0..90 {
        let _ = writeln!(text, "many 60 A 203.0.113.{at}");
    }
    text
}

/// Names in wire format: those of the zone, names below and beside them, and some that nobody has heard of; letters in
/// either case.
pub fn questions(chance: &mut Chance, text: &str, count: usize) -> Vec<Vec<u8>> {
    let origin = bascule::model::zone::DnsName::parse(ORIGIN, &bascule::model::zone::DnsName::root()).unwrap();
    let owners =
        text.lines().filter(|line| !line.starts_with(['$', ';'])).filter_map(|line| line.split_whitespace().next());
    let owners: BTreeSet<&str> = owners.collect();
    let owners: Vec<&str> = owners.into_iter().collect();
    let mut all = Vec::new();
    while all.len() < count {
        let owner = owners[chance.below(owners.len())];
        let name = match chance.below(8) {
            0..4 => owner.to_owned(),
            4 => format!("{}.{owner}", chance.one(LABELS)),
            5 => format!("{}.{}.{owner}", chance.one(LABELS), chance.one(LABELS)),
            // An empty non-terminal, or a sibling.
            6 => owner.split_once('.').map_or(owner, |(_, above)| above).to_owned(),
            _ => format!("{}.n{}", chance.one(LABELS), chance.below(1 << 16)),
        };
        let name = name.replace('@', ORIGIN_DOT);
        let Some(parsed) = bascule::model::zone::DnsName::parse(&name, &origin) else { continue };
        if !parsed.is_within(&origin) {
            continue;
        }
        let mixed = parsed.0.iter().map(|&byte| {
            if byte.is_ascii_lowercase() && chance.below(4) == 0 { byte.to_ascii_uppercase() } else { byte }
        });
        all.push(mixed.collect());
    }
    all
}

const ORIGIN_DOT: &str = "corpus.test.";
