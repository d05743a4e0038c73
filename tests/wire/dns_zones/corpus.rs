//! Generated zones and queries before Bascule, Knot and NSD: three answers to each that must be the same.
//!
//! Zones come from a fixed seed and hold what makes answers differ: aliases in chains, out of the zone and to nowhere,
//! wildcards beside empty non-terminals, delegations with glue and with DS, DNAME, names in both cases and with bytes that
//! are no letters, sets that do not fit. Signed ones are served by all three with the signatures that Bascule made.
//! What is known to differ stands in [`known`], and in the manual.

#[path = "corpus/message.rs"]
mod message;
#[path = "corpus/zones.rs"]
mod zones;

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use super::*;
use crate::servers;
use message::{Seen, query, seen};
use zones::{Chance, ORIGIN, questions, zone_text};

const SEEDS: [u64; 3] = [8906, 1035, 4592];
const QUESTIONS: usize = 1500;
/// ANY is what each makes of it (RFC 8482), NSEC and RRSIG as questions too.
const TYPES: &[u16] = &[1, 28, 2, 5, 6, 12, 15, 16, 33, 39, 43, 48, 257, 65_400];

/// A question over UDP; lost datagrams are asked again.
fn ask(server: SocketAddr, query: &[u8]) -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    socket.connect(server).unwrap();
    let mut buffer = vec![0; 65_535];
    for _ in 0..10 {
        socket.send(query).unwrap();
        if let Ok(length) = socket.recv(&mut buffer) {
            buffer.truncate(length);
            return buffer;
        }
    }
    panic!("{server} does not answer")
}

/// Why an answer may differ from that of a peer; `None`: it may not.
fn known(peer: &str, ours: &Seen, theirs: &Seen) -> Option<&'static str> {
    let differ_in_additional = Seen { additional: theirs.additional.clone(), ..ours.clone() } == *theirs;
    // With `minimal-responses`, which it needs to leave out what nobody asked for.
    (peer == "NSD" && differ_in_additional && theirs.additional.is_subset(&ours.additional))
        .then_some("leaves out addresses that help")
}

/// Asks all three and compares; the differences by reason.
async fn compare(served: &Served, text: &str, seed: u64, dnssec_ok: bool) -> BTreeMap<String, usize> {
    let zones = [(ORIGIN, text)];
    let (knot, nsd) = (servers::knot_with(&zones), servers::nsd_with(&zones));
    let mut chance = Chance(seed);
    let mut reasons = BTreeMap::new();
    let mut unknown = Vec::new();
    for name in questions(&mut chance, text, QUESTIONS) {
        let rtype = TYPES[chance.below(TYPES.len())];
        let query = query(&name, rtype, dnssec_ok);
        let ours = seen(&ask(served.address(), &query));
        for (peer, at) in [("Knot", knot.at), ("NSD", nsd.at)] {
            let theirs = seen(&ask(at, &query));
            if ours == theirs {
                *reasons.entry(format!("{peer}: agreed")).or_default() += 1;
            } else if let Some(why) = known(peer, &ours, &theirs) {
                *reasons.entry(format!("{peer}: {why}")).or_default() += 1;
            } else {
                let question = format!("{} {rtype}", name.escape_ascii());
                unknown.push(format!("{question}\n  Bascule {ours}\n  {peer} {theirs}"));
            }
        }
    }
    let shown: Vec<&str> = unknown.iter().map(String::as_str).take(12).collect();
    assert!(unknown.is_empty(), "{} of seed {seed} differ, such as\n{}\n{reasons:#?}", unknown.len(), shown.join("\n"));
    reasons
}

fn config(text: &str, more: &str) -> String {
    let soa = "{ mname = \"ns1\", rname = \"hostmaster\", serial = 7, refresh = \"1h\", retry = \"10m\", expire = \"1d\", \
               minimum = \"30s\" }";
    let without_soa: String =
        text.lines().filter(|line| !line.contains(" SOA ")).map(|line| format!("{line}\n")).collect();
    format!(
        "[dns]\nlisten = [\"127.0.0.1:0\"]\n[zone.\"{ORIGIN}\"]\nttl = \"60s\"\nsoa = {soa}\nstatic = '''\n{without_soa}'''\n\
         {more}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_those_of_knot_and_nsd() {
    for seed in SEEDS {
        let text = zone_text(&mut Chance(seed));
        let served = Served::start(&config(&text, ""), |_| {}).await;
        let reasons = compare(&served, &text, seed, false).await;
        println!("seed {seed}: {reasons:#?}");
        served.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signed_answers_are_those_of_knot_and_nsd() {
    for seed in SEEDS {
        let text = zone_text(&mut Chance(seed));
        let signed = format!(
            "[zone.\"{ORIGIN}\".dnssec]\nkeys = [\"zone.pem\"]\n[zone.\"{ORIGIN}\".transfer]\nallow = [\"127.0.0.1\"]\n"
        );
        let key = |folder: &Path| std::fs::write(folder.join("zone.pem"), pem(true)).unwrap();
        let served = Served::start(&config(&text, &signed), key).await;
        let (server, port) = (format!("@{}", served.address().ip()), served.address().port().to_string());
        let dig = ["+onesoa", "+nocomments", "+nocmd", "+nostats", ORIGIN, "AXFR"];
        let (zone, _) = run("dig", &[&[&*server, "-p", &port], &dig[..]].concat()).await;
        let reasons = compare(&served, &zone, seed, true).await;
        println!("seed {seed}, signed: {reasons:#?}");
        served.stop().await;
    }
}
