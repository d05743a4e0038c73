//! Every kind of alert, raised and resolved.

use super::*;
use crate::control::command::Format;
use crate::model::event::GuardVerdict;

/// Raised now, and only that beside what stood before; then resolved.
fn cycle(w: &mut World, alert: &str, begin: impl FnOnce(&mut World), end: impl FnOnce(&mut World)) {
    let before = w.standing();
    assert!(!before.contains(&alert.to_owned()), "{alert} stands already");
    begin(w);
    w.settle();
    let stands = w.standing();
    assert!(stands.contains(&alert.to_owned()), "{alert} is not raised: {stands:?}");
    let (kind, object) = alert.split_once(' ').unwrap();
    let object = object.split_once(' ').unwrap().1;
    assert!(w.told().contains(&format!("raised {kind} {object}")), "{alert}");
    end(w);
    w.settle();
    assert!(!w.standing().contains(&alert.to_owned()), "{alert} is not resolved");
    assert!(w.told().contains(&format!("resolved {kind} {object}")), "{alert}");
}

fn set_modes(w: &mut World, scenario: &str, activate: Option<Mode>, deactivate: Option<Mode>) {
    let command = Command::SetModes {
        scenario: scenario.into(),
        activate,
        deactivate,
        override_guard: false,
        if_seq: None,
        note: Note::default(),
    };
    drop(w.bench.command(command));
}

#[test]
fn service_down_and_vserver_on_backup_and_vserver_down() {
    let mut w = World::new(ALL);
    let (web1, spare1) = (w.check("web1"), w.check("spare1"));
    let fails = |check| move |w: &mut World| w.sample(check, Outcome::Fail);
    let passes = |check| move |w: &mut World| w.sample(check, Outcome::Pass);
    cycle(&mut w, "service.down service web1", fails(web1), passes(web1));
    cycle(&mut w, "vserver.on-backup vserver web", fails(web1), passes(web1));
    w.sample(web1, Outcome::Fail);
    cycle(&mut w, "vserver.down vserver web", fails(spare1), passes(spare1));
}

#[test]
fn correlated_failure_of_a_monitor_that_has_never_passed_stands_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{BOX}{ALL}");
    let mut w = World { bench: Bench::with_text_on(&text, dir.path()), text, dir };
    let (web1, spare1) = (w.check("web1"), w.check("spare1"));
    let alert = "correlated_failure monitor quick";
    for at in 0..w.bench.core.checks.len() {
        let at = CheckId::from_index(at);
        w.sample(at, if at == web1 || at == spare1 { Outcome::Fail } else { Outcome::Pass });
    }
    w.settle();
    assert!(w.standing().contains(&alert.to_owned()), "{:?}", w.standing());
    assert!(w.told().contains(&"raised correlated_failure quick".to_owned()));
    let mut w = w.restart(SECOND);
    w.bench.wait(SECOND * 6);
    assert!(w.standing().contains(&alert.to_owned()), "nobody knows better yet");
    assert_eq!(w.told(), [""; 0]);
    w.sample(web1, Outcome::Pass);
    w.settle();
    assert!(w.told().contains(&"resolved correlated_failure quick".to_owned()));
}

#[test]
fn a_service_that_a_person_forces_down_or_takes_out_is_no_failure() {
    let mut w = World::new(ALL);
    let force = |up| Command::Force { object: ObjectRef::new(Kind::Service, "web1"), up, note: Note::default() };
    drop(w.bench.command(force(Some(false))));
    w.settle();
    assert_eq!(w.standing(), ["vserver.on-backup vserver web"]);
    drop(w.bench.command(force(None)));
    drop(w.bench.command(disable("web1", None, false)));
    w.settle();
    assert_eq!(w.standing(), ["vserver.on-backup vserver web"]);
}

#[test]
fn guard_refused_until_it_passes_or_nobody_wants_it_any_more() {
    let mut w = World::new(ALL);
    let answer = |w: &mut World, verdict| {
        let asked = std::mem::take(&mut w.bench.errands).into_iter().find_map(|errand| match errand {
            Errand::Ask(asking) => Some(asking.attempt),
            _ => None,
        });
        let (scenario, attempt) = ("guarded".into(), asked.expect("it asks"));
        w.bench.feed(Input::Returned(Returned::Asked { scenario, attempt, verdict, detail: "lag 90".into() }));
    };
    let alert = "guard.refused scenario guarded";
    let refuse = |w: &mut World| {
        w.switch("go", true);
        answer(w, GuardVerdict::Refuse);
    };
    cycle(&mut w, alert, refuse, |w| w.switch("go", false));
    cycle(&mut w, alert, refuse, |w| {
        w.bench.wait(MINUTE);
        answer(w, GuardVerdict::Pass);
    });
}

#[test]
fn a_refusal_stands_over_a_restart_until_the_next_attempt_has_ended() {
    let mut w = World::new(ALL);
    w.switch("go", true);
    let refused = |attempt| {
        let (scenario, verdict) = ("guarded".into(), GuardVerdict::Refuse);
        Input::Returned(Returned::Asked { scenario, attempt, verdict, detail: "lag 90".into() })
    };
    w.bench.feed(refused(1));
    w.settle();
    assert!(w.standing().contains(&"guard.refused scenario guarded".to_owned()));
    w.told();
    let mut w = w.restart(SECOND);
    w.all_pass();
    assert!(w.standing().contains(&"guard.refused scenario guarded".to_owned()));
    let attempt = w.bench.read(|w| {
        let id = w.model.scenario_id("guarded").unwrap();
        w.view.scenarios[id.index()].attempt.as_ref().map(|a| a.id)
    });
    w.bench.feed(refused(attempt.unwrap().expect("it tries again")));
    w.settle();
    assert_eq!(w.told(), [""; 0]);
}

#[test]
fn scenario_stuck_and_ready_to_return() {
    let mut w = World::new(ALL);
    let both = |mode| move |w: &mut World| set_modes(w, "manual", Some(mode), Some(mode));
    cycle(&mut w, "scenario.stuck scenario manual", both(Mode::On), both(Mode::Auto));
    set_modes(&mut w, "manual", None, Some(Mode::Off));
    let ready = |w: &mut World| {
        w.switch("go", true);
        w.switch("go", false);
    };
    cycle(&mut w, "scenario.ready-to-return scenario manual", ready, |w| {
        set_modes(w, "manual", Some(Mode::Auto), Some(Mode::On));
    });
}

#[test]
fn oscillation_until_the_window_holds_fewer_commits() {
    let mut w = World::new(ALL);
    let flap = |w: &mut World| (0..6).for_each(|at| w.switch("out", at % 2 == 0));
    cycle(&mut w, "oscillation scenario restless", flap, |w| w.later(HOUR));
}

#[test]
fn disputed_while_wan_fails_and_lan_answers() {
    let mut w = World::new(ALL);
    let (wan, lan) = (w.target("dc-a", "wan"), w.target("dc-a", "lan"));
    let alert = "disputed datacenter_pair main";
    let fails = |check| move |w: &mut World| w.sample(check, Outcome::Fail);
    cycle(&mut w, alert, fails(wan), |w| w.sample(wan, Outcome::Pass));
    cycle(&mut w, alert, fails(wan), fails(lan));
    w.sample(lan, Outcome::Pass);
    w.settle();
    assert!(w.standing().contains(&alert.to_owned()));
    w.switch("dc-a.maintenance", true);
    assert!(!w.standing().contains(&alert.to_owned()), "whoever works on it knows");
}

#[test]
fn serve_all_while_every_record_is_left_out() {
    let mut w = World::new(ALL);
    cycle(&mut w, "serve-all rrset www A of example.test", |w| w.switch("out", true), |w| w.switch("out", false));
}

#[test]
fn dead_letter_until_it_is_replayed() {
    let mut w = World::new(ALL);
    let mut id = 0;
    let give_up = |w: &mut World| {
        w.switch("out", true);
        let sent = std::mem::take(&mut w.bench.errands);
        id = sent.iter().find_map(lost).expect("it is sent");
        let failure = Failure { why: "503".into(), retry_after: None, endpoint: true };
        w.bench.feed(Input::Returned(Returned::Delivered { id, result: Err(failure) }));
        // What else was sent in that moment is answered.
        w.bench.errands.extend(sent);
    };
    cycle(&mut w, "dead-letter trigger lost", give_up, |w| {
        let delivery =
            w.bench.read(|w| *w.deliveries.deliveries.iter().find(|(_, d)| &*d.trigger == "lost").unwrap().0);
        let delivery = delivery.unwrap();
        w.bench.command(Command::Replay { delivery }).try_recv().unwrap().unwrap();
        w.bench.feed(Input::Returned(Returned::Delivered { id: delivery, result: Ok(()) }));
    });
}

fn lost(errand: &Errand) -> Option<u64> {
    match errand {
        Errand::Deliver { delivery, .. } => (&*delivery.trigger == "lost").then_some(delivery.id),
        _ => None,
    }
}

#[test]
fn a_certificate_fourteen_days_before_its_end_until_it_is_renewed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("box.toml");
    let issue = |year, month, day| {
        let mut params = rcgen::CertificateParams::new(["www.test".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(2026, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, month, day);
        let key = rcgen::KeyPair::generate().unwrap();
        std::fs::write(dir.path().join("www.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
    };
    // The bench begins on 2027-01-15.
    issue(2027, 1, 31);
    std::fs::write(&path, format!("{BOX}{ALL}[certificate.www]\ncert = \"www.pem\"\n")).unwrap();
    let mut w = World { bench: Bench::with_file(&path), text: String::new(), dir: tempfile::tempdir().unwrap() };
    w.all_pass();
    assert_eq!(w.standing(), [""; 0]);
    cycle(
        &mut w,
        "certificate certificate www",
        |w| w.later(HOUR * 48),
        |w| {
            issue(2028, 1, 1);
            w.bench.command(Command::Reload).try_recv().unwrap().unwrap();
        },
    );
}

#[test]
fn an_override_of_four_hours_until_it_is_taken_back() {
    let mut w = World::new(ALL);
    let overrides = |w: &mut World| {
        let of_kind = |w: &crate::control::World<'_>| w.alerts.raised.values().map(|a| a.text.to_string()).collect();
        w.bench.read::<Vec<String>>(of_kind).unwrap()
    };
    w.switch("dc-b.maintenance", true);
    w.later(HOUR * 3);
    assert_eq!(overrides(&mut w), [""; 0]);
    w.later(HOUR);
    assert_eq!(overrides(&mut w), ["set to true by admin:nsroot"]);
    assert_eq!(w.told(), ["raised override dc-b.maintenance"]);
    w.switch("dc-b.maintenance", false);
    w.later(HOUR * 3);
    assert_eq!(w.told(), ["resolved override dc-b.maintenance"], "another one, and younger");
}

#[test]
fn unsaved_changes_of_an_hour_until_they_are_saved() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("box.toml");
    std::fs::write(&path, format!("{BOX}{ALL}")).unwrap();
    let mut w = World { dir, text: String::new(), bench: Bench::with_file(&path) };
    w.all_pass();
    let apply = |w: &mut World| {
        let text = w.bench.read(|w| crate::config::render::render(w.model)).unwrap().replacen(
            "max_client = 0",
            "max_client = 7",
            1,
        );
        let command = Command::ApplyConfig { text, format: Format::Toml, dry_run: false, if_hash: None };
        w.bench.command(command).try_recv().unwrap().unwrap();
        w.settle();
        w.later(MINUTE * 59);
        assert_eq!(w.standing(), [""; 0]);
        w.later(MINUTE);
    };
    cycle(&mut w, "unsaved appliance box", apply, |w| {
        w.bench.command(Command::Save).try_recv().unwrap().unwrap();
    });
}

#[test]
fn clock_unsynced_and_unknown_is_no_news() {
    let mut w = World::new(ALL);
    let told = |synced| move |w: &mut World| w.bench.feed(Input::ClockSynced(synced));
    told(None)(&mut w);
    w.settle();
    assert_eq!(w.standing(), [""; 0]);
    let until_known = |w: &mut World| {
        told(None)(w);
        w.settle();
        assert_eq!(w.standing(), ["clock.unsynced appliance box"]);
        told(Some(true))(w);
    };
    cycle(&mut w, "clock.unsynced appliance box", told(Some(false)), until_known);
}

#[test]
fn not_durable_while_the_disk_is_full() {
    let mut w = World::new(ALL);
    let web1 = w.check("web1");
    let fill = |w: &mut World| {
        w.bench.broken.store(true, Ordering::Relaxed);
        w.sample(web1, Outcome::Fail);
        w.bench.wait(SECOND * 3);
    };
    cycle(&mut w, "not_durable appliance box", fill, |w| w.bench.heal());
}

#[test]
fn a_journal_that_does_not_reach_a_destination_until_it_does() {
    let mut w = World::new(&format!("{ALL}[journal.ship.siem]\ntype = \"SYSLOG\"\naddress = \"tcp:192.0.2.9:601\"\n"));
    // As who ships tells it.
    let told = |failing: Option<&'static str>| {
        move |w: &mut World| {
            let ships = w.bench.core.cell().load_full().ships.clone();
            let since = w.bench.now.wall;
            ships.change(&"siem".into(), |shipping| shipping.failing = failing.map(|why| (since, why.to_owned())));
            w.bench.wait(SECOND * 2);
        }
    };
    cycle(&mut w, "journal.unshipped journal siem", told(Some("connection refused")), told(None));
}

#[test]
fn correlated_failure_while_most_members_of_a_vserver_went_down_together() {
    let farm = r#"
[service.f1]
type = "HTTP"
address = "127.0.0.1:11"
[service.f2]
type = "HTTP"
address = "127.0.0.1:12"
[vserver.farm]
type = "HTTP"
services = ["f1", "f2"]
[alert.together]
on = ["correlated_failure"]
triggers = ["noc"]
"#;
    let mut w = World::new(farm);
    let (f1, f2) = (w.check("f1"), w.check("f2"));
    let fall = |w: &mut World| {
        for check in [f1, f2, f1, f2, f1, f2] {
            w.sample(check, Outcome::Fail);
        }
    };
    cycle(&mut w, "correlated_failure vserver farm", fall, |w| w.sample(f1, Outcome::Pass));
}
