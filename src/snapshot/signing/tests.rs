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
    let sign = |variant: &[u8], now| {
        let made = signer.signatures(what, variant, [&[192, 0, 2, 1][..]].into_iter(), now);
        times(made.iter().next().unwrap())
    };
    let mut now = 1_800_000_000;
    let (expiration, inception) = sign(&[1], now);
    assert_eq!(inception, now - 3600);
    assert!((7 * day..=8 * day).contains(&(expiration - inception)), "{}", expiration - inception);
    let others: Vec<u64> = (2..10).map(|variant| sign(&[variant], now).0).collect();
    assert!(others.iter().any(|other| *other != expiration), "all expire at one moment: {others:?}");
    for _ in 0..1000 {
        now += 3600;
        let (expiration, inception) = sign(&[1], now);
        assert!(inception < now && now + 2 * day - 3600 <= expiration, "{}", expiration - now);
    }
    // 1000 hours (41.7 days), of which each signature lasts for nearly five to nearly six days: 6 to 8 more, and one to spare.
    assert!((9 + 6..=9 + 9).contains(&signer.signed()), "{}", signer.signed());
}

#[test]
fn the_table_of_signatures_does_not_grow_without_end() {
    let signer = signer(86_400);
    let owner = name("www.example.test.");
    let what = Signable { owner: &owner, rtype: RecordType::A, ttl: 30 };
    for variant in 0..(2 * signer.made.capacity() as u32) {
        let variant = variant.to_be_bytes();
        signer.signatures(what, &variant, [&[192, 0, 2, 1][..]].into_iter(), 1_800_000_000);
        // What was put last is there, however full the table is.
        let signed = signer.signed();
        signer.signatures(what, &variant, [&[192, 0, 2, 1][..]].into_iter(), 1_800_000_000);
        assert_eq!(signer.signed(), signed);
    }
    assert!(signer.made.len() <= signer.made.capacity());
    assert!(signer.made.len() > signer.made.capacity() / 2);
}

#[test]
fn a_table_of_another_size_has_all_that_was_there() {
    let small = Arc::new(Table::new(10));
    // As hashes are: spread over all bits.
    let hash = |at: u64| u128::from(at).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    for at in 1..1_000 {
        small.put(Arc::new(Made { key: hash(at), refresh_at: at, rrsigs: [].into() }));
    }
    let large = Table::resized(&small, 10_000);
    assert!(large.capacity() > small.capacity());
    for at in 1..1_000 {
        let found = large.find(hash(at)).expect("it is there");
        assert_eq!(found.as_ref().map(|made| made.refresh_at), Some(at));
    }
    assert!(large.find(5).is_none());
    assert!(Arc::ptr_eq(&small, &Table::resized(&small, 11)), "of the right size already");
}

#[test]
fn contents_are_the_same_in_any_order_and_others_with_any_other_data() {
    let of = |data: &[&[u8]]| contents(data.iter().copied());
    assert_eq!(of(&[b"a", b"b"]), of(&[b"b", b"a"]));
    assert_ne!(of(&[b"a", b"b"]), of(&[b"ab"]));
    assert_ne!(of(&[b"a"]), of(&[b"a", b"a"]));
    assert_ne!(of(&[b"a"]), of(&[]));
}
