//! The board: one row for each predicate or measure that a condition uses, however many terms refer to it. Rows are all
//! that scenarios see, so a journal of row changes (and of what people did) is enough to replay every commit.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::Model;
use crate::model::condition::{Measure, ServiceFacet, Statistic, Subject, Term, Truth, VserverFacet, Window};
use crate::model::event::BoardRecord;
use crate::model::id::{Name, ScenarioId, WatchedId};
use crate::model::time::{Now, Tick};

/// Position in [`Board::rows`]; valid for one adopted model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u32);

#[derive(Clone, Debug)]
pub struct Row {
    pub subject: Subject,
    /// `None`: the predicate itself.
    pub measure: Option<Measure>,
    /// The predicate as a term without `!` and without `for`; the key over reloads and in the journal.
    pub text: Name,
    pub value: Truth,
    /// When `value` was last set to something else.
    pub since: Now,
    /// Predicates of checks only: the later of the last failed sample and the first sample after unknown.
    pub clean_since: Option<Tick>,
    /// Some dependent counts a hold on it, so a failed sample of a check that stays up matters.
    pub held: bool,
    pub dependents: Vec<Dependent>,
}

/// Who must be looked at when a row changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependent {
    Scenario(ScenarioId),
    Watched(WatchedId),
}

/// Where the rows of a term are: that of its measure or predicate, and for `flaps` that of the predicate beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermRows {
    pub row: RowId,
    pub predicate: Option<RowId>,
}

#[derive(Clone, Debug, Default)]
pub struct Board {
    rows: Vec<Row>,
    by_key: HashMap<(Subject, Option<Measure>), RowId>,
    by_text: HashMap<Name, RowId>,
}

// === impl Board ===

impl Board {
    /// The rows of `term`, made where they are new, with `dependent` told of changes.
    pub fn register(&mut self, model: &Model, term: &Term, dependent: Option<Dependent>, now: Now) -> TermRows {
        let row = self.row(model, &term.subject, term.measure, now);
        let predicate =
            matches!(term.measure, Some(Measure::Flaps { .. })).then(|| self.row(model, &term.subject, None, now));
        for id in std::iter::once(row).chain(predicate) {
            let row = &mut self.rows[id.0 as usize];
            row.held |= term.hold.is_some();
            if let Some(dependent) = dependent
                && !row.dependents.contains(&dependent)
            {
                row.dependents.push(dependent);
            }
        }
        TermRows { row, predicate }
    }

    /// The row of a predicate or measure, if any condition uses it.
    pub fn find(&self, subject: &Subject, measure: Option<Measure>) -> Option<RowId> {
        self.by_key.get(&(subject.clone(), measure)).copied()
    }

    pub fn find_text(&self, text: &str) -> Option<RowId> {
        self.by_text.get(text).copied()
    }

    pub fn get(&self, id: RowId) -> &Row {
        &self.rows[id.0 as usize]
    }

    pub fn rows(&self) -> impl Iterator<Item = (RowId, &Row)> {
        self.rows.iter().enumerate().map(|(i, row)| (RowId(i as u32), row))
    }

    /// Sets a row. Returns whether its dependents must look again: the value changed, or a hold on it begins anew.
    pub fn set(&mut self, id: RowId, now: Now, value: Truth, clean_since: Option<Tick>) -> bool {
        let row = &mut self.rows[id.0 as usize];
        let restarted = row.held && row.clean_since != clean_since && value.is_true();
        let changed = row.value != value;
        if changed {
            row.value = value;
            row.since = now;
        }
        row.clean_since = clean_since;
        changed || restarted
    }

    /// Carries a row over a reload: what has not changed keeps its value and the time it has had it.
    pub fn restore(&mut self, id: RowId, former: &Row) {
        let row = &mut self.rows[id.0 as usize];
        row.value = former.value;
        row.since = former.since;
        row.clean_since = former.clean_since;
    }

    /// The row as the journal keeps it.
    pub fn record(&self, id: RowId, now: Now) -> BoardRecord {
        let row = self.get(id);
        BoardRecord {
            row: Name::clone(&row.text),
            value: row.value,
            clean_for: row.clean_since.map(|since| now.tick.since(since)),
        }
    }

    fn row(&mut self, model: &Model, subject: &Subject, measure: Option<Measure>, now: Now) -> RowId {
        if let Some(&id) = self.by_key.get(&(subject.clone(), measure)) {
            return id;
        }
        let id = RowId(u32::try_from(self.rows.len()).expect("fewer rows than 2^32"));
        let text: Name = row_text(model, subject, measure).into();
        self.by_key.insert((subject.clone(), measure), id);
        self.by_text.insert(Name::clone(&text), id);
        self.rows.push(Row {
            subject: subject.clone(),
            measure,
            text,
            value: Truth::Unknown,
            since: now,
            clean_since: None,
            held: false,
            dependents: Vec::new(),
        });
        id
    }
}

/// `api-a`, `api-a{fails:1}`, `vs:web.health>=50`, `dc:a.wan@b`: unique for each row, stable over reloads.
fn row_text(model: &Model, subject: &Subject, measure: Option<Measure>) -> String {
    let mut text = match subject {
        Subject::Check(id) => model.check(*id).name.to_string(),
        Subject::Vserver(id, facet) => {
            let name = &model.vserver(*id).name;
            match facet {
                VserverFacet::Serves => format!("vs:{name}"),
                VserverFacet::Primary => format!("vs:{name}.primary"),
                VserverFacet::Admin => format!("vs:{name}.admin"),
                VserverFacet::Fault => format!("vs:{name}.fault"),
                VserverFacet::HealthAtLeast(percent) => format!("vs:{name}.health>={percent}"),
            }
        }
        Subject::Service(id, facet) => {
            let name = &model.service(*id).name;
            match facet {
                ServiceFacet::Up => format!("svc:{name}"),
                ServiceFacet::Serving => format!("svc:{name}.serving"),
                ServiceFacet::Fault => format!("svc:{name}.fault"),
            }
        }
        Subject::Scenario(id) => format!("sc:{}", model.scenario(*id).name),
        Subject::Datacenter { datacenter, signal, observer } => {
            let name = &model.datacenters[datacenter.index()].name;
            match observer {
                None => format!("dc:{name}.{}", signal.word()),
                Some(site) => format!("dc:{name}.{}@{site}", signal.word()),
            }
        }
        Subject::TimeWindow(id) => format!("tw:{}", model.time_windows[id.index()].name),
        Subject::Switch(id) => format!("sw:{}", model.switches[id.index()].name),
        Subject::Criterion(id) => model.criteria[id.index()].name.to_string(),
    };
    match measure {
        None => {}
        Some(Measure::Fails(n)) => text += &format!("{{fails:{n}}}"),
        Some(Measure::Passes(n)) => text += &format!("{{passes:{n}}}"),
        Some(Measure::Flaps { fewer_than, within }) => {
            text += &format!("{{flaps<{fewer_than} in {}}}", in_units(within));
        }
        Some(Measure::Latency { statistic, below, over, leave_at }) => {
            let statistic = match statistic {
                Statistic::Average => "avg",
                Statistic::Last => "last",
                Statistic::P50 => "p50",
                Statistic::P95 => "p95",
                Statistic::P99 => "p99",
            };
            let over = match over {
                Window::Samples(n) => format!("{n} samples"),
                Window::Span(span) => in_units(span),
            };
            text += &format!("{{latency.{statistic}<{} over {over}", in_units(below));
            if let Some(leave_at) = leave_at {
                text += &format!(", leave at {}", in_units(leave_at));
            }
            text.push('}');
        }
    }
    text
}

/// Whole milliseconds: a key, not a text for people.
fn in_units(d: Duration) -> String {
    format!("{}ms", d.as_millis())
}
