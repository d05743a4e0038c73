use proptest::prelude::*;

use super::*;
use crate::model::alert::{AlertChange, AlertKind, AlertRecord, AlertSeverity, AlertSubject, RaisedAlert};
use crate::model::condition::Truth;
use crate::model::event::{Cause, GuardOutcome, Transition, TransitionGroup, TransitionTrigger, admin_cause};
use crate::model::scenario::Direction;

fn names() -> impl Strategy<Value = Name> {
    "[a-zA-Z0-9 /\"\\\\ä€!{}:-]{0,12}".prop_map(|s| s.as_str().into())
}

fn walls() -> impl Strategy<Value = Wall> {
    (0_i64..4_102_444_800_000_000).prop_map(Wall)
}

fn truths() -> impl Strategy<Value = Truth> {
    prop_oneof![Just(Truth::False), Just(Truth::Unknown), Just(Truth::True)]
}

fn directions() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Activate), Just(Direction::Deactivate)]
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Auto), Just(Mode::On), Just(Mode::Off)]
}

fn objects() -> impl Strategy<Value = ObjectRef> {
    (proptest::sample::select(Kind::ALL.to_vec()), names()).prop_map(|(kind, name)| ObjectRef { kind, name })
}

fn acts() -> impl Strategy<Value = Act> {
    (names(), proptest::option::of(names()), proptest::option::of(walls())).prop_map(|(actor, reason, expires)| Act {
        actor,
        reason,
        expires,
    })
}

fn changes() -> impl Strategy<Value = Change> {
    prop_oneof![
        (proptest::option::of(walls()), any::<bool>())
            .prop_map(|(deadline, graceful)| Change::Disabled { deadline, graceful }),
        Just(Change::Enabled),
        (proptest::option::of(modes()), proptest::option::of(modes()), any::<bool>())
            .prop_map(|(activate, deactivate, override_guard)| Change::Modes { activate, deactivate, override_guard }),
        any::<bool>().prop_map(Change::Switch),
        proptest::option::of(any::<bool>()).prop_map(Change::Forced),
        proptest::option::of(proptest::collection::vec((names(), any::<u8>()), 0..4))
            .prop_map(|shares| Change::Split(shares.map(Into::into))),
    ]
}

fn transitions() -> impl Strategy<Value = Transition> {
    let group =
        (directions(), names(), truths(), any::<bool>(), proptest::collection::vec((names(), truths(), walls()), 0..3))
            .prop_map(|(direction, name, value, armed, terms)| TransitionGroup {
                direction,
                name,
                value,
                armed,
                terms,
            });
    let cause = prop_oneof![names().prop_map(Cause::Condition), Just(Cause::Forced), names().prop_map(Cause::Config),];
    let guard = (any::<u64>(), names(), names()).prop_map(|(attempt, outcome, detail)| GuardOutcome {
        attempt,
        outcome,
        detail,
    });
    let trigger = (names(), names()).prop_map(|(name, status)| TransitionTrigger { name, status });
    let who = (names(), any::<u64>(), directions(), walls(), walls(), cause, names(), proptest::option::of(names()));
    let what = (
        proptest::collection::vec(group, 0..3),
        proptest::option::of(truths()),
        proptest::option::of(guard),
        proptest::collection::vec(trigger, 0..3),
    );
    (who, what).prop_map(|(who, (groups, gate, guard, triggers))| {
        let (scenario, seq, direction, evaluated_at, committed_at, cause, actor, reason) = who;
        let by_act = !matches!(cause, Cause::Config(_)) && seq % 2 == 0;
        Transition {
            scenario,
            seq,
            direction,
            evaluated_at,
            committed_at,
            cause,
            act_of: by_act.then(|| admin_cause(&actor)),
            actor,
            reason,
            groups,
            gate,
            guard,
            drill: (seq % 3 == 0).then_some(seq),
            triggers,
        }
    })
}

fn alerts() -> impl Strategy<Value = AlertRecord> {
    let what = proptest::sample::select(vec![AlertChange::Raised, AlertChange::Repeated, AlertChange::Resolved]);
    let kind = proptest::sample::select(AlertKind::ALL.to_vec());
    let severities = vec![AlertSeverity::Error, AlertSeverity::Warning, AlertSeverity::Info];
    let of = (any::<u64>(), names(), kind, names(), names(), names());
    let said = (proptest::sample::select(severities), names(), walls(), walls(), any::<u32>(), walls());
    let told = (proptest::collection::vec(names(), 0..3), what, walls(), names());
    (of, said, told).prop_map(|(of, said, (triggers, what, at, why))| {
        let (id, alert, kind, object_kind, object, part) = of;
        let (severity, text, since, raised_at, repeats, told_at) = said;
        let subject = AlertSubject { kind, object_kind, object, part };
        let alert = RaisedAlert { id, alert, subject, severity, text, since, raised_at, repeats, told_at, triggers };
        AlertRecord { what, alert, at, why }
    })
}

fn records() -> impl Strategy<Value = Record> {
    prop_oneof![
        transitions().prop_map(|t| Record::Transition(Arc::new(t))),
        (objects(), acts(), changes()).prop_map(|(object, act, change)| Record::Act { object, act, change }),
        (objects(), names(), names()).prop_map(|(object, what, why)| Record::Ended { object, what, why }),
        (objects(), names(), names(), names(), names()).prop_map(|(object, from, to, real, cause)| Record::State {
            object,
            from,
            to,
            real,
            cause
        }),
        (names(), truths(), proptest::option::of(0_u64..1_000_000_000_000)).prop_map(|(row, value, clean)| {
            Record::Board(BoardRecord { row, value, clean_for: clean.map(Duration::from_micros) })
        }),
        (names(), directions(), any::<u64>(), names(), names()).prop_map(
            |(scenario, direction, attempt, outcome, detail)| Record::Attempt {
                scenario,
                direction,
                attempt,
                outcome,
                detail,
            }
        ),
        (objects(), names()).prop_map(|(object, text)| Record::Warning { object, text }),
        alerts().prop_map(|alert| Record::Alert(Arc::new(alert))),
        (names(), any::<(bool, u32, u32)>(), walls()).prop_map(|(service, (connects, count, times), until)| {
            let cause = if connects { Failures::Connects(count) } else { Failures::Answers(count) };
            Record::Ejected { service, cause, until, times }
        }),
        (names(), names(), proptest::option::of(any::<u32>()), names())
            .prop_map(|(zone, what, serial, detail)| Record::Zone { zone, what, serial, detail }),
        (proptest::option::of(names()), names(), names(), names())
            .prop_map(|(vserver, address, what, detail)| Record::Address { vserver, address, what, detail }),
    ]
}

proptest! {
    #[test]
    fn every_record_reads_back_as_it_was_written(record in records()) {
        // Through the text, as on disk.
        let text = encode(&record).to_string();
        let body: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(decode(kind(&record), &body), Ok(Some(record)));
    }

    #[test]
    fn no_body_makes_the_reader_panic(kind in "transition|act|ended|state|board|attempt|warning|alert|start", text in "\\PC{0,40}") {
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        let _ = decode(&kind, &body);
    }
}

#[test]
fn wall_times_keep_their_microseconds() {
    assert_eq!(wall_text(Wall(1_795_992_617_123_456)), "2026-11-29T22:50:17.123456Z");
    assert_eq!(parse_wall("2026-11-29T22:50:17.123456Z"), Ok(Wall(1_795_992_617_123_456)));
    assert!(parse_wall(&wall_text(Wall(i64::MAX))).is_ok(), "a time too far away is cut, not unreadable");
}
