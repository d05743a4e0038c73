//! Alerts: every kind is raised and resolved, who is told, and what a kill leaves of them.

mod kinds;
mod quiet;

use serde_json::Value;

use super::bench::{Bench, disable};
use super::*;
use crate::control::command::{Command, Note};
use crate::control::courier::{Errand, Returned};
use crate::model::alert::AlertKind;
use crate::model::delivery::Failure;
use crate::model::event::Verdict;
use crate::model::id::CheckId;
use crate::probe::Sampled;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// A box of everything that an alert can be about, and one alert of all kinds.
const BOX: &str = r#"
[appliance]
name = "box"
site = "dc-b"
[monitor.quick]
type = "TCP"
interval = "1s"
response_timeout = "500ms"
retries = 1
success_retries = 1
down_time = "1s"
[service.web1]
type = "HTTP"
address = "127.0.0.1:2"
monitors = ["quick"]
[service.spare1]
type = "HTTP"
address = "127.0.0.1:3"
monitors = ["quick"]
[vserver.web]
type = "HTTP"
services = ["web1"]
backup = "spare"
[vserver.spare]
type = "HTTP"
services = ["spare1"]
[switch.go]
[switch.out]
[query.lag]
type = "HTTP"
uri = "http://127.0.0.1:4/lag"
[trigger.noc]
type = "HTTP"
uri = "http://127.0.0.1:5/alert"
[trigger.lost]
type = "HTTP"
uri = "http://127.0.0.1:6/"
retry = { attempts = 1 }
[scenario.guarded]
about = "runbook 17"
[scenario.guarded.activate]
when = [["sw:go"]]
guard = { run = ["lag"], on_timeout = "block", backoff = "1m", deadline = "5m" }
[scenario.manual.activate]
when = [["sw:go"]]
[scenario.manual.deactivate]
mode = "off"
when = [["sw:go!"]]
[scenario.restless]
oscillation = { commits = 2, within = "10m" }
[scenario.restless.activate]
when = [["sw:out"]]
triggers = ["lost"]
[scenario.restless.deactivate]
when = [["sw:out!"]]
[scenario.left-out.activate]
when = [["sw:out"]]
[scenario.left-out.deactivate]
when = [["sw:out!"]]
[datacenter.dc-a]
wan = { targets = ["tcp:127.0.0.1:11"], rise = 1, fall = 1 }
lan = { targets = ["tcp:127.0.0.1:12"], rise = 1, fall = 1 }
[datacenter.dc-b]
internet = { targets = ["tcp:127.0.0.1:13"], rise = 1, fall = 1 }
[datacenter_pair.main]
active = "dc-a"
backup = "dc-b"
[zone."example.test"]
ttl = "30s"
soa = { mname = "ns1.example.test.", rname = "hostmaster.example.test.", minimum = "30s" }
static = "@ NS ns1\nns1 A 127.0.0.1"
[zone."example.test".rrset."www A"]
records = [{ data = "192.0.2.10", cond = "left-out" }]
"#;

const ALL: &str = r#"
[alert.all]
on = ["service.down", "vserver.down", "vserver.on-backup", "correlated_failure", "guard.refused", "scenario.stuck",
      "scenario.ready-to-return", "oscillation", "disputed", "serve-all", "dead-letter", "certificate<14d",
      "override>4h", "unsaved>1h", "clock.unsynced", "not_durable",
      "journal.unshipped"]
triggers = ["noc"]
"#;

struct World {
    dir: tempfile::TempDir,
    text: String,
    bench: Bench,
}

impl World {
    /// With `more`, every check passed, nothing wrong.
    fn new(more: &str) -> World {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("{BOX}{more}");
        let bench = Bench::with_text_on(&text, dir.path());
        let mut world = World { dir, text, bench };
        world.all_pass();
        world.sent();
        world
    }

    /// `kill -9`, and a start on what is on disk, `down_for` later.
    fn restart(self, down_for: Duration) -> World {
        let World { dir, text, bench } = self;
        let wall = bench.now.wall;
        drop(bench);
        let bench = Bench::with_text_at(&text, dir.path(), wall + down_for);
        World { dir, text, bench }
    }

    fn check(&self, service: &str) -> CheckId {
        let model = self.bench.core.engine.model();
        let service = model.service_id(service).unwrap();
        model.service(service).monitors[0].check
    }

    /// Of a target of `dc-a.wan`, `dc-a.lan` or `dc-b.internet`.
    fn target(&self, datacenter: &str, list: &str) -> CheckId {
        let model = self.bench.core.engine.model();
        let datacenter = &model.datacenters[model.datacenter_id(datacenter).unwrap().index()];
        let list = match list {
            "wan" => &datacenter.wan,
            "lan" => &datacenter.lan,
            _ => &datacenter.internet,
        };
        list.as_ref().unwrap().targets[0].check
    }

    fn sample(&mut self, check: CheckId, outcome: Outcome) {
        let check = Arc::clone(&self.bench.core.checks[check.index()]);
        let verdict = Verdict::new(outcome, Duration::from_millis(1), "connection refused");
        self.bench.feed(Input::Sampled(Sampled { check, verdict, late_by: Duration::ZERO }));
    }

    fn all_pass(&mut self) {
        for at in 0..self.bench.core.checks.len() {
            self.sample(CheckId::from_index(at), Outcome::Pass);
        }
        self.settle();
    }

    /// Lets the next look come.
    fn settle(&mut self) {
        self.bench.wait(Duration::from_millis(250));
    }

    fn switch(&mut self, name: &str, value: bool) {
        let command = Command::SetSwitch { switch: name.into(), value, note: Note::default() };
        drop(self.bench.command(command));
        self.settle();
    }

    /// A jump, without the steps between.
    fn later(&mut self, time: Duration) {
        self.bench.now = self.bench.now.after(time);
        self.bench.feed(Input::Wake);
        self.settle();
    }

    /// `service.down service web1`, of what stands; overrides, which tests need, apart.
    fn standing(&mut self) -> Vec<String> {
        let shown = |w: &crate::control::World<'_>| {
            let raised = w.alerts.raised.values();
            let others = raised.filter(|a| a.subject.kind != AlertKind::Override);
            others.map(|a| format!("{} {}", a.subject.kind.word(), a.subject)).collect()
        };
        self.bench.read(shown).unwrap()
    }

    /// Payloads to `noc` since the last call; each is answered.
    fn sent(&mut self) -> Vec<Value> {
        let mut told = Vec::new();
        loop {
            let errands = std::mem::take(&mut self.bench.errands);
            let mut ids = Vec::new();
            for errand in errands {
                if let Errand::Deliver { delivery, trigger } = errand
                    && &*trigger.name == "noc"
                {
                    told.push(serde_json::from_str(&delivery.payload).unwrap());
                    ids.push(delivery.id);
                }
            }
            if ids.is_empty() {
                return told;
            }
            for id in ids {
                self.bench.feed(Input::Returned(Returned::Delivered { id, result: Ok(()) }));
            }
        }
    }

    /// `raised service.down web1` of each.
    fn told(&mut self) -> Vec<String> {
        let word = |p: &Value| p["type"].as_str().unwrap().trim_start_matches("alert.").to_owned();
        let said = |p: &Value, key: &str| p[key].as_str().unwrap().to_owned();
        self.sent().iter().map(|p| format!("{} {} {}", word(p), said(p, "kind"), said(p, "object"))).collect()
    }
}

#[test]
fn an_alert_tells_its_trigger_of_the_beginning_and_the_end_under_keys_that_belong_together() {
    let mut w = World::new("[alert.pager]\nabout = \"runbook 3\"\non = [\"service.down\"]\ntriggers = [\"noc\"]\n");
    let web1 = w.check("web1");
    w.sample(web1, Outcome::Fail);
    w.settle();
    w.sample(web1, Outcome::Pass);
    w.settle();
    let told = w.sent();
    let [raised, resolved] = &told[..] else { panic!("{told:?}") };
    let said = |payload: &Value, key: &str| payload[key].as_str().unwrap().to_owned();
    assert_eq!((said(raised, "type"), said(resolved, "type")), ("alert.raised".into(), "alert.resolved".into()));
    for payload in [raised, resolved] {
        assert_eq!((said(payload, "alert"), said(payload, "kind")), ("pager".into(), "service.down".into()));
        assert_eq!((said(payload, "object_kind"), said(payload, "object")), ("service".into(), "web1".into()));
        assert_eq!((said(payload, "severity"), said(payload, "about")), ("warning".into(), "runbook 3".into()));
        assert_eq!(said(payload, "text"), "down: connection refused");
    }
    assert_eq!(said(raised, "dedup_key"), said(resolved, "dedup_key"));
    let id = raised["seq"].as_u64().unwrap();
    assert_eq!(said(raised, "id"), format!("box:alert:{id}:raise:noc"));
    assert_eq!(said(resolved, "id"), format!("box:alert:{id}:resolve:noc"));
    assert_eq!((&raised["resolved_at"], said(resolved, "why")), (&Value::Null, "it is over".into()));
    let entries = w.bench.journal.query(&JournalQuery::default()).unwrap();
    let alerts = entries.iter().filter(|e| &*e.kind == "alert");
    let told: Vec<_> = alerts.map(|e| (e.object.to_string(), e.body["what"].as_str().unwrap().to_owned())).collect();
    assert_eq!(told, [("service web1".into(), "raised".into()), ("service web1".into(), "resolved".into())]);
}

#[test]
fn a_flap_within_the_time_is_no_alert_and_one_that_stands_is_told_again() {
    let mut w = World::new("[alert.pager]\non = \"service.down>1m\"\ntriggers = [\"noc\"]\nrepeat = \"1h\"\n");
    let web1 = w.check("web1");
    w.sample(web1, Outcome::Fail);
    w.bench.wait(MINUTE / 2);
    w.sample(web1, Outcome::Pass);
    w.sample(web1, Outcome::Fail);
    w.bench.wait(MINUTE / 2 + SECOND);
    assert_eq!(w.told(), [""; 0]);
    w.bench.wait(MINUTE / 2);
    assert_eq!(w.told(), ["raised service.down web1"]);
    w.later(HOUR);
    assert_eq!(w.told(), ["repeated service.down web1"]);
}

#[test]
fn nothing_is_told_before_it_is_on_disk_except_that_the_disk_fails() {
    let mut w = World::new(ALL);
    w.bench.hangs = true;
    let web1 = w.check("web1");
    w.sample(web1, Outcome::Fail);
    w.bench.wait(SECOND * 3);
    assert_eq!(w.told(), ["raised not_durable box"]);
    w.bench.heal();
    w.settle();
    let mut told = w.told();
    told.sort();
    assert_eq!(told, ["raised service.down web1", "raised vserver.on-backup web", "resolved not_durable box"]);
}

#[test]
fn a_kill_between_the_beginning_and_the_end_leaves_one_of_each() {
    let mut w = World::new(ALL);
    let web1 = w.check("web1");
    w.sample(web1, Outcome::Fail);
    w.settle();
    assert_eq!(w.standing(), ["service.down service web1", "vserver.on-backup vserver web"]);
    // Both were sent off, and nobody has answered.
    let unanswered = std::mem::take(&mut w.bench.errands).len();
    assert_eq!(unanswered, 2);
    let mut w = w.restart(MINUTE);
    w.bench.wait(SECOND / 2);
    assert_eq!(w.standing().len(), 2, "before the first probe nobody knows better");
    assert_eq!(w.told(), ["raised service.down web1", "raised vserver.on-backup web"], "the same two again");
    for at in 0..w.bench.core.checks.len() {
        let outcome = if CheckId::from_index(at) == web1 { Outcome::Fail } else { Outcome::Pass };
        w.sample(CheckId::from_index(at), outcome);
    }
    w.settle();
    assert_eq!((w.standing().len(), w.told()), (2, Vec::new()), "it is still so: nobody is told anew");
    let mut w = w.restart(MINUTE);
    w.all_pass();
    assert_eq!(w.standing(), [""; 0]);
    let mut told = w.told();
    told.sort();
    assert_eq!(told, ["resolved service.down web1", "resolved vserver.on-backup web"], "it went by meanwhile");
}

#[test]
fn an_alert_that_the_configuration_no_longer_has_is_resolved_for_those_who_were_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("box.toml");
    std::fs::write(&path, format!("{BOX}{ALL}")).unwrap();
    let mut w = World { dir, text: String::new(), bench: Bench::with_file(&path) };
    w.all_pass();
    let web1 = w.check("web1");
    w.sample(web1, Outcome::Fail);
    w.settle();
    assert_eq!(w.told(), ["raised service.down web1", "raised vserver.on-backup web"]);
    std::fs::write(&path, format!("{BOX}[alert.all]\non = [\"vserver.on-backup\"]\ntriggers = [\"noc\"]\n")).unwrap();
    w.bench.command(Command::Reload).try_recv().unwrap().unwrap();
    w.settle();
    assert_eq!(w.told(), ["resolved service.down web1"]);
    assert_eq!(w.standing(), ["vserver.on-backup vserver web"]);
}
