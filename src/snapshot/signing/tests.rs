use super::*;
use crate::model::dnssec::{KeyState, ZoneKey};
use crate::model::tls::Pem;

fn name(text: &str) -> DnsName {
    DnsName::parse(text, &DnsName::root()).unwrap()
}

fn signer(validity: u64) -> ZoneSigner {
    let private = "Private-key-format: v1.3\nAlgorithm: 15\nPrivateKey: ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjI=\n";
    let private = Pem { file: "k".into(), text: private.into() };
    let key = ZoneKey { private, public: None, role: None, state: KeyState::Active };
    let dnssec = Dnssec { keys: vec![key], validity: std::time::Duration::from_secs(validity) };
    ZoneSigner::new(&name("example.test."), &dnssec).unwrap()
}

fn times(rrsig: &[u8]) -> (u64, u64) {
    let number = |at: usize| u64::from(u32::from_be_bytes(rrsig[at..at + 4].try_into().unwrap()));
    (number(8), number(12))
}

/// RFC 4034 §6.1.
#[test]
fn names_are_in_the_order_of_rfc_4034() {
    let text = [
        "example.",
        "a.example.",
        "yljkjljk.a.example.",
        "z.a.example.",
        "zabc.a.example.",
        "z.example.",
        r"\001.z.example.",
        "*.z.example.",
        r"\200.z.example.",
    ];
    let names: Vec<DnsName> = text.iter().map(|text| name(text)).collect();
    for (i, a) in names.iter().enumerate() {
        for (j, b) in names.iter().enumerate() {
            assert_eq!(compare(&a.0, &b.0), i.cmp(&j), "{a} {b}");
        }
    }
}

/// RFC 4034 §4.3.
#[test]
fn the_type_bitmap_is_that_of_rfc_4034() {
    let types = [RecordType::A, RecordType::MX, RecordType::RRSIG, RecordType::NSEC, RecordType(1234)];
    let mut bitmap = Vec::new();
    type_bitmap(&types, &mut bitmap);
    let mut expected = vec![0, 6, 0x40, 0x01, 0, 0, 0, 0x03, 4, 0x1b];
    expected.extend([0; 26]);
    expected.push(0x20);
    assert_eq!(bitmap, expected);
}

#[test]
fn a_signature_is_made_once_and_replaced_while_a_quarter_of_its_time_is_left() {
    let day = 86_400;
    let signer = signer(8 * day);
    let owner = name("www.example.test.");
    let what = Signable { owner: &owner, rtype: RecordType::A, ttl: 30 };
    let sign = |variant: &[u8], now| signer.signatures(what, variant, [&[192, 0, 2, 1][..]].into_iter(), now);
    let mut now = 1_800_000_000;
    let (expiration, inception) = times(&sign(&[1], now)[0]);
    assert_eq!(inception, now - 3600);
    assert!((7 * day..=8 * day).contains(&(expiration - inception)), "{}", expiration - inception);
    let others: Vec<u64> = (2..10).map(|variant| times(&sign(&[variant], now)[0]).0).collect();
    assert!(others.iter().any(|other| *other != expiration), "all expire at one moment: {others:?}");
    for _ in 0..1000 {
        now += 3600;
        let (expiration, inception) = times(&sign(&[1], now)[0]);
        assert!(inception < now && now + 2 * day - 3600 <= expiration, "{}", expiration - now);
    }
    // 1000 hours, of which each signature lasts for five to six days.
    assert!((9 + 7..=9 + 9).contains(&signer.signed()), "{}", signer.signed());
}

#[test]
fn the_table_of_signatures_does_not_grow_without_end() {
    let signer = signer(86_400);
    let owner = name("www.example.test.");
    let what = Signable { owner: &owner, rtype: RecordType::A, ttl: 30 };
    for variant in 0..(SPARE as u32 + 100) {
        signer.signatures(what, &variant.to_be_bytes(), [&[192, 0, 2, 1][..]].into_iter(), 1_800_000_000);
    }
    assert!(signer.made.read().len() <= SPARE);
}
