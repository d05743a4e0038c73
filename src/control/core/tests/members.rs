//! Members that come from DNS, in virtual time.

use std::time::Duration;

use super::bench::{Bench, disable};
use crate::control::command::{Command, Format};
use crate::control::core::Input;
use crate::model::lookup::{Answer, Found, Query, Question};
use crate::model::state::ServiceState;

const SECOND: Duration = Duration::from_secs(1);

const BOX: &str = r#"
schema = 1
[server.pool]
address = "app.example.test"
query_type = "A"
[service_group.web]
type = "HTTP"
health_monitor = false
auto_scale = "DNS"
auto_disable_delay = "30s"
member.pool = { server = "pool", port = 80, weight = 7 }
[service.fixed]
type = "HTTP"
address = "192.0.2.99:80"
health_monitor = false
[vserver.web]
type = "HTTP"
address = "127.0.0.1:0"
services = ["fixed"]
groups = ["web"]
"#;

fn question() -> Question {
    Question { name: "app.example.test".into(), query: Query::A }
}

fn hears(bench: &mut Bench, addresses: &[&str]) {
    let found = addresses.iter().map(|address| Found { address: address.parse().unwrap(), srv: None }).collect();
    bench.feed(Input::Lookups(vec![(question(), Ok(Answer { found, ttl: SECOND }))]));
}

/// Name and state of every service as traffic sees it.
fn services(bench: &Bench) -> Vec<(String, ServiceState)> {
    let snapshot = bench.core.cell().load_full();
    snapshot.model.services.iter().zip(&snapshot.services).map(|(s, entry)| (s.name.to_string(), entry.state)).collect()
}

fn named(of: &[(&str, ServiceState)]) -> Vec<(String, ServiceState)> {
    of.iter().map(|(name, state)| ((*name).to_owned(), *state)).collect()
}

fn bench() -> (tempfile::TempDir, Bench) {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::with_text_on(BOX, dir.path());
    (dir, bench)
}

#[test]
fn members_follow_the_answer_and_leave_by_their_delay() {
    use ServiceState::{Trofs, Up};
    let (_dir, mut bench) = bench();
    assert_eq!(services(&bench), named(&[("fixed", Up)]));
    hears(&mut bench, &["192.0.2.2", "192.0.2.1"]);
    let both = [("fixed", Up), ("web/192.0.2.1:80", Up), ("web/192.0.2.2:80", Up)];
    assert_eq!(services(&bench), named(&both));
    let snapshot = bench.core.cell().load_full();
    let weights: Vec<u32> = snapshot.model.vservers[0].members.iter().map(|member| member.weight).collect();
    assert_eq!(weights, [1, 7, 7], "bound where the group is, with its weight");

    hears(&mut bench, &["192.0.2.2", "192.0.2.3"]);
    let moved = [("fixed", Up), ("web/192.0.2.1:80", Trofs), ("web/192.0.2.2:80", Up), ("web/192.0.2.3:80", Up)];
    assert_eq!(services(&bench), named(&moved));
    bench.wait(29 * SECOND);
    assert_eq!(services(&bench), named(&moved));
    bench.wait(3 * SECOND);
    assert_eq!(services(&bench), named(&[("fixed", Up), ("web/192.0.2.2:80", Up), ("web/192.0.2.3:80", Up)]));
    assert!(bench.read(|w| w.view.overrides.is_empty()).unwrap(), "nothing is left of it");
    assert!(bench.kinds().iter().filter(|kind| *kind == "members").count() >= 3, "{:?}", bench.kinds());
}

#[test]
fn an_address_that_comes_back_ends_its_drain_and_a_persons_disable_stays() {
    use ServiceState::{OutOfService, Trofs, Up};
    let (_dir, mut bench) = bench();
    hears(&mut bench, &["192.0.2.1", "192.0.2.2"]);
    bench.command(disable("web/192.0.2.2:80", None, false)).try_recv().unwrap().unwrap();
    hears(&mut bench, &["192.0.2.3"]);
    let drains = [("fixed", Up), ("web/192.0.2.1:80", Trofs), ("web/192.0.2.2:80", OutOfService)];
    assert_eq!(services(&bench)[..3], named(&drains));
    hears(&mut bench, &["192.0.2.1", "192.0.2.2"]);
    let back = [("fixed", Up), ("web/192.0.2.1:80", Up), ("web/192.0.2.2:80", OutOfService)];
    assert_eq!(services(&bench)[..3], named(&back), "the person has not enabled it");
}

#[test]
fn while_dns_fails_the_members_stay_and_the_failure_shows() {
    let (_dir, mut bench) = bench();
    hears(&mut bench, &["192.0.2.1"]);
    let before = services(&bench);
    for _ in 0..50 {
        bench.feed(Input::Lookups(vec![(question(), Err("SERVFAIL".into()))]));
        bench.wait(10 * SECOND);
    }
    hears(&mut bench, &[]);
    assert_eq!(services(&bench), before);
    let shown = bench.read(|w| w.names.values().map(|k| (k.failures, k.error.is_some())).collect::<Vec<_>>());
    assert_eq!(shown, Some(vec![(51, true)]));
}

#[test]
fn a_restart_begins_with_the_last_members_and_what_a_person_did_to_them() {
    let (dir, mut bench) = bench();
    hears(&mut bench, &["192.0.2.1", "192.0.2.2"]);
    bench.command(disable("web/192.0.2.2:80", None, false)).try_recv().unwrap().unwrap();
    let before = services(&bench);
    drop(bench);
    let mut bench = Bench::with_text_on(BOX, dir.path());
    assert_eq!(services(&bench), before, "before DNS has answered anything");
    assert_eq!(bench.read(|w| w.view.overrides.len()), Some(1));
}

#[test]
fn members_are_no_part_of_the_configuration_and_a_change_of_it_keeps_them() {
    let (_dir, mut bench) = bench();
    hears(&mut bench, &["192.0.2.1", "192.0.2.2"]);
    bench.wait(5 * SECOND);
    let printed = bench.read(|w| crate::config::render::render(w.model)).unwrap();
    assert!(!printed.contains("192.0.2.1:80") && printed.contains("auto_scale"), "{printed}");
    assert_eq!(bench.read(|w| w.config.unsaved), Some(false));
    let since = |bench: &mut Bench| {
        bench.read(|w| w.view.services[w.model.service_id("web/192.0.2.1:80").unwrap().index()].since).unwrap()
    };
    let entered = since(&mut bench);
    let apply = |text: String, dry_run| Command::ApplyConfig { text, format: Format::Toml, dry_run, if_hash: None };
    let other = printed.replace("\"fixed\"", "\"other\"").replace("service.fixed", "service.other");
    let foreseen = bench.command(apply(other.clone(), true)).try_recv().unwrap().unwrap().changes;
    assert!(foreseen.iter().all(|line| !line.contains("service_group")), "{foreseen:?}");
    bench.command(apply(other, false)).try_recv().unwrap().unwrap();
    let names: Vec<String> = services(&bench).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["other", "web/192.0.2.1:80", "web/192.0.2.2:80"]);
    assert_eq!(since(&mut bench), entered, "as they were");
    let static_ = BOX.replace("auto_scale = \"DNS\"\nauto_disable_delay = \"30s\"\n", "");
    bench.command(apply(static_, false)).try_recv().unwrap().unwrap();
    let names: Vec<String> = services(&bench).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["fixed", "web/pool"]);
}
