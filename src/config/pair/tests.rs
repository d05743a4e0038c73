use super::*;
use crate::config::condition::{RawSubject, canonical, parse_id, parse_term};
use crate::model::condition::Truth::{self, False as F, True as T, Unknown as U};

fn spec() -> PairSpec {
    PairSpec {
        name: "main".into(),
        active: "a".into(),
        backup: "b".into(),
        return_hold: Duration::from_secs(900),
        loss_hold: Duration::from_secs(18),
        after_maintenance: AfterMaintenance::Hold,
        access: Signal::Wan,
        witness: None,
        here: Some("b".into()),
        heard: Vec::new(),
        after: Vec::new(),
        from_active: "main/from-active".into(),
        to_backup: "main/to-backup".into(),
        to_active: "main/to-active".into(),
        from_backup: "main/from-backup".into(),
    }
}

fn shown(groups: &[Vec<String>]) -> String {
    groups.iter().map(|g| g.join(" ")).collect::<Vec<_>>().join(" | ")
}

#[test]
fn without_peer_link_and_witness_a_s_internet_is_a_s_wan() {
    let [from_active, to_backup, to_active, from_backup] = generate(&spec());
    assert_eq!(
        shown(&from_active.activate),
        "dc:a.maintenance | dc:b.internet{for:18s} dc:a.wan!{for:18s} \
         | dc:b.internet{for:18s} dc:a.wan!{for:18s} dc:a.lan!{for:18s}"
    );
    assert_eq!(
        shown(&from_active.deactivate),
        "dc:a.wan{for:15m} dc:a.maintenance!{for:15m} | dc:b.internet! dc:a.wan{for:15m} dc:a.maintenance!{for:15m}"
    );
    assert_eq!(shown(&to_backup.activate), "sc:main/from-active dc:b.internet dc:b.maintenance!");
    assert_eq!(
        shown(&to_backup.deactivate),
        "sc:main/to-active | dc:b.internet!{for:18s} dc:a.wan dc:a.maintenance! \
         | dc:b.maintenance dc:a.wan dc:a.maintenance!"
    );
    assert_eq!(shown(&to_active.activate), "dc:a.wan{for:15m} dc:a.lan{for:15m} dc:a.maintenance!{for:15m}");
    assert_eq!(shown(&to_active.deactivate), "dc:a.wan! | dc:a.lan! | dc:a.maintenance");
    assert_eq!(shown(&from_backup.activate), "dc:b.maintenance | dc:b.internet!{for:18s}");
    assert_eq!(shown(&from_backup.deactivate), "dc:b.internet{for:15m} dc:b.maintenance!");
}

#[test]
fn a_witness_must_agree_that_a_is_gone() {
    let [from_active, ..] = generate(&PairSpec { witness: Some("w".into()), ..spec() });
    assert_eq!(
        shown(&from_active.activate),
        "dc:a.maintenance | dc:b.internet{for:18s} dc:a.wan!{for:18s} dc:a.wan@w!{for:18s}"
    );
}

#[test]
fn over_private_links_the_lan_stands_for_the_wan() {
    let [from_active, _, to_active, _] = generate(&PairSpec { access: Signal::Lan, ..spec() });
    assert_eq!(shown(&from_active.activate), "dc:a.maintenance | dc:b.internet{for:18s} dc:a.lan!{for:18s}");
    assert_eq!(shown(&to_active.activate), "dc:a.lan{for:15m} dc:a.maintenance!{for:15m}");
    let used = |spec: &PairSpec| -> Vec<String> {
        let shown =
            |s: UsedSignal<'_>| format!("{}.{}{}", s.datacenter, s.signal.word(), if s.told { " told" } else { "" });
        signals(spec).into_iter().map(shown).collect()
    };
    assert_eq!(used(&PairSpec { access: Signal::Lan, ..spec() }), ["a.lan", "b.internet"]);
    assert_eq!(used(&spec()), ["a.wan", "a.lan", "b.internet"]);
    assert_eq!(
        used(&PairSpec { heard: vec!["a".into()], ..spec() }),
        ["a.wan", "a.lan", "b.internet", "a.internet told", "b.wan told", "b.lan told"]
    );
}

#[test]
fn a_site_may_return_at_once_after_maintenance_and_holds_of_zero_are_no_holds() {
    let now = PairSpec { after_maintenance: AfterMaintenance::Now, ..spec() };
    assert_eq!(shown(&generate(&now)[2].activate), "dc:a.wan{for:15m} dc:a.lan{for:15m} dc:a.maintenance!");
    let hasty = PairSpec { return_hold: Duration::ZERO, loss_hold: Duration::ZERO, ..spec() };
    assert_eq!(shown(&generate(&hasty)[2].activate), "dc:a.wan dc:a.lan dc:a.maintenance!");
    assert_eq!(shown(&generate(&hasty)[3].activate), "dc:b.maintenance | dc:b.internet!");
}

#[test]
fn every_generated_term_is_canonical() {
    for witness in [None, Some("site.w".to_owned())] {
        for generated in generate(&PairSpec { witness: witness.clone(), ..spec() }) {
            for text in generated.activate.iter().chain(&generated.deactivate).flatten() {
                assert_eq!(&canonical(&parse_term(text).unwrap()), text);
            }
        }
    }
}

#[test]
fn with_a_peer_link_the_active_site_speaks_for_itself_and_the_backup_can_be_told_to_leave() {
    let [from_active, to_backup, to_active, from_backup] = generate(&PairSpec { heard: vec!["a".into()], ..spec() });
    assert_eq!(
        shown(&from_active.activate),
        "dc:a.maintenance | dc:b.internet{for:18s} dc:a.wan!{for:18s} dc:a.internet@a!{for:18s} \
         | dc:b.internet{for:18s} dc:a.wan!{for:18s} dc:a.lan!{for:18s}"
    );
    assert_eq!(
        shown(&to_backup.deactivate),
        "sc:main/to-active | dc:b.internet!{for:18s} dc:a.internet@a{for:18s} dc:a.maintenance! \
         | dc:b.maintenance dc:a.internet@a dc:a.maintenance! \
         | dc:b.wan@a!{for:18s} dc:b.lan@a!{for:18s} dc:a.internet@a dc:a.maintenance!"
    );
    assert_eq!(shown(&to_active.deactivate), "dc:a.wan! | dc:a.internet@a! | dc:a.lan! | dc:a.maintenance");
    assert_eq!(
        shown(&from_backup.activate),
        "dc:b.maintenance | dc:b.internet!{for:18s} | dc:a.internet@a dc:b.wan@a!{for:18s} dc:b.lan@a!{for:18s}"
    );
}

#[test]
fn at_the_active_site_and_at_a_third_one_the_backup_s_eyes_decide() {
    let at_a = PairSpec { here: Some("a".into()), heard: vec!["b".into()], ..spec() };
    assert_eq!(
        shown(&generate(&at_a)[0].activate),
        "dc:a.maintenance | dc:b.internet@b{for:18s} dc:a.wan@b!{for:18s} dc:a.internet!{for:18s} \
         | dc:b.internet@b{for:18s} dc:a.wan@b!{for:18s} dc:a.lan@b!{for:18s}"
    );
    let heard = vec!["a".into(), "b".into()];
    let at_c = PairSpec { here: Some("c".into()), heard, witness: Some("c".into()), ..spec() };
    assert_eq!(
        shown(&generate(&at_c)[0].activate),
        "dc:a.maintenance | dc:b.internet@b{for:18s} dc:a.wan@b!{for:18s} dc:a.internet@a!{for:18s} \
         | dc:b.internet@b{for:18s} dc:a.wan@b!{for:18s} dc:a.wan!{for:18s}"
    );
    assert_eq!(disputed(&spec()), None, "without A's word nobody can say that it is well");
    let terms = disputed(&at_c).unwrap();
    assert_eq!(terms, ["dc:b.internet@b", "dc:a.wan@b!{for:18s}", "dc:a.internet@a", "dc:a.maintenance!"]);
}

#[test]
fn the_last_of_a_chain_takes_over_while_those_before_it_are_out_and_hands_back_when_one_is_there() {
    let [_, to_backup, ..] = generate(&PairSpec { after: vec!["second/from-active".into()], ..spec() });
    assert_eq!(shown(&to_backup.activate), "sc:main/from-active sc:second/from-active dc:b.internet dc:b.maintenance!");
    assert!(shown(&to_backup.deactivate).ends_with("| sc:second/from-active!"));
}

#[test]
fn the_loss_hold_follows_the_slowest_signal() {
    let schedule = |interval_s, fall, timeout_s| Schedule {
        interval: Duration::from_secs(interval_s),
        timeout: Duration::from_secs(timeout_s),
        rise: 3,
        fall,
        ..Schedule::default()
    };
    assert_eq!(derived_loss_hold(&[schedule(5, 3, 2), schedule(1, 10, 1)]), Duration::from_secs(18));
    assert_eq!(derived_loss_hold(&[]), Duration::from_secs(1));
}

/// One row of the table of expected answers: the signals, and what serves once all holds have run.
struct Row {
    name: &'static str,
    b_internet: Truth,
    a_wan: Truth,
    a_lan: Truth,
    a_wan_at_witness: Truth,
    a_maintenance: Truth,
    b_maintenance: Truth,
    /// What serves where traffic was on A before, and where it was on B.
    expected: [&'static str; 2],
}

/// The four scenarios as Kleene logic sees them when nothing changes any more: holds have run, no modes, no guards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct States([bool; 4]);

impl States {
    fn settle(mut self, scenarios: &[GeneratedScenario; 4], row: &Row) -> States {
        // to-backup (1) reads from-active (0) and to-active (2).
        let order = [0, 2, 1, 3];
        for _ in 0..8 {
            for at in order {
                let activate = self.any(&scenarios[at].activate, row);
                let deactivate = self.any(&scenarios[at].deactivate, row);
                match self.0[at] {
                    false => self.0[at] = activate.is_true(),
                    true => self.0[at] = !deactivate.is_true() || activate.is_true(),
                }
            }
        }
        let settled = self;
        for at in order {
            let leads_out = if self.0[at] { &scenarios[at].deactivate } else { &scenarios[at].activate };
            let kept_by_activation = self.0[at] && self.any(&scenarios[at].activate, row).is_true();
            assert!(!self.any(leads_out, row).is_true() || kept_by_activation, "{}: does not settle", row.name);
        }
        settled
    }

    fn any(&self, groups: &[Vec<String>], row: &Row) -> Truth {
        groups.iter().map(|group| group.iter().map(|term| self.term(term, row)).fold(T, Truth::and)).fold(F, Truth::or)
    }

    fn term(&self, text: &str, row: &Row) -> Truth {
        let term = parse_term(text).unwrap();
        let value = match parse_id(&term.id).unwrap() {
            RawSubject::Scenario(name) => {
                let place = PairPlace::ALL.iter().position(|p| name == format!("main/{}", p.word())).unwrap();
                Truth::from(self.0[place])
            }
            RawSubject::Datacenter { name, signal, observer } => match (name.as_str(), signal, observer.as_deref()) {
                ("a", Signal::Wan, None) => row.a_wan,
                ("a", Signal::Lan, None) => row.a_lan,
                ("a", Signal::Wan, Some("w")) => row.a_wan_at_witness,
                ("a", Signal::Maintenance, None) => row.a_maintenance,
                ("b", Signal::Internet, None) => row.b_internet,
                ("b", Signal::Maintenance, None) => row.b_maintenance,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        if term.negated { !value } else { value }
    }

    /// A's records carry `cond = from-active`, B's `drCond = to-backup` and `cond = from-backup`; an empty answer is
    /// served from the base set, with an alarm.
    fn serves(&self) -> &'static str {
        let [from_active, to_backup, _, from_backup] = self.0;
        match (to_backup, from_active, from_backup) {
            (false, false, _) => "A",
            (false, true, _) => "A, alarm",
            (true, _, false) => "B",
            (true, _, true) => "B, alarm",
        }
    }
}

fn row(name: &'static str, signals: [Truth; 3], expected: [&'static str; 2]) -> Row {
    let [b_internet, a_wan, a_lan] = signals;
    Row { name, b_internet, a_wan, a_lan, a_wan_at_witness: U, a_maintenance: F, b_maintenance: F, expected }
}

/// The table for this build: "disputed" cannot be told from a lost WAN, and where B has lost Internet and WAN path
/// nobody can say that A is well.
fn rows_without_witness() -> Vec<Row> {
    vec![
        row("all good", [T, T, T], ["A", "A"]),
        row("replication link down", [T, T, F], ["A", "B"]),
        row("A lost its WAN", [T, F, T], ["B", "B"]),
        row("A dark to B", [T, F, F], ["B", "B"]),
        row("B lost the Internet, sees A", [F, T, T], ["A", "A"]),
        row("B lost Internet and LAN, WAN path fine", [F, T, F], ["A", "A"]),
        row("B lost Internet and WAN path, LAN fine", [F, F, T], ["A", "B, alarm"]),
        row("B isolated", [F, F, F], ["A", "B, alarm"]),
        Row { a_maintenance: T, ..row("A in maintenance", [T, T, T], ["B", "B"]) },
        Row { b_maintenance: T, ..row("B in maintenance", [T, T, T], ["A", "A"]) },
        Row { b_maintenance: T, ..row("A dark while B in maintenance", [T, F, F], ["A, alarm", "B, alarm"]) },
    ]
}

fn hold_the_table(spec: &PairSpec, rows: &[Row], good: &Row, dark: &Row) {
    let scenarios = generate(spec);
    let on_a = States::default().settle(&scenarios, good);
    assert_eq!(on_a.serves(), "A");
    let on_b = on_a.settle(&scenarios, dark);
    assert_eq!(on_b.serves(), "B");
    for row in rows {
        for (start, expected) in [(on_a, row.expected[0]), (on_b, row.expected[1])] {
            let settled = start.settle(&scenarios, row);
            assert_eq!(settled.serves(), expected, "{} from {}: {settled:?}", row.name, start.serves());
            assert_eq!(settled.settle(&scenarios, good).serves(), "A", "{}: all good again", row.name);
        }
    }
}

#[test]
fn the_table_holds_without_a_witness() {
    let rows = rows_without_witness();
    hold_the_table(&spec(), &rows, &rows[0], &rows[3]);
}

#[test]
fn the_table_holds_with_a_witness() {
    let seen = |a_wan_at_witness, row| Row { a_wan_at_witness, ..row };
    let rows = vec![
        seen(T, row("all good", [T, T, T], ["A", "A"])),
        seen(T, row("replication link down", [T, T, F], ["A", "B"])),
        seen(T, row("A dark, witness sees A", [T, F, F], ["A", "B"])),
        seen(F, row("A dark, witness blind too", [T, F, F], ["B", "B"])),
        seen(U, row("A dark, witness not heard", [T, F, F], ["A", "B"])),
        seen(T, row("B isolated but for the witness", [F, F, F], ["A", "A"])),
        seen(U, row("B isolated", [F, F, F], ["A", "B, alarm"])),
    ];
    hold_the_table(&PairSpec { witness: Some("w".into()), ..spec() }, &rows, &rows[0], &rows[3]);
}

#[test]
fn unknown_signals_move_nothing() {
    let scenarios = generate(&spec());
    let rows = rows_without_witness();
    let on_a = States::default().settle(&scenarios, &rows[0]);
    let on_b = on_a.settle(&scenarios, &rows[3]);
    let unknown = row("all unknown", [U, U, U], ["A", "B"]);
    assert_eq!(on_a.settle(&scenarios, &unknown).serves(), "A");
    assert_eq!(on_b.settle(&scenarios, &unknown).serves(), "B");
}
