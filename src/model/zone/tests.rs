use super::*;

#[test]
fn names_are_relative_to_the_origin_unless_they_end_in_a_dot() {
    let origin = DnsName::parse("example.test.", &DnsName::root()).unwrap();
    let name = |text| DnsName::parse(text, &origin).map(|n| n.to_string());
    assert_eq!(name("www").as_deref(), Some("www.example.test."));
    assert_eq!(name("WWW.Example.ORG.").as_deref(), Some("www.example.org."));
    assert_eq!(name("@").as_deref(), Some("example.test."));
    assert_eq!(name(r"a\.b").as_deref(), Some(r"a\.b.example.test."));
    assert_eq!(name(r"a\046b").as_deref(), Some(r"a\.b.example.test."));
    assert_eq!(name("a..b"), None);
    assert_eq!(name(""), None);
    assert_eq!(name(&"x".repeat(64)), None);
}

#[test]
fn a_name_is_within_its_zone_by_labels_and_not_by_letters() {
    let root = DnsName::root();
    let zone = DnsName::parse("example.test.", &root).unwrap();
    assert!(DnsName::parse("a.example.test.", &root).unwrap().is_within(&zone));
    assert!(zone.is_within(&zone));
    assert!(!DnsName::parse("notexample.test.", &root).unwrap().is_within(&zone));
    assert!(!DnsName::parse("test.", &root).unwrap().is_within(&zone));
}
