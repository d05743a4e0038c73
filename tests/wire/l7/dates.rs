//! The Date field (RFC 9110 §6.6.1): the server's stands, in both engines and both versions of HTTP.

use bascule::dataplane::l7::Carrier;
use bascule::model::rule::Action;
use bascule::model::service::Protocol::Http;
use tokio::io::AsyncWriteExt;

use super::http2::client::Client;
use super::rules::{path, rule};
use crate::world::{Plan, Server, World, exchange, get, nobody, read_request};

const THEIRS: &str = "Mon, 30 Nov 2020 00:00:00 GMT";

/// Says when to `/dated`, twice in an interim answer and one, and nothing otherwise.
async fn server() -> Server {
    Server::each(|mut stream| async move {
        while let Some(request) = read_request(&mut stream).await {
            let date = if request.starts_with("GET /dated ") { format!("dAtE: {THEIRS}\r\n") } else { String::new() };
            let answer = format!(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n{date}Content-Length: 12\r\n\r\ndate: body\r\n"
            );
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await
}

fn dates(answer: &str) -> Vec<&str> {
    let head = answer.split_once("HTTP/1.1 103 Early Hints").map_or(answer, |(_, rest)| &rest[4..]);
    let head = head.split_once("HTTP/1.1 ").map_or(head, |(_, head)| head).split("\r\n\r\n").next().unwrap();
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.filter(|(name, _)| name.eq_ignore_ascii_case("date")).map(|(_, value)| value).collect()
}

#[tokio::test]
async fn the_date_of_a_server_stands_and_where_it_says_none_there_is_one() {
    let server = server().await;
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let plan = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]).with(|v| v.http2 = true);
        let world = World::through(plan.model(), carrier).await;
        let answer = get(world.vip("web"), "/dated", "").await;
        assert_eq!(dates(&answer), [THEIRS], "{carrier:?}: {answer}");
        assert!(answer.ends_with("\r\n\r\ndate: body\r\n"), "{carrier:?}: {answer}");
        let answer = get(world.vip("web"), "/", "").await;
        assert!(matches!(dates(&answer)[..], [date] if date != THEIRS && date.len() == 29), "{carrier:?}: {answer}");
        let client = Client::connect(world.vip("web")).await;
        let said = async |path| client.get(path).await.headers.get_all("date").iter().cloned().collect::<Vec<_>>();
        assert_eq!(said("/dated").await, [THEIRS]);
        assert!(matches!(&said("/").await[..], [date] if date != THEIRS));
    }
}

#[tokio::test]
async fn whatever_we_answer_ourselves_says_when_once() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let plan = Plan::default().service("a", Http, nobody().await).vserver("web", Http, &["a"]);
        let mut model = plan.model();
        let respond = |headers| Action::Respond { status: 200, headers, body: b"own".to_vec() };
        model.criteria = ["/own", "/moved", "/dated"].map(path).into();
        model.rules = vec![
            rule(0, 10, Some(0), respond(vec![])),
            rule(0, 20, Some(1), Action::Redirect { status: 302, location: "/".into() }),
            rule(0, 30, Some(2), respond(vec![("Date".into(), THEIRS.into())])),
        ];
        let world = World::through(model, carrier).await;
        let vip = world.vip("web");
        let ask = async |request: &str| exchange(vip, &format!("{request}\r\n\r\n")).await;
        for (request, status) in [
            ("GET /own HTTP/1.1\r\nHost: a\r\nConnection: close", 200),
            ("GET /moved HTTP/1.1\r\nHost: a\r\nConnection: close", 302),
            ("HEAD /own HTTP/1.1\r\nHost: a\r\nConnection: close", 200),
            ("GET /own HTTP/1.0\r\nHost: a", 200),
            ("GET / HTTP/1.1", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x", 400),
            ("GET / HTTP/7.1\r\nHost: a", 505),
        ] {
            let answer = ask(request).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{carrier:?} {request}: {answer}");
            assert!(matches!(dates(&answer)[..], [date] if date.len() == 29), "{carrier:?} {request}: {answer}");
        }
        let answer = ask("GET /dated HTTP/1.1\r\nHost: a\r\nConnection: close").await;
        assert_eq!(dates(&answer), [THEIRS], "a rule that says one means it: {carrier:?}: {answer}");
    }
}

#[tokio::test]
async fn answers_of_our_own_say_when_once() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let plan = Plan::default().service("a", Http, nobody().await).vserver("web", Http, &["a"]);
        let world = World::through(plan.with(|v| v.http2 = true).model(), carrier).await;
        let answer = get(world.vip("web"), "/", "").await;
        assert_eq!((answer.get(..13), dates(&answer).len()), (Some("HTTP/1.1 502 "), 1), "{carrier:?}: {answer}");
        let answer = Client::connect(world.vip("web")).await.get("/").await;
        assert_eq!((answer.status, answer.headers.get_all("date").iter().count()), (502, 1), "{answer:?}");
    }
}
