//! What lines are about, by their first words.

use super::{Fate, Pending};
use crate::model::policy::PolicyBank;

/// How a line is worked off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// By the tables.
    Object,
    /// GSLB and DNS: sites, services, vservers, zones, records.
    Gslb,
    /// A policy of every vserver that reads requests.
    Everywhere(PolicyBank),
    /// Nothing here follows from it: why.
    Irrelevant(&'static str),
    /// Nothing here does this: what it is, and whether traffic depends on it.
    Missing(&'static str, bool),
}

const NETWORK: &str = "the network is the machine's own";
const INTERFACES: &str = "nothing says which of this machine's interfaces is meant: `add vlan` and `add route` once \
                          `[network.interface]` has them";
const BOX: &str = "how the box itself is run, not what it does with traffic";
const STATISTICS: &str = "logs, statistics and audit have their own settings here";
const BUILT_IN: &str = "there by itself";
const CIPHERS: &str =
    "ciphers are not configured: the suites are those of TLS 1.3, and those of TLS 1.2 with forward secrecy";
const FEATURE: &str = "modes of the packet engine";

/// Words after the verb, the longest first.
const CLASSES: &[(&str, Class)] = &[
    ("policy patset", Class::Object),
    ("policy expression", Class::Object),
    ("policy stringmap", Class::Missing("string maps", true)),
    ("policy dataset", Class::Missing("data sets", true)),
    ("policy param", Class::Irrelevant(BUILT_IN)),
    ("policy httpcallout", Class::Missing("calls to other servers from expressions", true)),
    ("cs policy", Class::Object),
    ("cs action", Class::Object),
    ("cs parameter", Class::Irrelevant(BUILT_IN)),
    ("responder policy", Class::Object),
    ("responder action", Class::Object),
    ("responder param", Class::Irrelevant(BUILT_IN)),
    ("responder global", Class::Everywhere(PolicyBank::Responder)),
    ("responder policylabel", Class::Missing("policy labels", true)),
    ("responder htmlpage", Class::Missing("imported pages; write the body in the rule", true)),
    ("rewrite policy", Class::Object),
    ("rewrite action", Class::Object),
    ("rewrite param", Class::Irrelevant(BUILT_IN)),
    ("rewrite global", Class::Everywhere(PolicyBank::Rewrite)),
    ("rewrite policylabel", Class::Missing("policy labels", true)),
    ("dns nameserver", Class::Object),
    ("gslb parameter", Class::Irrelevant(BUILT_IN)),
    ("gslb site", Class::Gslb),
    ("gslb service", Class::Gslb),
    ("gslb vserver", Class::Gslb),
    ("gslb servicegroup", Class::Missing("GSLB service groups; write a record for each member", true)),
    ("gslb", Class::Missing("GSLB beyond sites, services and vservers, see `bascule manual scenarios`", true)),
    ("dns suffix", Class::Irrelevant("names are asked of the servers that the machine has")),
    ("dns zone", Class::Gslb),
    ("dns soarec", Class::Gslb),
    ("dns nsrec", Class::Gslb),
    ("dns addrec", Class::Gslb),
    ("dns aaaarec", Class::Gslb),
    ("dns cnamerec", Class::Gslb),
    ("dns mxrec", Class::Gslb),
    ("dns txtrec", Class::Gslb),
    ("dns srvrec", Class::Gslb),
    ("dns ptrrec", Class::Gslb),
    ("dns key", Class::Missing("keys of DNSSEC; see `dnssec` of a zone", true)),
    ("dns policy", Class::Missing("policies of DNS, and views", true)),
    ("dns action", Class::Missing("policies of DNS, and views", true)),
    ("dns view", Class::Missing("policies of DNS, and views", true)),
    ("dns", Class::Missing("records of other types and further DNS settings: write `[zone]` and `[dns]`", true)),
    ("ssl parameter", Class::Irrelevant(BUILT_IN)),
    ("ssl fips", Class::Irrelevant(BUILT_IN)),
    ("ssl dtlsprofile", Class::Irrelevant("no DTLS")),
    ("ssl profile", Class::Missing("TLS profiles; `tls` of the vserver or service says it", true)),
    ("ssl cipher", Class::Missing(CIPHERS, false)),
    ("ssl policy", Class::Missing("TLS policies", true)),
    ("ssl action", Class::Missing("TLS policies", true)),
    ("ns feature", Class::Object),
    ("ns mode", Class::Irrelevant(FEATURE)),
    ("ns config", Class::Irrelevant(NETWORK)),
    ("ns hostname", Class::Object),
    ("ns ip", Class::Object),
    ("ns ip6", Class::Object),
    ("ns pbr", Class::Irrelevant(NETWORK)),
    ("ns pbrs", Class::Irrelevant(NETWORK)),
    ("ns acl", Class::Missing("packet filters", true)),
    ("ns acls", Class::Irrelevant(NETWORK)),
    ("ns simpleacl", Class::Missing("packet filters", true)),
    ("ns ratecontrol", Class::Irrelevant(FEATURE)),
    ("ns httpprofile", Class::Missing("HTTP profiles; the vserver says it", false)),
    ("ns tcpprofile", Class::Irrelevant("TCP is the kernel's")),
    ("ns tcpparam", Class::Irrelevant("TCP is the kernel's")),
    ("ns tcpbufparam", Class::Irrelevant("TCP is the kernel's")),
    ("ns httpparam", Class::Irrelevant(FEATURE)),
    ("ns trafficdomain", Class::Missing("traffic domains", true)),
    ("ns partition", Class::Missing("partitions", true)),
    ("ns limitidentifier", Class::Missing("rate limits by expression; see `limits` of a vserver", true)),
    ("ns limitselector", Class::Missing("rate limits by expression; see `limits` of a vserver", true)),
    ("ns variable", Class::Missing("variables", true)),
    ("ns assignment", Class::Missing("variables", true)),
    ("ns", Class::Irrelevant(BOX)),
    ("lb parameter", Class::Object),
    ("lb sipparameters", Class::Irrelevant("no SIP")),
    ("lb profile", Class::Missing("profiles of load balancing; the vserver says it", true)),
    ("lb policy", Class::Missing("policies of load balancing; write a rule", true)),
    ("lb action", Class::Missing("policies of load balancing; write a rule", true)),
    ("lb wlm", Class::Missing("workload managers", true)),
    ("lb metrictable", Class::Missing("metric tables of SNMP", true)),
    ("lb route", Class::Irrelevant(NETWORK)),
    ("lb", Class::Object),
    ("vserver", Class::Object),
    ("cs vserver", Class::Object),
    ("server", Class::Object),
    ("service", Class::Object),
    ("servicegroup", Class::Object),
    ("monitor", Class::Object),
    ("ssl", Class::Object),
    ("interface", Class::Irrelevant(NETWORK)),
    ("channel", Class::Irrelevant(NETWORK)),
    ("vlan", Class::Irrelevant(INTERFACES)),
    ("vxlan", Class::Irrelevant(NETWORK)),
    ("vrid", Class::Irrelevant(NETWORK)),
    ("vrid6", Class::Irrelevant(NETWORK)),
    ("route", Class::Irrelevant(INTERFACES)),
    ("route6", Class::Irrelevant(INTERFACES)),
    ("ip6tunnelparam", Class::Irrelevant(NETWORK)),
    ("iptunnelparam", Class::Irrelevant(NETWORK)),
    ("iptunnel", Class::Irrelevant(NETWORK)),
    ("ipset", Class::Irrelevant(NETWORK)),
    ("ipv6", Class::Irrelevant(NETWORK)),
    ("arp", Class::Irrelevant(NETWORK)),
    ("arpparam", Class::Irrelevant(NETWORK)),
    ("nd6", Class::Irrelevant(NETWORK)),
    ("nd6ravariables", Class::Irrelevant(NETWORK)),
    ("netprofile", Class::Irrelevant(NETWORK)),
    ("netbridge", Class::Irrelevant(NETWORK)),
    ("bridgegroup", Class::Irrelevant(NETWORK)),
    ("bridgetable", Class::Irrelevant(NETWORK)),
    ("rnat", Class::Missing("NAT of servers' own connections", true)),
    ("inatparam", Class::Irrelevant(NETWORK)),
    ("ipsec", Class::Irrelevant("no IPsec")),
    ("inat", Class::Missing("NAT to servers", true)),
    ("nat64", Class::Missing("NAT64", true)),
    ("nat64param", Class::Irrelevant(NETWORK)),
    ("l2param", Class::Irrelevant(NETWORK)),
    ("l3param", Class::Irrelevant(NETWORK)),
    ("l4param", Class::Irrelevant(NETWORK)),
    ("lacp", Class::Irrelevant(NETWORK)),
    ("lldp", Class::Irrelevant(NETWORK)),
    ("rsskeytype", Class::Irrelevant(NETWORK)),
    ("router", Class::Irrelevant(NETWORK)),
    ("ha", Class::Irrelevant("one box; see `bascule manual peers` for others")),
    ("cluster", Class::Irrelevant("one box; see `bascule manual peers` for others")),
    ("ntp server", Class::Object),
    ("ntp", Class::Irrelevant("systemd-timesyncd sets the clock, by the servers of `[time]`")),
    ("snmp", Class::Irrelevant(STATISTICS)),
    ("audit", Class::Irrelevant(STATISTICS)),
    ("appflow", Class::Irrelevant(STATISTICS)),
    ("analytics", Class::Irrelevant(STATISTICS)),
    ("ica", Class::Irrelevant(STATISTICS)),
    ("feo", Class::Irrelevant("no front-end optimisation")),
    ("callhome", Class::Irrelevant(BOX)),
    ("system", Class::Irrelevant("people and their rights: see `[admin]`")),
    ("aaa", Class::Irrelevant("people and their rights: see `[admin]`")),
    ("uiinternal", Class::Irrelevant(BOX)),
    ("locationparameter", Class::Irrelevant(BUILT_IN)),
    ("locationfile", Class::Missing("tables of places; see `geo`", true)),
    ("location", Class::Missing("tables of places; see `geo`", true)),
    ("filter", Class::Missing("classic filters; write a rule", true)),
    ("dos", Class::Missing("classic protection; see `limits`", false)),
    ("sc", Class::Missing("SureConnect", false)),
    ("pq", Class::Missing("priority queues", false)),
    ("cmp", Class::Missing("compression", false)),
    ("cache", Class::Missing("caching", false)),
    ("appfw", Class::Missing("application firewall", true)),
    ("authentication", Class::Missing("authentication of clients", true)),
    ("authorization", Class::Missing("authentication of clients", true)),
    ("vpn", Class::Missing("VPN", true)),
    ("tm", Class::Missing("authentication of clients", true)),
    ("cr", Class::Missing("cache redirection", true)),
    ("stream", Class::Missing("streams of statistics in expressions", true)),
    ("spillover", Class::Missing("spillover policies; see `spillover`", true)),
    ("transform", Class::Missing("URL transformation; write rules", true)),
    ("db", Class::Missing("credentials of databases; a check names its own", true)),
    ("autoscale", Class::Missing("automatic scaling", true)),
    ("bot", Class::Missing("bot management", true)),
    ("urlfiltering", Class::Irrelevant(BUILT_IN)),
    ("smpp", Class::Irrelevant("no SMPP")),
    ("contentinspection", Class::Missing("content inspection", true)),
    ("videooptimization", Class::Irrelevant(BUILT_IN)),
    ("subscriber", Class::Irrelevant(BUILT_IN)),
    ("lsn", Class::Missing("large-scale NAT", true)),
    ("ptp", Class::Irrelevant("the clock is the machine's")),
    ("reporting", Class::Irrelevant(STATISTICS)),
    ("rdp", Class::Irrelevant(BUILT_IN)),
    ("mediaclassification", Class::Irrelevant(BUILT_IN)),
    ("adm", Class::Irrelevant(BOX)),
    ("quic", Class::Irrelevant("no QUIC")),
    ("quicbridge", Class::Irrelevant("no QUIC")),
];

/// Verbs that change no configuration.
const ACTS: [&str; 6] = ["save", "sync", "apply", "show", "stat", "clear"];

pub(super) fn class(line: &Pending) -> Class {
    let verb = line.word(0);
    if ACTS.contains(&&verb[..]) {
        return Class::Irrelevant("it is no configuration");
    }
    let (first, second) = (line.word(1), line.word(2));
    if let Some(why) = without_effect(&verb, &first, &second, line) {
        return Class::Irrelevant(why);
    }
    if names_ciphers(line) {
        return Class::Missing(CIPHERS, false);
    }
    let both = format!("{first} {second}");
    let find = |wanted: &str| CLASSES.iter().find(|(words, _)| *words == wanted).map(|(_, class)| *class);
    find(&both).or_else(|| find(&first)).unwrap_or(Class::Missing("nothing here is called this", true))
}

/// Lines that every saved file has for what is there by itself, or that hang on something that is missing anyway.
fn without_effect(verb: &str, first: &str, second: &str, line: &Pending) -> Option<&'static str> {
    const BY_THEMSELVES: [&str; 4] = ["ldns-dns", "ldns-ping", "ldns-tcp", "stasecure"];
    const OF_A_FEATURE: [&str; 8] = ["vpn", "aaa", "tm", "cache", "appfw", "authentication", "cmp", "dns"];
    let name = line.text(3).unwrap_or_default();
    if verb == "set" && first == "lb" && second == "monitor" && BY_THEMSELVES.contains(&name) {
        return Some(BUILT_IN);
    }
    if verb == "set" && OF_A_FEATURE.contains(&first) {
        return Some("what a feature has without being told");
    }
    if verb == "bind" && first == "cmp" && second == "global" {
        return Some("compression that is there by itself");
    }
    if first == "ssl" && second == "profile" && verb == "set" && name.starts_with("ns_default") {
        return Some(BUILT_IN);
    }
    if names_ciphers(line) {
        // Every saved file takes the one away and binds the other.
        let name = line.value("cipherName").unwrap_or_default().to_ascii_uppercase();
        return ["DEFAULT", "ALL"].contains(&&name[..]).then_some(CIPHERS);
    }
    (verb == "bind" && first == "ssl" && line.value("eccCurveName").is_some()).then_some("curves are the library's")
}

/// `bind ssl vserver v -cipherName c`, of services and groups too.
fn names_ciphers(line: &Pending) -> bool {
    let is_bound = ["bind", "unbind"].contains(&&line.word(0)[..]) && line.word(1) == "ssl";
    is_bound && line.value("cipherName").is_some() && line.value("certkeyName").is_none()
}

/// Gives those lines their fate that are about something else.
pub(super) fn set_aside(lines: &mut [Pending]) {
    for line in lines.iter_mut().filter(|line| line.fate.is_none()) {
        match class(line) {
            Class::Irrelevant(why) => line.fate = Some(Fate::Irrelevant(why)),
            Class::Missing(what, traffic) => {
                line.fate = Some(Fate::Missing { what: vec![what.to_owned()], whole: true, traffic });
            }
            Class::Object | Class::Gslb | Class::Everywhere(_) => {}
        }
    }
}
