//! What operators of other products miss, in virtual time: each test is named after what it promises. The page
//! `complaints` of the manual lists them.

use bascule::machine::{Effect, Engine, Input};
use bascule::model::condition::Truth;
use bascule::model::event::{Outcome, Verdict};
use bascule::model::scenario::Direction;
use bascule::model::time::{Now, Tick, Wall};

use crate::rig::{Rig, model, secs};

/// splitmix64: the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.roll() % 100 < chance
    }
}

fn check(fall: u32, rise: u32) -> String {
    format!(
        "[check.p]\ntype = \"TCP\"\ntarget = \"127.0.0.1:1\"\ninterval = \"1s\"\ntimeout = \"500ms\"\n\
         fall = {fall}\nrise = {rise}\n[scenario.s.activate]\nwhen = [[\"p!\"]]\n[scenario.s.deactivate]\nwhen = [[\"p\"]]\n"
    )
}

fn state(rig: &Rig) -> Truth {
    rig.engine.view().checks[0].state
}

#[test]
fn a_check_that_fails_every_second_time_never_changes_its_state_and_two_failures_in_a_row_do_at_the_second() {
    let mut rig = Rig::new(&check(2, 1));
    rig.pass("p");
    for _ in 0..100 {
        rig.wait(secs(1));
        rig.fail("p");
        assert_eq!(state(&rig), Truth::True);
        rig.wait(secs(1));
        rig.pass("p");
    }
    assert_eq!(rig.scenario("s").seq, 0);
    rig.fail("p");
    assert_eq!(state(&rig), Truth::True);
    rig.fail("p");
    assert_eq!(state(&rig), Truth::False);
}

#[test]
fn under_noise_the_number_of_transitions_stays_below_its_bound_and_is_counted() {
    // A run of three failures ends at a sample with probability 0.2³ at most, so in n samples at most 0.008 n can begin
    // an outage; and each needs a return before the next.
    const SAMPLES: u64 = 20_000;
    let bound = 2 * SAMPLES * 8 / 1_000;
    for seed in 0..5 {
        let mut dice = Dice(seed);
        let mut rig = Rig::new(&format!("[defaults.scenario]\noscillation = {{ commits = 0 }}\n{}", check(3, 3)));
        rig.pass("p");
        rig.transitions();
        let mut commits = 0;
        for _ in 0..SAMPLES {
            rig.wait(secs(1));
            if dice.percent(20) {
                rig.fail("p")
            } else {
                rig.pass("p")
            }
            commits += rig.transitions().len() as u64;
        }
        assert!(commits > 0 && commits <= bound, "seed {seed}: {commits} transitions, bound {bound}");
        assert_eq!(rig.scenario("s").seq, commits, "the counter of the scenario");
    }
}

#[test]
fn a_target_that_is_good_again_is_up_within_rise_intervals_from_any_state() {
    let mut dice = Dice(7);
    for round in 0..500 {
        let rise = 1 + (dice.roll() % 5) as u32;
        let mut rig = Rig::new(&check(1 + (dice.roll() % 5) as u32, rise));
        for _ in 0..dice.roll() % 40 {
            let outcome = [Outcome::Pass, Outcome::Fail, Outcome::Fail, Outcome::Void][(dice.roll() % 4) as usize];
            rig.verdict("p", outcome, secs(0));
            rig.wait(secs(1));
        }
        for _ in 0..rise {
            rig.pass("p");
        }
        assert_eq!(state(&rig), Truth::True, "round {round}");
    }
}

/// `n` records that look at one check.
fn records(n: usize, ttl: u32) -> String {
    let mut text = check(3, 3)
        + "[zone.\"example.test\"]\nsoa = { mname = \"ns\", rname = \"h\" }\nstatic = \"@ NS ns\\nns A 192.0.2.53\"\n";
    for i in 0..n {
        text += &format!(
            "[zone.\"example.test\".rrset.\"h{i} A\"]\nttl = \"{ttl}s\"\nrecords = [{{ data = \"192.0.2.1\", check = \"p\" }}]\n"
        );
    }
    text
}

#[test]
fn many_records_that_share_a_check_cost_one_probe_an_interval_and_an_edit_of_a_record_moves_no_probe() {
    let now = Now::new(Tick(1_000_000), Wall(1_767_607_200_000_000));
    let mut engine = Engine::new();
    let mut effects = Vec::new();
    engine.step(now, Input::Restore(Default::default()), &mut effects);
    engine.step(now, Input::Adopt(model(&records(200, 30))), &mut effects);
    let probes = |effects: &mut Vec<Effect>| -> Vec<Tick> {
        let due = |effect| if let Effect::Probe { due, .. } = effect { Some(due) } else { None };
        effects.drain(..).filter_map(due).collect()
    };
    assert_eq!(probes(&mut effects).len(), 1, "one check, however many records");
    let check = engine.model().check_id("p").unwrap();
    let mut at = now;
    for _ in 0..60 {
        let due = engine.due(check);
        at = at.after(due.since(at.tick));
        let verdict = Verdict::new(Outcome::Pass, secs(0), "test");
        engine.step(at, Input::Verdict { check, verdict }, &mut effects);
        assert_eq!(probes(&mut effects), [due + secs(1)], "the next one an interval later");
    }
    // An edit in the middle of an interval.
    at = at.after(std::time::Duration::from_millis(300));
    let due = engine.due(check);
    engine.step(at, Input::Adopt(model(&records(200, 60))), &mut effects);
    assert_eq!(probes(&mut effects), [], "what is under way stands");
    assert_eq!(engine.due(check), due);
}

#[test]
fn a_backup_that_masks_a_dead_pool_does_not_hide_it_from_conditions() {
    let mut rig = Rig::new(
        r#"
        [service.main]
        address = "127.0.0.1:1"
        type = "TCP"
        [service.spare]
        address = "127.0.0.1:2"
        type = "TCP"
        [vserver.web]
        type = "TCP"
        address = "127.0.0.1:8080"
        services = ["main"]
        backup = "other-site"
        [vserver.other-site]
        type = "TCP"
        services = ["spare"]
        [scenario.pool-is-dead.activate]
        when = [["vs:web.primary!"]]
        [scenario.nobody-serves.activate]
        when = [["vs:web!"]]
        "#,
    );
    let checks: Vec<String> = rig.engine.model().checks.iter().map(|check| check.name.to_string()).collect();
    for check in &checks {
        rig.pass(check);
    }
    let main = checks.iter().find(|check| check.contains("main")).unwrap();
    for _ in 0..5 {
        rig.fail(main);
    }
    let web = rig.engine.model().vserver_id("web").unwrap();
    assert_eq!(rig.engine.view().vservers[web.index()].effective.word(), "UP", "the backup serves");
    assert!(rig.is_active("pool-is-dead") && !rig.is_active("nobody-serves"));
}

#[test]
fn each_commit_in_either_direction_has_exactly_one_delivery_for_each_of_its_triggers() {
    let trigger = |name: &str| format!("[trigger.{name}]\ntype = \"HTTP\"\nuri = \"http://127.0.0.1:1/{name}\"\n");
    let text = format!(
        "{}{}[check.p]\ntype = \"TCP\"\ntarget = \"127.0.0.1:1\"\nrise = 1\nfall = 1\n\
         [scenario.s]\noscillation = {{ commits = 0 }}\n\
         [scenario.s.activate]\nwhen = [[\"p!\"]]\ntriggers = [\"dns-out\"]\n\
         [scenario.s.deactivate]\nwhen = [[\"p\"]]\ntriggers = [\"dns-in\", \"dns-out\"]\n",
        trigger("dns-out"),
        trigger("dns-in")
    );
    let mut rig = Rig::new(&text);
    let mut dice = Dice(3);
    rig.pass("p");
    rig.transitions();
    let mut commits = [0_u32, 0];
    for _ in 0..500 {
        rig.wait(secs(1));
        if dice.percent(50) {
            rig.fail("p")
        } else {
            rig.pass("p")
        }
        for transition in rig.transitions() {
            commits[transition.direction.index()] += 1;
            let told: Vec<(&str, &str)> = transition.triggers.iter().map(|t| (&*t.name, &*t.status)).collect();
            let expected: &[_] = match transition.direction {
                Direction::Activate => &[("dns-out", "pending")],
                Direction::Deactivate => &[("dns-in", "pending"), ("dns-out", "pending")],
            };
            assert_eq!(told, expected);
        }
    }
    assert!(commits[0] > 50 && commits[0].abs_diff(commits[1]) <= 1, "{commits:?}");
}
