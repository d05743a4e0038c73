//! What is known of other boxes: which reports are taken, when one is too old, and what is worth telling.
//!
//! ```text
//!             report, and it is who it should be
//!   unknown ──────────────────────────────────────▶ heard ──┐ report: seen anew, compared
//!      ▲                                              │  ▲───┘
//!      │   three intervals without such a report      │
//!      └──────────────────────────────────────────────┘
//! ```
//!
//! - *Unknown, never false.* A peer that is silent, or refused, says nothing: what it said before is dropped from the
//!   board after three intervals, and every term about it is unknown from then on. Nothing moves by silence alone.
//! - *This box's own pauses are no silence.* Where it was stopped itself (SIGSTOP, a snapshot of its machine, overload)
//!   and finds a report too old only long after it became so, an answer may lie there unread: the peer has one more
//!   attempt.
//! - *Who it should be.* TLS has settled that it holds a certificate for its name. The report must say the same name,
//!   the site that the configuration says, this box's cluster, and other sites for none of this box's pairs: two
//!   installations that were copied from each other must never mix.
//! - *Configurations* are compared table by table, in what boxes of a cluster have in common; not with a witness, which
//!   has no records. A difference counts once it is a minute old.
//! - An error is told when it is a new one, at most once a minute: a peer that is down for a day fills no journal.

mod told;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::PeerRows;
use crate::model::Model;
use crate::model::event::Record;
use crate::model::id::Name;
use crate::model::peer::{CLOCK_WARN, DIFFERS_AFTER, Heard, News, Peer, PeerBook, PeerState, PeerView, Report};
use crate::model::time::{Now, Tick};
use told::{ended, state, warning};

/// Between two warnings about one peer's errors.
const TELL_EVERY: Duration = Duration::from_secs(60);
/// What was due so long ago was not looked at because this box stood still.
const LATE: Duration = Duration::from_millis(100);

/// What follows from an input, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// For the engine.
    Rows {
        peer: Name,
        rows: Option<PeerRows>,
    },
    Record(Record),
}

#[derive(Clone, Debug, Default)]
pub struct Peers {
    book: Arc<PeerBook>,
    links: BTreeMap<Name, Link>,
    /// What this box is.
    own: Own,
    stale_after: Duration,
    /// One attempt, and the pause before it.
    patience: Duration,
}

#[derive(Clone, Debug, Default)]
struct Own {
    appliance: Name,
    cluster: Name,
    pairs: Vec<(Name, Name, Name)>,
    has_zones: bool,
}

#[derive(Clone, Debug)]
struct Link {
    peer: Peer,
    /// What was last warned of, and when.
    warned: Option<(Name, Tick)>,
    /// The report that is too old, by when it was heard, and until when that is put down to this box. Once for each.
    spared: Option<(Tick, Tick)>,
}

// === impl Peers ===

impl Peers {
    pub fn book(&self) -> &Arc<PeerBook> {
        &self.book
    }

    /// Takes over a configuration; `tables` are the hashes of its shared tables. Whoever is still a peer is still known.
    pub fn adopt(&mut self, now: Now, model: &Model, tables: Vec<(Name, Name)>) -> Vec<Told> {
        let mut told = Vec::new();
        let site = |id: crate::model::id::DatacenterId| Name::clone(&model.datacenters[id.index()].name);
        self.own = Own {
            appliance: Name::clone(&model.appliance.name),
            cluster: Name::clone(&model.peer_link.cluster),
            pairs: model.pairs.iter().map(|p| (Name::clone(&p.name), site(p.active), site(p.backup))).collect(),
            has_zones: !model.zones.is_empty(),
        };
        self.stale_after = model.peer_link.stale_after();
        self.patience = model.peer_link.interval + model.peer_link.timeout;
        let mut before = std::mem::take(&mut self.links);
        let book = Arc::make_mut(&mut self.book);
        book.tables = tables;
        let mut views = std::mem::take(&mut book.peers);
        for peer in &model.peers {
            let link = before.remove(&peer.name).filter(|link| link.peer == *peer);
            let view = views.remove(&peer.name).filter(|_| link.is_some());
            if link.is_none() {
                told.push(Told::Rows { peer: Name::clone(&peer.name), rows: None });
            }
            let anew = || PeerView { since: now, ..PeerView::default() };
            book.peers.insert(Name::clone(&peer.name), view.unwrap_or_else(anew));
            let link = link.unwrap_or_else(|| Link { peer: peer.clone(), warned: None, spared: None });
            self.links.insert(Name::clone(&peer.name), link);
        }
        let names: Vec<Name> = self.links.keys().cloned().collect();
        for name in names {
            // What it said last may mean something else now.
            let report = self.book.peers[&name].current().cloned();
            if let Some(report) = report {
                match self.refusal(&name, &report) {
                    Some(why) => self.failed(now, &name, why, &mut told),
                    None => self.compare(now, &name, &report, &mut told),
                }
            }
        }
        told
    }

    /// An attempt to hear a peer has ended.
    pub fn news(&mut self, now: Now, news: News) -> Vec<Told> {
        let News { peer, heard } = news;
        let mut told = Vec::new();
        if !self.links.contains_key(&peer) {
            return told;
        }
        match heard {
            Err(why) => self.failed(now, &peer, why, &mut told),
            Ok(Heard { report, round_trip }) => match self.refusal(&peer, &report) {
                Some(why) => self.failed(now, &peer, why, &mut told),
                None => self.heard(now, &peer, report, round_trip, &mut told),
            },
        }
        self.look(now, &mut told);
        told
    }

    /// So many boxes asked, and were refused.
    pub fn refused(&mut self, count: u64) {
        Arc::make_mut(&mut self.book).refused_total += count;
    }

    /// Where this box can be asked, or why it cannot.
    pub fn listens(&mut self, at: Option<Result<SocketAddr, Name>>) {
        Arc::make_mut(&mut self.book).listening = at;
    }

    /// Time has passed.
    pub fn wake(&mut self, now: Now) -> Vec<Told> {
        let mut told = Vec::new();
        if self.wake_at().is_some_and(|at| at <= now.tick) {
            self.look(now, &mut told);
        }
        told
    }

    /// When something becomes too old, or has differed for long enough.
    pub fn wake_at(&self) -> Option<Tick> {
        let heard = self.book.peers.iter().filter(|(_, view)| view.state == PeerState::Heard);
        let ends = heard.flat_map(|(name, view)| {
            let stale = view.heard_at.map(|at| self.stale_at(name, at.tick));
            let differs = view.differs_since.filter(|_| !view.config_differs).map(|at| at.tick + DIFFERS_AFTER);
            [stale, differs]
        });
        ends.flatten().min()
    }

    /// When what was heard of a peer is too old.
    fn stale_at(&self, name: &Name, heard_at: Tick) -> Tick {
        let spared = self.links.get(name).and_then(|link| link.spared).filter(|(heard, _)| *heard == heard_at);
        spared.map_or(heard_at + self.stale_after, |(_, until)| until)
    }

    /// Puts it down to this box that a report is too old, where it has only now come to look, and not yet done so.
    fn spare(&mut self, now: Tick, name: &Name, heard_at: Tick) -> bool {
        let (was_late, until) = (now.since(heard_at + self.stale_after) > LATE, now + self.patience);
        let Some(link) = self.links.get_mut(name) else { return false };
        let spares = was_late && link.spared.is_none_or(|(heard, _)| heard != heard_at);
        if spares {
            link.spared = Some((heard_at, until));
        }
        spares
    }

    fn view(&mut self, name: &Name) -> &mut PeerView {
        Arc::make_mut(&mut self.book).peers.entry(Name::clone(name)).or_default()
    }

    fn heard(&mut self, now: Now, name: &Name, report: Arc<Report>, round_trip: Duration, told: &mut Vec<Told>) {
        told.push(Told::Rows { peer: Name::clone(name), rows: Some(report.datacenters.clone().into()) });
        // The report was made about half a round trip ago.
        let there = report.now + round_trip / 2;
        let offset = there.0.saturating_sub(now.wall.0);
        if let Some((text, _)) = self.links.get_mut(name).and_then(|link| link.warned.as_mut()) {
            // The same error later is a new one.
            *text = "".into();
        }
        let view = self.view(name);
        let (was_off, was_heard) = (view.clock_is_off, view.state == PeerState::Heard);
        view.round_trip = round_trip;
        view.clock_offset_us = Some(offset);
        let off = Duration::from_micros(offset.unsigned_abs());
        // Half the limit lets it go, so that a clock at the limit is not told of every second.
        view.clock_is_off = off > if was_off { CLOCK_WARN / 2 } else { CLOCK_WARN };
        let is_off = view.clock_is_off;
        view.heard_at = Some(now);
        view.report = Some(Arc::clone(&report));
        view.error = None;
        view.failing_since = None;
        if !was_heard {
            view.state = PeerState::Heard;
            view.since = now;
            told.push(state(name, PeerState::Unknown, PeerState::Heard, "its report".into()));
        }
        if is_off && !was_off {
            told.push(warning(name, clock_text(name, offset)));
        } else if was_off && !is_off {
            told.push(ended(name, "clock_differs", "the two clocks agree again"));
        }
        self.compare(now, name, &report, told);
    }

    fn failed(&mut self, now: Now, name: &Name, why: Name, told: &mut Vec<Told>) {
        let view = self.view(name);
        view.failures_total += 1;
        view.failing_since.get_or_insert(now.wall);
        view.error = Some(Name::clone(&why));
        if let Some(link) = self.links.get_mut(name) {
            let is_new = link.warned.as_ref().is_none_or(|(text, _)| *text != why);
            let is_due = link.warned.as_ref().is_none_or(|(_, at)| now.tick >= *at + TELL_EVERY);
            if is_new && is_due {
                link.warned = Some((Name::clone(&why), now.tick));
                told.push(warning(name, why.to_string()));
            }
        }
    }

    /// Ages, and differences that have lasted.
    fn look(&mut self, now: Now, told: &mut Vec<Told>) {
        let names: Vec<Name> = self.links.keys().cloned().collect();
        for name in &names {
            let heard_at = self.book.peers[name].heard_at.map(|at| at.tick);
            let is_heard = self.book.peers[name].state == PeerState::Heard;
            let is_stale = heard_at.is_none_or(|at| now.tick >= self.stale_at(name, at));
            if is_heard && is_stale && heard_at.is_some_and(|at| self.spare(now.tick, name, at)) {
                continue;
            }
            let view = &self.book.peers[name];
            if is_heard && is_stale {
                let why = view.error.clone().unwrap_or_else(|| "it has not been heard for three intervals".into());
                let view = self.view(name);
                (view.state, view.since) = (PeerState::Unknown, now);
                told.push(Told::Rows { peer: Name::clone(name), rows: None });
                told.push(state(name, PeerState::Heard, PeerState::Unknown, why));
                continue;
            }
            let lasted = view.differs_since.is_some_and(|at| now.tick >= at.tick + DIFFERS_AFTER);
            if view.state == PeerState::Heard && lasted && !view.config_differs {
                let text = differs_text(name, view);
                self.view(name).config_differs = true;
                told.push(warning(name, text));
            }
        }
    }

    fn compare(&mut self, now: Now, name: &Name, report: &Report, told: &mut Vec<Told>) {
        let differs = match report.witness || !self.own.has_zones {
            true => Vec::new(),
            false => differing(&self.book.tables, &report.tables),
        };
        let before = &self.book.peers[name];
        if before.differs == differs {
            return;
        }
        let was = before.config_differs;
        let view = self.view(name);
        if differs.is_empty() {
            (view.differs_since, view.config_differs) = (None, false);
            if was {
                told.push(ended(name, "peer_config_differs", "the two configurations are the same again"));
            }
        } else {
            view.differs_since.get_or_insert(now);
        }
        view.differs = differs;
    }

    /// Why a report is not taken: whose it is not, in words that say what to do.
    fn refusal(&self, name: &Name, report: &Report) -> Option<Name> {
        let peer = &self.links.get(name)?.peer;
        let own = &self.own;
        let says = &report.appliance;
        if *says == own.appliance {
            return Some(
                format!(
                    "the box that answers is called `{says}` as this one is; every appliance needs an \
                     `appliance.name` of its own"
                )
                .into(),
            );
        }
        if *says != peer.name {
            return Some(
                format!(
                    "the box that answers calls itself `{says}` and not `{name}`: `peer.{name}.url` leads to another \
                     box, or one of the two names is wrong"
                )
                .into(),
            );
        }
        if report.cluster != own.cluster {
            let (theirs, ours) = (named(&report.cluster), named(&own.cluster));
            return Some(
                format!(
                    "it is of {theirs}, this box of {ours}: boxes of other clusters are refused (`peer_link.cluster`)"
                )
                .into(),
            );
        }
        if report.site.as_deref() != Some(&*peer.site) {
            let there = report.site.as_deref().unwrap_or("no site");
            return Some(
                format!(
                    "it says that it stands in `{there}`, `peer.{name}` says `{}`: correct `appliance.site` there or \
                     `peer.{name}.site` here",
                    peer.site
                )
                .into(),
            );
        }
        self.other_pairs(report)
    }

    fn other_pairs(&self, report: &Report) -> Option<Name> {
        let mut common = false;
        for pair in &report.pairs {
            let Some((name, active, backup)) = self.own.pairs.iter().find(|(name, ..)| *name == pair.name) else {
                continue;
            };
            if (active, backup) != (&pair.active, &pair.backup) {
                return Some(
                    format!(
                        "its pair `{name}` leads from `{}` to `{}`, this box's from `{active}` to `{backup}`: it is \
                         another installation's, or one of the two configurations is wrong",
                        pair.active, pair.backup
                    )
                    .into(),
                );
            }
            common = true;
        }
        let strangers = !common && !report.pairs.is_empty() && !self.own.pairs.is_empty();
        strangers
            .then(|| "none of its pairs of data centres has the name of one here: it is another installation's".into())
    }
}

fn named(cluster: &str) -> String {
    if cluster.is_empty() { "no cluster".to_owned() } else { format!("the cluster `{cluster}`") }
}

/// Tables that are not the same on both sides, by name.
fn differing(ours: &[(Name, Name)], theirs: &[(Name, Name)]) -> Vec<Name> {
    let of = |all: &[(Name, Name)], table: &Name| {
        all.iter().find(|(name, _)| name == table).map(|(_, hash)| Name::clone(hash))
    };
    let mut names: Vec<&Name> = ours.iter().chain(theirs).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    names.into_iter().filter(|table| of(ours, table) != of(theirs, table)).cloned().collect()
}

/// `peer_config_differs`, for people.
pub fn differs_text(name: &str, view: &PeerView) -> String {
    let tables = view.differs.join(", ");
    format!("peer_config_differs: not the same here and at `{name}`: {tables}; apply one configuration to both")
}

/// `clock_differs`, for people.
pub fn clock_text(name: &str, offset_us: i64) -> String {
    let (by, way) =
        (Duration::from_micros(offset_us.unsigned_abs()), if offset_us > 0 { "ahead of" } else { "behind" });
    let seconds = by.as_secs_f64();
    format!("clock_differs: the clock of `{name}` is {seconds:.1} s {way} this box's; set both by NTP")
}

#[cfg(test)]
mod tests;
