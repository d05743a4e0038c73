use serde_json::{Value, json};

use crate::netscaler::document::Document;
use crate::netscaler::import::tests::loads;
use crate::netscaler::import::{Fate, Imported, import};
use crate::netscaler::line::{self, Parsed};

const TWO_SITES: &str = r#"#NS13.1 Build 37.29
set ns config -IPAddress 10.1.0.5 -netmask 255.255.255.0
enable ns feature LB GSLB
add ns ip 10.1.0.6 255.255.255.0 -vServer DISABLED -mgmtAccess ENABLED
add ns ip 192.0.2.53 255.255.255.0 -type VIP
add server srv-1 10.1.1.1
add server vip-b 198.51.100.10
add service svc-adns 192.0.2.53 ADNS 53 -gslb NONE -maxClient 0
add service svc-adns-tcp 192.0.2.53 ADNS_TCP 53
add service svc-1 srv-1 HTTP 8080
add lb vserver lb-web HTTP 192.0.2.10 80
bind lb vserver lb-web svc-1
add lb monitor mon-b HTTP -respCode 200 -httpRequest "GET /health" -LRTM DISABLED
add gslb site site-a LOCAL 10.1.0.6 -publicIP 192.0.2.6
add gslb site site-b REMOTE 10.2.0.6 -publicIP 198.51.100.6
add gslb service gs-a 192.0.2.10 HTTP 80 -publicIP 192.0.2.10 -publicPort 80 -maxClient 0 -siteName site-a -cltTimeout 180 -svrTimeout 360 -downStateFlush ENABLED
add gslb service gs-b vip-b HTTP 80 -publicIP 203.0.113.10 -publicPort 80 -maxClient 0 -siteName site-b
add gslb service gs-c 198.51.100.99 ANY * -siteName site-b
add gslb vserver gv-web HTTP -lbMethod ROUNDROBIN -backupLBMethod LEASTCONNECTION -tolerance 0 -appflowLog DISABLED
add gslb vserver gv-dr HTTP -lbMethod ROUNDROBIN
set gslb vserver gv-web -backupVServer gv-dr
bind gslb vserver gv-web -serviceName gs-a -weight 3
bind gslb vserver gv-dr -serviceName gs-b
bind gslb vserver gv-web -domainName www.gslb.example.test -TTL 5
bind gslb vserver gv-web -domainName shop.example.org -TTL 5 -backupIP 203.0.113.99
bind gslb service gs-b -monitorName mon-b
add dns zone gslb.example.test -proxyMode NO
add dns soaRec gslb.example.test -originServer ns1.gslb.example.test -contact admin.example.test -serial 7
add dns nsRec gslb.example.test ns1.gslb.example.test -TTL 3600
add dns addRec ns1.gslb.example.test 192.0.2.53 -TTL 3600
add dns mxRec gslb.example.test -mx mail.example.test -pref 5
add dns txtRec gslb.example.test "v=spf1 -all" -TTL 60
add dns addRec www.gslb.example.test 192.0.2.77
add dns addRec bad.gslb.example.test not-an-address
set gslb parameter -RTTTolerance 5
"#;

fn at<'a>(imported: &'a Imported, section: &str, name: &str) -> &'a Value {
    &imported.document.root()[section][name]
}

fn line<'a>(imported: &'a Imported, begin: &str) -> &'a crate::netscaler::import::Line {
    imported.lines.iter().find(|line| line.text.starts_with(begin)).unwrap()
}

#[test]
fn a_gslb_vserver_becomes_a_steered_rrset_whose_records_are_its_services() {
    let imported = import(TWO_SITES).unwrap();
    let zone = at(&imported, "zone", "gslb.example.test");
    assert_eq!(
        zone["rrset"]["www A"],
        json!({
            "ttl": "5s",
            "records": [
                { "data": "192.0.2.10", "check": "gs-a", "weight": 3, "datacenter": "site-a" },
                { "data": "203.0.113.10", "check": "svc:gs-b", "drCond": "gv-dr", "datacenter": "site-b" },
            ],
            "select": { "method": "weighted", "answers": 1 },
            "gslb_vserver": "gv-web",
        })
    );
    // A domain for which no zone stands in the file is a zone itself.
    let own = &at(&imported, "zone", "shop.example.org")["rrset"]["@ A"];
    assert_eq!((&own["on_empty"], &own["gslb_vserver"]), (&json!({"static": ["203.0.113.99"]}), &json!("gv-web")));
    assert!(line(&imported, "bind gslb vserver gv-web -domainName shop").notes[0].contains("zone of its own"));
    assert_eq!(
        at(&imported, "scenario", "gv-dr"),
        &json!({
            "about": "GSLB: all members of gv-web are down, and gv-dr answers",
            "activate": { "when": [["gs-a!"]] },
            "deactivate": { "when": [["gs-a"]] },
        })
    );
    loads(&imported);
}

#[test]
fn a_service_at_this_site_follows_its_vserver_and_one_elsewhere_its_monitors() {
    let imported = import(TWO_SITES).unwrap();
    let follows = json!({"type": "VSERVER", "term": "vs:lb-web.primary", "interval": "1s", "rise": 1, "fall": 1});
    assert_eq!(at(&imported, "check", "gs-a"), &follows);
    assert_eq!(
        at(&imported, "service", "gs-b"),
        &json!({"type": "HTTP", "server": "vip-b", "port": 80, "monitors": ["mon-b"]})
    );
    assert_eq!(at(&imported, "appliance", "site"), "site-a");
    assert_eq!(at(&imported, "dns", "listen"), &json!(["192.0.2.53:53"]));
    // Nobody uses it.
    assert!(matches!(line(&imported, "add gslb service gs-c").fate, Fate::Irrelevant(_)));
    let later = import(
        &TWO_SITES
            .replace("-considerEffectiveState NONE", "")
            .replace("add gslb vserver gv-web HTTP", "add gslb vserver gv-web HTTP -considerEffectiveState STATE_ONLY"),
    );
    assert_eq!(at(&later.unwrap(), "check", "gs-a")["term"], "vs:lb-web");
}

#[test]
fn records_become_zone_text_and_those_that_cannot_are_told() {
    let imported = import(TWO_SITES).unwrap();
    let zone = at(&imported, "zone", "gslb.example.test");
    let text = zone["static"].as_str().unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).collect();
    assert_eq!(
        lines,
        [
            "@ 3600 NS ns1.gslb.example.test.",
            "ns1 3600 A 192.0.2.53",
            "@ 3600 MX 5 mail.example.test.",
            "@ 60 TXT \"v=spf1 -all\"",
        ]
    );
    assert_eq!(
        (&zone["soa"]["serial"], &zone["soa"]["minimum"], &zone["ttl"]),
        (&json!(7), &json!("5s"), &json!("3600s"))
    );
    for begin in ["add dns addRec www", "add dns addRec bad"] {
        assert!(matches!(line(&imported, begin).fate, Fate::Missing { whole: true, .. }), "{begin}");
    }
    assert_eq!(line(&imported, "add dns zone").fate, Fate::Carried);
    let coverage = imported.coverage();
    // `-mgmtAccess ENABLED` of the box's own address is told.
    assert_eq!((coverage.missing, coverage.partly), (2, 1), "{:#?}", imported.lines);
}

#[test]
fn what_gslb_does_elsewhere_is_left_out_word_by_word() {
    let text = TWO_SITES.replace("-lbMethod ROUNDROBIN -backupLBMethod LEASTCONNECTION -tolerance 0", "-lbMethod RTT -MIR ENABLED -EDR ENABLED -tolerance 20 -persistenceType SOURCEIP -persistenceId 1 -disablePrimaryOnDown ENABLED -frobnicate 3");
    let imported = import(&text).unwrap();
    let Fate::Missing { what, whole: false, traffic: true } = &line(&imported, "add gslb vserver gv-web").fate else {
        panic!()
    };
    assert_eq!(what.len(), 3, "{what:?}");
    for word in ["-lbMethod RTT", "-tolerance 20", "-frobnicate 3"] {
        assert!(what.iter().any(|what| what.starts_with(word)), "{word}: {what:?}");
    }
    let rrset = &at(&imported, "zone", "gslb.example.test")["rrset"]["www A"];
    assert_eq!(rrset["select"], json!({"method": "hash", "answers": "all"}));
    assert_eq!(rrset["on_empty"], "nodata");
    assert_eq!(at(&imported, "scenario", "gv-dr")["deactivate"]["mode"], "off");
    loads(&imported);
}

#[test]
fn a_chain_of_backups_is_a_chain_of_scenarios() {
    let text = TWO_SITES
        .replace("ANY * -siteName", "TCP 443 -siteName")
        .replace("set gslb parameter", "set gslb vserver gv-dr -backupVServer gv-last\nadd gslb vserver gv-last HTTP\nbind gslb vserver gv-last -serviceName gs-c\nset gslb parameter");
    let imported = import(&text).unwrap();
    assert_eq!(at(&imported, "scenario", "gv-last")["activate"]["when"], json!([["sc:gv-dr", "svc:gs-b!"]]));
    assert_eq!(at(&imported, "scenario", "gv-last")["deactivate"]["when"], json!([["svc:gs-b"], ["sc:gv-dr!"]]));
    let records = &at(&imported, "zone", "gslb.example.test")["rrset"]["www A"]["records"];
    assert_eq!(
        records[2],
        json!({"data": "198.51.100.99", "check": "svc:gs-c", "drCond": "gv-last", "datacenter": "site-b"})
    );
    loads(&imported);
    // A chain that comes back ends, and says so.
    let round =
        text.replace("add gslb vserver gv-last HTTP\n", "add gslb vserver gv-last HTTP -backupVServer gv-web\n");
    let imported = import(&round).unwrap();
    assert!(matches!(&line(&imported, "add gslb vserver gv-last").fate, Fate::Missing { whole: false, .. }));
    loads(&imported);
}

#[test]
fn names_that_no_zone_holds_get_one_that_denies_nothing_of_others() {
    let imported = import(
        "add dns cnameRec alias.example.test www.example.test\nadd dns addRec host.example.org 192.0.2.1 192.0.2.2\n\
         add dns ptrRec 1.2.0.192.in-addr.arpa host.example.org\nadd dns cnameRec example.net www.example.test\n\
         add dns srvRec _sip._tcp.example.com sip.example.com -priority 1 -weight 2 -port 5060\n",
    )
    .unwrap();
    let zones: Vec<&String> = imported.document.root()["zone"].as_object().unwrap().keys().collect();
    assert_eq!(zones, ["2.0.192.in-addr.arpa", "example.com", "example.test", "host.example.org"]);
    assert!(at(&imported, "zone", "host.example.org")["static"].as_str().unwrap().contains("192.0.2.2"));
    assert!(matches!(line(&imported, "add dns cnameRec example.net").fate, Fate::Missing { whole: true, .. }));
    assert!(line(&imported, "add dns cnameRec alias").notes.iter().any(|note| note.contains("ADNS")));
    loads(&imported);
}

#[test]
fn names_that_no_condition_could_hold_are_told() {
    let imported = import("add gslb site a@ LOCAL 192.0.2.1\nadd gslb vserver b!c HTTP\n").unwrap();
    for at in ["add gslb site", "add gslb vserver"] {
        assert!(matches!(line(&imported, at).fate, Fate::Missing { .. }), "{at}");
    }
    loads(&imported);
}

#[test]
fn a_name_or_a_number_that_no_zone_takes_costs_its_line_and_nothing_else() {
    let base = import(TWO_SITES).unwrap().coverage().carried;
    for bad in [
        "add dns soaRec other.test -originServer ns1.other.test -contact a.other.test -serial 99999999999999",
        "add dns soaRec other.test -originServer ns1.other.test -contact a.other.test -refresh 2147483648",
        "add dns soaRec other.test -originServer \"a b\" -contact a.other.test",
        "bind gslb vserver gv-web -domainName 'a b.example.test'",
        "bind gslb vserver gv-web -domainName \"a\\nb.example.test\"",
        "bind gslb vserver gv-web -domainName \"a\u{202e}b.example.test\"",
        "bind gslb vserver gv-web -domainName late.example.test -TTL 2147483648",
        "bind gslb vserver gv-web -serviceName gs-b -weight 65536",
        "add dns addRec \"b(\" 192.0.2.1",
        "add dns addRec \"b\\ c.gslb.example.test\" 192.0.2.1",
        "add dns addRec \"x{y}.test\" 192.0.2.1",
        "add dns zone \"a;b.test\" -proxyMode NO",
        "add dns cnameRec gslb.example.test www.example.test",
        "add dns mxRec gslb.example.test -mx mail.example.test -pref 65536",
    ] {
        let imported = import(&format!("{TWO_SITES}{bad}\n")).unwrap();
        let last = imported.lines.last().unwrap();
        assert!(matches!(last.fate, Fate::Missing { whole: true, .. }), "{bad}: {:?}", last.fate);
        assert_eq!(imported.coverage().carried, base, "{bad}");
        loads(&imported);
    }
}

/// A word of a line: a domain name, nearly one, or a number.
fn words() -> impl proptest::strategy::Strategy<Value = String> {
    "(www|a|gslb\\.example\\.test|example\\.org|_sip\\._tcp\\.a\\.test|\\*\\.b\\.test|192\\.0\\.2\\.1|2001:db8::1|[0-9]{1,14}|2147483648|65536|\"(\\PC|[ab.;@$()\u{202e}\u{1b}\u{85}\0]|\\\\n|\\\\t|\\\\.){0,8}\")(\\.test|\\.)?"
}

proptest::proptest! {
    #[test]
    fn what_is_carried_of_lines_of_any_names_and_numbers_loads(
        words in proptest::collection::vec(words(), 16),
        order in proptest::sample::subsequence((0..16usize).collect::<Vec<_>>(), 1..16),
    ) {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = &words[..] else { unreachable!() };
        let all = [
            format!("bind gslb vserver gv-web -domainName {a} -TTL {b}"),
            format!("bind gslb vserver gv-dr -domainName {c} -backupIP {d}"),
            format!("bind gslb vserver gv-web -serviceName gs-b -weight {e}"),
            format!("add dns soaRec {f} -originServer {g} -contact {h} -serial {i} -expire {j}"),
            format!("add dns soaRec {f} -originServer ns1.a.test -contact a.b.test -TTL {k}"),
            format!("add dns zone {l} -proxyMode NO"),
            format!("add dns addRec {f} {m} -TTL {n}"),
            format!("add dns addRec {a} 192.0.2.1"),
            format!("add dns aaaaRec {o} {p}"),
            format!("add dns cnameRec {c} {d}"),
            format!("add dns mxRec {f} -mx {g} -pref {e}"),
            format!("add dns srvRec {h} {i} -priority {j} -weight {k} -port {e}"),
            format!("add dns txtRec {l} {m} {n}"),
            format!("add dns nsRec {l} {o}"),
            format!("add dns ptrRec {p} {a}"),
            format!("add gslb service gs-n 192.0.2.10 HTTP 80 -cnameEntry {g}\nadd gslb vserver gv-n HTTP -dnsRecordType CNAME\nbind gslb vserver gv-n -serviceName gs-n\nbind gslb vserver gv-n -domainName {f}"),
        ];
        let chosen: Vec<&str> = order.iter().map(|at| &all[*at][..]).collect();
        let imported = import(&format!("{TWO_SITES}{}\n", chosen.join("\n"))).unwrap();
        loads(&imported);
    }

    #[test]
    fn no_gslb_line_makes_the_import_panic(
        lines in proptest::collection::vec(
            "(add|bind|set) (gslb site|gslb service|gslb vserver|dns addRec|dns soaRec|dns srvRec|dns zone) [ab](\\PC|[ .\"'\u{202e}\u{1b}]| -domainName | -serviceName | 192.0.2.1 HTTP 80| -backupVServer | -siteName a){0,12}",
            0..12,
        ),
    ) {
        let imported = import(&lines.join("\n")).unwrap();
        let coverage = imported.coverage();
        proptest::prop_assert_eq!(coverage.lines, coverage.carried + coverage.irrelevant + coverage.partly + coverage.missing);
        loads(&imported);
    }
}

#[test]
fn commands_take_what_a_saved_file_says_of_everything() {
    let mut document = Document::default();
    let mut run = |text: &str| match line::parse(text) {
        Ok(Parsed::Statements(statements)) => {
            statements.iter().try_for_each(|one| document.execute(one).map(drop)).map_err(|error| error.message)
        }
        other => panic!("{text}: {other:?}"),
    };
    let service = "add gslb service gs1 127.0.0.1 HTTP 28180";
    for taken in [
        "add gslb site dc1 LOCAL 127.0.0.1 -publicIP 127.0.0.1",
        "add gslb service gs1 127.0.0.1 HTTP 28180 -publicIP 127.0.0.1 -publicPort 28180 -maxClient 0 \
         -healthMonitor YES -siteName dc1 -state ENABLED -cip DISABLED -sitePersistence NONE -cookieTimeout 0 \
         -cltTimeout 180 -svrTimeout 360 -maxBandwidth 0 -downStateFlush ENABLED -maxAAAUsers 0 -monThreshold 0",
        "add gslb service gs2 127.0.0.1 TCP 28181 -siteName dc1 -cltTimeout 9000 -svrTimeout 9000",
    ] {
        assert_eq!(run(taken), Ok(()), "{taken}");
    }
    for (refused, named) in [
        ("add gslb site dc2 REMOTE 127.0.0.2 -publicIP 192.0.2.2", "publicIP"),
        (&format!("{service} -siteName dc1 -cltTimeout 60"), "cltTimeout"),
        (&format!("{service} -siteName dc1 -svrTimeout 60"), "svrTimeout"),
        (&format!("{service} -siteName dc1 -cookieTimeout 5"), "cookieTimeout"),
    ] {
        assert!(run(refused).unwrap_err().contains(named), "{refused}");
    }
}
