mod tries;

use super::*;
use crate::model::check::HttpExpect;
use crate::model::delivery::key;
use crate::model::scenario::{Direction, Trigger, TriggerKind};

const RETRY: Retry = Retry {
    attempts: 3,
    first: Duration::from_secs(1),
    most: Duration::from_secs(60),
    max_age: Duration::from_secs(3_600),
};

fn trigger(name: &str, uri: &str) -> Trigger {
    let expect = HttpExpect { status: Vec::new(), headers: Vec::new(), body: None, trofs_code: None, trofs_body: None };
    let kind = TriggerKind::Http {
        uri: uri.into(),
        method: "POST".into(),
        headers: Vec::new(),
        body: None,
        expect,
        secret: None,
    };
    Trigger { name: name.into(), kind, retry: RETRY, timeout: Duration::from_secs(10) }
}

struct World {
    outbox: Outbox,
    model: Model,
    now: Now,
}

impl World {
    fn new() -> World {
        let mut model = Model::empty();
        model.triggers = vec![trigger("mail", "https://mail.test/x"), trigger("page", "http://page.test:80/y")];
        World { outbox: Outbox::restore(Now::default(), Vec::new(), &model), model, now: Now::default() }
    }

    fn commit(&mut self, scenario: &str, seq: u64, trigger: &str) -> u64 {
        self.add(scenario, seq, trigger, 0)
    }

    fn add(&mut self, scenario: &str, seq: u64, trigger: &str, order: u64) -> u64 {
        let id = self.outbox.next_id();
        let delivery = Delivery {
            id,
            key: key(["box", scenario, &seq.to_string(), "activate", trigger]),
            trigger: trigger.into(),
            scenario: scenario.into(),
            seq,
            direction: Direction::Activate,
            alert: None,
            test: false,
            since: self.now.wall,
            payload: "{}".into(),
            attempts: 0,
            last_error: None,
            tries: Default::default(),
            status: DeliveryStatus::Pending { next: self.now.wall },
            changed: self.now.wall,
        };
        self.outbox.add(self.now, order, delivery);
        self.outbox.durable(0);
        if order == 0 {
            self.outbox.orders.clear();
        }
        id
    }

    fn alert(&mut self, alert: u64, trigger: &str) -> u64 {
        let id = self.outbox.next_id();
        let delivery = Delivery {
            id,
            key: key(["box", "alert", &alert.to_string(), "raise", trigger]),
            trigger: trigger.into(),
            scenario: "".into(),
            seq: alert,
            direction: Direction::Activate,
            alert: Some("pager".into()),
            test: false,
            since: self.now.wall,
            payload: "{}".into(),
            attempts: 0,
            last_error: None,
            tries: Default::default(),
            status: DeliveryStatus::Pending { next: self.now.wall },
            changed: self.now.wall,
        };
        self.outbox.add(self.now, 0, delivery);
        id
    }

    fn due(&mut self) -> Vec<u64> {
        self.outbox.take_due(self.now).into_iter().map(|d| d.id).collect()
    }

    fn end(&mut self, id: u64, result: Result<(), Failure>) {
        self.outbox.finished(self.now, id, result, &self.model);
    }

    fn wait(&mut self, seconds: u64) {
        self.now = self.now.after(Duration::from_secs(seconds));
    }

    fn status(&self, id: u64) -> &'static str {
        self.outbox.book().deliveries[&id].status.word()
    }
}

fn failure(endpoint: bool) -> Result<(), Failure> {
    Err(Failure { why: "503".into(), retry_after: None, endpoint })
}

#[test]
fn of_one_scenario_and_trigger_the_next_goes_only_after_the_one_before() {
    let mut w = World::new();
    let (a1, a2) = (w.commit("a", 1, "page"), w.commit("a", 2, "page"));
    let (a1_mail, b1) = (w.commit("a", 1, "mail"), w.commit("b", 1, "page"));
    assert_eq!(w.due(), [a1, a1_mail, b1]);
    w.end(a1, failure(false));
    assert_eq!(w.due(), [] as [u64; 0]);
    w.wait(1);
    assert_eq!(w.due(), [a1], "the one that failed, and not the one behind it");
    w.end(a1, Ok(()));
    assert_eq!(w.due(), [a2]);
}

#[test]
fn a_delivery_goes_only_once_its_commit_is_durable() {
    let mut w = World::new();
    let id = w.add("a", 1, "page", 7);
    assert_eq!(w.due(), [] as [u64; 0]);
    w.outbox.durable(6);
    assert_eq!(w.due(), [] as [u64; 0]);
    w.outbox.durable(7);
    assert_eq!(w.due(), [id]);
}

#[test]
fn pauses_double_within_their_bounds_and_the_last_attempt_ends_in_the_dead_letters() {
    let mut w = World::new();
    let id = w.commit("a", 1, "page");
    for (attempt, least, most) in [(1, 500, 1_000), (2, 1_000, 2_000)] {
        assert_eq!(w.due(), [id]);
        w.end(id, failure(false));
        let pause = w.outbox.due[&id].since(w.now.tick);
        assert!((least..=most).contains(&pause.as_millis()), "attempt {attempt}: {pause:?}");
        w.wait(2);
    }
    assert_eq!(w.due(), [id]);
    w.end(id, failure(false));
    assert_eq!(w.status(id), "dead");
    let told: Vec<_> = w.outbox.take_told().iter().map(|t| (t.retried, t.delivery.attempts)).collect();
    assert_eq!(told, [(true, 1), (true, 2), (false, 3)]);
    assert!(w.outbox.replay(w.now, id) && !w.outbox.replay(w.now, id));
    assert_eq!(w.due(), [id], "with the same id and key");
}

#[test]
fn a_receiver_that_asks_for_time_gets_it() {
    let mut w = World::new();
    let id = w.commit("a", 1, "page");
    assert_eq!(w.due(), [id]);
    let asked = Some(Duration::from_secs(90));
    w.end(id, Err(Failure { why: "429".into(), retry_after: asked, endpoint: false }));
    w.wait(89);
    assert_eq!(w.due(), [] as [u64; 0]);
    assert_eq!(w.outbox.wake_at(), Some(w.now.tick + Duration::from_secs(1)));
    w.wait(1);
    assert_eq!(w.due(), [id]);
}

#[test]
fn what_is_too_old_is_given_up_and_frees_the_one_behind_it() {
    let mut w = World::new();
    let old = w.commit("a", 1, "page");
    assert_eq!(w.due(), [old]);
    w.end(old, Err(Failure { why: "429".into(), retry_after: Some(RETRY.max_age * 2), endpoint: false }));
    w.wait(3_599);
    let young = w.commit("a", 2, "page");
    assert_eq!(w.due(), [] as [u64; 0]);
    assert_eq!(w.outbox.wake_at(), Some(w.now.tick + Duration::from_secs(1)));
    w.wait(1);
    assert_eq!(w.due(), [young]);
    assert_eq!(w.status(old), "dead");
}

#[test]
fn a_breaker_holds_an_endpoint_back_and_lets_one_attempt_look() {
    let mut w = World::new();
    let ids: Vec<u64> = (0..6).map(|n| w.commit(&format!("s{n}"), 1, "page")).collect();
    let mail = w.commit("a", 1, "mail");
    w.due();
    for id in &ids[..5] {
        w.end(*id, failure(true));
    }
    w.end(mail, failure(false));
    w.wait(5);
    assert_eq!(w.due(), [mail], "another endpoint is not concerned");
    assert_eq!(w.outbox.book().breakers["http://page.test:80"].word, "open");
    w.end(ids[5], failure(true));
    w.wait(5);
    assert_eq!(w.due(), [ids[0]], "one attempt looks");
    assert_eq!(w.outbox.book().breakers["http://page.test:80"].word, "half open");
    w.end(ids[0], failure(true));
    w.wait(19);
    assert_eq!(w.due(), [] as [u64; 0], "twice as long");
    w.wait(1);
    assert_eq!(w.due(), [ids[0]]);
    w.end(ids[0], Ok(()));
    assert_eq!(w.due(), ids[1..], "all of them");
    assert!(w.outbox.book().breakers.is_empty());
}

#[test]
fn after_a_restart_what_waits_goes_on_where_it_was() {
    let mut w = World::new();
    let (first, second) = (w.commit("a", 1, "page"), w.commit("a", 2, "page"));
    w.due();
    w.end(first, failure(false));
    let left = w.outbox.take_rows().into_iter().filter_map(|(_, delivery)| delivery).collect();
    let key_before = w.outbox.book().deliveries[&first].key.clone();
    w.now = Now::new(Tick::ZERO, w.now.wall + Duration::from_secs(60));
    w.outbox = Outbox::restore(w.now, left, &w.model);
    assert_eq!(w.due(), [first]);
    let delivery = &w.outbox.book().deliveries[&first];
    assert_eq!((&delivery.key, delivery.attempts), (&key_before, 1));
    assert!(w.outbox.next_id() > second);
}

#[test]
fn what_waits_is_bounded() {
    let mut w = World::new();
    let first = w.commit("a", 1, "page");
    for seq in 0..PENDING_MOST as u64 {
        w.commit("a", 2 + seq, "page");
    }
    assert_eq!((w.status(first), w.outbox.due.len()), ("dead", PENDING_MOST));
    for _ in 0..2 * SETTLED_MOST {
        w.commit("a", 1, "page");
    }
    assert_eq!(w.outbox.book().deliveries.len(), PENDING_MOST + SETTLED_MOST);
    for alert in 0..2 * ALERTS_PENDING_MOST as u64 {
        w.alert(alert, "mail");
    }
    assert_eq!(w.outbox.book().deliveries.len(), PENDING_MOST + ALERTS_PENDING_MOST + SETTLED_MOST);
}

#[test]
fn payloads_are_bounded_and_the_endpoint_with_the_most_bytes_gives_way() {
    let mut w = World::new();
    let small = w.commit("a", 1, "mail");
    for seq in 0..80 {
        let id = w.outbox.next_id();
        let like = w.outbox.book().deliveries[&small].clone();
        let payload = Arc::from(" ".repeat(1 << 20));
        w.outbox.add(w.now, 0, Delivery { id, seq: 2 + seq, trigger: "page".into(), payload, ..like });
    }
    assert_eq!(w.status(small), "pending");
    let bytes: usize = w.outbox.book().deliveries.values().map(|d| d.payload.len()).sum();
    assert!(bytes <= PAYLOADS_MOST && w.outbox.due.len() > 60, "{bytes} of {}", w.outbox.due.len());
}

#[test]
fn a_flood_of_alerts_neither_delays_nor_pushes_out_what_a_commit_promised() {
    let mut w = World::new();
    let first = w.commit("a", 1, "page");
    let mut oldest = 0;
    for seq in 0..=ALERTS_PENDING_MOST as u64 {
        let id = w.alert(seq, "mail");
        if seq == 0 {
            oldest = id;
        }
    }
    assert_eq!((w.status(first), w.status(oldest), w.outbox.due.len()), ("pending", "dead", 1 + ALERTS_PENDING_MOST));
    let late = w.commit("b", 1, "mail");
    let due = w.due();
    assert!(due.contains(&first) && due.contains(&late), "{due:?}");
    assert_eq!(due.len(), 1 + AT_ONCE_TO_ONE, "and the alerts beside them as far as they may");
}

#[test]
fn an_endpoint_that_hangs_costs_no_other_endpoint_a_message() {
    for hangs_with_alerts in [false, true] {
        let mut w = World::new();
        for seq in 0..2 * PENDING_MOST as u64 {
            w.commit(&format!("s{seq}"), 1, "page");
            if hangs_with_alerts {
                w.alert(seq, "page");
            }
        }
        let (commit, alert) = (w.commit("a", 1, "mail"), w.alert(1 << 20, "mail"));
        for seq in 0..PENDING_MOST as u64 {
            w.commit(&format!("s{seq}"), 2, "page");
            w.alert(1 << 21 | seq, "page");
        }
        assert_eq!((w.status(commit), w.status(alert)), ("pending", "pending"));
        let due = w.due();
        assert!(due.contains(&commit) && due.contains(&alert), "{due:?}");
        assert_eq!(due.len(), 2 + AT_ONCE_TO_ONE);
    }
}

#[test]
fn two_triggers_of_one_endpoint_share_its_places_also_after_a_restart_and_a_change() {
    let mut w = World::new();
    w.model.triggers.push(trigger("pager2", "http://page.test:80/z"));
    w.outbox.reconfigured(&w.model);
    let third = PENDING_MOST as u64 / 3;
    let fill = |w: &mut World| {
        for seq in 0..=third + 1 {
            w.commit(&format!("a{seq}"), 1, "mail");
            w.commit(&format!("b{seq}"), 1, "page");
            w.commit(&format!("c{seq}"), 1, "pager2");
        }
    };
    let dead = |w: &World, trigger: &str| {
        w.outbox.book().deliveries.values().filter(|d| &*d.trigger == trigger && !d.is_pending()).count()
    };
    fill(&mut w);
    assert!(dead(&w, "mail") == 0 && dead(&w, "page") + dead(&w, "pager2") > 0);
    let kept = w.outbox.book().deliveries.values().cloned().collect();
    w.outbox = Outbox::restore(w.now, kept, &w.model);
    w.commit("d", 1, "page");
    assert_eq!(dead(&w, "mail"), 0);
    // Now the mail goes to the place that has the most.
    w.model.triggers[0] = trigger("mail", "http://page.test:80/mail");
    w.model.triggers[1] = trigger("page", "https://mail.test/page");
    w.outbox.reconfigured(&w.model);
    let of_page = dead(&w, "page");
    for seq in 0..third / 4 {
        w.commit(&format!("e{seq}"), 1, "page");
    }
    assert!(dead(&w, "mail") > 0 && dead(&w, "page") == of_page);
}

#[test]
fn what_waits_goes_out_in_full_over_few_slots_and_many_endpoints() {
    let mut w = World::new();
    w.model.triggers = (0..20).map(|n| trigger(&format!("t{n}"), &format!("http://h{n}.test/"))).collect();
    w.outbox.reconfigured(&w.model);
    let ids: BTreeSet<u64> = (0..400).map(|n| w.commit(&format!("s{}", n / 20), 1, &format!("t{}", n % 20))).collect();
    let (mut flying, mut done): (Vec<u64>, BTreeSet<u64>) = Default::default();
    while done.len() < ids.len() {
        flying.extend(w.due());
        assert!(flying.len() <= AT_ONCE && !flying.is_empty());
        let id = flying.remove(0);
        w.end(id, Ok(()));
        assert!(done.insert(id), "each once");
    }
    assert_eq!((done, w.outbox.due.len()), (ids, 0));
}

#[test]
fn the_work_for_a_flood_grows_with_its_size_and_not_with_its_square() {
    let time = |deliveries: u64| {
        let mut w = World::new();
        let begun = std::time::Instant::now();
        for n in 0..deliveries {
            w.commit(&format!("s{}", n / 5), 1, "page");
        }
        for _ in 0..deliveries / 2 {
            for id in w.due() {
                w.end(id, Ok(()));
            }
        }
        begun.elapsed()
    };
    // Four times the deliveries are sixteen times the work where it is the square. The best of three, as the machine
    // may be busy.
    let best = |deliveries| (0..3).map(|_| time(deliveries)).min().unwrap();
    let (few, many) = (best(1_250).max(Duration::from_millis(5)), best(5_000));
    assert!(many < few * 12, "{few:?} for 1250, {many:?} for 5000");
}

#[test]
fn an_endpoint_is_scheme_and_host_without_credentials() {
    for (uri, shown) in [
        ("https://Me:pw@Host.test:8443/a?b@c", "https://host.test:8443"),
        ("http://host.test", "http://host.test"),
        ("http://host.test?x=1", "http://host.test"),
    ] {
        assert_eq!(&*trigger("t", uri).endpoint(), shown);
    }
}
