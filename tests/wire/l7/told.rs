//! What is told of a request afterwards, in the log and in the counters: what its client got, and who had a part in it.

use std::sync::atomic::Ordering::Relaxed;

use bascule::dataplane::l7::Carrier;
use bascule::model::check::StatusRange;
use bascule::model::condition::{Condition, Group, Subject, Term};
use bascule::model::id::{CriterionId, VserverId};
use bascule::model::rule::{Action, Criterion, CriterionTest, Edit, Phase, Rule};
use bascule::model::service::Protocol::Http;
use bascule::model::state::ServiceState;
use bascule::model::vserver::Role;
use bascule::model::{AccessTo, LogFormat, Model};
use bascule::snapshot::live::VserverLive;
use tokio::io::AsyncWriteExt;

use super::one;
use crate::world::{Plan, Server, World, body, eventually, get, read_request};

const BOTH: [Carrier; 2] = [Carrier::Relay, Carrier::Pingora];

fn rule(phase: Phase, criterion: Option<u32>, action: Action) -> Rule {
    let term = |id| Term {
        text: "".into(),
        subject: Subject::Criterion(CriterionId(id)),
        negated: false,
        measure: None,
        hold: None,
    };
    let terms: Vec<Term> = criterion.into_iter().map(term).collect();
    Rule {
        name: "mask".into(),
        vserver: VserverId(0),
        priority: 1,
        phase,
        watched: vec![vec![None; terms.len()]],
        when: Condition { groups: vec![Group { name: "".into(), named: false, terms }] },
        action,
        stop: false,
    }
}

/// With an access log; the world and a way to read it.
async fn logged(mut model: Model, carrier: Carrier) -> (World, tempfile::TempDir, impl Fn() -> String) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    model.log.access = AccessTo::File(log.to_str().unwrap().into());
    let world = World::through(model, carrier).await;
    (world, folder, move || std::fs::read_to_string(&log).unwrap_or_default())
}

fn live(world: &World, vserver: &str) -> std::sync::Arc<VserverLive> {
    let snapshot = world.cell.load_full();
    snapshot.vservers[snapshot.model.vserver_id(vserver).unwrap().index()].live.clone()
}

#[tokio::test]
async fn a_status_that_a_rule_changed_is_the_clients_and_the_servers_own_stays_the_members() {
    for carrier in BOTH {
        let server = Server::each(|mut stream| async move {
            while read_request(&mut stream).await.is_some() {
                let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno").await;
            }
        })
        .await;
        let mut model = one(&server).model();
        let range = StatusRange { from: 404, to: 404 };
        model.criteria = vec![Criterion { name: "gone".into(), test: CriterionTest::Status(vec![range]) }];
        model.rules = vec![rule(Phase::Response, Some(0), Action::Edit(vec![Edit::Status(503)]))];
        let (world, _folder, log) = logged(model, carrier).await;
        assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 503 "), "{carrier:?}");
        eventually("its line", || log().contains('\n')).await;
        let line = log();
        assert!(line.contains(" status=503 server_status=404 ") && line.contains(" rule=mask"), "{carrier:?}: {line}");
        let statuses = |counts: &[std::sync::atomic::AtomicU64; 6]| [4, 5].map(|class| counts[class].load(Relaxed));
        assert_eq!(statuses(&live(&world, "web").statuses_total), [0, 1], "{carrier:?}");
        let snapshot = world.cell.load_full();
        assert_eq!(statuses(&snapshot.services[0].live.statuses_total), [1, 0], "{carrier:?}");
    }
}

#[tokio::test]
async fn bodies_of_our_own_answers_count_as_bytes_to_the_client() {
    for carrier in BOTH {
        let server = Server::http("a").await;
        let mut model = one(&server).model();
        let action = Action::Respond { status: 403, headers: Vec::new(), body: b"not for you".to_vec() };
        model.rules = vec![rule(Phase::Request, None, action)];
        let (world, _folder, log) = logged(model, carrier).await;
        assert_eq!(body(&get(world.vip("web"), "/", "").await), "not for you");
        eventually("its line", || log().contains('\n')).await;
        assert!(log().contains(" bytes_out=11 "), "{carrier:?}: {}", log());
        assert_eq!(live(&world, "web").bytes_out_total.load(Relaxed), 11, "{carrier:?}");
        let refused = crate::world::exchange(world.vip("web"), "GET / HTTP/1.1\r\n\r\n").await;
        eventually("the refusal's line", || log().lines().count() == 2).await;
        let told = format!(" bytes_out={} ", body(&refused).len());
        assert!(body(&refused).len() > 11 && log().contains(&told), "{carrier:?}: {}", log());
    }
}

#[tokio::test]
async fn a_target_and_a_backup_count_what_they_serve_for_others() {
    for carrier in BOTH {
        let (own, spare) = (Server::http("own").await, Server::http("spare").await);
        let plan = Plan::default()
            .service("a", Http, own.at)
            .service("b", Http, spare.at)
            .vserver("backup", Http, &["b"])
            .vserver("target", Http, &["a"])
            .backup("backup")
            .vserver("web", Http, &[])
            .with(|v| v.role = Role::Cs { default: Some(VserverId(1)), targets: vec![VserverId(1)] });
        let mut world = World::through(plan.model(), carrier).await;
        let vip = world.vip("web");
        assert_eq!(body(&get(vip, "/", "").await), "own");
        world.state("a", ServiceState::Down).await;
        assert_eq!(body(&get(world.vip("target"), "/", "").await), "spare");
        let counts = |vserver: &str| {
            let live = live(&world, vserver);
            [&live.requests_total, &live.responses_total, &live.bytes_out_total, &live.statuses_total[2]]
                .map(|count| count.load(Relaxed))
        };
        eventually("its own and the switch's", || counts("target") == [2, 2, 8, 2]).await;
        assert_eq!((counts("web"), counts("backup")), ([1, 1, 3, 1], [1, 1, 5, 1]), "{carrier:?}");
    }
}

#[tokio::test]
async fn a_forged_list_of_proxies_ends_with_the_client_also_where_the_service_wants_its_own_field() {
    for carrier in BOTH {
        let server = Server::http("a").await;
        let plan = Plan::default()
            .service("a", Http, server.at)
            .with_service(|s| s.settings.client_ip_header = Some("X-Client".into()))
            .vserver("web", Http, &["a"]);
        let world = World::through(plan.model(), carrier).await;
        get(world.vip("web"), "/", "X-Forwarded-For: 6.6.6.6\r\nX-Client: 6.6.6.6\r\n").await;
        let seen = server.seen().to_lowercase();
        assert!(seen.contains("x-forwarded-for: 6.6.6.6, 127.0.0.1\r\n"), "{carrier:?}: {seen}");
        assert!(seen.contains("x-client: 127.0.0.1\r\n"), "{carrier:?}: {seen}");
        assert!(!seen.contains(": 6.6.6.6\r\n"), "{carrier:?}: {seen}");
    }
}

#[tokio::test]
async fn a_line_of_the_combined_format_holds_what_a_client_says_and_nothing_of_it_can_end_it() {
    for carrier in BOTH {
        let server = Server::http("a").await;
        let mut model = one(&server).model();
        model.log.format = LogFormat::Combined;
        let (world, _folder, log) = logged(model, carrier).await;
        let asked = "GET /a/b?token=1 HTTP/1.1\r\nHost: t.test\r\nReferer: https://from.test/x?secret=2\r\n\
                     User-Agent: a \"b\" \u{e9}\\\r\nConnection: close\r\n\r\n";
        crate::world::exchange(world.vip("web"), asked).await;
        eventually("its line", || log().contains('\n')).await;
        let line = log();
        let (client, rest) = line.trim_end().split_once(" - - [").expect("client and users");
        let (time, rest) = rest.split_once("] ").expect("the time");
        assert_eq!((client, time.len()), ("127.0.0.1", "29/Nov/2026:22:50:17 +0000".len()), "{carrier:?}: {line}");
        let said = r#""GET /a/b HTTP/1.1" 200 1 "https://from.test/x" "a \x22b\x22 \xC3\xA9\x5C""#;
        assert_eq!(rest, said, "{carrier:?}");
    }
}
