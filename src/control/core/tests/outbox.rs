//! Triggers and guards: what is promised with a commit, what is asked before one, and what a kill leaves of both.

use tokio::sync::oneshot;

use super::bench::{Bench, modes};
use super::*;
use crate::control::Request;
use crate::control::command::{Command, Note, Refusal};
use crate::control::courier::{Errand, Returned};
use crate::control::handing::StoreAsk;
use crate::model::delivery::Delivery;
use crate::model::event::{GuardVerdict, Outcome};
use crate::model::scenario::Mode;

const SECOND: Duration = Duration::from_secs(1);

/// `dr` goes active when `api` fails, and back when it passes; `page` tells of both.
fn config(activate: &str) -> String {
    format!(
        r#"
[appliance]
name = "box"
[check.api]
type     = "TCP"
address  = "127.0.0.1:1"
interval = "1s"
timeout  = "500ms"
rise     = 1
fall     = 1
[switch.office]
[trigger.page]
type  = "HTTP"
uri   = "http://127.0.0.1:2/incident"
retry = {{ attempts = 3, first = "1s", most = "10s" }}
[query.lag]
type = "HTTP"
uri  = "http://127.0.0.1:3/lag"
[scenario.dr]
about = "runbook 17"
[scenario.dr.activate]
when     = [["api!"]]
triggers = ["page"]
{activate}
[scenario.dr.deactivate]
when     = [["api"]]
triggers = ["page"]
"#
    )
}

fn sent(bench: &mut Bench) -> Vec<Delivery> {
    let errands = std::mem::take(&mut bench.errands).into_iter();
    errands
        .filter_map(|errand| match errand {
            Errand::Deliver { delivery, .. } => Some(delivery),
            _ => None,
        })
        .collect()
}

fn delivered(bench: &mut Bench, id: u64) {
    bench.feed(Input::Returned(Returned::Delivered { id, result: Ok(()) }));
}

fn statuses(bench: &mut Bench) -> Vec<(u64, &'static str)> {
    bench.read(|w| w.deliveries.deliveries.values().map(|d| (d.id, d.status.word())).collect()).unwrap()
}

/// The attempt that asks, and how many queries.
fn asked(bench: &mut Bench) -> Option<(u64, usize)> {
    let errands = std::mem::take(&mut bench.errands);
    errands.into_iter().find_map(|errand| match errand {
        Errand::Ask(asking) => Some((asking.attempt, asking.queries.len())),
        _ => None,
    })
}

fn told(bench: &mut Bench, attempt: u64, verdict: GuardVerdict) {
    let detail = "said the test".into();
    bench.feed(Input::Returned(Returned::Asked { scenario: "dr".into(), attempt, verdict, detail }));
}

fn decide(approve: bool, attempt: Option<u64>) -> Command {
    Command::DecideGuard { scenario: "dr".into(), approve, attempt, note: Note::default() }
}

fn attempts(bench: &Bench) -> Vec<String> {
    let entries = bench.journal.query(&Default::default()).unwrap();
    entries.iter().filter(|e| &*e.kind == "attempt").map(|e| e.body["outcome"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_gate_that_is_false_lets_the_state_change_and_nothing_is_sent_also_not_later() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(r#"gate = [["sw:office"]]"#), dir.path());
    bench.probe(Outcome::Fail);
    assert!(bench.published_active());
    assert_eq!(statuses(&mut bench), []);
    let open = Command::SetSwitch { switch: "office".into(), value: true, note: Note::default() };
    drop(bench.command(open));
    bench.wait(SECOND * 60);
    assert_eq!(sent(&mut bench), []);
    let counts = bench.read(|w| w.deliveries.counts["page"]).unwrap();
    assert_eq!((counts.suppressed, counts.fired), (1, 0));
    let transition = bench.read(|w| w.view.scenarios[0].last_transition.clone()).unwrap().unwrap();
    assert_eq!(&*transition.triggers[0].status, "suppressed");
}

#[test]
fn nothing_is_sent_before_its_commit_is_on_disk_and_then_it_goes_with_what_was_decided() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(""), dir.path());
    bench.hangs = true;
    bench.probe(Outcome::Fail);
    bench.wait(SECOND * 5);
    assert!(bench.published_active(), "an activation does not wait for ever");
    assert_eq!(sent(&mut bench), [], "its triggers do");
    bench.heal();
    let [delivery] = &sent(&mut bench)[..] else { panic!("one delivery") };
    assert_eq!(&*delivery.key, "box:dr:1:activate:page");
    let payload: serde_json::Value = serde_json::from_str(&delivery.payload).unwrap();
    assert_eq!(payload["type"], "scenario.activated");
    assert_eq!(payload["id"], "box:dr:1:activate:page");
    assert_eq!(
        (&payload["about"], &payload["seq"], &payload["drill"]),
        (&"runbook 17".into(), &1.into(), &false.into())
    );
    assert_eq!(payload["groups"][0]["terms"][0]["text"], "api!");
    assert_eq!(payload["config"]["checks"]["api"]["interval"], "1s");
    assert_eq!(payload["config"]["scenario"]["activate"]["triggers"][0], "page");
}

#[test]
fn killed_before_delivery_it_is_delivered_after_the_restart_with_the_same_key() {
    let dir = tempfile::tempdir().unwrap();
    let key = {
        let mut bench = Bench::with_text_on(&config(""), dir.path());
        bench.probe(Outcome::Fail);
        sent(&mut bench)[0].key.clone()
    };
    let mut bench = Bench::with_text_on(&config(""), dir.path());
    let again = sent(&mut bench);
    assert_eq!(again.iter().map(|d| &d.key).collect::<Vec<_>>(), [&key]);
    delivered(&mut bench, again[0].id);
    drop(bench);
    let mut bench = Bench::with_text_on(&config(""), dir.path());
    bench.wait(SECOND * 60);
    assert_eq!(sent(&mut bench), [], "what was delivered stays so");
    // The next commit has the next seq.
    bench.probe(Outcome::Pass);
    assert_eq!(&*sent(&mut bench)[0].key, "box:dr:2:deactivate:page");
}

#[test]
fn killed_after_delivery_it_comes_once_more_with_the_same_key_and_never_with_a_new_seq() {
    let dir = tempfile::tempdir().unwrap();
    let key = {
        let mut bench = Bench::with_text_on(&config(""), dir.path());
        bench.probe(Outcome::Fail);
        let delivery = sent(&mut bench).remove(0);
        bench.hangs = true;
        delivered(&mut bench, delivery.id);
        delivery.key
    };
    let mut bench = Bench::with_text_on(&config(""), dir.path());
    assert_eq!(sent(&mut bench).iter().map(|d| d.key.clone()).collect::<Vec<_>>(), [key]);
    assert_eq!(bench.read(|w| w.view.scenarios[0].seq), Some(1));
}

#[test]
fn a_receiver_that_fails_gets_its_retries_and_then_a_person_may_replay() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(""), dir.path());
    bench.probe(Outcome::Fail);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let delivery = sent(&mut bench).remove(0);
        ids.push((delivery.id, delivery.key));
        let failure = crate::model::delivery::Failure { why: "500".into(), retry_after: None, endpoint: true };
        bench.feed(Input::Returned(Returned::Delivered { id: ids[0].0, result: Err(failure) }));
        bench.wait(SECOND * 3);
    }
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(statuses(&mut bench), [(ids[0].0, "dead")]);
    let replay = |delivery| Command::Replay { delivery };
    let refused = bench.command(replay(99)).try_recv().unwrap();
    assert!(matches!(refused, Err(Refusal::Invalid(_))));
    let done = bench.command(replay(ids[0].0)).try_recv().unwrap().unwrap();
    assert_eq!(done.delivery, Some(ids[0].0));
    assert_eq!(sent(&mut bench)[0].key, ids[0].1);
    assert!(matches!(bench.command(replay(ids[0].0)).try_recv().unwrap(), Err(Refusal::Conflict(_))));
    let told = bench.kinds().iter().filter(|kind| *kind == "delivery").count();
    assert_eq!((told, bench.kinds().contains(&"outbox".to_owned())), (3, true));
}

#[test]
fn a_test_is_marked_and_tried_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(""), dir.path());
    let done = bench.command(Command::TestTrigger { trigger: "page".into() }).try_recv().unwrap().unwrap();
    let delivery = sent(&mut bench).remove(0);
    assert_eq!(Some(delivery.id), done.delivery);
    let payload: serde_json::Value = serde_json::from_str(&delivery.payload).unwrap();
    assert_eq!((&payload["type"], &payload["test"]), (&"trigger.test".into(), &true.into()));
    let failure = crate::model::delivery::Failure { why: "500".into(), retry_after: None, endpoint: true };
    bench.feed(Input::Returned(Returned::Delivered { id: delivery.id, result: Err(failure) }));
    assert_eq!(statuses(&mut bench), [(delivery.id, "dead")]);
}

const GUARDED: &str = r#"guard = { run = ["lag"], on_timeout = "block", backoff = "5s", deadline = "60s" }"#;

#[test]
fn a_guard_that_refuses_twice_and_then_passes_makes_one_commit() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(GUARDED), dir.path());
    bench.probe(Outcome::Fail);
    for attempt in 1..=2 {
        assert_eq!(asked(&mut bench), Some((attempt, 1)));
        told(&mut bench, attempt, GuardVerdict::Refuse);
        assert!(!bench.published_active());
        bench.wait(SECOND * 5);
    }
    assert_eq!(asked(&mut bench), Some((3, 1)));
    told(&mut bench, 2, GuardVerdict::Pass);
    assert!(!bench.published_active(), "a late answer decides nothing");
    told(&mut bench, 3, GuardVerdict::Pass);
    assert!(bench.published_active());
    assert_eq!(attempts(&bench), ["refused", "refused"]);
    assert_eq!(bench.kinds().iter().filter(|kind| *kind == "transition").count(), 1);
}

#[test]
fn a_condition_that_turns_false_ends_the_attempt_and_its_queries() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(GUARDED), dir.path());
    bench.probe(Outcome::Fail);
    assert_eq!(asked(&mut bench), Some((1, 1)));
    bench.probe(Outcome::Pass);
    let dropped = std::mem::take(&mut bench.errands);
    assert!(matches!(&dropped[..], [Errand::Drop { attempt: 1, .. }]), "{dropped:?}");
    told(&mut bench, 1, GuardVerdict::Pass);
    assert!(!bench.published_active());
    assert_eq!(attempts(&bench), ["abandoned"]);
}

#[test]
fn an_answer_that_cannot_tell_is_decided_at_the_deadline() {
    for (word, active) in [("block", false), ("proceed", true)] {
        let dir = tempfile::tempdir().unwrap();
        let mut bench = Bench::with_text_on(&config(&GUARDED.replace("block", word)), dir.path());
        bench.probe(Outcome::Fail);
        told(&mut bench, 1, GuardVerdict::CannotTell);
        bench.wait(SECOND * 59);
        assert!(!bench.published_active());
        bench.wait(SECOND * 2);
        assert_eq!(bench.published_active(), active, "{word}");
    }
}

const APPROVED: &str = r#"guard = { run = ["lag"], approve = true, on_timeout = "block", deadline = "10m" }"#;

#[test]
fn a_person_approves_the_attempt_that_they_looked_at_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(APPROVED), dir.path());
    assert!(matches!(bench.command(decide(true, None)).try_recv().unwrap(), Err(Refusal::Conflict(_))));
    bench.probe(Outcome::Fail);
    let late = bench.command(decide(true, Some(7))).try_recv().unwrap();
    assert!(matches!(late, Err(Refusal::Conflict(_))));
    bench.command(decide(true, Some(1))).try_recv().unwrap().unwrap();
    assert!(!bench.published_active(), "the query has not passed yet");
    told(&mut bench, 1, GuardVerdict::Pass);
    assert!(bench.published_active());
}

#[test]
fn a_person_who_refuses_ends_the_attempt_and_after_a_restart_no_number_comes_again() {
    let dir = tempfile::tempdir().unwrap();
    {
        let mut bench = Bench::with_text_on(&config(APPROVED), dir.path());
        bench.probe(Outcome::Fail);
        told(&mut bench, 1, GuardVerdict::Pass);
        let detail = bench.read(|w| w.view.scenarios[0].attempt.as_ref().map(|a| a.detail.clone())).unwrap();
        assert!(detail.unwrap().contains("waits for the approval"));
        bench.command(decide(false, None)).try_recv().unwrap().unwrap();
        assert_eq!(attempts(&bench), ["refused"]);
        bench.wait(SECOND * 5);
    }
    let mut bench = Bench::with_text_on(&config(APPROVED), dir.path());
    bench.probe(Outcome::Fail);
    let attempt = bench.read(|w| w.view.scenarios[0].attempt.as_ref().map(|a| a.id)).unwrap();
    assert_eq!(attempt, Some(3));
}

#[test]
fn a_forced_transition_past_its_guard_asks_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(APPROVED), dir.path());
    let Command::SetModes { scenario, activate, deactivate, if_seq, note, .. } = modes(Some(Mode::On), None) else {
        unreachable!()
    };
    drop(bench.command(Command::SetModes { scenario, activate, deactivate, override_guard: true, if_seq, note }));
    assert!(bench.published_active());
    assert_eq!(asked(&mut bench), None);
}

#[test]
fn a_process_that_is_about_to_hand_over_sends_nothing_more_and_does_not_wake_for_it_until_it_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::with_text_on(&config(""), dir.path());
    let hush = |bench: &mut Bench| {
        let (answer, mut under_way) = oneshot::channel();
        bench.feed(Input::Request(Request::Store(StoreAsk::Hush { answer })));
        under_way.try_recv().unwrap()
    };
    bench.probe(Outcome::Fail);
    let [first] = &sent(&mut bench)[..] else { panic!("one delivery") };
    assert_eq!(hush(&mut bench), 1, "it is under way");
    bench.probe(Outcome::Pass);
    delivered(&mut bench, first.id);
    bench.wait(SECOND * 5);
    assert_eq!(hush(&mut bench), 0);
    assert_eq!(sent(&mut bench), [], "what is due waits");
    assert!(bench.core.wake_at(bench.now.tick) > bench.now.tick, "and nobody turns in circles for it");
    bench.feed(Input::Request(Request::Store(StoreAsk::TakeBack { why: "it failed".into() })));
    bench.wait(SECOND);
    assert_eq!(sent(&mut bench).len(), 1);
}
