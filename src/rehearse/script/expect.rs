//! Expectations.

use std::net::{IpAddr, Ipv4Addr};

use super::lex::{Words, unknown};
use super::{Answer, Expectation, ScenarioFact, VserverFact};
use crate::model::condition::{Signal, Truth};
use crate::model::id::Name;
use crate::model::scenario::{Direction, Mode};
use crate::model::state::{ServiceState, VserverState};
use crate::model::zone::RecordType;

/// Whom a DNS answer is for where the script does not say.
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub(super) const TRUTHS: [(&str, Truth); 3] =
    [("true", Truth::True), ("false", Truth::False), ("unknown", Truth::Unknown)];

const VSERVER_STATES: [(&str, VserverState); 3] =
    [("UP", VserverState::Up), ("DOWN", VserverState::Down), ("OFS", VserverState::OutOfService)];

const PREFIXES: [&str; 6] = ["sc:", "svc:", "vs:", "dc:", "tw:", "sw:"];

pub fn parse(words: &mut Words) -> Result<Expectation, String> {
    let word = words.expect("what is expected")?;
    let prefixed = |prefix: &str| word.strip_prefix(prefix).filter(|name| !name.is_empty());
    if let Some(name) = prefixed("sc:") {
        return Ok(Expectation::Scenario { name: name.into(), facts: scenario_facts(words)? });
    }
    if let Some(name) = prefixed("svc:") {
        let states = ServiceState::ALL.map(|state| (state.word(), state));
        return Ok(Expectation::Service { name: name.into(), state: words.choice("state of a service", &states)? });
    }
    if let Some(name) = prefixed("vs:") {
        return Ok(Expectation::Vserver { name: name.into(), facts: vserver_facts(words)? });
    }
    if let Some(name) = prefixed("dc:") {
        return signal(name, words);
    }
    if let Some(name) = prefixed("tw:") {
        return Ok(Expectation::TimeWindow { name: name.into(), value: words.choice("value", &TRUTHS)? });
    }
    if let Some(name) = prefixed("sw:") {
        let values = [("on", true), ("off", false), ("true", true), ("false", false)];
        return Ok(Expectation::Switch { name: name.into(), value: words.choice("value", &values)? });
    }
    match word.as_str() {
        "check" => {
            let name = words.name("a check")?;
            let states = [("up", Truth::True), ("down", Truth::False), ("unknown", Truth::Unknown)];
            Ok(Expectation::Check { name, state: words.choice("state of a check", &states)? })
        }
        "trigger" => trigger(words),
        "journal" => {
            let text = words.rest();
            while words.next().is_some() {}
            if text.is_empty() { Err("a text is missing".into()) } else { Ok(Expectation::Journal { text }) }
        }
        _ => dns(word, words),
    }
}

fn scenario_facts(words: &mut Words) -> Result<Vec<(bool, ScenarioFact)>, String> {
    let known = [
        ("inactive", 0),
        ("activating", 1),
        ("active", 2),
        ("deactivating", 3),
        ("stuck", 4),
        ("ready_to_return", 5),
        ("oscillating", 6),
        ("seq", 7),
        ("activate", 8),
        ("deactivate", 9),
    ];
    let modes = [("auto", Mode::Auto), ("on", Mode::On), ("off", Mode::Off)];
    let mut facts = Vec::new();
    while facts.is_empty() || !words.is_done() {
        let negated = words.take("not");
        let fact = match words.choice("state of a scenario", &known)? {
            state @ 0..4 => ScenarioFact::State(known[state].0),
            4 => ScenarioFact::Stuck,
            5 => ScenarioFact::ReadyToReturn,
            6 => ScenarioFact::Oscillating,
            7 => ScenarioFact::Seq(words.number("a seq")?),
            8 => ScenarioFact::Mode(Direction::Activate, words.choice("mode", &modes)?),
            _ => ScenarioFact::Mode(Direction::Deactivate, words.choice("mode", &modes)?),
        };
        facts.push((negated, fact));
    }
    Ok(facts)
}

fn vserver_facts(words: &mut Words) -> Result<Vec<VserverFact>, String> {
    let mut facts = Vec::new();
    while facts.is_empty() || !words.is_done() {
        if words.take("effective") {
            facts.push(VserverFact::Effective(words.choice("effective state", &VSERVER_STATES)?));
        } else if words.take("new") {
            words.choice("word after `new`", &[("clients", ())])?;
            facts.push(VserverFact::NewClients(words.name("`own`, `refused` or the name of a backup")?));
        } else if words.take("health") {
            let percent = words.number("percent")?;
            let percent = u8::try_from(percent).ok().filter(|p| *p <= 100);
            facts.push(VserverFact::Health(percent.ok_or("a health is 0 to 100 percent")?));
        } else {
            let word = words.peek().unwrap_or("").to_owned();
            let state = words.choice("state of a vserver", &VSERVER_STATES).map_err(|error| {
                let known = ["UP", "DOWN", "OFS", "effective", "new", "health"];
                if word.is_empty() { error } else { unknown("unknown state of a vserver", &word, known) }
            })?;
            facts.push(VserverFact::State(state));
        }
    }
    Ok(facts)
}

fn signal(id: &str, words: &mut Words) -> Result<Expectation, String> {
    let (id, observer) = id.rsplit_once('@').map_or((id, None), |(id, site)| (id, Some(site.into())));
    let (datacenter, signal) = signal_of(id)?;
    Ok(Expectation::Signal { datacenter, signal, observer, value: words.choice("value", &TRUTHS)? })
}

/// `dc-a.wan`
pub(super) fn signal_of(id: &str) -> Result<(Name, Signal), String> {
    let Some((datacenter, word)) = id.rsplit_once('.') else {
        return Err(format!("`dc:{id}` names no signal; write it like `dc:{id}.wan`"));
    };
    let Some(signal) = Signal::ALL.into_iter().find(|signal| signal.word() == word) else {
        return Err(unknown("unknown signal", word, Signal::ALL.map(Signal::word)));
    };
    Ok((datacenter.into(), signal))
}

fn trigger(words: &mut Words) -> Result<Expectation, String> {
    let name = words.name("a trigger")?;
    let suppressed = words.take("suppressed");
    let word = words.expect("`once`, `never`, `twice` or `N times`")?;
    let times = match word.as_str() {
        "never" => 0,
        "once" => 1,
        "twice" => 2,
        number => {
            let Ok(times) = number.parse() else {
                return Err(unknown("unknown word", number, ["once", "twice", "never", "suppressed"]));
            };
            words.choice("word after the number", &[("times", ()), ("time", ())])?;
            times
        }
    };
    Ok(Expectation::Trigger { name, suppressed, times })
}

/// `www A = 198.51.100.10`, `www A from 10.1.2.3 is NODATA`
fn dns(name: String, words: &mut Words) -> Result<Expectation, String> {
    let rtype = words.next().and_then(|word| RecordType::parse(&word));
    let Some(rtype) = rtype else {
        // No type behind it, so it was no name: an id with a slip in its prefix, or a word.
        let prefix = name.split_once(':').map(|(prefix, _)| format!("{prefix}:"));
        let word = prefix.as_deref().unwrap_or(&name);
        let known = PREFIXES.into_iter().chain(["check", "trigger", "journal"]);
        let what = unknown("unknown expectation", word, known);
        return Err(format!("{what} (a DNS name is followed by a type, such as `{name} A = 192.0.2.1`)"));
    };
    let client = if words.take("from") { words.ip("a client")? } else { CLIENT };
    let answer = if words.take("is") {
        let codes = ["NODATA", "NXDOMAIN", "SERVFAIL", "REFUSED"].map(|code| (code, code));
        Answer::Code(words.choice("answer", &codes)?)
    } else if words.take("=") {
        let mut records = Vec::new();
        while let Some(record) = words.next() {
            records.push(record);
        }
        if records.is_empty() {
            return Err("an answer is missing after `=`; none at all is `is NODATA`".into());
        }
        records.sort();
        Answer::Records(records)
    } else {
        let found = words.peek().unwrap_or("the end of the line");
        return Err(format!("`=` and the records, or `is NODATA`, follow the type, not {found}"));
    };
    Ok(Expectation::Dns { name, rtype, client, answer })
}
