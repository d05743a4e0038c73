//! What would have been answered at a moment of the past: the state of that moment, made again from the journal.
//!
//! The journal holds what each process began with, the texts of every configuration, every commit, and each change of a
//! row that a condition or a record uses. Rows are played to an engine, which evaluates the terms of records with their
//! holds; which scenarios were active is taken from the commits themselves. What the journal does not hold is not made
//! up: keys of signed zones (answers are shown unsigned), names that only the resolver knew, and samples that changed no
//! row, so a `degraded_ttl` shows while a scenario was active and not while one was about to change.

use std::collections::HashMap;
use std::sync::Arc;

use super::replay::texts;
use crate::control::journal::JournalQuery;
use crate::control::journal::chain::Entry;
use crate::control::journal::history::{What, moment};
use crate::control::store::ReadJournal;
use crate::machine::{Effect, Engine, Input};
use crate::model::Model;
use crate::model::condition::{Subject, Truth};
use crate::model::event::Record;
use crate::model::id::Name;
use crate::model::scenario::Direction;
use crate::model::time::{Now, Tick, Wall};
use crate::model::zone::OnEmpty;
use crate::snapshot::Snapshot;
use crate::snapshot::build::{Parts, build};
use crate::snapshot::live::Registry;
use crate::snapshot::zones::{LastGood, ZoneIndex, last_good};

/// Entries, and bytes of their bodies, that are read at once.
const ENTRIES: usize = 1_024;
const BYTES: usize = 4 << 20;

/// What traffic read at a moment.
pub struct Past {
    pub snapshot: Snapshot,
    /// The newest entry of the journal that counts.
    pub entry: u64,
    /// When it was written.
    pub entry_at: Wall,
    /// The hash of the configuration.
    pub config_hash: Name,
}

/// Why it cannot be said; in words, for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The journal does not reach back that far, or no appliance ran then.
    NotRunning(String),
    /// The journal cannot be read or understood.
    Unreadable(String),
}

struct Player {
    engine: Engine,
    effects: Vec<Effect>,
    model: Option<Arc<Model>>,
    config_hash: Name,
    /// By name, from the commits.
    active: HashMap<Name, bool>,
    last_good: LastGood,
    tick: Option<Tick>,
    now: Now,
    stopped: Option<Wall>,
}

/// The state at `at`.
pub fn at(journal: &dyn ReadJournal, at: Wall) -> Result<Past, Unknown> {
    let start = start_before(journal, at)?;
    let mut player = Player::new();
    let mut last = (start - 1, Wall(0));
    let mut first = true;
    'entries: loop {
        let entries = journal.after(last.0, ENTRIES, BYTES).map_err(|e| Unknown::Unreadable(e.what))?;
        if entries.is_empty() {
            break;
        }
        for entry in &entries {
            // Another process began: it is not the one of the moment.
            if !first && entry.kind == "start" || entry.at > at {
                break 'entries;
            }
            first = false;
            player.take(entry)?;
            last = (entry.number, entry.at);
        }
    }
    player.end(at, last)
}

/// The number of the entry with which the process of that moment began.
fn start_before(journal: &dyn ReadJournal, at: Wall) -> Result<u64, Unknown> {
    let query = JournalQuery {
        kind: Some("start".into()),
        until: Some(at),
        limit: Some(1),
        newest_first: true,
        ..JournalQuery::default()
    };
    let found = journal.query(&query).map_err(|e| Unknown::Unreadable(e.what))?;
    if let Some(start) = found.first() {
        return Ok(start.number);
    }
    let oldest = journal.after(0, 1, 1).map_err(|e| Unknown::Unreadable(e.what))?;
    let reach = oldest.first().map_or("it is empty".to_owned(), |entry| format!("it begins at {}", entry.at));
    Err(Unknown::NotRunning(format!("the journal does not tell what an appliance began with before {at}: {reach}")))
}

// === impl Player ===

impl Player {
    fn new() -> Player {
        Player {
            engine: Engine::for_replay(),
            effects: Vec::new(),
            model: None,
            config_hash: "".into(),
            active: HashMap::new(),
            last_good: Vec::new(),
            tick: None,
            now: Now::default(),
            stopped: None,
        }
    }

    fn take(&mut self, entry: &Entry) -> Result<(), Unknown> {
        let unreadable = |why: String| Unknown::Unreadable(format!("entry {}: {why}", entry.number));
        let moment = moment(entry).map_err(unreadable)?;
        // What stands under one tick was one turn.
        if self.tick.is_some_and(|tick| tick != moment.now.tick) && moment.now.tick > Tick::ZERO {
            self.evaluate();
        }
        if moment.now.tick >= self.now.tick {
            self.now = moment.now;
            self.tick = Some(moment.now.tick);
        }
        match moment.what {
            What::Start { saved } => {
                let known = saved.scenarios.iter().filter(|scenario| !scenario.archived);
                self.active = known.map(|scenario| (Name::clone(&scenario.name), scenario.active)).collect();
                self.feed(Input::Restore(saved));
            }
            What::Config(adopted) => {
                let (model, _) = texts::model(&adopted).map_err(unreadable)?;
                self.config_hash = adopted.hash;
                self.rename(&model);
                self.last_good = last_good(&model, &self.actives(&model), &[], self.known_good());
                self.model = Some(Arc::clone(&model));
                self.feed(Input::Adopt(model));
            }
            What::Record(Record::Board(row)) => self.feed(Input::Board(row)),
            What::Record(Record::Transition(transition)) => {
                self.evaluate();
                let active = transition.direction == Direction::Activate;
                self.active.insert(Name::clone(&transition.scenario), active);
                self.remember();
            }
            What::Other { kind } if &*kind == "stop" => self.stopped = Some(entry.at),
            What::Record(_) | What::Other { .. } => {}
        }
        Ok(())
    }

    fn end(mut self, at: Wall, (entry, entry_at): (u64, Wall)) -> Result<Past, Unknown> {
        if let Some(stopped) = self.stopped {
            return Err(Unknown::NotRunning(format!("at {at} no appliance ran: it stopped at {stopped}")));
        }
        // Holds that ended between the last entry and the moment.
        self.now = self.now.after(at.since(self.now.wall));
        self.evaluate();
        let Some(model) = self.model.take() else {
            return Err(Unknown::NotRunning(format!("at {at} the appliance had only begun to start")));
        };
        let mut view = self.engine.view().clone();
        let active = self.actives(&model);
        for (value, term) in view.watched.iter_mut().zip(&model.watched) {
            if let Subject::Scenario(scenario) = term.subject
                && term.hold.is_none()
            {
                *value = Truth::from(active[scenario.index()] != term.negated);
            }
        }
        let zones = Arc::new(ZoneIndex::build(&model));
        let mut snapshot = build(Parts {
            generation: 0,
            model: &model,
            view: &view,
            registry: &mut Registry::default(),
            zones: &zones,
            resolved: &Default::default(),
            previous: None,
            scenario_active: active,
            ready: true,
        });
        snapshot.last_good = Arc::new(self.last_good);
        Ok(Past { snapshot, entry, entry_at, config_hash: self.config_hash })
    }

    fn feed(&mut self, input: Input) {
        self.engine.step(self.now, input, &mut self.effects);
        // Only what was recorded counts.
        self.effects.clear();
    }

    fn evaluate(&mut self) {
        if self.model.is_some() {
            self.feed(Input::Wake);
            self.remember();
        }
    }

    /// `last_good` follows every change, where anything asks for it.
    fn remember(&mut self) {
        let Some(model) = self.model.as_ref().map(Arc::clone) else { return };
        if model.zones.iter().flat_map(|zone| &zone.rrsets).any(|rrset| rrset.on_empty == OnEmpty::LastGood) {
            let active = self.actives(&model);
            self.last_good = last_good(&model, &active, &self.engine.view().watched, self.known_good());
        }
    }

    fn known_good(&self) -> Option<(&Model, &LastGood)> {
        self.model.as_deref().map(|model| (model, &self.last_good))
    }

    fn actives(&self, model: &Model) -> Vec<bool> {
        let of = |scenario: &crate::model::scenario::Scenario| {
            self.active.get(&scenario.name).copied().unwrap_or(scenario.initially_active)
        };
        model.scenarios.iter().map(of).collect()
    }

    /// What is gone is archived; one that was renamed goes on under its new name.
    fn rename(&mut self, model: &Model) {
        let renamed = model.scenarios.iter().filter_map(|scenario| {
            let before = scenario.renamed_from.as_ref().filter(|_| !self.active.contains_key(&scenario.name))?;
            Some((Name::clone(&scenario.name), *self.active.get(before)?))
        });
        let renamed: Vec<_> = renamed.collect();
        self.active.retain(|name, _| model.scenario_id(name).is_some());
        self.active.extend(renamed);
    }
}
