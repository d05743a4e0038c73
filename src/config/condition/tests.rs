use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn term(text: &str) -> RawTerm {
    parse_term(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn error(text: &str) -> TermError {
    parse_term(text).expect_err(text)
}

#[test]
fn terms_read_as_written_and_print_in_one_way() {
    for (text, printed) in [
        ("api-a", "api-a"),
        ("  api-a  ", "api-a"),
        ("api-a!", "api-a!"),
        ("api-a !", "api-a!"),
        ("api-a!{fails:1}", "api-a!{fails:1}"),
        ("api-a ! { fails : 1 }", "api-a!{fails:1}"),
        ("api-a!{for:180s}", "api-a!{for:3m}"),
        ("api-a{for:15m}", "api-a{for:15m}"),
        ("api-a{passes:2}", "api-a{passes:2}"),
        ("api-a{passes:2,for:1m}", "api-a{passes:2, for:1m}"),
        ("p{flaps<3 in 30m}", "p{flaps<3 in 30m}"),
        ("p!{ flaps < 3 in 30m , for:5m }", "p!{flaps<3 in 30m, for:5m}"),
        ("p{latency.p95<80ms}", "p{latency.p95<80ms over 20 samples}"),
        ("p{latency.last<80ms}", "p{latency.last<80ms over 1 samples}"),
        ("p{latency.avg<80ms over 5m}", "p{latency.avg<80ms over 5m}"),
        ("p{latency.p95<80ms over 20 samples, leave at 100ms}", "p{latency.p95<80ms over 20 samples, leave at 100ms}"),
        (
            "p{latency.p99<0.08s over 7 samples,leave at 100ms,for:1m}",
            "p{latency.p99<80ms over 7 samples, leave at 100ms, for:1m}",
        ),
        ("vs:web.health>=50{for:1m}", "vs:web.health>=50{for:1m}"),
        ("dc:dc-a.wan@dc-w!{for:15m}", "dc:dc-a.wan@dc-w!{for:15m}"),
        ("svc:spare/spare1.serving", "svc:spare/spare1.serving"),
    ] {
        assert_eq!(canonical(&term(text)), printed, "{text}");
    }
}

#[test]
fn what_is_no_term_is_refused_at_its_place_and_in_words() {
    for (text, offset, says) in [
        ("", 0, "empty"),
        ("   ", 0, "empty"),
        ("!", 0, "after the id"),
        ("!p", 0, "after the id"),
        ("p!!", 2, "stands twice"),
        ("p{for:1m}!", 9, "between the id and `{`"),
        ("p q", 2, "no spaces"),
        ("p{}", 2, "braces are empty"),
        ("p{for:1m", 8, "the term ends where `,` or `}`"),
        ("p{for:1m}}", 9, "`}` where the end"),
        ("p{for:1m}x", 9, "where the end"),
        ("p{for:0s}", 6, "zero"),
        ("p{for:1x}", 6, "unknown unit"),
        ("p{for:-1s}", 6, "negative"),
        ("p{for}", 5, "`:`"),
        ("p{for 15s}", 6, "a colon stands before the value, as in `{for:15s}`"),
        ("p{for:1m,}", 9, "a qualifier"),
        ("p{for:1m, for:2m}", 10, "twice"),
        ("p!{for:1m, fails:1}", 11, "before `for`"),
        ("p!{fails:1, fails:2}", 12, "one measure"),
        ("p!{fails:1, flaps<2 in 1m}", 12, "one measure"),
        ("p{fails:1}", 1, "needs the `!`"),
        ("p!{passes:1}", 2, "without `!`"),
        ("p!{latency.p95<1s}", 2, "without `!`"),
        ("p!{fails:0}", 9, "outside 1..=1000"),
        ("p!{fails:1001}", 9, "outside 1..=1000"),
        ("p!{fails:99999999999}", 9, "outside 1..=1000"),
        ("p!{fails:x}", 9, "a number"),
        ("p!{fals:1}", 3, "unknown qualifier `fals`"),
        ("p{flaps<3 on 5m}", 10, "`in`"),
        ("p{flaps<3 in 0s}", 13, "zero"),
        ("p{latency.p96<1s}", 10, "unknown statistic `p96`"),
        ("p{latency.p95<1s over 0 samples}", 22, "outside"),
        ("p{latency.p95<1s over 2h}", 22, "longer than 1h"),
        ("p{latency.p95<80ms, leave at 80ms}", 29, "above"),
        ("p{latency.p95<80ms leave at 90ms}", 19, "`,` or `}`"),
        ("sc:x{latency.p95<1s}", 4, "no samples"),
        ("vs:web!{fails:1}", 7, "no samples"),
        ("p>=3", 1, "only `vs:NAME.health`"),
        ("p$", 1, "`$` where the end"),
        ("$p", 0, "`$` where an id"),
        ("{for:1m}", 0, "an id"),
        (" vs:", 4, "name of a vserver"),
    ] {
        let error = error(text);
        assert!(error.what.contains(says), "{text}: {error}");
        assert_eq!(error.offset, offset, "{text}: {error}");
    }
}

#[test]
fn errors_say_what_was_meant() {
    for (text, meant) in [
        ("!p", "p!"),
        ("p!!", "p!"),
        ("p{fails:3}", "p!{fails:3}"),
        ("p!{passes:2}", "p{passes:2}"),
        ("p!{for:1m, fails:1}", "p!{fails:1, for:1m}"),
        ("p{pases:1}", "passes"),
        ("p{latency.p96<1s}", "latency.p95"),
        ("dc:a.lann@w", "dc:a.lan@w"),
        ("vs:web.health", "vs:web.health>=50"),
        ("vs:web.health>70", "vs:web.health>=70"),
    ] {
        assert_eq!(error(text).did_you_mean.as_deref(), Some(meant), "{text}");
    }
}

#[test]
fn ids_are_split_by_prefix_and_by_known_facets_from_the_right() {
    let vserver = |name: &str, facet| RawSubject::Vserver { name: name.into(), facet };
    let service = |name: &str, facet| RawSubject::Service { name: name.into(), facet };
    let datacenter = |name: &str, signal, observer: Option<&str>| RawSubject::Datacenter {
        name: name.into(),
        signal,
        observer: observer.map(Into::into),
    };
    for (id, subject) in [
        ("api-a", RawSubject::Plain("api-a".into())),
        ("web1:web-ok", RawSubject::Plain("web1:web-ok".into())),
        ("vs:web", vserver("web", VserverFacet::Serves)),
        ("vs:shop.example", vserver("shop.example", VserverFacet::Serves)),
        ("vs:shop.example.primary", vserver("shop.example", VserverFacet::Primary)),
        ("vs:web.admin", vserver("web", VserverFacet::Admin)),
        ("vs:web.fault", vserver("web", VserverFacet::Fault)),
        ("vs:web.health>=0", vserver("web", VserverFacet::HealthAtLeast(0))),
        ("vs:a.b.health>=100", vserver("a.b", VserverFacet::HealthAtLeast(100))),
        ("vs:.admin", vserver(".admin", VserverFacet::Serves)),
        ("svc:web1", service("web1", ServiceFacet::Up)),
        ("svc:spare/spare1.serving", service("spare/spare1", ServiceFacet::Serving)),
        ("svc:web1.fault", service("web1", ServiceFacet::Fault)),
        ("sc:main/from-active", RawSubject::Scenario("main/from-active".into())),
        ("dc:dc-a.wan", datacenter("dc-a", Signal::Wan, None)),
        ("dc:dc.a.internet", datacenter("dc.a", Signal::Internet, None)),
        ("dc:dc-a.wan@dc.w", datacenter("dc-a", Signal::Wan, Some("dc.w"))),
        ("dc:a@b.lan", datacenter("a@b", Signal::Lan, None)),
        ("dc:a.wan@x@y", datacenter("a", Signal::Wan, Some("x@y"))),
        ("tw:office", RawSubject::TimeWindow("office".into())),
        ("sw:drill", RawSubject::Switch("drill".into())),
        ("sw:dc-a.maintenance", RawSubject::Switch("dc-a.maintenance".into())),
    ] {
        assert_eq!(parse_id(id), Ok(subject), "{id}");
    }
    for (id, says) in [
        ("", "empty"),
        ("a b", "` ` cannot stand"),
        ("dc:a", "with a signal"),
        ("dc:.wan", "with a signal"),
        ("dc:a.wan@", "observing site"),
        ("svc:a>=1", "only `vs:NAME.health`"),
        ("vs:web>=50", "only `.health`"),
        ("vs:web.health>=101", "percentage"),
        ("vs:web.health>=+5", "`+` cannot stand"),
        ("vs:web.health>=", "percentage"),
        ("vs:web.health>==5", "percentage"),
        ("vs:.health>=5", "only `.health`"),
        ("tw:", "name of a time window"),
    ] {
        let error = parse_id(id).expect_err(id);
        assert!(error.what.contains(says), "{id}: {error}");
    }
}

fn durations(longest_s: u64) -> impl Strategy<Value = Duration> {
    (1u64..=longest_s * 1_000).prop_map(Duration::from_millis)
}

fn measures() -> impl Strategy<Value = (bool, Option<Measure>)> {
    let statistic = (0usize..qualifier::STATISTICS.len()).prop_map(|i| qualifier::STATISTICS[i].1);
    let window = prop_oneof![(1u32..=1000).prop_map(Window::Samples), durations(3_600).prop_map(Window::Span)];
    let latency = (statistic, durations(1_799), window, proptest::option::of(durations(1_800))).prop_map(
        |(statistic, below, over, more)| Measure::Latency { statistic, below, over, leave_at: more.map(|m| below + m) },
    );
    prop_oneof![
        any::<bool>().prop_map(|negated| (negated, None)),
        (1u32..=1000).prop_map(|n| (true, Some(Measure::Fails(n)))),
        (1u32..=1000).prop_map(|n| (false, Some(Measure::Passes(n)))),
        (any::<bool>(), 1u32..=1000, durations(400 * 86_400))
            .prop_map(|(negated, fewer_than, within)| (negated, Some(Measure::Flaps { fewer_than, within }))),
        latency.prop_map(|l| (false, Some(l))),
    ]
}

proptest! {
    #[test]
    fn a_printed_term_reads_back(
        id in "[a-z0-9_][a-zA-Z0-9_./@-]{0,20}",
        (negated, measure) in measures(),
        hold in proptest::option::of(durations(400 * 86_400)),
    ) {
        let term = RawTerm { id, negated, measure, hold };
        prop_assert_eq!(parse_term(&canonical(&term)), Ok(term));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
            let _ = (parse_term(&text).map_err(|e| e.to_string()), parse_id(&text));
        }
    }

    #[test]
    fn no_text_near_the_grammar_makes_the_reader_panic(
        text in "(vs:|dc:|sc:|p|@|\\.|wan|health)*[>=<!]{0,3}\\{?((fails|passes|for|flaps|latency|p95|over|leave at|samples|in|[0-9]|ms|[:,.<{} é])){0,12}\\}?"
    ) {
        if let Ok(term) = parse_term(&text) {
            prop_assert_eq!(parse_term(&canonical(&term)), Ok(term));
        }
    }
}
