mod versions;

use std::sync::Arc;
use std::time::Duration;

use crate::control::journal::saved;
use crate::model::alert::{AlertKind, AlertSeverity, AlertSubject};
use crate::model::delivery::{DeliveryStatus, Tried};
use crate::model::drill::{Drill, DrillCommit, Ending, Phase};
use crate::model::lookup::{Answer, Found, Known, KnownNames, Query, Question, Srv};
use crate::model::scenario::{Direction, Mode};
use serde_json::json;

use super::*;
use crate::model::event::Act;
use crate::model::id::{Kind, ObjectRef};
use crate::model::state::{OverrideValue, Slot};

fn draft(at: i64, object: &str, kind: &'static str) -> Draft {
    Draft {
        at: Wall(at),
        tick: Tick(at.unsigned_abs()),
        kind,
        object: object.into(),
        actor: "system".into(),
        body: json!({ "text": "x".repeat(100) }),
    }
}

fn scenario(name: &str, seq: u64) -> SavedScenario {
    SavedScenario {
        name: name.into(),
        active: seq % 2 == 1,
        seq,
        entered_at: Wall(5),
        forced: false,
        disarmed: Vec::new(),
        automatic_commits: Vec::new(),
        definition: 9,
        last_transition: None,
        attempts: 2,
        drill: None,
        archived: false,
    }
}

fn delivery(id: u64) -> Delivery {
    Delivery {
        id,
        key: "box:dr:1:activate:page".into(),
        trigger: "page".into(),
        scenario: "dr".into(),
        seq: 1,
        direction: Direction::Activate,
        alert: None,
        test: false,
        since: Wall(6),
        payload: "{}".into(),
        attempts: 2,
        last_error: Some("503".into()),
        tries: [
            Tried { at: Wall(6), took: Duration::from_millis(12), outcome: "reset".into() },
            Tried { at: Wall(7), took: Duration::from_secs(5), outcome: "503".into() },
        ]
        .into(),
        status: DeliveryStatus::Pending { next: Wall(99) },
        changed: Wall(7),
    }
}

fn alert(id: u64) -> RaisedAlert {
    RaisedAlert {
        id,
        alert: "pager".into(),
        subject: AlertSubject::new(AlertKind::ServiceDown, "service", &"web1".into()),
        severity: AlertSeverity::Warning,
        text: "down: refused".into(),
        since: Wall(5),
        raised_at: Wall(6),
        repeats: 1,
        told_at: Wall(7),
        triggers: vec!["noc".into()],
    }
}

fn drill(id: u64) -> Arc<Drill> {
    let act = Act { actor: "admin:nsroot".into(), reason: Some("CHG1".into()), expires: Some(Wall(99)) };
    let object = ObjectRef::new(Kind::Scenario, "dr");
    let value = OverrideValue::Mode { mode: Mode::On, spent: true, override_guard: false };
    let before = Override { value, since: Wall(3), act: act.clone() };
    let commit = DrillCommit {
        scenario: "dr".into(),
        seq: 3,
        direction: Direction::Activate,
        at: Wall(6),
        guard: Some("pass".into()),
        marked: true,
    };
    let drill = Drill {
        id,
        scenario: Name::clone(&object.name),
        act: act.clone(),
        notify: vec!["channel".into()],
        stop_on: vec!["customers are hurt".into()],
        override_guard: true,
        before: [None, Some(before)],
        phase: Phase::Returning,
        lasts: Duration::from_secs(3_600),
        started_at: Wall(5),
        ends_at: Wall(99),
        activated_at: Some(Wall(6)),
        returning_at: Some(Wall(50)),
        returned_at: None,
        ended_at: None,
        ending: Some(Ending::Condition("customers are hurt".into())),
        ended_by: Some(act),
        commits: vec![commit],
    };
    Arc::new(drill)
}

fn disabled(name: &str) -> (OverrideKey, Override) {
    let act = Act { actor: "admin:nsroot".into(), reason: Some("patching".into()), expires: None };
    let value = OverrideValue::Disabled { deadline: Some(Wall(77)), graceful: true };
    let key = OverrideKey { object: ObjectRef::new(Kind::Service, name), slot: Slot::Admin };
    (key, Override { value, since: Wall(3), act })
}

fn answers() -> KnownNames {
    let found = |srv| Found { address: [192, 0, 2, 1].into(), srv };
    let srv = Srv { target: "a.example.test".into(), port: 8080, priority: 10, weight: 65_535 };
    let known = |found| Known {
        answer: Some(Answer { found: vec![found], ttl: std::time::Duration::from_secs(30) }),
        answered_at: Some(Wall(7)),
        ..Known::default()
    };
    [
        (Question { name: "app.example.test".into(), query: Query::Either }, known(found(None))),
        (Question { name: "_http._tcp.app.example.test".into(), query: Query::Srv }, known(found(Some(srv)))),
    ]
    .into()
}

#[test]
fn what_was_committed_is_found_at_the_next_start_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (key, value) = disabled("web1");
    {
        let (mut store, found) = open(dir.path()).unwrap();
        assert_eq!((found.journal_head, found.served), (0, false));
        let intent = Intent { id: 4, at: Wall(8), actor: "admin:local".into(), body: json!({ "do": "x" }) };
        let batch = Batch {
            entries: vec![draft(1, "scenario dr", "transition")],
            scenarios: vec![scenario("dr", 1)],
            overrides: vec![(key.clone(), Some(value.clone()))],
            intents: vec![intent],
            settled: Vec::new(),
            deliveries: vec![(4, Some(delivery(4)))],
            alerts: vec![(9, Some(Arc::new(alert(9))))],
            drills: vec![drill(7)],
            answers: Some(saved::encode_answers(&answers())),
            served: true,
        };
        assert_eq!(store.commit(&[&batch]).unwrap(), 1);
        // A second start: the process was killed here, without any farewell.
    }
    let (mut store, found) = open(dir.path()).unwrap();
    assert_eq!(found.saved.scenarios, vec![scenario("dr", 1)]);
    assert_eq!(found.saved.overrides.get(&key), Some(&value));
    assert_eq!(found.deliveries, [delivery(4)]);
    assert_eq!(found.alerts, [alert(9)]);
    assert_eq!((&found.drills, &found.saved.drill), (&vec![drill(7)], &Some(drill(7))));
    assert_eq!((found.journal_head, found.served, found.intents.len()), (1, true, 1));
    let known = answers().into_iter().map(|(question, known)| (question, known.answer.unwrap(), Wall(7)));
    assert_eq!(found.answers, known.collect::<Vec<_>>());
    let gone = vec![(4, None)];
    let batch = Batch {
        overrides: vec![(key.clone(), None)],
        settled: vec![4],
        deliveries: gone,
        alerts: vec![(9, None)],
        ..Batch::default()
    };
    store.commit(&[&batch]).unwrap();
    drop(store);
    let (_store, found) = open(dir.path()).unwrap();
    assert!(found.saved.overrides.is_empty() && found.intents.is_empty() && found.deliveries.is_empty());
    assert!(found.alerts.is_empty());
}

#[test]
fn a_batch_that_fails_leaves_nothing_and_no_gap_in_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path()).unwrap();
    let intent = |id| Intent { id, at: Wall(8), actor: "a".into(), body: json!({}) };
    store.commit(&[&Batch { intents: vec![intent(1)], ..Batch::default() }]).unwrap();
    // The same id a second time breaks a constraint after the entry and the scenario have been inserted.
    let torn = Batch {
        entries: vec![draft(1, "scenario dr", "transition")],
        scenarios: vec![scenario("dr", 1)],
        intents: vec![intent(1)],
        ..Batch::default()
    };
    assert!(store.commit(&[&torn]).is_err());
    let good = Batch { entries: vec![draft(2, "scenario dr", "transition")], ..Batch::default() };
    assert_eq!(store.commit(&[&good]).unwrap(), 1);
    drop(store);
    let (_store, found) = open(dir.path()).unwrap();
    assert!(found.saved.scenarios.is_empty());
}

#[test]
fn a_second_process_is_refused_and_told_who_holds_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, _) = open(dir.path()).unwrap();
    let refused = open(dir.path()).unwrap_err();
    assert!(refused.what.contains(&format!("in use by process {}", std::process::id())), "{refused}");
}

#[test]
fn a_file_of_an_older_schema_gets_what_it_lacks_and_keeps_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path()).unwrap();
    store.commit(&[&Batch { scenarios: vec![scenario("dr", 1)], ..Batch::default() }]).unwrap();
    drop(store);
    let db = rusqlite::Connection::open(dir.path().join("bascule.db")).unwrap();
    let older =
        "DROP TABLE outbox; DROP TABLE alerts; DROP TABLE drills; UPDATE meta SET value = '1' WHERE key = 'schema'";
    db.execute_batch(older).unwrap();
    drop(db);
    let (mut store, found) = open(dir.path()).unwrap();
    assert_eq!((found.saved.scenarios, found.deliveries), (vec![scenario("dr", 1)], Vec::new()));
    let alerts = vec![(9, Some(Arc::new(alert(9))))];
    store.commit(&[&Batch { deliveries: vec![(1, Some(delivery(1)))], alerts, ..Batch::default() }]).unwrap();
    drop(store);
    let db = rusqlite::Connection::open(dir.path().join("bascule.db")).unwrap();
    let older = "DROP TABLE alerts; DROP TABLE drills; UPDATE meta SET value = '2' WHERE key = 'schema'";
    db.execute_batch(older).unwrap();
    drop(db);
    let (mut store, found) = open(dir.path()).unwrap();
    assert_eq!((found.deliveries, found.alerts), (vec![delivery(1)], Vec::new()));
    store.commit(&[&Batch { alerts: vec![(9, None)], ..Batch::default() }]).unwrap();
    drop(store);
    let db = rusqlite::Connection::open(dir.path().join("bascule.db")).unwrap();
    db.execute_batch("DROP TABLE drills; UPDATE meta SET value = '3' WHERE key = 'schema'").unwrap();
    drop(db);
    let (mut store, found) = open(dir.path()).unwrap();
    assert_eq!((found.deliveries, found.drills), (vec![delivery(1)], Vec::new()));
    store.commit(&[&Batch { drills: vec![drill(1)], ..Batch::default() }]).unwrap();
}

#[test]
fn only_the_newest_reports_of_drills_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path()).unwrap();
    for id in [1, 2, DRILLS_KEPT + 1] {
        store.commit(&[&Batch { drills: vec![drill(id)], ..Batch::default() }]).unwrap();
    }
    drop(store);
    let (_store, found) = open(dir.path()).unwrap();
    assert_eq!(found.drills, [drill(2), drill(DRILLS_KEPT + 1)]);
}

#[test]
fn a_newer_schema_is_refused_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    let db = rusqlite::Connection::open(dir.path().join("bascule.db")).unwrap();
    db.execute("UPDATE meta SET value = '99' WHERE key = 'schema'", []).unwrap();
    drop(db);
    let refused = open(dir.path()).unwrap_err();
    assert!(refused.what.contains("newer version (schema 99"), "{refused}");
}

#[test]
fn the_chain_holds_over_restarts_and_shows_tampering() {
    let dir = tempfile::tempdir().unwrap();
    for start in 0..3 {
        let (mut store, _) = open(dir.path()).unwrap();
        let batch = Batch { entries: vec![draft(start, "", "start"), draft(start, "", "stop")], ..Batch::default() };
        store.commit(&[&batch]).unwrap();
    }
    let (store, _) = open(dir.path()).unwrap();
    let reader = store.reader();
    assert_eq!(reader.verify().unwrap(), Verified { entries: 6, anchor: 0, broken: None });
    let db = rusqlite::Connection::open(dir.path().join("bascule.db")).unwrap();
    db.execute("UPDATE journal SET actor = 'admin:mallory' WHERE number = 3", []).unwrap();
    let broken = reader.verify().unwrap().broken.unwrap();
    assert!(broken.contains("entry 3 was changed"), "{broken}");
    db.execute("DELETE FROM journal WHERE number = 3", []).unwrap();
    let broken = reader.verify().unwrap().broken.unwrap();
    assert!(broken.contains("entry 3 is missing"), "{broken}");
}

#[test]
fn the_oldest_part_is_cut_and_an_anchor_keeps_the_chain() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path()).unwrap();
    let entries = (0..100).map(|n| draft(n * 1_000_000, "", "warning")).collect();
    store.commit(&[&Batch { entries, ..Batch::default() }]).unwrap();
    let now = Wall(100_000_000);
    // By age: entries of the last 40 seconds stay.
    let limits = Limits { keep: std::time::Duration::from_secs(40), size: 1 << 30 };
    assert_eq!(store.cut(now, &limits).unwrap(), 60);
    assert_eq!(store.cut(now, &limits).unwrap(), 0);
    let verified = store.reader().verify().unwrap();
    assert_eq!(verified, Verified { entries: 41, anchor: 60, broken: None });
    // By size: about ten entries.
    let limits = Limits { keep: std::time::Duration::from_secs(1_000), size: 5_000 };
    assert!(store.cut(now, &limits).unwrap() >= 30);
    let verified = store.reader().verify().unwrap();
    assert!(verified.broken.is_none() && verified.entries <= 12, "{verified:?}");
    drop(store);
    let (store, _) = open(dir.path()).unwrap();
    assert_eq!(store.reader().verify().unwrap().broken, None);
}

#[test]
fn queries_combine_their_conditions_on_both_stores() {
    let dir = tempfile::tempdir().unwrap();
    let (sqlite, _) = open(dir.path()).unwrap();
    let stores: [Box<dyn Store>; 2] = [Box::new(sqlite), Box::new(Memory::new())];
    for mut store in stores {
        let entries = vec![
            draft(1, "scenario dr", "transition"),
            draft(2, "scenario dr", "attempt"),
            draft(3, "scenario other", "transition"),
            draft(4, "scenario dr", "transition"),
        ];
        store.commit(&[&Batch { entries, ..Batch::default() }]).unwrap();
        let numbers = |query: JournalQuery| -> Vec<u64> {
            store.reader().query(&query).unwrap().iter().map(|entry| entry.number).collect()
        };
        let dr = JournalQuery { scenario: Some("dr".into()), kind: Some("transition".into()), ..Default::default() };
        assert_eq!(numbers(dr.clone()), [1, 4]);
        assert_eq!(numbers(JournalQuery { newest_first: true, limit: Some(1), ..dr.clone() }), [4]);
        assert_eq!(numbers(JournalQuery { after: Some(1), ..dr.clone() }), [4]);
        assert_eq!(numbers(JournalQuery { until: Some(Wall(3)), since: Some(Wall(2)), ..Default::default() }), [2, 3]);
        assert!(numbers(JournalQuery { actor: Some("nobody".into()), ..Default::default() }).is_empty());
    }
}

#[test]
fn memory_keeps_a_bounded_journal_whose_chain_holds() {
    let mut store = Memory::new();
    for _ in 0..21 {
        let entries = (0..1_000).map(|n| draft(n, "", "board")).collect();
        store.commit(&[&Batch { entries, ..Batch::default() }]).unwrap();
    }
    let verified = store.reader().verify().unwrap();
    assert_eq!(verified, Verified { entries: 20_000, anchor: 1_000, broken: None });
}

#[test]
fn what_is_saved_is_found_where_nothing_can_be_written_and_writing_goes_on_once_it_is_mended() {
    let dir = tempfile::tempdir().unwrap();
    let batch = Batch { entries: vec![draft(1, "", "start")], scenarios: vec![scenario("dr", 1)], ..Batch::default() };
    open(dir.path()).unwrap().0.commit(&[&batch]).unwrap();
    // As on a full disk, the shared memory of the write-ahead log cannot be made.
    let in_the_way = dir.path().join("bascule.db-shm");
    std::fs::create_dir(&in_the_way).unwrap();

    let (mut store, found) = open(dir.path()).unwrap();
    assert_eq!(found.saved.scenarios, [scenario("dr", 1)]);
    assert_eq!(found.journal_head, 1);
    assert!(store.commit(&[&batch]).unwrap_err().retry);

    std::fs::remove_dir(&in_the_way).unwrap();
    assert_eq!(store.commit(&[&batch]).unwrap(), 2);
    assert_eq!(store.reader().verify().unwrap().broken, None);
    drop(store);
    assert_eq!(open(dir.path()).unwrap().1.journal_head, 2);
}

#[test]
fn a_new_directory_that_cannot_be_written_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("bascule.db-shm")).unwrap();
    assert!(open(dir.path()).unwrap_err().what.contains("bascule.db"));
}

#[test]
fn nothing_is_called_durable_after_the_file_was_removed_or_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, _) = open(dir.path()).unwrap();
    let batch = Batch { entries: vec![draft(1, "", "start")], ..Batch::default() };
    store.commit(&[&batch]).unwrap();
    let (path, aside) = (dir.path().join("bascule.db"), dir.path().join("aside"));

    std::fs::rename(&path, &aside).unwrap();
    assert!(store.commit(&[&batch]).unwrap_err().what.contains("removed or replaced"));
    std::fs::copy(&aside, &path).unwrap();
    assert!(store.commit(&[&batch]).unwrap_err().what.contains("removed or replaced"));

    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(store.commit(&[&batch]).unwrap(), 2);
}
