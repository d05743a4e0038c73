//! Alerts: when one is raised, told again, and resolved. Pure: handed the time and what is so at the moment, answers what
//! happened.
//!
//! ```text
//!              it is so           so for long enough
//!  (nothing) ───────────▶ PENDING ──────────────────▶ RAISED ──┐ `repeat`: told again
//!      ▲                     │                          │  ▲   │
//!      ├── it is no longer ──┘                          │  └───┘
//!      └── resolved: it is no longer so, or no longer watched ◀┘
//! ```
//!
//! - **One alert for each definition, kind and object**: what is raised is not raised again while it stands, whatever is
//!   observed how often.
//! - **Unknown changes nothing**: after a restart a service is neither up nor down before its first probe, so what a
//!   former process had raised stands until somebody knows better, and then is resolved, or just goes on.
//! - **Times are monotonic** from the moment when something is first seen; its age before that is wall time, since only
//!   that survives a restart. The end of a certificate is wall time.
//! - **Whoever was told of the beginning is told of the end**, also where the definition has others by then, or is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::model::Model;
use crate::model::alert::{
    Alert, AlertBook, AlertChange, AlertKind, AlertRecord, AlertSeverity, AlertSubject, RaisedAlert, Watch,
};
use crate::model::id::Name;
use crate::model::time::{Now, Tick, Wall};

/// Something that is so.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub severity: AlertSeverity,
    /// What is wrong, in words.
    pub text: Name,
    /// Since when; `None`: since it was first seen. Of a certificate: when it ends.
    pub since: Option<Wall>,
}

/// Everything that is so at the moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub held: BTreeMap<AlertSubject, Fact>,
    /// What nobody can tell yet.
    pub unknown: BTreeSet<AlertSubject>,
}

/// A row as the store keeps it: the alert, or that it is over.
pub type Row = (u64, Option<Arc<RaisedAlert>>);

/// Definition and subject.
type Key = (Name, AlertSubject);

#[derive(Clone, Debug, Default)]
pub struct Alerts {
    book: Arc<AlertBook>,
    /// What is raised, by its id.
    raised: BTreeMap<Key, u64>,
    pending: BTreeMap<Key, Begun>,
    /// When each was told last.
    told: BTreeMap<u64, Begun>,
    changed: BTreeSet<u64>,
    last_id: u64,
    wake: Option<Tick>,
}

/// A time that counts: how old it was when it was first seen, and when that was.
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// What the fact said of its beginning.
    since: Option<Wall>,
    seen: Tick,
    age: Duration,
}

// === impl Alerts ===

impl Alerts {
    /// What a former process left standing. `last_id`: no id up to it is given again.
    pub fn restore(now: Now, rows: Vec<RaisedAlert>, last_id: u64) -> Alerts {
        let mut alerts = Alerts { last_id, ..Alerts::default() };
        for row in rows {
            alerts.last_id = alerts.last_id.max(row.id);
            alerts.raised.insert((Name::clone(&row.alert), row.subject.clone()), row.id);
            alerts.told.insert(row.id, Begun::new(now, Some(row.told_at)));
            Arc::make_mut(&mut alerts.book).raised.insert(row.id, Arc::new(row));
        }
        alerts
    }

    pub fn book(&self) -> &Arc<AlertBook> {
        &self.book
    }

    /// When a look has work by time alone.
    pub fn wake_at(&self) -> Option<Tick> {
        self.wake
    }

    /// Whether somebody wants to know of this kind, or was told of it.
    pub fn watches(&self, model: &Model, kind: AlertKind) -> bool {
        model.alerts.iter().any(|alert| alert.on.iter().any(|watch| watch.kind == kind))
            || self.raised.keys().any(|(_, subject)| subject.kind == kind)
    }

    /// Looks at what is so now.
    pub fn look(&mut self, now: Now, model: &Model, facts: &Facts) -> Vec<AlertRecord> {
        self.wake = None;
        let mut happened = Vec::new();
        self.end(now, model, facts, &mut happened);
        let mut seen = BTreeSet::new();
        for alert in &model.alerts {
            for watch in &alert.on {
                for (subject, fact) in of_kind(facts, watch.kind).filter(|(subject, _)| alert.concerns(subject)) {
                    let key = (Name::clone(&alert.name), subject.clone());
                    if self.holds(now, &key, *watch, fact) {
                        self.stand(now, model, alert, &key, fact, &mut happened);
                    }
                    seen.insert(key);
                }
            }
        }
        self.pending.retain(|key, _| seen.contains(key));
        happened
    }

    /// Rows that changed since the last call.
    pub fn take_rows(&mut self) -> Vec<Row> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|id| (id, self.book.raised.get(&id).cloned())).collect()
    }

    /// Whether it is so for long enough; wakes when it will be.
    fn holds(&mut self, now: Now, key: &Key, watch: Watch, fact: &Fact) -> bool {
        if watch.kind == AlertKind::Certificate {
            let Some(end) = fact.since else { return false };
            let left = end.since(now.wall + watch.time);
            if !left.is_zero() {
                self.wake_by(now.tick + left);
            }
            return left.is_zero();
        }
        if self.raised.contains_key(key) {
            return true;
        }
        let begun = self.pending.entry(key.clone()).or_insert_with(|| Begun::new(now, fact.since));
        if begun.since != fact.since {
            *begun = Begun::new(now, fact.since);
        }
        let due = begun.after(watch.time);
        if due > now.tick {
            self.wake_by(due);
            return false;
        }
        true
    }

    /// Raises what is not raised, and tells again what is.
    fn stand(
        &mut self,
        now: Now,
        model: &Model,
        alert: &Alert,
        key: &Key,
        fact: &Fact,
        happened: &mut Vec<AlertRecord>,
    ) {
        let Some(&id) = self.raised.get(key) else {
            happened.push(self.raise(now, model, alert, key, fact));
            return;
        };
        let known = Arc::clone(&self.book.raised[&id]);
        let mut stands = RaisedAlert { severity: fact.severity, text: Name::clone(&fact.text), ..(*known).clone() };
        let told = self.told.get(&id).copied().unwrap_or_else(|| Begun::new(now, Some(known.told_at)));
        let due = alert.repeat.map(|repeat| told.after(repeat));
        if due.is_some_and(|due| due <= now.tick) {
            stands.repeats += 1;
            stands.told_at = now.wall;
            for name in triggers(model, alert) {
                if !stands.triggers.contains(&name) {
                    stands.triggers.push(name);
                }
            }
            self.told.insert(id, Begun::new(now, None));
            self.changed.insert(id);
            happened.push(record(now, AlertChange::Repeated, &stands, ""));
        }
        let next = alert.repeat.map(|repeat| self.told.get(&id).map_or(now.tick, |told| told.after(repeat)));
        next.into_iter().for_each(|next| self.wake_by(next));
        if *known != stands {
            self.book_mut().raised.insert(id, Arc::new(stands));
        }
    }

    fn raise(&mut self, now: Now, model: &Model, alert: &Alert, key: &Key, fact: &Fact) -> AlertRecord {
        let id = u64::try_from(now.wall.0).unwrap_or(0).max(self.last_id + 1);
        self.last_id = id;
        let begun = self.pending.remove(key);
        let since = match fact.since.filter(|_| key.1.kind != AlertKind::Certificate) {
            Some(since) => since,
            None => now.wall - begun.map_or(Duration::ZERO, |begun| now.tick.since(begun.seen)),
        };
        let raised = RaisedAlert {
            id,
            alert: Name::clone(&alert.name),
            subject: key.1.clone(),
            severity: fact.severity,
            text: Name::clone(&fact.text),
            since,
            raised_at: now.wall,
            repeats: 0,
            told_at: now.wall,
            triggers: triggers(model, alert),
        };
        self.raised.insert(key.clone(), id);
        self.told.insert(id, Begun::new(now, None));
        self.changed.insert(id);
        let book = self.book_mut();
        book.counts.entry(Name::clone(&alert.name)).or_default().raised += 1;
        book.raised.insert(id, Arc::new(raised.clone()));
        if let Some(repeat) = alert.repeat {
            self.wake_by(now.tick + repeat);
        }
        record(now, AlertChange::Raised, &raised, "")
    }

    /// Resolves what is no longer so, or no longer watched.
    fn end(&mut self, now: Now, model: &Model, facts: &Facts, happened: &mut Vec<AlertRecord>) {
        let over = |(name, subject): &Key, stands: Option<&Arc<RaisedAlert>>| {
            let alert = model.alerts.iter().find(|alert| alert.name == *name);
            let watch = alert.and_then(|alert| alert.on.iter().find(|watch| watch.kind == subject.kind));
            let (Some(alert), Some(watch)) = (alert, watch) else {
                return Some("the configuration no longer watches it");
            };
            if !alert.concerns(subject) {
                return Some("the configuration no longer watches it");
            }
            let is_so = facts.held.get(subject).is_some_and(|fact| match watch.kind {
                AlertKind::Certificate => fact.since.is_some_and(|end| end <= now.wall + watch.time),
                _ => !stands.is_some_and(|stands| is_another(stands, fact)),
            });
            (!is_so && !facts.unknown.contains(subject)).then_some("it is over")
        };
        let ended = |(key, id): (&Key, &u64)| Some((key.clone(), over(key, self.book.raised.get(id))?));
        let ended: Vec<(Key, &str)> = self.raised.iter().filter_map(ended).collect();
        for (key, why) in ended {
            let Some(id) = self.raised.remove(&key) else { continue };
            self.told.remove(&id);
            self.changed.insert(id);
            let book = self.book_mut();
            book.counts.entry(key.0).or_default().resolved += 1;
            if let Some(alert) = book.raised.remove(&id) {
                happened.push(record(now, AlertChange::Resolved, &alert, why));
            }
        }
    }

    fn wake_by(&mut self, at: Tick) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }

    fn book_mut(&mut self) -> &mut AlertBook {
        Arc::make_mut(&mut self.book)
    }
}

// === impl Begun ===

impl Begun {
    fn new(now: Now, since: Option<Wall>) -> Begun {
        Begun { since, seen: now.tick, age: since.map_or(Duration::ZERO, |since| now.wall.since(since)) }
    }

    /// When it is this old.
    fn after(self, time: Duration) -> Tick {
        self.seen + time.saturating_sub(self.age)
    }
}

/// A person has set something else meanwhile: that is as old as it is, and no longer what was told of.
fn is_another(alert: &RaisedAlert, fact: &Fact) -> bool {
    alert.subject.kind == AlertKind::Override && fact.since.is_some_and(|since| since > alert.raised_at)
}

fn of_kind(facts: &Facts, kind: AlertKind) -> impl Iterator<Item = (&AlertSubject, &Fact)> {
    let first = AlertSubject::new(kind, "", &"".into());
    facts.held.range(first..).take_while(move |(subject, _)| subject.kind == kind)
}

fn triggers(model: &Model, alert: &Alert) -> Vec<Name> {
    alert.triggers.iter().map(|id| Name::clone(&model.triggers[id.index()].name)).collect()
}

fn record(now: Now, what: AlertChange, alert: &RaisedAlert, why: &str) -> AlertRecord {
    AlertRecord { what, alert: alert.clone(), at: now.wall, why: why.into() }
}

#[cfg(test)]
mod tests;
