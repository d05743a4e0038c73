mod alerts;
mod bench;
mod caches;
mod files;
mod members;
mod outbox;
mod peers;
mod replay;
mod split;

use std::sync::atomic::Ordering;
use std::time::Duration;

use bench::{Bench, disable, modes};

use super::*;
use crate::control::JournalQuery;
use crate::control::command::{Command, Note, Refusal};
use crate::control::journal::codec;
use crate::model::condition::Truth;
use crate::model::event::Outcome;
use crate::model::id::{Kind, ObjectRef};
use crate::model::scenario::Mode;
use crate::model::state::ServiceState;

const SECOND: Duration = Duration::from_secs(1);

fn state(bench: &Bench, service: usize) -> ServiceState {
    bench.core.cell().load().services[service].state
}

#[test]
fn an_act_is_answered_when_it_is_durable_and_published() {
    let mut bench = Bench::new();
    bench.hangs = true;
    let mut answered = bench.command(disable("web1", None, false));
    assert!(answered.try_recv().is_err());
    assert_eq!(state(&bench, 0), ServiceState::Up, "the engine sees it only when the intent is on disk");
    bench.heal();
    let done = answered.try_recv().unwrap().unwrap();
    assert_eq!(state(&bench, 0), ServiceState::OutOfService);
    assert_eq!(done.generation, bench.core.cell().load().generation);
    assert!(bench.kinds().contains(&"act".to_owned()));
}

#[test]
fn an_act_that_the_disk_refuses_changes_nothing() {
    let mut bench = Bench::new();
    bench.broken.store(true, Ordering::Relaxed);
    let refused = bench.command(disable("web1", None, false)).try_recv().unwrap().unwrap_err();
    assert!(refused.to_string().contains("was not carried out") && refused.to_string().contains("the disk is full"));
    assert_eq!(state(&bench, 0), ServiceState::Up);
    bench.heal();
    bench.wait(SECOND);
    assert_eq!(state(&bench, 0), ServiceState::Up, "and it does not happen later either");
}

#[test]
fn an_act_that_the_disk_does_not_answer_is_refused_after_two_seconds() {
    let mut bench = Bench::new();
    bench.hangs = true;
    let mut answered = bench.command(disable("web1", None, false));
    bench.wait(Duration::from_millis(1_999));
    assert!(answered.try_recv().is_err());
    bench.wait(Duration::from_millis(1));
    assert!(answered.try_recv().unwrap().is_err());
    bench.heal();
    assert_eq!(state(&bench, 0), ServiceState::Up);
}

#[test]
fn states_of_services_never_wait_for_the_disk() {
    let mut bench = Bench::new();
    bench.command(disable("web1", Some(30), false)).try_recv().unwrap().unwrap();
    assert_eq!(state(&bench, 0), ServiceState::Trofs);
    bench.hangs = true;
    bench.wait(30 * SECOND);
    assert_eq!(state(&bench, 0), ServiceState::OutOfService);
}

#[test]
fn a_commit_is_seen_by_nobody_before_it_is_durable() {
    let mut bench = Bench::new();
    bench.probe(Outcome::Pass);
    while bench.events.try_recv().is_ok() {}
    bench.hangs = true;
    bench.probe(Outcome::Fail);
    assert!(!bench.published_active());
    assert_eq!(bench.core.cell().load().watched, [Truth::False], "nor by a rule that names the scenario");
    assert!(bench.events.try_recv().is_err());
    assert_eq!(bench.read(|world| world.view.scenarios[0].active), None, "reads wait, too");
    bench.heal();
    assert!(bench.published_active());
    assert_eq!(bench.core.cell().load().watched, [Truth::True]);
    let mut heard = Vec::new();
    while let Ok(event) = bench.events.try_recv() {
        heard.push(codec::kind(&event.record));
    }
    assert!(heard.contains(&"transition"), "{heard:?}");
}

#[test]
fn without_the_disk_an_activation_goes_out_after_two_seconds_with_an_alert_and_a_deactivation_is_held() {
    let mut bench = Bench::new();
    bench.probe(Outcome::Pass);
    bench.hangs = true;
    bench.probe(Outcome::Fail);
    bench.wait(Duration::from_millis(1_999));
    assert!(!bench.published_active());
    bench.wait(Duration::from_millis(1));
    assert!(bench.published_active());
    assert!(bench.read(|w| w.status.not_durable.clone()).unwrap().unwrap().contains("more than 2 s"));
    bench.probe(Outcome::Pass);
    bench.wait(60 * SECOND);
    assert!(bench.published_active(), "what runs, runs");
    assert!(bench.read(|w| w.status.not_durable.clone()).unwrap().unwrap().contains("former state until it does: dr"));
    bench.heal();
    assert!(!bench.published_active());
    assert_eq!(bench.read(|w| w.status.not_durable.clone()), Some(None));
}

#[test]
fn a_disk_that_hangs_costs_bounded_memory_and_loses_no_transition() {
    let mut bench = Bench::new();
    bench.probe(Outcome::Pass);
    bench.hangs = true;
    for _ in 0..durable::ORDERS_MOST {
        bench.probe(Outcome::Fail);
        bench.probe(Outcome::Pass);
    }
    assert!(bench.core.is_disk_swamped());
    let refused = bench.command(disable("web1", None, false)).try_recv().unwrap();
    assert!(matches!(refused, Err(Refusal::Disk(why)) if why.contains("too much waits")));
    bench.wait(3 * SECOND);
    let alert = bench.read(|w| w.status.not_durable.clone()).unwrap().unwrap();
    assert_eq!(alert.matches("dr").count(), 1, "{alert}");
    assert!(bench.core.batch.scenarios.len() <= 3);
    let seq = bench.read(|w| w.view.scenarios[0].seq).unwrap();
    bench.heal();
    bench.wait(SECOND);
    assert!(!bench.core.is_disk_swamped());
    assert!(bench.command(disable("web1", None, false)).try_recv().unwrap().is_ok());
    let query = JournalQuery { kind: Some("transition".into()), ..JournalQuery::default() };
    assert_eq!(bench.journal.query(&query).unwrap().len() as u64, seq);
}

#[test]
fn a_killed_process_loses_no_answered_act_and_no_published_commit_and_seq_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    {
        let mut bench = Bench::on(dir.path());
        bench.probe(Outcome::Pass);
        bench.probe(Outcome::Fail);
        assert!(bench.published_active());
        bench.command(disable("web1", None, false)).try_recv().unwrap().unwrap();
        bench.hangs = true;
        bench.probe(Outcome::Pass);
        assert!(bench.published_active(), "this commit is not durable, so nobody has seen it");
        // Killed here.
    }
    let mut bench = Bench::on(dir.path());
    assert!(bench.core.cell().load().ready, "a restart answers from the saved state at once");
    assert!(bench.published_active());
    assert_eq!(state(&bench, 0), ServiceState::OutOfService);
    bench.probe(Outcome::Pass);
    let seqs = bench.read(|w| w.view.scenarios[0].seq).unwrap();
    assert_eq!(seqs, 2, "the lost commit is made again under the same number");
}

#[test]
fn an_act_that_was_durable_when_the_process_was_killed_is_carried_out_at_the_next_start_once() {
    let dir = tempfile::tempdir().unwrap();
    {
        let (mut store, _) = crate::control::store::open(dir.path()).unwrap();
        let command = disable("web1", Some(60), false);
        let body = crate::control::journal::saved::encode_command(&command).unwrap();
        // Twenty seconds before the bench's clock.
        let at = crate::model::time::Wall(1_800_000_000_000_000 - 20_000_000);
        let intent = crate::control::store::Intent { id: 3, at, actor: "admin:nsroot".into(), body };
        crate::control::store::Store::commit(&mut store, &[&Batch { intents: vec![intent], ..Batch::default() }])
            .unwrap();
    }
    let mut bench = Bench::on(dir.path());
    assert_eq!(state(&bench, 0), ServiceState::Trofs);
    bench.wait(Duration::from_millis(39_900));
    assert_eq!(state(&bench, 0), ServiceState::Trofs);
    bench.wait(Duration::from_millis(200));
    assert_eq!(state(&bench, 0), ServiceState::OutOfService, "its time counts from when it was asked for");
    bench.command(Command::Enable { object: ObjectRef::new(Kind::Service, "web1"), note: Note::default() });
    drop(bench);
    let bench = Bench::on(dir.path());
    assert_eq!(state(&bench, 0), ServiceState::Up);
}

#[test]
fn a_first_start_is_ready_after_the_first_round_of_probes_or_five_seconds() {
    let mut bench = Bench::new();
    assert!(!bench.core.cell().load().ready);
    bench.probe(Outcome::Pass);
    assert!(bench.core.cell().load().ready);
    let mut bench = Bench::new();
    bench.wait(Duration::from_millis(4_900));
    assert!(!bench.core.cell().load().ready);
    bench.wait(Duration::from_millis(100));
    assert!(bench.core.cell().load().ready);
}

#[test]
fn a_graceful_disable_without_open_work_is_out_at_once_and_with_it_drains() {
    let mut bench = Bench::new();
    bench.command(disable("web1", None, true)).try_recv().unwrap().unwrap();
    assert_eq!(state(&bench, 0), ServiceState::OutOfService);
    let live = Arc::clone(&bench.core.cell().load().services[1].live);
    let open = live.begin();
    let done = bench.command(disable("web2", None, true)).try_recv().unwrap().unwrap();
    assert_eq!(done.warnings, ["this takes the last UP member of vserver web: new clients will be refused"]);
    assert_eq!(state(&bench, 1), ServiceState::Trofs);
    drop(open);
    // No hint has come: the look at the counters ends the drain.
    bench.wait(SECOND);
    assert_eq!(state(&bench, 1), ServiceState::OutOfService);
}

#[test]
fn a_disable_with_wait_is_answered_when_the_drain_is_over_or_says_who_is_left() {
    let mut bench = Bench::new();
    let waiting = |wait| Command::Disable {
        object: ObjectRef::new(Kind::Service, "web1"),
        delay: Some(10 * SECOND),
        graceful: false,
        note: Note::default(),
        wait: Some(wait),
    };
    let mut short = bench.command(waiting(3 * SECOND));
    bench.wait(3 * SECOND);
    assert_eq!(short.try_recv().unwrap().unwrap().still_draining, ["web1: TROFS with 0 open"]);
    let mut long = bench.command(waiting(60 * SECOND));
    bench.wait(9 * SECOND);
    assert!(long.try_recv().is_err());
    bench.wait(SECOND);
    assert!(long.try_recv().unwrap().unwrap().still_draining.is_empty());
}

#[test]
fn a_second_on_beside_a_spent_one_is_refused_with_what_was_meant() {
    let mut bench = Bench::new();
    bench.probe(Outcome::Pass);
    bench.command(modes(Some(Mode::On), None)).try_recv().unwrap().unwrap();
    assert!(bench.published_active());
    let refused = bench.command(modes(None, Some(Mode::On))).try_recv().unwrap().unwrap_err();
    assert!(
        matches!(&refused, Refusal::WouldBeStuck(text) if text.contains(r#"{"activate": "auto", "deactivate": "on"}"#))
    );
    bench.command(modes(Some(Mode::Auto), Some(Mode::On))).try_recv().unwrap().unwrap();
    assert!(!bench.published_active());
}

#[test]
fn forcing_against_a_true_condition_obeys_and_names_the_group() {
    let mut bench = Bench::new();
    bench.probe(Outcome::Fail);
    assert!(bench.published_active());
    let done = bench.command(modes(None, Some(Mode::On))).try_recv().unwrap().unwrap();
    assert!(done.warnings[0].contains("the activation condition is true (api!)"), "{:?}", done.warnings);
    assert!(!bench.published_active());
}

#[test]
fn what_names_nothing_or_means_nothing_is_refused() {
    let mut bench = Bench::new();
    let vserver = ObjectRef::new(Kind::Vserver, "web");
    let delayed =
        Command::Disable { object: vserver, delay: Some(SECOND), graceful: false, note: Note::default(), wait: None };
    for (command, expected) in [
        (disable("nope", None, false), "no service nope of this name"),
        (delayed, "a vserver is disabled at once, without delay or graceful: disable its services to drain them"),
        (modes(None, None), "name a mode for `activate`, `deactivate` or both"),
        (Command::Save, "there is no configuration file to read or write"),
    ] {
        let refused = bench.command(command).try_recv().unwrap().unwrap_err();
        assert_eq!(refused.to_string(), expected);
    }
}

#[test]
fn who_reads_the_journal_waits_for_what_had_happened_before_but_not_for_a_disk_in_trouble() {
    let mut bench = Bench::new();
    let ask = |bench: &mut Bench| {
        let (answer, answered) = tokio::sync::oneshot::channel();
        bench.feed(Input::Request(Request::Recorded(answer)));
        answered
    };
    let refused = |bench: &mut Bench| {
        let body = serde_json::json!({ "what": "refused" });
        let told = Request::Access { actor: "".into(), door: "".into(), body, answer: None };
        bench.feed(Input::Request(told));
    };
    assert!(ask(&mut bench).try_recv().is_ok(), "nothing waits to be written");
    bench.hangs = true;
    refused(&mut bench);
    let mut asked = ask(&mut bench);
    assert!(asked.try_recv().is_err());
    bench.heal();
    assert!(asked.try_recv().is_ok());
    assert!(bench.kinds().contains(&"access".to_owned()));
    bench.hangs = true;
    refused(&mut bench);
    let mut asked = ask(&mut bench);
    bench.wait(2 * SECOND);
    assert!(asked.try_recv().is_ok(), "what is there is better than nothing");
    assert!(ask(&mut bench).try_recv().is_ok(), "and the next one does not wait at all");
}

#[test]
fn a_start_its_configuration_and_a_stop_are_in_the_journal() {
    let mut bench = Bench::new();
    bench.feed(Input::Request(Request::Stop));
    let kinds = bench.kinds();
    assert_eq!(kinds[..2], ["start", "config"]);
    assert_eq!(kinds.last().unwrap(), "stop");
}
