//! Steps that do something.

use std::time::Duration;

use super::lex::{Words, unknown};
use super::{Act, Action, Sample, SampleKind};
use crate::model::event::GuardVerdict;
use crate::model::id::Kind;
use crate::model::lookup::{Found, Srv};
use crate::model::scenario::Mode;

/// Every word that a step may begin with.
pub const WORDS: &[&str] = &[
    "expect", "within", "for", "at", "after", "fail", "pass", "trofs", "keep", "disable", "enable", "active", "set",
    "return", "drill", "dns", "switch", "force", "guard", "peer", "restart", "reload", "wait",
];

const MODES: [(&str, Mode); 3] = [("auto", Mode::Auto), ("on", Mode::On), ("off", Mode::Off)];

const KINDS: [(&str, Kind); 6] = [
    ("service", Kind::Service),
    ("server", Kind::Server),
    ("servicegroup", Kind::ServiceGroup),
    ("service-group", Kind::ServiceGroup),
    ("service_group", Kind::ServiceGroup),
    ("vserver", Kind::Vserver),
];

/// The step that begins with `word`; `None`: no step does.
pub fn parse(word: &str, words: &mut Words) -> Option<Result<Action, String>> {
    Some(match word.to_ascii_lowercase().as_str() {
        "fail" => sample(SampleKind::Fail, words),
        "pass" => sample(SampleKind::Pass, words),
        "trofs" => sample(SampleKind::Trofs, words),
        "keep" => keep(words),
        "disable" => disable(words),
        "enable" => enable(words),
        "active" => active(words),
        "set" => set(words),
        "return" => return_scenario(words),
        "drill" => drill(words),
        "switch" => switch(words),
        "force" => force(words),
        "dns" => dns(words),
        "guard" => guard(words),
        "peer" => peer(words),
        "restart" => restart(words),
        "reload" => words.expect("a file").map(|file| Action::Reload { file }),
        "wait" => words.duration("how long to wait").map(Action::Wait),
        _ => return None,
    })
}

fn keep(words: &mut Words) -> Result<Action, String> {
    let kinds = [("failing", SampleKind::Fail), ("passing", SampleKind::Pass), ("draining", SampleKind::Trofs)];
    let kind = words.choice("word after `keep`", &kinds)?;
    sample(kind, words)
}

fn sample(kind: SampleKind, words: &mut Words) -> Result<Action, String> {
    let target = words.name("a check or a service")?;
    let (mut times, mut latency) = (None, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "once" => times = Some(1),
            "latency" => latency = Some(words.duration("a latency")?),
            number if number.bytes().all(|b| b.is_ascii_digit()) && words.take("times") => {
                let count = number.parse().ok().filter(|n| (1..=100_000).contains(n));
                times = Some(count.ok_or_else(|| format!("{number} times: 1 to 100000"))?);
            }
            other => return Err(unknown("unknown word", other, ["once", "latency", "times"])),
        }
    }
    Ok(Action::Sample { target, sample: Sample { kind, latency }, times })
}

fn disable(words: &mut Words) -> Result<Action, String> {
    let kind = kind(words)?;
    let name = words.name("a name")?;
    let (mut delay, mut graceful) = (None, false);
    let mut notes = Notes::default();
    while let Some(word) = words.next() {
        match word.to_ascii_lowercase().as_str() {
            "delay" => delay = Some(words.duration("a delay")?),
            "graceful" => graceful = true,
            // As in the shell: seconds, and `-graceFul YES`.
            number if number.bytes().all(|b| b.is_ascii_digit()) => {
                let seconds = number.parse().map_err(|_| format!("a delay of {number} s is too long"))?;
                delay = Some(Duration::from_secs(seconds));
            }
            "-graceful" => graceful = words.choice("value", &[("YES", true), ("NO", false)])?,
            other if notes.take(other, words)? => {}
            other => return Err(unknown("unknown word", other, ["delay", "graceful", "reason", "expires"])),
        }
    }
    Ok(notes.with(Act::Disable { kind, name, delay, graceful }))
}

fn enable(words: &mut Words) -> Result<Action, String> {
    let kind = kind(words)?;
    let name = words.name("a name")?;
    noted(Act::Enable { kind, name }, words)
}

/// `lb vserver`, as the shell has it, is a vserver too.
fn kind(words: &mut Words) -> Result<Kind, String> {
    if words.take("lb") { words.choice("kind", &[("vserver", Kind::Vserver)]) } else { words.choice("kind", &KINDS) }
}

fn active(words: &mut Words) -> Result<Action, String> {
    let service = words.name("a service")?;
    let active = words.number("open transactions")?;
    let active = u32::try_from(active).map_err(|_| "too many transactions".to_owned())?;
    Ok(Action::Active { service, active })
}

fn set(words: &mut Words) -> Result<Action, String> {
    words.choice("word after `set`", &[("scenario", ())])?;
    let scenario = words.name("a scenario")?;
    let (mut activate, mut deactivate, mut override_guard) = (None, None, false);
    let mut notes = Notes::default();
    while let Some(word) = words.next() {
        match word.trim_start_matches('-').to_ascii_lowercase().as_str() {
            "activate" => activate = Some(words.choice("mode", &MODES)?),
            "deactivate" => deactivate = Some(words.choice("mode", &MODES)?),
            "override" => override_guard = true,
            other if notes.take(other, words)? => {}
            other => {
                let known = ["activate", "deactivate", "override", "reason", "expires"];
                return Err(unknown("unknown word", other, known));
            }
        }
    }
    if activate.is_none() && deactivate.is_none() {
        return Err("name a mode for `activate`, `deactivate` or both".into());
    }
    Ok(notes.with(Act::Modes { scenario, activate, deactivate, override_guard }))
}

/// The call that is meant where somebody wants it back: never stuck, whatever `activate` shows.
fn return_scenario(words: &mut Words) -> Result<Action, String> {
    words.choice("word after `return`", &[("scenario", ())])?;
    let scenario = words.name("a scenario")?;
    let override_guard = words.take("override");
    let (activate, deactivate) = (Some(Mode::Auto), Some(Mode::On));
    noted(Act::Modes { scenario, activate, deactivate, override_guard }, words)
}

/// `drill start SCENARIO for 60m`, `drill stop`.
fn drill(words: &mut Words) -> Result<Action, String> {
    if words.choice("word after `drill`", &[("start", false), ("stop", true)])? {
        let override_guard = words.take("override");
        return noted(Act::StopDrill { override_guard }, words);
    }
    let scenario = words.name("a scenario")?;
    let (mut lasts, mut notify, mut stop_on, mut override_guard) = (None, Vec::new(), Vec::new(), false);
    let mut notes = Notes::default();
    while let Some(word) = words.next() {
        match word.trim_start_matches('-').to_ascii_lowercase().as_str() {
            "for" => lasts = Some(words.duration("how long the drill lasts")?),
            "notify" => notify.push(words.name("a trigger")?),
            "stop-on" | "stop_on" => stop_on.push(words.name("a condition of [drills.stop_on]")?),
            "override" => override_guard = true,
            other if other != "expires" && notes.take(other, words)? => {}
            other => return Err(unknown("unknown word", other, ["for", "reason", "notify", "stop-on", "override"])),
        }
    }
    let lasts = lasts.filter(|lasts| !lasts.is_zero()).ok_or("say how long the drill lasts: `for 60m`")?;
    Ok(notes.with(Act::StartDrill { scenario, lasts, notify, stop_on, override_guard }))
}

fn switch(words: &mut Words) -> Result<Action, String> {
    let name = words.name("a switch")?;
    let value = words.choice("value", &[("on", true), ("off", false), ("true", true), ("false", false)])?;
    noted(Act::Switch { name, value }, words)
}

fn force(words: &mut Words) -> Result<Action, String> {
    let kind = words.choice("kind", &[("check", Kind::Check), ("service", Kind::Service)])?;
    let name = words.name("a name")?;
    let up = words.choice("state", &[("up", Some(true)), ("down", Some(false)), ("none", None)])?;
    noted(Act::Force { kind, name, up }, words)
}

fn guard(words: &mut Words) -> Result<Action, String> {
    let scenario = words.name("a scenario")?;
    let verdicts =
        [("pass", GuardVerdict::Pass), ("refuse", GuardVerdict::Refuse), ("cannot-tell", GuardVerdict::CannotTell)];
    let verdict = words.choice("result of a guard", &verdicts)?;
    Ok(Action::Guard { scenario, verdict })
}

fn peer(words: &mut Words) -> Result<Action, String> {
    let site = words.name("the site of a peer")?;
    match words.choice("word after the site", &[("says", None), ("silent", Some(true)), ("speaks", Some(false))])? {
        Some(silent) => Ok(Action::PeerSilent { site, silent }),
        None => {
            let id = words.expect("a signal such as `dc:dc-a.wan`")?;
            let id = id.strip_prefix("dc:").unwrap_or(&id);
            let (datacenter, signal) = super::expect::signal_of(id)?;
            let value = words.choice("value", &super::expect::TRUTHS)?;
            Ok(Action::PeerSays { site, datacenter, signal, value })
        }
    }
}

fn dns(words: &mut Words) -> Result<Action, String> {
    let name = words.name("the name of a server")?;
    if !words.take("=") {
        words.choice("word after the name", &[("fails", ())])?;
        return Ok(Action::Dns { name, answer: None });
    }
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        found.push(record(&word)?);
    }
    if found.is_empty() {
        return Err("an address is missing after `=`; `fails` says that there is no answer".into());
    }
    Ok(Action::Dns { name, answer: Some(found) })
}

/// `192.0.2.1`, or `10 5 192.0.2.1:8080`.
fn record(word: &str) -> Result<Found, String> {
    if let Ok(address) = word.parse() {
        return Ok(Found { address, srv: None });
    }
    let wrong = || format!("`{word}` is neither an address nor \"PRIORITY WEIGHT ADDRESS:PORT\"");
    let parts: Vec<&str> = word.split_whitespace().collect();
    let [priority, weight, at] = parts[..] else { return Err(wrong()) };
    let at: std::net::SocketAddr = at.parse().map_err(|_| wrong())?;
    let (priority, weight) = (priority.parse().map_err(|_| wrong())?, weight.parse().map_err(|_| wrong())?);
    let srv = Srv { target: at.ip().to_string().into(), port: at.port(), priority, weight };
    Ok(Found { address: at.ip(), srv: Some(srv) })
}

fn restart(words: &mut Words) -> Result<Action, String> {
    let down = if words.take("down") { words.duration("how long it is down")? } else { Duration::ZERO };
    Ok(Action::Restart { down })
}

/// Why, and until when.
#[derive(Default)]
struct Notes {
    reason: Option<crate::model::id::Name>,
    expires: Option<Duration>,
}

// === impl Notes ===

impl Notes {
    fn take(&mut self, word: &str, words: &mut Words) -> Result<bool, String> {
        match word {
            "reason" => self.reason = Some(words.name("a reason")?),
            "expires" => self.expires = Some(words.duration("how long it stays in force")?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn with(self, act: Act) -> Action {
        Action::Act { act, reason: self.reason, expires: self.expires }
    }
}

fn noted(act: Act, words: &mut Words) -> Result<Action, String> {
    let mut notes = Notes::default();
    while let Some(word) = words.next() {
        if !notes.take(&word, words)? {
            return Err(unknown("unknown word", &word, ["reason", "expires"]));
        }
    }
    Ok(notes.with(act))
}
