use super::*;
use proptest::prelude::*;

#[test]
fn urls_are_taken_apart_or_refused() {
    let parts = |text| url(text).map(|u| (u.tls, u.host.to_string(), u.port, u.path));
    assert_eq!(parts("http://127.0.0.1:8101/health"), Ok((false, "127.0.0.1".into(), 8101, "/health".into())));
    assert_eq!(parts("https://app.example?x=1"), Ok((true, "app.example".into(), 443, "/?x=1".into())));
    assert_eq!(parts("http://[2001:db8::1]:8080"), Ok((false, "2001:db8::1".into(), 8080, "/".into())));
    for bad in ["ftp://a/", "http://u:p@a/", "http:///x", "http://a/#b", "http://a/ b", "http://a:0/", "a"] {
        assert!(url(bad).is_err(), "{bad}");
    }
    for secret in ["http://u:pw@a/", "ftp://u:pw@a/", "u:pw@a", "http://u:pw@a/ b"] {
        assert!(!url(secret).unwrap_err().contains("pw"), "{secret}");
        assert!(!host(secret).unwrap_err().contains("pw"), "{secret}");
    }
}

#[test]
fn hours_may_run_over_midnight_and_to_its_end() {
    assert_eq!(hours("08:00-18:00"), Ok((480, 1080)));
    assert_eq!(hours("22:00-06:00"), Ok((1320, 360)));
    assert_eq!(hours("00:00-24:00"), Ok((0, 1440)));
    for bad in ["8-18", "24:00-01:00", "10:00-10:00", "10:60-11:00", "25:00-26:00", "", "-", "1:1-2:2"] {
        assert!(hours(bad).is_err(), "{bad}");
    }
}

#[test]
fn hosts_are_names_or_addresses_and_not_addresses_gone_wrong() {
    assert!(host("app-1.example.test").is_ok());
    assert!(host("2001:db8::1").is_ok());
    for bad in ["256.1.1.1", "1.2.3", "-a", "a..b", "", "a b", "ä"] {
        assert!(host(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn octets_come_back_from_their_text(bytes: Vec<u8>) {
        prop_assert_eq!(octets(&octets_text(&bytes)).unwrap(), bytes);
    }

    #[test]
    fn no_text_makes_a_reader_panic(text: String) {
        let _ = (octets(&text), url(&text), hours(&text), host(&text), host_port(&text), socket(&text), weekday(&text));
    }
}
