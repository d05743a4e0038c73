//! Whole random appliances under random samples, acts, waits, reloads and kills.
//!
//! Goal: no history breaks an invariant, loses a change, or makes a restart remember something else. Method: a seed
//! makes a configuration and a walk; after every step `invariant::check` looks at everything, and a ledger compares the
//! records with the view. A failure prints the seed.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use bascule::control::journal::history::What;
use bascule::machine::Effect;
use bascule::model::event::{Outcome, Record};
use bascule::model::scenario::Mode;

use crate::rig::Rig;

const SEEDS: u64 = 60;
const STEPS: usize = 2_000;

/// SplitMix64: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

#[test]
fn random_appliances_keep_every_invariant_over_more_than_a_hundred_thousand_steps() {
    let mut steps = 0;
    let mut commits = 0;
    for seed in 0..SEEDS {
        let result = std::panic::catch_unwind(|| walk(seed));
        match result {
            Ok((s, c)) => {
                steps += s;
                commits += c;
            }
            Err(panic) => {
                eprintln!("seed {seed} failed");
                std::panic::resume_unwind(panic);
            }
        }
    }
    assert!(steps >= 100_000, "{steps} steps");
    assert!(commits >= 1_000, "a walk in which nothing happens shows nothing: {commits} commits");
}

fn walk(seed: u64) -> (usize, usize) {
    let mut random = Random(seed);
    let mut config = configuration(&mut random);
    let mut rig = Rig::new(&config);
    // Half of the appliances are woken too late for everything.
    rig.late = Duration::from_millis(seed % 2 * (1 + seed));
    let mut commits = 0;
    let mut states = remember(&rig);
    for step in 0..STEPS {
        rig.effects.clear();
        if random.chance(1) {
            // The monotonic clock and every sample are lost, what was saved is not.
            let down = Duration::from_secs(random.next() % 100);
            let before: Vec<_> = scenarios(&rig);
            rig = rig.kill_and_restart(&config, down);
            // An `on` that had not acted, or an expiry, may move one at once; seq never runs back.
            for ((name, seq), (_, before)) in scenarios(&rig).into_iter().zip(before) {
                assert!(seq >= before, "step {step}: {name} forgot a commit");
            }
            states = remember(&rig);
            continue;
        }
        if random.chance(1) {
            // Another order of sections or a changed threshold: the names stay.
            config = config.replace("health_threshold = 50", "health_threshold = 51");
            rig.reload(&config);
        } else {
            act(&mut random, &mut rig);
        }
        commits += check_ledger(&rig, &mut states, step);
    }
    replays(&rig);
    (STEPS, commits)
}

/// The journal of the whole walk, restarts and reloads included, makes an engine commit the same.
fn replays(rig: &Rig) {
    let recorded = rig.journal.iter().filter(|m| matches!(m.what, What::Record(Record::Transition(_)))).count();
    match bascule::rehearse::play(&rig.journal) {
        Ok(replayed) => assert_eq!((replayed.commits, replayed.skipped), (recorded, 0)),
        Err(difference) => panic!("{difference}"),
    }
}

fn scenarios(rig: &Rig) -> Vec<(String, u64)> {
    let model = rig.engine.model();
    model.scenarios.iter().zip(&rig.engine.view().scenarios).map(|(s, v)| (s.name.to_string(), v.seq)).collect()
}

/// State words of services and vservers, and seq of scenarios, by name.
fn remember(rig: &Rig) -> HashMap<String, String> {
    let (model, view) = (rig.engine.model(), rig.engine.view());
    let services = model.services.iter().zip(&view.services);
    let vservers = model.vservers.iter().zip(&view.vservers);
    let scenarios = model.scenarios.iter().zip(&view.scenarios);
    services
        .map(|(s, v)| (format!("service {}", s.name), v.state.word().to_owned()))
        .chain(vservers.map(|(s, v)| (format!("vserver {}", s.name), v.state.word().to_owned())))
        .chain(scenarios.map(|(s, v)| (format!("scenario {}", s.name), v.seq.to_string())))
        .collect()
}

/// Every change in the view has exactly the records that lead from the state before to the state after.
fn check_ledger(rig: &Rig, states: &mut HashMap<String, String>, step: usize) -> usize {
    let mut commits = 0;
    for effect in &rig.effects {
        match effect {
            Effect::Record(Record::State { object, from, to, .. }) if !from.starts_with("effective") => {
                let known = states.insert(object.to_string(), to.to_string());
                assert_eq!(known.as_deref(), Some(&**from), "step {step}: {object} did not come from there");
            }
            Effect::Record(Record::Transition(t)) => {
                commits += 1;
                let known = states.insert(format!("scenario {}", t.scenario), t.seq.to_string());
                let before: u64 = known.expect("a scenario").parse().expect("a number");
                assert_eq!(t.seq, before + 1, "step {step}: seq of {}", t.scenario);
            }
            _ => {}
        }
    }
    assert_eq!(&remember(rig), states, "step {step}: the view changed without a record");
    commits
}

fn act(random: &mut Random, rig: &mut Rig) {
    let model = std::sync::Arc::clone(rig.engine.model());
    let check = random.pick(&model.checks).name.to_string();
    let service = random.pick(&model.services).name.to_string();
    let scenario = random.pick(&model.scenarios).name.to_string();
    let switch = random.pick(&model.switches).name.to_string();
    match random.below(22) {
        0..=8 => {
            let outcome = match random.below(10) {
                0..=5 => Outcome::Pass,
                6 => Outcome::Trofs,
                7 => Outcome::Void,
                _ => Outcome::Fail,
            };
            rig.verdict(&check, outcome, Duration::from_millis(random.next() % 200));
        }
        9..=12 => rig.wait(Duration::from_millis(random.next() % 8_000)),
        13 => {
            let delay = random.chance(50).then(|| Duration::from_secs(random.next() % 20));
            rig.disable(&service, delay, random.chance(50));
        }
        14 => rig.enable(&service),
        15 => rig.active_transactions(&service, (random.next() % 3) as u32),
        16 | 17 => {
            let mode =
                |random: &mut Random| random.chance(60).then(|| *random.pick(&[Mode::Auto, Mode::On, Mode::Off]));
            let (activate, deactivate) = (mode(random), mode(random));
            rig.modes(&scenario, activate, deactivate);
        }
        18 => rig.switch(&switch, random.chance(50)),
        19 => drill(random, rig, &scenario),
        _ => force(random, rig, &check, &service),
    }
}

/// Begins a drill of a scenario at rest, whatever else is away; or ends the one that runs.
fn drill(random: &mut Random, rig: &mut Rig, scenario: &str) {
    use bascule::model::event::AdminIntent;
    let view = rig.scenario(scenario);
    let at_rest = !view.active && view.attempt.is_none() && view.modes[0].mode != Mode::On;
    if rig.engine.view().live_drill().is_none() && at_rest {
        let stop_on: &[&str] = if random.chance(50) { &["w0 is on"] } else { &[] };
        rig.drill(scenario, Duration::from_secs(1 + random.next() % 60), &[], stop_on);
    } else if rig.engine.view().live_drill().is_some() && random.chance(30) {
        rig.admin(AdminIntent::StopDrill { override_guard: random.chance(50) });
    }
}

fn force(random: &mut Random, rig: &mut Rig, check: &str, service: &str) {
    use bascule::model::event::{Act, AdminIntent};
    let model = std::sync::Arc::clone(rig.engine.model());
    let up = *random.pick(&[Some(true), Some(false), None]);
    let intent = if random.chance(50) {
        AdminIntent::ForceCheck { check: model.check_id(check).expect("a check"), up }
    } else {
        AdminIntent::ForceService { service: model.service_id(service).expect("a service"), up }
    };
    let expires = random.chance(50).then(|| rig.now.wall + Duration::from_secs(1 + random.next() % 30));
    let act = Act { actor: "admin:test".into(), reason: None, expires };
    rig.step(bascule::machine::Input::Admin { act, intent });
}

/// A configuration of its own for every seed: a few of everything, wired at random.
fn configuration(random: &mut Random) -> String {
    let mut toml = String::from("[appliance]\nname = \"box\"\nsite = \"dc-b\"\n[features]\nlb = true\n");
    let (checks, services, vservers, scenarios) = (4, 2 + random.below(4), 1 + random.below(4), 2 + random.below(5));
    for i in 0..checks {
        let (rise, fall) = (1 + random.below(3), 1 + random.below(3));
        let _ = write!(
            toml,
            "[check.c{i}]\ntype = \"TCP\"\ntarget = \"127.0.0.1:{}\"\nrise = {rise}\nfall = {fall}\n",
            100 + i
        );
    }
    for i in 0..services {
        let _ = write!(toml, "[service.s{i}]\ntype = \"HTTP\"\naddress = \"127.0.0.1:{}\"\nmonitors = []\n", 200 + i);
    }
    for i in 0..vservers {
        let _ = write!(toml, "[vserver.v{i}]\ntype = \"HTTP\"\n");
        let mut members = Vec::new();
        for s in 0..services {
            if random.chance(70) {
                members.push(format!("s{s} = {}", 1 + random.below(3)));
            }
        }
        let _ = writeln!(toml, "services = {{ {} }}", members.join(", "));
        if i + 1 < vservers && random.chance(70) {
            let _ = writeln!(toml, "backup = \"v{}\"", i + 1);
            if random.chance(40) {
                toml += "disable_primary_on_down = true\n";
            }
            if random.chance(40) {
                toml += "spillover = { method = \"HEALTH\", threshold = 60 }\n";
            }
        }
        if random.chance(40) {
            toml += "health_threshold = 50\n";
        }
    }
    toml += "[switch.w0]\n[switch.w1]\ninitial = true\n";
    toml += "[drills.stop_on]\n\"w0 is on\" = [\"sw:w0\"]\n";
    toml += "[time_window.t0]\nhours = \"10:00-10:01\"\n";
    toml += "[datacenter.dc-a]\nwan = { targets = [\"tcp:127.0.0.1:300\", \"tcp:127.0.0.1:301\"], quorum = 1 }\n";
    toml += "lan = { targets = [\"tcp:127.0.0.1:302\"], quorum = 1 }\n";
    toml += "[datacenter.dc-b]\ninternet = { targets = [\"tcp:127.0.0.1:303\"], quorum = 1 }\n";
    toml += "[datacenter_pair.main]\nactive = \"dc-a\"\nbackup = \"dc-b\"\nreturn_hold = \"20s\"\n";
    for i in 0..scenarios {
        for direction in ["activate", "deactivate"] {
            let mut terms_seen = std::collections::HashSet::new();
            let groups: Vec<String> = (0..1 + random.below(2))
                .filter_map(|g| {
                    let mut terms: Vec<String> =
                        (0..1 + random.below(2)).map(|_| term(random, i, services, vservers)).collect();
                    // Two terms on one id may contradict each other, which is refused at load.
                    let id = |text: &String| text.split(['!', '{', '"']).nth(1).map(str::to_owned);
                    let mut seen = std::collections::HashSet::new();
                    terms.retain(|text| seen.insert(id(text)));
                    terms.sort();
                    let terms = terms.join(", ");
                    terms_seen.insert(terms.clone()).then(|| format!("\"g{g}\" = [{terms}]"))
                })
                .collect();
            let _ = writeln!(toml, "[scenario.x{i}.{direction}]\nwhen = {{ {} }}", groups.join(", "));
            if random.chance(20) {
                toml += "mode = \"off\"\n";
            }
        }
        if random.chance(30) {
            let _ = writeln!(toml, "[scenario.x{i}]\nmin_dwell = \"5s\"");
        }
    }
    toml
}

fn term(random: &mut Random, scenario: usize, services: usize, vservers: usize) -> String {
    let check = random.below(4);
    let negated = if random.chance(50) { "!" } else { "" };
    let hold = if random.chance(30) { format!("{{for:{}s}}", 1 + random.below(9)) } else { String::new() };
    let text = match random.below(12) {
        0 => format!("c{check}{negated}{hold}"),
        1 => format!("c{check}!{{fails:{}}}", 1 + random.below(3)),
        2 => format!("c{check}{{passes:{}}}", 1 + random.below(3)),
        3 => format!("c{check}{negated}{{flaps<3 in 30s}}"),
        4 => format!("c{check}{{latency.p95<100ms over 3 samples, leave at 150ms}}"),
        5 => format!("svc:s{}{}{negated}", random.below(services), random.pick(&["", ".serving", ".fault"])),
        6 => {
            let facet = *random.pick(&["", ".primary", ".admin", ".fault", ".health>=50"]);
            format!("vs:v{}{facet}{negated}{hold}", random.below(vservers))
        }
        7 if scenario > 0 => format!("sc:x{}{negated}{hold}", random.below(scenario)),
        8 => format!("sw:w{}{negated}", random.below(2)),
        9 => format!("tw:t0{negated}"),
        10 => format!("dc:dc-a.{}{negated}{hold}", random.pick(&["wan", "lan", "access", "internet", "maintenance"])),
        _ => format!("c{check}{negated}"),
    };
    format!("\"{text}\"")
}
