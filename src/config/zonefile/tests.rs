use proptest::prelude::*;

use super::*;

fn origin() -> DnsName {
    DnsName::parse("example.test.", &DnsName::root()).unwrap()
}

fn shown(text: &str) -> Vec<String> {
    let (records, problems) = read(text, &origin(), 30);
    assert_eq!(problems, [], "{text}");
    records.iter().map(|r| format!("{} {} {} {}", r.owner, r.ttl, r.rtype, presentation(r.rtype, &r.rdata))).collect()
}

fn wrong(text: &str) -> Vec<String> {
    read(text, &origin(), 30).1.iter().map(|p| format!("{}:{}: {}", p.line, p.column, p.what)).collect()
}

#[test]
fn a_zone_text_reads_as_rfc_1035_has_it() {
    let text = r#"
; a comment
$TTL 1h30m
@       IN NS  ns1          ; relative
        NS  NS2.Example.NET.
ns1     60 A   127.0.0.1
WWW     IN 2m AAAA 2001:db8::1
mail    MX ( 10 ; inside parentheses
             mx.example.org. )
$ORIGIN sub
*       TXT "a b" c "d\"e"
a\.b    CNAME @
$ORIGIN example.test.
@       SOA ns1 hostmaster 7 1h 15m 2w 30
_sip._tcp SRV 1 2 5060 sip
raw     TYPE65400 \# 3 ABCDEF
raw2    A \# 4 7F000001
caa     CAA 0 issue "ca.example"
h       HTTPS 1 . alpn="h2,h3" ipv4hint=192.0.2.1
spf     SPF "v=spf1 -all"
u       URI 10 1 "https://example.test/"
alias   DNAME other.test.
"#;
    assert_eq!(
        shown(text),
        [
            "example.test. 5400 NS ns1.example.test.",
            "example.test. 5400 NS NS2.Example.NET.",
            "ns1.example.test. 60 A 127.0.0.1",
            "www.example.test. 120 AAAA 2001:db8::1",
            "mail.example.test. 5400 MX 10 mx.example.org.",
            r#"*.sub.example.test. 5400 TXT "a b" "c" "d\"e""#,
            r"a\.b.sub.example.test. 5400 CNAME sub.example.test.",
            "example.test. 5400 SOA ns1.example.test. hostmaster.example.test. 7 3600 900 1209600 30",
            "_sip._tcp.example.test. 5400 SRV 1 2 5060 sip.example.test.",
            r"raw.example.test. 5400 TYPE65400 \# 3 abcdef",
            "raw2.example.test. 5400 A 127.0.0.1",
            r#"caa.example.test. 5400 CAA 0 issue "ca.example""#,
            "h.example.test. 5400 HTTPS 1 . alpn=h2,h3 ipv4hint=192.0.2.1",
            r#"spf.example.test. 5400 SPF "v=spf1 -all""#,
            r#"u.example.test. 5400 URI 10 1 "https://example.test/""#,
            "alias.example.test. 5400 DNAME other.test.",
        ]
    );
}

#[test]
fn every_problem_of_a_text_is_found_with_its_line() {
    let text = concat!(
        "  A 192.0.2.1\n",           // 1
        "a A 192.0.2\n",             // 2
        "b NOPE x\n",                // 3
        "c 99999999999 A 1.2.3.4\n", // 4
        "d CH A 1.2.3.4\n",          // 5
        "$INCLUDE other\n",          // 6
        "$GENERATE 1-3 x A 1\n",     // 7
        "$FOO\n",                    // 8
        "$TTL never\n",              // 9
        "a..b A 1.2.3.4\n",          // 10
        "  AAAA 1.2.3.4\n",          // 11
        "e TXT \"open\n",            // 12
        "f MX 10\n",                 // 13
        "g A 1.2.3.4 5.6.7.8\n",     // 14
        "münchen A 1.2.3.4\n",       // 15
        "h RRSIG x\n",               // 16
        "i )\n",                     // 17
        "other.test. A 1.2.3.4\n",   // 18
        "j A \\# 3 010203\n",        // 19
        "k A\n",                     // 20
        "l (A 1.2.3.4\n",            // 21
    );
    let found = wrong(text);
    for (line, says) in [
        (1, "indented"),
        (2, "A: "),
        (3, "`NOPE` is neither"),
        (4, "not a TTL"),
        (5, "only IN"),
        (6, "$INCLUDE"),
        (7, "$GENERATE"),
        (8, "unknown directive"),
        (9, "not a TTL"),
        (10, "not a domain name"),
        (11, "AAAA: "),
        (12, "not closed"),
        (13, "MX: "),
        (14, "A: "),
        (15, "xn--"),
        (16, "signed"),
        (17, "closes nothing"),
        (18, "outside the zone"),
        (19, "not data of this type"),
        (20, "data is missing"),
        (21, "never closed"),
    ] {
        assert!(
            found.iter().any(|f| f.starts_with(&format!("{line}:")) && f.contains(says)),
            "line {line}: {says}\n{found:#?}"
        );
    }
}

#[test]
fn a_problem_in_data_is_placed_at_its_word() {
    assert_eq!(wrong("a MX ( 10\n   ; words\n   a..b )\n").len(), 1);
    assert!(wrong("a MX ( 10\n   ; words\n   a..b )\n")[0].starts_with("3:4: MX: "));
    assert_eq!(wrong("a SRV 1 2 3 b\\300\n"), ["1:13: SRV: `b\\300` is not a domain name"]);
    assert!(wrong("a A 192.0.2.1 x\n")[0].starts_with("1:15: A: "));
}

#[test]
fn a_zone_as_a_whole_obeys_its_rules() {
    assert_eq!(wrong("a A 1.2.3.4\na CNAME b\n"), ["2:1: `a.example.test.` has a CNAME beside other records"]);
    assert_eq!(wrong("a CNAME b\na TXT x\n"), ["2:1: `a.example.test.` has a CNAME beside other records"]);
    assert_eq!(wrong("a CNAME b\na CNAME c\n"), ["2:1: `a.example.test.` has a second CNAME"]);
    assert!(wrong("a 5 A 1.2.3.4\nA 6 A 1.2.3.5\n")[0].contains("TTL 6 of `a.example.test. A` differs from 5"));
    assert!(wrong("a A 1.2.3.4\na A 1.2.3.4\n")[0].contains("stands twice"));
    assert!(wrong("a SOA a b 1 2 3 4 5\n")[0].contains("apex"));
    assert!(wrong("@ SOA a b 1 2 3 4 5\n@ SOA a b 2 2 3 4 5\n")[0].contains("second SOA"));
}

#[test]
fn texts_of_more_than_255_bytes_must_be_split() {
    assert!(wrong(&format!("a TXT \"{}\"\n", "x".repeat(300)))[0].starts_with("1:"));
    assert_eq!(shown(&format!("a TXT \"{}\"\n", "x".repeat(255))).len(), 1);
    assert_eq!(shown("a TXT \"é\"\n"), [r#"a.example.test. 30 TXT "\195\169""#]);
}

#[test]
fn the_data_of_one_record_reads_alone() {
    let data = |rtype, text| rdata(rtype, text, &origin());
    assert_eq!(*data(RecordType::A, "192.0.2.10").unwrap(), [192, 0, 2, 10]);
    assert_eq!(&*data(RecordType::CNAME, "Www").unwrap(), b"\x03Www\x07example\x04test\0");
    assert_eq!(&*data(RecordType::TXT, "\"a b\" c").unwrap(), b"\x03a b\x01c");
    assert!(data(RecordType::TXT, "v=DMARC1; p=none").unwrap_err().contains("quotes"));
    assert!(data(RecordType::A, "").unwrap_err().contains("empty"));
    assert!(data(RecordType::A, "1.2.3.4\n1.2.3.5").unwrap_err().contains("more than one line"));
    assert!(data(RecordType::A, "1.2.3.4 x").is_err());
    assert!(data(RecordType::ANY, "x").unwrap_err().contains("not a type of data"));
}

#[test]
fn ttls_are_seconds_or_bind_s_form() {
    for (text, seconds) in
        [("0", Some(0)), ("1h30m", Some(5_400)), ("2W", Some(1_209_600)), ("2147483647", Some(2_147_483_647))]
    {
        assert_eq!(parse_ttl(text), seconds);
    }
    for text in ["", "h", "1h5", "1x", "2147483648", "99999999999999999999999", "999999999999w", "-1", "1 h"] {
        assert_eq!(parse_ttl(text), None, "{text}");
    }
}

fn common_records() -> impl Strategy<Value = (RecordType, Vec<u8>)> {
    let name = proptest::collection::vec("[a-zA-Z0-9_*.\\\\-]{1,10}", 0..4).prop_map(|labels| {
        let mut wire = Vec::new();
        for label in labels {
            wire.push(label.len() as u8);
            wire.extend(label.bytes());
        }
        wire.push(0);
        wire
    });
    let strings = proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 1..4).prop_map(|strings| {
        strings.into_iter().flat_map(|s| std::iter::once(s.len() as u8).chain(s)).collect::<Vec<u8>>()
    });
    prop_oneof![
        any::<[u8; 4]>().prop_map(|b| (RecordType::A, b.to_vec())),
        any::<[u8; 16]>().prop_map(|b| (RecordType::AAAA, b.to_vec())),
        name.clone().prop_map(|n| (RecordType::CNAME, n)),
        (any::<[u8; 2]>(), name.clone()).prop_map(|(p, n)| (RecordType::MX, [p.to_vec(), n].concat())),
        (any::<[u8; 6]>(), name).prop_map(|(p, n)| (RecordType::SRV, [p.to_vec(), n].concat())),
        strings.prop_map(|s| (RecordType::TXT, s)),
    ]
}

fn records() -> impl Strategy<Value = (RecordType, Vec<u8>)> {
    let any_type = (any::<u16>(), proptest::collection::vec(any::<u8>(), 0..60)).prop_map(|(t, b)| (RecordType(t), b));
    prop_oneof![common_records(), any_type]
}

proptest! {
    #[test]
    fn what_is_printed_reads_back((rtype, bytes) in records()) {
        let text = presentation(rtype, &bytes);
        match rdata(rtype, &text, &origin()) {
            Ok(back) => prop_assert_eq!(&*back, &bytes[..], "{} {}", rtype, text),
            // Bytes that are not data of their type are shown, and not taken.
            Err(_) => prop_assert!(text.starts_with("\\#"), "{} {}", rtype, text),
        }
    }

    #[test]
    fn well_formed_data_of_common_types_is_printed_as_people_write_it((rtype, bytes) in common_records()) {
        let text = presentation(rtype, &bytes);
        prop_assert!(!text.starts_with("\\#"), "{} {}", rtype, text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
            let _ = read(&text, &origin(), 30);
        }
    }

    #[test]
    fn no_text_near_a_zone_makes_the_reader_panic(
        text in "(\\$(ORIGIN|TTL)|[a-c@.*]{1,3}|A|AAAA|TXT|MX|SOA|SRV|CAA|HTTPS|NAPTR|LOC|TLSA|DNSKEY|TYPE[0-9]{1,5}|\\\\#|\\\\[0-9]{0,3}|[0-9]{1,4}|[0-9.]{3,9}|[a-f0-9:]{2,8}|alpn=|key[0-9]=|[ \t\n\r();\"=\\\\é]){0,40}"
    ) {
        let _ = read(&text, &origin(), 30);
    }

    #[test]
    fn no_data_of_any_type_makes_the_reader_panic(rtype in any::<u16>(), text in "([0-9a-z.]{1,8}|\\\\#|[ \"\\\\(),=;:/+-]){0,20}") {
        let _ = rdata(RecordType(rtype), &text, &origin());
    }
}

#[test]
fn the_less_common_types_read_and_come_back() {
    let cases = [
        ("LOC 42 21 54 N 71 06 18 W -24m 30m", "LOC 42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m"),
        ("LOC 90 S 180 E 0", "LOC 90 0 0.000 S 180 0 0.000 E 0.00m 1.00m 10000.00m 10.00m"),
        (
            "LOC 0 0 0.001 N 0 W 42849672.95 90000000m 0 0.09",
            "LOC 0 0 0.001 N 0 0 0.000 E 42849672.95m 90000000.00m 0.00m 0.09m",
        ),
        ("CERT PKIX 1 13 AQID BA==", "CERT 1 1 13 AQIDBA=="),
        ("APL 1:192.0.2.0/24 !2:2001:db8::/32 1:0.0.0.0/0", "APL 1:192.0.2.0/24 !2:2001:db8::/32 1:0.0.0.0/0"),
        ("EUI48 00-00-5E-00-53-2a", "EUI48 00-00-5e-00-53-2a"),
        ("EUI64 00-00-5e-ef-10-00-00-2a", "EUI64 00-00-5e-ef-10-00-00-2a"),
        ("TYPE108 \\# 6 00005e00532a", "EUI48 00-00-5e-00-53-2a"),
        ("SSHFP 4 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", ""),
        ("TLSA 3 1 1 0011223344556677", ""),
        ("SMIMEA 3 1 1 0011223344556677", ""),
        ("OPENPGPKEY AQIDBA==", ""),
        ("NAPTR 100 10 \"s\" \"SIP+D2U\" \"\" _sip._udp", ""),
        ("SVCB 1 svc alpn=\"h2\" port=\"8443\"", ""),
        ("DS 60485 13 2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", ""),
        ("AFSDB 1 afs", "AFSDB 1 afs.example.test."),
        ("KX 10 kx", "KX 10 kx.example.test."),
        ("RP hostmaster txt", "RP hostmaster.example.test. txt.example.test."),
        ("DHCID AQIDBA==", "DHCID AQIDBA=="),
        ("RESINFO \"qnamemin\"", "RESINFO \"qnamemin\""),
        ("ALIAS www", "ALIAS www.example.test."),
        ("TYPE65280 \\# 0", "TYPE65280 \\# 0"),
    ];
    for (text, expected) in cases {
        let lines = shown(&format!("x {text}"));
        assert!(expected.is_empty() || lines[0].ends_with(expected), "{text} became {lines:?}");
        let again = lines[0].replacen("x.example.test. 30", "x 30", 1);
        assert_eq!(shown(&again), lines, "what is printed reads back");
        assert!(!lines[0].contains("\\#") || text.contains("\\#"), "{text} is printed in words: {lines:?}");
    }
}

#[test]
fn data_that_is_not_of_its_type_is_refused_with_a_reason() {
    for text in [
        "LOC 91 N 0 E 0",
        "LOC 90 0 0.001 N 0 E 0",
        "LOC 1 60 0 N 0 E 0",
        "LOC 1 0 60 N 0 E 0",
        "LOC 1 N 1 N 0",
        "LOC 1 N 1 E",
        "LOC 1 N 1 E 0 15m",
        "LOC 1 N 1 E 0 1m 1m 1m 1m",
        "LOC 1 N 1 E -100000.01",
        "CERT PKX 1 1 AQID",
        "CERT 1 1 1 A",
        "APL 1:192.0.2.0/33",
        "APL 1:2001:db8::/32",
        "APL 192.0.2.0/24",
        "EUI48 00-00-5e-00-53",
        "EUI48 00005e00532a",
        "EUI64 00-00-5e-00-53-2a",
        "EUI48 \\# 5 0000000000",
        "LOC \\# 16 00ff1613800000008000000000989680",
        "SMIMEA 3 1",
    ] {
        assert_eq!(wrong(&format!("x {text}")).len(), 1, "{text}");
    }
}
