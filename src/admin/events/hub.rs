//! The ring of recent events, and the task that fills it.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::response::sse::Event as SseEvent;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};

use super::super::dto;
use crate::control::{Event, Handle, World};
use crate::model::drill::Ending;
use crate::model::event::{BoardRecord, Change, Record};
use crate::model::id::{Kind, ObjectRef};

/// Events kept for those who come back.
const RING: usize = 4_096;
/// Looked up at once.
const BATCH: usize = 256;

/// The ring, and a number that grows with it.
#[derive(Debug)]
pub(crate) struct Hub {
    /// Part of every id, so that an id of another process is not mistaken for one of ours.
    process: String,
    ring: Mutex<VecDeque<Arc<Sent>>>,
    pub(super) latest: watch::Sender<u64>,
}

/// An event as it is sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sent {
    pub id: u64,
    pub kind: &'static str,
    data: String,
}

/// What a client gets next.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    Events(Vec<Arc<Sent>>),
    /// Events were missed.
    Lost,
}

// === impl Hub ===

impl Hub {
    pub fn start(handle: Handle, stopping: watch::Receiver<bool>) -> Arc<Hub> {
        use std::hash::{BuildHasher, RandomState};
        let hub = Arc::new(Hub {
            process: format!("{:016x}", RandomState::new().hash_one(0u8)),
            ring: Mutex::new(VecDeque::new()),
            latest: watch::Sender::new(0),
        });
        let events = handle.events();
        tokio::spawn(gather(Arc::clone(&hub), handle, events, stopping));
        hub
    }

    fn push(&self, sent: Vec<Sent>) {
        let Some(last) = sent.last().map(|s| s.id) else { return };
        let mut ring = self.ring.lock();
        for sent in sent {
            if ring.len() >= RING {
                ring.pop_front();
            }
            ring.push_back(Arc::new(sent));
        }
        drop(ring);
        self.latest.send_replace(last);
    }

    /// Forgets everything, so that every client is told `reset`; `next` is the first id that can come.
    fn lose(&self, latest: u64) {
        self.ring.lock().clear();
        self.latest.send_replace(latest);
    }

    /// What came after `cursor`. Numbers have no gaps, so a gap before the oldest means that something was missed.
    pub(super) fn after(&self, cursor: u64) -> Next {
        let ring = self.ring.lock();
        match ring.front() {
            None if *self.latest.borrow() > cursor => Next::Lost,
            None => Next::Events(Vec::new()),
            Some(oldest) if oldest.id > cursor + 1 && *self.latest.borrow() > cursor && cursor != 0 => Next::Lost,
            Some(_) => {
                let start = ring.partition_point(|s| s.id <= cursor);
                Next::Events(ring.range(start..).cloned().collect())
            }
        }
    }

    /// The cursor of an id that a client brings back; `None` where it is not ours or too old.
    pub(super) fn resume(&self, id: &str) -> Option<u64> {
        let (process, number) = id.rsplit_once('-')?;
        let number: u64 = number.parse().ok()?;
        let known = process == self.process && number <= *self.latest.borrow();
        (known && self.after(number) != Next::Lost).then_some(number)
    }

    pub(super) fn render(&self, sent: &Sent) -> SseEvent {
        SseEvent::default().id(format!("{}-{}", self.process, sent.id)).event(sent.kind).data(&sent.data)
    }
}

/// Reads the control layer's events and puts them into the ring, a batch at a time.
async fn gather(
    hub: Arc<Hub>,
    handle: Handle,
    mut events: broadcast::Receiver<Arc<Event>>,
    mut stopping: watch::Receiver<bool>,
) {
    loop {
        let first = tokio::select! {
            received = events.recv() => received,
            () = super::super::server::stopped(&mut stopping) => return,
        };
        let mut batch = Vec::new();
        match first {
            Ok(event) => batch.push(event),
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                tracing::warn!(missed, "events were missed; clients of /events are told to fetch anew");
                let latest = *hub.latest.borrow() + missed;
                hub.lose(latest);
                continue;
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
        while batch.len() < BATCH {
            match events.try_recv() {
                Ok(event) => batch.push(event),
                Err(_) => break,
            }
        }
        let rendered = handle.read(move |world| batch.iter().map(|event| render(world, event)).collect()).await;
        match rendered {
            Ok(sent) => hub.push(sent),
            Err(_) => return,
        }
    }
}

fn render(world: &World<'_>, event: &Event) -> Sent {
    let (object, what) = describe(&event.record);
    let (kind, name, state) = match object {
        Some(object) => {
            let state = dto::json_of(world, &object);
            (object.kind.word(), object.name.to_string(), state)
        }
        None => match &*event.record {
            Record::Board(board) => ("board", board.row.to_string(), None),
            Record::Delivery(d) => ("trigger", d.trigger.to_string(), None),
            Record::Alert(a) => {
                let shown = serde_json::to_value(dto::AlertDto::of(&a.alert, world.deliveries)).ok();
                ("alert", a.alert.alert.to_string(), shown)
            }
            Record::Zone { zone, .. } => ("zone", zone.to_string(), dto::json_of_zone(world, zone)),
            Record::Address { address, .. } => ("address", address.to_string(), None),
            _ => ("board", String::new(), None),
        },
    };
    let data = json!({
        "now": world.now.wall.to_string(),
        "at": event.at.to_string(),
        "name": name,
        "object": state,
        "what": what,
    });
    Sent { id: event.id, kind, data: data.to_string() }
}

/// The object that changed, and what happened to it.
fn describe(record: &Record) -> (Option<ObjectRef>, Value) {
    match record {
        Record::Transition(transition) => {
            let what = json!({
                "type": "transition", "seq": transition.seq, "direction": transition.direction.word(),
                "cause": transition.cause_text(), "actor": &*transition.actor, "drill": transition.drill,
            });
            (Some(ObjectRef::new(Kind::Scenario, transition.scenario.clone())), what)
        }
        Record::Act { object, act, change } => {
            let what = json!({
                "type": "act", "change": change_word(change), "actor": &*act.actor, "reason": act.reason.as_deref(),
            });
            (Some(object.clone()), what)
        }
        Record::Ended { object, what, why } => {
            (Some(object.clone()), json!({ "type": "ended", "what": &**what, "why": &**why }))
        }
        Record::State { object, from, to, real, cause } => {
            let what = json!({
                "type": "state", "from": &**from, "to": &**to, "real": &**real, "cause": &**cause,
            });
            (Some(object.clone()), what)
        }
        Record::Board(BoardRecord { row, value, .. }) => {
            (None, json!({ "type": "board", "row": &**row, "value": value.word() }))
        }
        Record::Attempt { scenario, direction, attempt, outcome, detail } => {
            let what = json!({
                "type": "attempt", "direction": direction.word(), "attempt": attempt, "outcome": &**outcome,
                "detail": &**detail,
            });
            (Some(ObjectRef::new(Kind::Scenario, scenario.clone())), what)
        }
        Record::Ejected { service, cause, until, times } => {
            let what = json!({
                "type": "ejected", "cause": cause.word(), "count": cause.count(), "until": until.to_string(),
                "times": times,
            });
            (Some(ObjectRef::new(Kind::Service, service.clone())), what)
        }
        Record::Delivery(d) => {
            let what = json!({
                "type": "delivery", "delivery": d.id, "trigger": &*d.trigger, "seq": d.seq,
                "direction": d.direction.word(), "status": &*d.status, "attempts": d.attempts,
                "last_error": d.error.as_deref(),
            });
            let of = !d.scenario.is_empty();
            (of.then(|| ObjectRef::new(Kind::Scenario, d.scenario.clone())), what)
        }
        Record::Alert(a) => {
            let subject = &a.alert.subject;
            let what = json!({
                "type": "alert", "what": a.what.word(), "kind": subject.kind.word(), "object_kind": &*subject.object_kind,
                "object": &*subject.object, "why": &*a.why,
            });
            (None, what)
        }
        Record::Zone { what, serial, detail, .. } => {
            (None, json!({ "type": &**what, "serial": serial, "detail": &**detail }))
        }
        Record::Address { vserver, address, what, detail } => {
            let said = json!({ "type": "address", "address": &**address, "what": &**what, "detail": &**detail });
            (vserver.clone().map(|vserver| ObjectRef::new(Kind::Vserver, vserver)), said)
        }
        Record::Drill(drill) => {
            let what = json!({
                "type": "drill", "drill": drill.id, "state": drill.phase.word(),
                "outcome": drill.ending.as_ref().map(Ending::word),
                "detail": drill.ending.as_ref().and_then(Ending::detail).map(|detail| &**detail),
            });
            (Some(ObjectRef::new(Kind::Scenario, drill.scenario.clone())), what)
        }
        Record::Warning { object, text } => (Some(object.clone()), json!({ "type": "warning", "text": &**text })),
    }
}

fn change_word(change: &Change) -> &'static str {
    match change {
        Change::Disabled { .. } => "disabled",
        Change::Enabled => "enabled",
        Change::Modes { .. } => "modes",
        Change::Switch(_) => "switch",
        Change::Forced(_) => "forced",
        Change::Split(_) => "split",
        Change::Decided { .. } => "decided",
        Change::DrillStarted { .. } => "drill_started",
        Change::DrillStopped { .. } => "drill_stopped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub() -> Hub {
        Hub { process: "p".into(), ring: Mutex::new(VecDeque::new()), latest: watch::Sender::new(0) }
    }

    fn sent(ids: std::ops::RangeInclusive<u64>) -> Vec<Sent> {
        ids.map(|id| Sent { id, kind: "service", data: String::new() }).collect()
    }

    fn ids(next: Next) -> Vec<u64> {
        match next {
            Next::Events(events) => events.iter().map(|e| e.id).collect(),
            Next::Lost => vec![u64::MAX],
        }
    }

    #[test]
    fn a_client_gets_what_came_after_its_cursor() {
        let hub = hub();
        assert_eq!(ids(hub.after(0)), Vec::<u64>::new());
        hub.push(sent(1..=5));
        assert_eq!(ids(hub.after(3)), [4, 5]);
        assert_eq!(ids(hub.after(5)), Vec::<u64>::new());
    }

    #[test]
    fn a_client_that_fell_out_of_the_ring_is_told_so() {
        let hub = hub();
        hub.push(sent(1..=RING as u64 + 10));
        assert_eq!(hub.after(5), Next::Lost);
        assert_eq!(ids(hub.after(10)).len(), RING);
    }

    #[test]
    fn an_id_of_another_process_does_not_resume() {
        let hub = hub();
        hub.push(sent(1..=5));
        assert_eq!(hub.resume("p-3"), Some(3));
        assert_eq!(hub.resume("q-3"), None);
        assert_eq!(hub.resume("p-6"), None);
        assert_eq!(hub.resume("nonsense"), None);
    }

    #[test]
    fn lost_events_make_every_client_fetch_anew() {
        let hub = hub();
        hub.push(sent(1..=5));
        hub.lose(9);
        assert_eq!(hub.after(5), Next::Lost);
        assert_eq!(ids(hub.after(9)), Vec::<u64>::new());
        hub.push(sent(10..=11));
        assert_eq!(ids(hub.after(9)), [10, 11]);
    }
}
