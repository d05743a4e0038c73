//! A script, played to a world.

use std::sync::Arc;
use std::time::Duration;

use super::judge::judge;
use super::script::{self, Action, Expectation, Script, Span, Step, When, Wrong};
use super::timeline;
use super::world::{Happening, World};
use crate::model::Model;
use crate::model::id::Name;

/// How many lines of history a failure shows.
const HISTORY_SHOWN: usize = 6;

/// Where other configurations of a script come from: a file as the script names it.
pub type Reloads<'a> = &'a dyn Fn(&str) -> Result<Arc<Model>, String>;

/// How a script went.
#[derive(Debug)]
pub struct Walk {
    pub world: World,
    /// One for each expectation, in order.
    pub verdicts: Vec<Judged>,
    /// Steps that could not be carried out; the walk ends at the first.
    pub broken: Option<Failure>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub line: u32,
    pub text: Name,
    pub at: Duration,
    pub failure: Option<Failure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub line: u32,
    /// The step as written.
    pub expected: Name,
    pub got: String,
    /// When it was looked at last.
    pub at: Duration,
    /// What had happened just before, as lines of the timeline.
    pub before: Vec<String>,
}

/// Names that nothing has, at every step under the configuration in force there.
pub fn check_names(script: &Script, model: &Arc<Model>, reloads: Reloads<'_>) -> Vec<Wrong> {
    let mut wrong = Vec::new();
    let mut model = Arc::clone(model);
    for step in &script.steps {
        if let Some(what) = script::problem(&model, &step.action) {
            wrong.push(Wrong { line: step.line, what });
        }
        if let Action::Reload { file } = &step.action {
            match reloads(file) {
                Ok(next) => model = next,
                Err(what) => wrong.push(Wrong { line: step.line, what }),
            }
        }
    }
    wrong
}

/// Plays `script` to an appliance with this configuration. `watch`: told of every judged expectation and of changed
/// answers, for a timeline.
pub fn walk(script: &Script, model: &Arc<Model>, reloads: Reloads<'_>, watch: bool) -> Walk {
    let mut walk =
        Walk { world: World::start(model, script.start, script.unknown), verdicts: Vec::new(), broken: None };
    if watch {
        walk.world.watch_answers();
    }
    for step in &script.steps {
        if let Err(what) = walk.take(step, reloads, watch) {
            walk.broken = Some(walk.failure(step, what));
            break;
        }
    }
    walk.world.catch_up();
    walk
}

// === impl Walk ===

impl Walk {
    /// Every difference, and the step that could not be carried out.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.verdicts.iter().filter_map(|judged| judged.failure.as_ref()).chain(&self.broken)
    }

    fn take(&mut self, step: &Step, reloads: Reloads<'_>, watch: bool) -> Result<(), String> {
        match step.when {
            When::Same => {}
            When::At(at) if at < self.world.elapsed() => {
                let now = timeline::stamp(self.world.elapsed());
                return Err(format!("it is {now} already: time never runs back"));
            }
            When::At(at) => self.world.advance(at),
            When::After(d) => self.world.advance(self.world.elapsed().saturating_add(d)),
        }
        if let Action::Expect { expectation, span } = &step.action {
            let result = self.judge(expectation, *span);
            if watch {
                let word = if result.is_ok() { "holds" } else { "does not hold" };
                self.world.tell(Happening::Step(format!("{}: {word}", step.text).into()));
            }
            let failure = result.err().map(|got| self.failure(step, got));
            let at = self.world.elapsed();
            self.verdicts.push(Judged { line: step.line, text: Name::clone(&step.text), at, failure });
            return Ok(());
        }
        self.world.tell(Happening::Step(Name::clone(&step.text)));
        self.act(&step.action, reloads)
    }

    fn act(&mut self, action: &Action, reloads: Reloads<'_>) -> Result<(), String> {
        let world = &mut self.world;
        match action {
            Action::Sample { target, sample, times } => {
                for check in script::checks_of(&Arc::clone(world.model()), target)? {
                    world.set_manner(check, *sample, *times);
                }
            }
            Action::Active { service, active } => {
                let id = world.model().service_id(service).ok_or_else(|| format!("no service is named `{service}`"))?;
                world.set_active(id, *active);
            }
            Action::Act { act, reason, expires } => world.act(act, reason.as_ref(), *expires)?,
            Action::Dns { name, answer } => world.answer_dns(name, answer.as_deref())?,
            Action::PeerSays { site, datacenter, signal, value } => {
                world.peer_says(site, datacenter, *signal, *value)?;
            }
            Action::PeerSilent { site, silent } => world.peer_silent(site, *silent)?,
            Action::Guard { scenario, verdict } => world.set_guard(scenario, *verdict),
            Action::Restart { down } => world.restart(*down),
            Action::Reload { file } => world.reload(&reloads(file)?),
            Action::Wait(d) => world.advance(world.elapsed().saturating_add(*d)),
            Action::Expect { .. } => {}
        }
        Ok(())
    }

    fn judge(&mut self, expectation: &Expectation, span: Span) -> Result<(), String> {
        let (end, wants_always) = match span {
            Span::Now => (Duration::ZERO, false),
            Span::Within(d) => (d, false),
            Span::For(d) => (d, true),
        };
        let end = self.world.elapsed().saturating_add(end);
        loop {
            self.world.catch_up();
            let result = judge(&self.world, expectation);
            // The first moment that decides ends it: one that is as wanted, or one that is not.
            if result.is_err() == wants_always || self.world.elapsed() >= end {
                return result;
            }
            let next = self.world.next_at().map_or(end, |next| next.min(end));
            self.world.advance(next);
        }
    }

    fn failure(&self, step: &Step, got: String) -> Failure {
        let decisions = self.world.history().iter().rev().filter(|moment| timeline::is_decision(&moment.what));
        let lines = decisions.filter_map(|moment| timeline::line(moment, self.world.model()));
        let mut before: Vec<String> = lines.take(HISTORY_SHOWN).collect();
        before.reverse();
        Failure { line: step.line, expected: Name::clone(&step.text), got, at: self.world.elapsed(), before }
    }
}
