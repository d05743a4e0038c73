//! Traces of requests: what a server is told of one, and what is known of it afterwards, with both engines.

use bascule::dataplane::l7::Carrier;
use bascule::model::Model;
use bascule::model::service::Protocol::Http;
use bascule::model::trace::{Trace, TraceParent};
use bascule::snapshot::live::Traced;

use super::one;
use crate::world::{Plan, Server, World, eventually, get, nobody};

const BOTH: [Carrier; 2] = [Carrier::Relay, Carrier::Pingora];
const SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const NOT_SAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

fn tracing(one_in: u32, accept: &str) -> Trace {
    Trace {
        endpoint: "http://127.0.0.1:9/v1/traces".into(),
        headers: Vec::new(),
        one_in,
        accept: vec![accept.parse().unwrap()],
        service_name: "bascule".into(),
        timeout: Trace::TIMEOUT,
    }
}

async fn world(mut model: Model, carrier: Carrier, trace: Option<Trace>) -> World {
    model.trace = trace;
    World::through(model, carrier).await
}

/// The values of a field of all requests that a server saw.
fn fields(server: &Server, name: &str) -> Vec<String> {
    let seen = server.seen();
    let of = |line: &str| {
        line.split_once(':').filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.trim().to_owned())
    };
    seen.lines().filter_map(of).collect()
}

fn parent(text: &str) -> TraceParent {
    TraceParent::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text}"))
}

/// What waits to be sent.
async fn next(world: &World) -> Traced {
    let traces = &world.cell.load_full().traces;
    let mut first = None;
    eventually("a request was sampled", || {
        first = traces.take(1).pop();
        first.is_some()
    })
    .await;
    *first.expect("one")
}

#[tokio::test]
async fn a_sampled_trace_goes_on_with_our_span_in_it_and_what_we_know_of_the_request_is_kept() {
    for carrier in BOTH {
        let server = Server::http("a").await;
        let world = world(one(&server).model(), carrier, Some(tracing(0, "127.0.0.0/8"))).await;
        let said = format!("traceparent: {SAMPLED}\r\ntracestate: rojo=1\r\nUser-Agent: me\r\nTrace_Parent: x\r\n");
        assert!(get(world.vip("web"), "/a?secret=1", &said).await.starts_with("HTTP/1.1 200"), "{carrier:?}");
        let told = fields(&server, "traceparent");
        let [told] = &told[..] else { panic!("{carrier:?}: {told:?}") };
        let (given, told) = (parent(SAMPLED), parent(told));
        assert_eq!((told.trace, told.flags), (given.trace, given.flags), "{carrier:?}");
        assert_ne!(told.span, given.span);
        assert_eq!(fields(&server, "tracestate"), ["rojo=1"], "it is about this trace");

        let traced = next(&world).await;
        assert_eq!((traced.trace, traced.parent), (given.trace, Some(given.span)));
        assert_eq!((&*traced.method, &*traced.path, &*traced.host, &*traced.agent), ("GET", "/a", "t.test", "me"));
        assert_eq!((&*traced.vserver, traced.status, traced.failed), ("web", 200, false));
        let [tried] = &traced.tries[..] else { panic!("{carrier:?}: {:?}", traced.tries) };
        assert_eq!((tried.span, &*tried.service, tried.address, tried.status), (told.span, "a", server.at, 200));
        let order = [traced.began, tried.began, tried.ended, traced.ended];
        assert!(order.is_sorted() && tried.failed.is_none(), "{carrier:?}: {traced:?}");
        let moments: Vec<_> = tried.moments.iter().map(|(what, _)| *what).collect();
        assert_eq!(moments, ["connected", "request sent", "first byte of the answer"], "{carrier:?}");
        assert!(tried.moments.is_sorted_by_key(|(_, at)| *at), "{carrier:?}: {:?}", tried.moments);
    }
}

#[tokio::test]
async fn a_trace_that_its_caller_does_not_sample_passes_and_is_not_kept() {
    for carrier in BOTH {
        let server = Server::http("a").await;
        let world = world(one(&server).model(), carrier, Some(tracing(1, "127.0.0.0/8"))).await;
        get(world.vip("web"), "/", &format!("traceparent: {NOT_SAMPLED}\r\ntracestate: a=b\r\n")).await;
        assert_eq!(fields(&server, "traceparent"), [NOT_SAMPLED], "{carrier:?}");
        assert_eq!(fields(&server, "tracestate"), ["a=b"]);
        get(world.vip("web"), "/mine", "").await;
        assert_eq!(next(&world).await.path, "/mine", "{carrier:?}: the first one was not kept");
    }
}

#[tokio::test]
async fn a_trace_of_a_client_that_is_not_accepted_is_replaced_with_what_was_said_of_it() {
    for carrier in BOTH {
        for (one_in, flags) in [(0, 0), (1, 1)] {
            let server = Server::http("a").await;
            let world = world(one(&server).model(), carrier, Some(tracing(one_in, "10.0.0.0/8"))).await;
            get(world.vip("web"), "/", &format!("traceparent: {SAMPLED}\r\ntracestate: rojo=1\r\n")).await;
            let told = fields(&server, "traceparent");
            let [told] = &told[..] else { panic!("{carrier:?}: {told:?}") };
            assert_ne!(parent(told).trace, parent(SAMPLED).trace, "{carrier:?}");
            assert_eq!(parent(told).flags, flags, "{carrier:?}");
            assert_eq!(fields(&server, "tracestate"), [""], "{carrier:?}: it is about another trace");
        }
    }
}

#[tokio::test]
async fn of_several_traceparents_none_counts_and_all_are_replaced_by_one() {
    for carrier in BOTH {
        for [first, second] in [[NOT_SAMPLED, SAMPLED], [SAMPLED, NOT_SAMPLED], [NOT_SAMPLED, NOT_SAMPLED]] {
            let server = Server::http("a").await;
            let world = world(one(&server).model(), carrier, Some(tracing(1, "127.0.0.0/8"))).await;
            let said = format!("traceparent: {first}\r\ntracestate: rojo=1\r\nTraceParent: {second}\r\n");
            assert!(get(world.vip("web"), "/", &said).await.starts_with("HTTP/1.1 200"), "{carrier:?}");
            let told = fields(&server, "traceparent");
            let [told] = &told[..] else { panic!("{carrier:?}: {told:?}") };
            assert_ne!(parent(told).trace, parent(SAMPLED).trace, "{carrier:?}");
            assert_eq!(fields(&server, "tracestate"), [""], "{carrier:?}: it is about another trace");
            assert_eq!(next(&world).await.parent, None, "{carrier:?}: it begins here");
        }
    }
}

#[tokio::test]
async fn without_tracing_whatever_clients_say_of_traces_passes_as_it_is() {
    for carrier in BOTH {
        let server = Server::http("a").await;
        let mut world = world(one(&server).model(), carrier, Some(tracing(1, "127.0.0.0/8"))).await;
        world.model.trace = None;
        world.publish().await;
        eventually("it is off", || !world.cell.load_full().traces.is_on()).await;
        get(world.vip("web"), "/", "traceparent: what\r\ntraceparent: ever\r\n").await;
        assert_eq!(fields(&server, "traceparent"), ["what", "ever"], "{carrier:?}");
        let traces = &world.cell.load_full().traces;
        assert_eq!(traces.sampled_total.load(std::sync::atomic::Ordering::Relaxed), 0);
    }
}

#[tokio::test]
async fn every_server_that_was_tried_has_a_span_of_its_own() {
    for carrier in BOTH {
        let (gone, server) = (nobody().await, Server::http("b").await);
        let plan = Plan::default().service("a", Http, gone).service("b", Http, server.at);
        let model = plan.vserver("web", Http, &["a", "b"]).model();
        let world = world(model, carrier, Some(tracing(1, "127.0.0.0/8"))).await;
        // ROUNDROBIN and its like begin with either.
        let traced = loop {
            get(world.vip("web"), "/", "").await;
            let traced = next(&world).await;
            if traced.tries.len() > 1 {
                break traced;
            }
        };
        let [first, second] = &traced.tries[..] else { panic!("{carrier:?}: {:?}", traced.tries) };
        assert_eq!((&*first.service, &*second.service), ("a", "b"), "{carrier:?}");
        assert!(first.failed.is_some() && second.failed.is_none() && first.span != second.span, "{carrier:?}");
        let told = fields(&server, "traceparent");
        assert_eq!(parent(told.last().unwrap()).span, second.span, "{carrier:?}");
        assert_eq!((traced.status, traced.failed), (200, false));
    }
}
