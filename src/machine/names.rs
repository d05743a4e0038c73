//! Names of servers: when each is asked, and what stays in force when nobody answers.
//!
//! | event | then |
//! |---|---|
//! | wanted for the first time | asked at once |
//! | an answer with addresses | in force; asked again when its TTL is over, after [`TTL_LEAST`] to [`TTL_MOST`] |
//! | no answer, an error, NXDOMAIN, no addresses | what was in force stays; asked again after `domain_resolve_retry` |
//! | no longer wanted | forgotten |
//!
//! A name that has answered once therefore never loses its addresses: a name server that is out, or somebody's slip in a
//! zone, takes no server away. Whoever wants that says so here (`disable server`) or withdraws the address while
//! another is left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::model::Model;
use crate::model::lookup::{Answer, Known, KnownNames, Question};
use crate::model::time::{Now, Tick, Wall};

/// A shorter TTL counts as this.
pub const TTL_LEAST: Duration = Duration::from_secs(1);
/// A longer TTL counts as this.
pub const TTL_MOST: Duration = Duration::from_secs(300);

#[derive(Clone, Debug, Default)]
pub struct Names {
    known: KnownNames,
    retries: BTreeMap<Question, Duration>,
    under_way: BTreeSet<Question>,
    /// Answers of a former process, until somebody wants them.
    saved: BTreeMap<Question, (Answer, Wall)>,
}

/// What an answer changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The addresses, ports or weights are others.
    pub answer: bool,
    /// The address that a server uses is another one, or it is known for the first time that there is none.
    pub address: bool,
}

// === impl Names ===

impl Names {
    /// What a former process knew; it counts until it is asked anew, however old it is.
    pub fn restore(&mut self, saved: Vec<(Question, Answer, Wall)>) {
        self.saved = saved.into_iter().map(|(question, answer, at)| (question, (answer, at))).collect();
    }

    /// Follows the configuration. `anew`: other name servers; everything is asked again.
    pub fn adopt(&mut self, now: Now, model: &Model, anew: bool) {
        let retries = wanted(model);
        self.known.retain(|question, _| retries.contains_key(question));
        for question in retries.keys() {
            let saved = &mut self.saved;
            let known = self.known.entry(question.clone()).or_insert_with(|| {
                let (answer, answered_at) = saved.remove(question).unzip();
                let address = answer.as_ref().and_then(|answer| answer.found.first()).map(|found| found.address);
                Known { answer, answered_at, address, due: now.tick, ..Known::default() }
            });
            if anew {
                known.due = now.tick;
            }
        }
        self.saved.clear();
        if anew {
            self.under_way.clear();
        }
        self.retries = retries;
    }

    /// What is due and not asked yet: to be asked, each until [`Names::answered`].
    pub fn ask(&mut self, now: Now) -> Vec<Question> {
        let due = |(question, known): (&Question, &Known)| {
            (known.due <= now.tick && !self.under_way.contains(question)).then(|| question.clone())
        };
        let due: Vec<Question> = self.known.iter().filter_map(due).collect();
        self.under_way.extend(due.iter().cloned());
        due
    }

    /// When the next question is due.
    pub fn wake_at(&self) -> Option<Tick> {
        let waiting = self.known.iter().filter(|(question, _)| !self.under_way.contains(*question));
        waiting.map(|(_, known)| known.due).min()
    }

    /// Takes in what came of a question. Errors in words.
    pub fn answered(&mut self, now: Now, question: &Question, answer: Result<Answer, Arc<str>>) -> Change {
        self.under_way.remove(question);
        let Some(known) = self.known.get_mut(question) else { return Change::default() };
        let answer = answer.and_then(|answer| match answer.found.is_empty() {
            true => Err("the answer holds no address".into()),
            false => Ok(answer),
        });
        match answer {
            Err(error) => {
                let first = known.answer.is_none() && known.failures == 0;
                known.error = Some(error);
                known.failures = known.failures.saturating_add(1);
                known.failing_since.get_or_insert(now.wall);
                known.due = now.tick + self.retries.get(question).copied().unwrap_or(TTL_LEAST).max(TTL_LEAST);
                Change { answer: false, address: first }
            }
            Ok(answer) => {
                let former = known.address;
                let is_kept = former.is_some_and(|former| answer.found.iter().any(|found| found.address == former));
                known.address = if is_kept { former } else { answer.found.first().map(|found| found.address) };
                let same = known.answer.as_ref().is_some_and(|before| sorted(before) == sorted(&answer));
                known.due = now.tick + answer.ttl.clamp(TTL_LEAST, TTL_MOST);
                known.answer = Some(answer);
                known.answered_at = Some(now.wall);
                (known.error, known.failing_since, known.failures) = (None, None, 0);
                Change { answer: !same, address: known.address != former }
            }
        }
    }

    pub fn known(&self) -> &KnownNames {
        &self.known
    }

    /// Whether there is an address; `None`: not asked yet.
    pub fn resolves(&self, question: &Question) -> Option<bool> {
        let known = self.known.get(question)?;
        if known.address.is_some() { Some(true) } else { (known.failures > 0).then_some(false) }
    }
}

/// An answer that only rotates is the same.
fn sorted(answer: &Answer) -> Vec<&crate::model::lookup::Found> {
    let mut found: Vec<_> = answer.found.iter().collect();
    found.sort();
    found
}

/// Every question of the model, with the shortest wait that somebody wants after a failure.
fn wanted(model: &Model) -> BTreeMap<Question, Duration> {
    let mut wanted: BTreeMap<Question, Duration> = BTreeMap::new();
    let mut want = |question: Question, retry: Duration| {
        let least = wanted.entry(question).or_insert(retry);
        *least = retry.min(*least);
    };
    for service in &model.services {
        if let Some((question, lookup)) = model.question(service) {
            want(question, lookup.retry);
        }
    }
    for source in model.groups.iter().filter_map(|group| group.auto_scale.as_ref()).flat_map(|auto| &auto.sources) {
        want(source.question.clone(), source.retry);
    }
    wanted
}

#[cfg(test)]
mod tests;
