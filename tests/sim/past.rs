//! What was answered at a moment of the past, from the journal.

use std::sync::Arc;

use bascule::control::journal::codec;
use bascule::control::journal::saved::encode_saved;
use bascule::control::store::{Batch, Draft, Memory, Store};
use bascule::model::condition::Truth;
use bascule::model::event::{BoardRecord, Cause, Record, Transition};
use bascule::model::scenario::Direction;
use bascule::model::state::Saved;
use bascule::model::time::{Tick, Wall};
use bascule::rehearse::explain::{self, Explanation};
use bascule::rehearse::past::{Unknown, at};
use serde_json::{Value, json};

const TEXT: &str = r#"
schema = 1
[check.api]
type = "TCP"
target = "127.0.0.1:1"
[scenario.dr.activate]
when = [["api!"]]
[zone."example.test"]
ttl = "60s"
soa = { mname = "ns", rname = "hostmaster" }
static = "@ NS ns\nns A 192.0.2.53"
[zone."example.test".rrset."www A"]
degraded_ttl = "5s"
records = [
  { data = "192.0.2.1", check = "api{for:10s}" },
  "192.0.2.2",
  { data = "198.51.100.1", drCond = "dr" },
]
"#;

/// A journal in the making; seconds after an arbitrary moment.
struct Journal {
    store: Memory,
}

fn wall(second: u64) -> Wall {
    Wall(1_800_000_000_000_000 + second as i64 * 1_000_000)
}

impl Journal {
    fn write(&mut self, second: u64, kind: &'static str, body: Value) {
        let (at, tick) = (wall(second), Tick(1 + second * 1_000_000));
        let draft = Draft { at, tick, kind, object: "".into(), actor: "system".into(), body };
        self.store.commit(&[&Batch { entries: vec![draft], ..Batch::default() }]).unwrap();
    }

    fn start(&mut self, second: u64, text: &str) {
        self.write(second, "start", json!({ "saved": encode_saved(&Saved::default()) }));
        self.config(second, text);
    }

    fn config(&mut self, second: u64, text: &str) {
        let sources = json!([{ "path": "box.toml", "text": text }]);
        let body = json!({ "origin": "start", "hash": format!("{:064}", text.len()), "set": [], "sources": sources });
        self.write(second, "config", body);
    }

    fn row(&mut self, second: u64, row: &str, value: Truth) {
        let record = Record::Board(BoardRecord { row: row.into(), value, clean_for: Some(std::time::Duration::ZERO) });
        self.write(second, "board", codec::encode(&record));
    }

    fn transition(&mut self, second: u64, direction: Direction) {
        let record = Record::Transition(Arc::new(Transition {
            scenario: "dr".into(),
            seq: 1,
            direction,
            evaluated_at: wall(second),
            committed_at: wall(second),
            cause: Cause::Forced,
            act_of: None,
            actor: "auto".into(),
            reason: None,
            groups: Vec::new(),
            gate: None,
            guard: None,
            drill: None,
            triggers: Vec::new(),
        }));
        self.write(second, "transition", codec::encode(&record));
    }

    fn answer(&self, second: u64) -> Vec<String> {
        self.explain(second, "www.example.test", "A").answer
    }

    fn explain(&self, second: u64, name: &str, rtype: &str) -> Explanation {
        let past = at(&*self.store.reader(), wall(second)).unwrap_or_else(|unknown| panic!("{unknown:?}"));
        let client = std::net::IpAddr::from([127, 0, 0, 1]);
        explain::dns(&past.snapshot, name, rtype, client, wall(second)).unwrap()
    }
}

fn outage() -> Journal {
    let mut journal = Journal { store: Memory::new() };
    journal.start(10, TEXT);
    journal.row(11, "api", Truth::True);
    journal.row(60, "api", Truth::False);
    journal.transition(61, Direction::Activate);
    journal.row(100, "api", Truth::True);
    journal.transition(101, Direction::Deactivate);
    journal
}

#[test]
fn each_moment_has_the_answer_that_was_given_then() {
    let journal = outage();
    let www = |ttl: u32, address: &str| format!("www.example.test. {ttl} IN A {address}");
    // Unknown counts as up, also while the hold counts; from 21 on it is true.
    assert_eq!(journal.answer(10), [www(60, "192.0.2.1"), www(60, "192.0.2.2")]);
    assert_eq!(journal.answer(30), [www(60, "192.0.2.1"), www(60, "192.0.2.2")]);
    // The check is false before the scenario has moved.
    assert_eq!(journal.answer(60), [www(5, "192.0.2.2")]);
    assert_eq!(journal.answer(61), [www(5, "198.51.100.1")]);
    assert_eq!(journal.answer(99), [www(5, "198.51.100.1")]);
    // Back, and the first record waits for its hold: it ends between two entries.
    assert_eq!(journal.answer(105), [www(5, "192.0.2.2")]);
    assert_eq!(journal.answer(111), [www(60, "192.0.2.1"), www(60, "192.0.2.2")]);
}

#[test]
fn the_configuration_of_the_moment_counts_and_not_a_later_one() {
    let mut journal = outage();
    journal.config(200, &TEXT.replace("192.0.2.2", "192.0.2.99"));
    assert!(journal.answer(150)[1].ends_with("192.0.2.2"));
    assert!(journal.answer(201)[1].ends_with("192.0.2.99"));
    let past = at(&*journal.store.reader(), wall(201)).unwrap();
    assert_eq!(past.entry_at, wall(200));
}

#[test]
fn before_the_first_start_and_after_a_stop_there_is_no_answer_and_the_error_says_so() {
    let mut journal = outage();
    let unknown = |journal: &Journal, second| at(&*journal.store.reader(), wall(second)).err().unwrap();
    let Unknown::NotRunning(why) = unknown(&journal, 9) else { panic!("readable") };
    assert!(why.contains(&format!("it begins at {}", wall(10))), "{why}");
    journal.write(300, "stop", json!({}));
    let Unknown::NotRunning(why) = unknown(&journal, 301) else { panic!("readable") };
    assert!(why.contains(&format!("it stopped at {}", wall(300))), "{why}");
    assert_eq!(journal.answer(299).len(), 2);
}

#[test]
fn last_good_is_what_was_last_good_then() {
    let text = TEXT.replace(
        "[zone.\"example.test\".rrset.\"www A\"]",
        "[zone.\"example.test\".rrset.\"www A\"]\non_empty = \"last_good\"",
    );
    let text = text.replace("  \"192.0.2.2\",\n", "").replace("api{for:10s}", "api");
    let mut journal = Journal { store: Memory::new() };
    journal.start(10, &text);
    journal.row(11, "api", Truth::True);
    journal.transition(20, Direction::Activate);
    journal.transition(30, Direction::Deactivate);
    journal.row(40, "api", Truth::False);
    assert!(journal.answer(25)[0].ends_with("198.51.100.1"));
    assert!(journal.answer(45)[0].ends_with("192.0.2.1"), "{:?}", journal.answer(45));
}

#[test]
fn what_a_primary_had_sent_is_said_to_be_unknown_and_what_is_steered_is_told() {
    let text = r#"
schema = 1
[zone."example.test".transfer]
from = ["192.0.2.53:53"]
[zone."example.test".rrset."www A"]
records = ["192.0.2.1"]
[zone."example.test".rrset."to CNAME"]
records = ["www.example.test.", "elsewhere.example.test."]
select = { answers = 1, method = "ordered" }
[zone."example.test".rrset."*.wild A"]
records = ["192.0.2.2"]
[zone."other.test"]
soa = { mname = "ns", rname = "hostmaster" }
static = "@ NS ns.example.test."
"#;
    let mut journal = Journal { store: Memory::new() };
    journal.start(10, text);
    let told = |name, rtype| journal.explain(20, name, rtype);
    for (name, rtype, data) in [("www.example.test", "A", "192.0.2.1"), ("to.example.test", "A", "192.0.2.1")] {
        let told = told(name, rtype);
        assert_eq!(told.rcode, "NOERROR", "{told:?}");
        assert!(told.answer.last().is_some_and(|line| line.ends_with(data)), "{told:?}");
    }
    let unknown = [("", "SOA"), ("mail.", "A"), ("www.", "AAAA"), ("wild.", "A"), ("a.wild.", "A")];
    for (name, rtype) in unknown {
        let told = journal.explain(20, &format!("{name}example.test"), rtype);
        assert_eq!((&*told.rcode, told.answer.len(), told.authority.len()), ("unknown", 0, 0), "{told:?}");
        let last = told.steps.last().unwrap();
        assert!(last.name == "unknown" && last.because.contains("is not kept"), "{told:?}");
    }
    assert_eq!(told("gone.other.test", "A").rcode, "NXDOMAIN", "of a zone of the configuration all is known");
}
