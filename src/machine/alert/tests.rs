use super::*;

const MINUTE: Duration = Duration::from_secs(60);

struct World {
    alerts: Alerts,
    model: Model,
    facts: Facts,
    now: Now,
}

fn watch(kind: AlertKind, time: Duration) -> Watch {
    Watch { kind, time }
}

fn alert(on: &[Watch]) -> Alert {
    Alert {
        name: "pager".into(),
        about: "".into(),
        on: on.to_vec(),
        services: Vec::new(),
        vservers: Vec::new(),
        scenarios: Vec::new(),
        triggers: Vec::new(),
        repeat: None,
    }
}

fn web1() -> AlertSubject {
    AlertSubject::new(AlertKind::ServiceDown, "service", &"web1".into())
}

impl World {
    fn new(alert: Alert) -> World {
        let mut model = Model::empty();
        model.alerts = vec![alert];
        let now = Now { tick: Tick(5_000), wall: Wall(1_800_000_000_000_000) };
        World { alerts: Alerts::restore(now, Vec::new(), 0), model, facts: Facts::default(), now }
    }

    fn set(&mut self, subject: &AlertSubject, since: Option<Wall>) {
        let fact = Fact { severity: AlertSeverity::Warning, text: "down: refused".into(), since };
        self.facts.unknown.remove(subject);
        self.facts.held.insert(subject.clone(), fact);
    }

    fn clear(&mut self, subject: &AlertSubject) {
        self.facts.held.remove(subject);
        self.facts.unknown.remove(subject);
    }

    fn wait(&mut self, time: Duration) {
        self.now = self.now.after(time);
    }

    /// `raised web1`
    fn look(&mut self) -> Vec<String> {
        let happened = self.alerts.look(self.now, &self.model, &self.facts);
        happened.iter().map(|r| format!("{} {}", r.what.word(), r.alert.subject.object)).collect()
    }

    /// As a process that starts on what this one left.
    fn restart(&mut self, down_for: Duration) {
        let rows = self.alerts.book().raised.values().map(|a| (**a).clone()).collect();
        self.now = Now { tick: Tick(1), wall: self.now.wall + down_for };
        self.alerts = Alerts::restore(self.now, rows, self.alerts.last_id);
        self.facts = Facts::default();
    }
}

#[test]
fn an_alert_is_raised_once_and_resolved_once_however_often_it_is_looked_at() {
    let mut w = World::new(alert(&[watch(AlertKind::ServiceDown, Duration::ZERO)]));
    assert_eq!(w.look(), [""; 0]);
    w.set(&web1(), None);
    assert_eq!(w.look(), ["raised web1"]);
    assert_eq!(w.look(), [""; 0]);
    w.wait(MINUTE);
    assert_eq!(w.look(), [""; 0]);
    w.clear(&web1());
    assert_eq!(w.look(), ["resolved web1"]);
    assert_eq!(w.look(), [""; 0]);
    assert_eq!(w.alerts.book().counts["pager"], crate::model::alert::AlertCounts { raised: 1, resolved: 1 });
}

#[test]
fn it_must_hold_for_its_time_and_a_break_begins_it_anew() {
    let mut w = World::new(alert(&[watch(AlertKind::ServiceDown, MINUTE * 5)]));
    w.set(&web1(), Some(w.now.wall));
    assert_eq!(w.look(), [""; 0]);
    assert_eq!(w.alerts.wake_at(), Some(w.now.tick + MINUTE * 5));
    w.wait(MINUTE * 4);
    assert_eq!(w.look(), [""; 0]);
    // Up and down again between two looks: only the time of its beginning says so.
    w.set(&web1(), Some(w.now.wall));
    w.wait(MINUTE * 4);
    assert_eq!(w.look(), [""; 0]);
    w.wait(MINUTE);
    assert_eq!(w.look(), ["raised web1"]);
}

#[test]
fn what_is_old_when_it_is_first_seen_has_waited_already() {
    let mut w = World::new(alert(&[watch(AlertKind::ServiceDown, MINUTE * 5)]));
    w.set(&web1(), Some(w.now.wall - MINUTE * 3));
    assert_eq!(w.look(), [""; 0]);
    w.wait(MINUTE * 2);
    assert_eq!(w.look(), ["raised web1"]);
    let raised = w.alerts.book().raised.values().next().unwrap().clone();
    assert_eq!((raised.since, raised.raised_at), (w.now.wall - MINUTE * 5, w.now.wall));
}

#[test]
fn a_wall_clock_that_jumps_neither_shortens_nor_lengthens_a_wait() {
    let mut w = World::new(alert(&[watch(AlertKind::ServiceDown, MINUTE * 5)]));
    w.set(&web1(), Some(w.now.wall));
    w.look();
    w.now.wall = w.now.wall + MINUTE * 600;
    assert_eq!(w.look(), [""; 0]);
    w.now.wall = w.now.wall - MINUTE * 1_200;
    w.wait(MINUTE * 5);
    assert_eq!(w.look(), ["raised web1"]);
}

#[test]
fn unknown_neither_raises_nor_resolves() {
    let mut w = World::new(alert(&[watch(AlertKind::ServiceDown, Duration::ZERO)]));
    w.facts.unknown.insert(web1());
    assert_eq!(w.look(), [""; 0]);
    w.set(&web1(), None);
    w.look();
    w.clear(&web1());
    w.facts.unknown.insert(web1());
    assert_eq!(w.look(), [""; 0]);
    w.clear(&web1());
    assert_eq!(w.look(), ["resolved web1"]);
}

#[test]
fn a_restart_raises_nothing_again_and_resolves_what_went_by_meanwhile() {
    let mut w = World::new(alert(&[watch(AlertKind::ServiceDown, Duration::ZERO)]));
    w.set(&web1(), None);
    w.look();
    let id = *w.alerts.book().raised.keys().next().unwrap();
    w.restart(MINUTE);
    w.facts.unknown.insert(web1());
    assert_eq!(w.look(), [""; 0]);
    w.set(&web1(), None);
    assert_eq!(w.look(), [""; 0], "it is still so");
    w.restart(MINUTE);
    assert_eq!(w.look(), ["resolved web1"], "it went by while nobody looked");
    // Its id is not given again, also where the clock was set back.
    w.now.wall = w.now.wall - MINUTE * 100;
    w.set(&web1(), None);
    w.look();
    assert!(*w.alerts.book().raised.keys().next().unwrap() > id);
}

#[test]
fn it_is_told_again_while_it_stands_also_over_a_restart() {
    let mut w =
        World::new(Alert { repeat: Some(MINUTE * 10), ..alert(&[watch(AlertKind::ServiceDown, Duration::ZERO)]) });
    w.set(&web1(), None);
    assert_eq!(w.look(), ["raised web1"]);
    assert_eq!(w.alerts.wake_at(), Some(w.now.tick + MINUTE * 10));
    w.wait(MINUTE * 10);
    assert_eq!(w.look(), ["repeated web1"]);
    assert_eq!(w.look(), [""; 0]);
    w.wait(MINUTE * 4);
    w.restart(MINUTE * 5);
    w.set(&web1(), None);
    assert_eq!(w.look(), [""; 0]);
    w.wait(MINUTE);
    assert_eq!(w.look(), ["repeated web1"]);
    assert_eq!(w.alerts.book().raised.values().next().unwrap().repeats, 2);
}

#[test]
fn a_certificate_is_told_of_before_its_end_by_the_clock_on_the_wall_and_over_when_it_is_renewed() {
    let day = MINUTE * 1_440;
    let subject = AlertSubject::new(AlertKind::Certificate, "certificate", &"www".into());
    let mut w = World::new(alert(&[watch(AlertKind::Certificate, day * 14)]));
    w.set(&subject, Some(w.now.wall + day * 15));
    assert_eq!(w.look(), [""; 0]);
    assert_eq!(w.alerts.wake_at(), Some(w.now.tick + day));
    w.now.wall = w.now.wall + day;
    assert_eq!(w.look(), ["raised www"]);
    w.set(&subject, Some(w.now.wall + day * 90));
    assert_eq!(w.look(), ["resolved www"]);
}

#[test]
fn patterns_limit_it_and_what_is_no_longer_watched_is_resolved() {
    let mut w = World::new(Alert {
        services: vec!["web*".into()],
        ..alert(&[watch(AlertKind::ServiceDown, Duration::ZERO), watch(AlertKind::Unsaved, Duration::ZERO)])
    });
    let db = AlertSubject::new(AlertKind::ServiceDown, "service", &"db".into());
    let box_ = AlertSubject::new(AlertKind::Unsaved, "appliance", &"box".into());
    for subject in [&web1(), &db, &box_] {
        w.set(subject, None);
    }
    assert_eq!(w.look(), ["raised web1", "raised box"]);
    w.model.alerts[0].services = vec!["db".into()];
    assert_eq!(w.look(), ["resolved web1", "raised db"]);
    w.model.alerts.clear();
    assert_eq!(w.look(), ["resolved db", "resolved box"]);
    assert!(w.alerts.book().raised.is_empty());
}

#[test]
fn an_override_that_is_set_anew_is_another_one() {
    let subject = AlertSubject::new(AlertKind::Override, "switch", &"go".into());
    let mut w = World::new(alert(&[watch(AlertKind::Override, MINUTE * 5)]));
    w.set(&subject, Some(w.now.wall - MINUTE * 5));
    assert_eq!(w.look(), ["raised go"]);
    w.wait(MINUTE);
    w.set(&subject, Some(w.now.wall));
    assert_eq!(w.look(), ["resolved go"]);
    w.wait(MINUTE * 5);
    assert_eq!(w.look(), ["raised go"]);
}
