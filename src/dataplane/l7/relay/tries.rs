//! What is tried for one request, one member after the other.

use std::time::{Duration, Instant};

use super::End;
use super::transit::{Fail, Transit};
use crate::dataplane::ended::Exchange;
use crate::model::ending::{Ending, Reason, Who};
use crate::model::id::Name;

/// Time that all tries of one request may take together before the next one is not begun.
const TRIES_BUDGET: Duration = Duration::from_secs(30);

/// A try that did not end with a whole answer.
pub(super) struct Failed {
    pub remedy: Remedy,
    /// `None`: for what the connection was cut.
    pub ending: Option<Ending>,
}

/// What is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Another member, as this one did nothing about the request. The status where there is none.
    Another { status: u16, price: Price },
    /// A new connection to any: this one had been idle, and nothing came back over it.
    Fresh,
    /// The client is told a status.
    Page(u16),
    /// The answer had begun: the connection ends. The status that the client was told.
    End(End, u16),
}

/// What another try costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Price {
    /// Nothing: the member was not to blame.
    Nothing,
    /// One of the vserver's `retry.max`: no server has had the request, so it is no more load.
    Try,
    /// That, and a place in the vserver's budget: a server has had the request.
    Load,
}

pub(super) struct Tries {
    /// Who could not be reached, or failed.
    pub tried: Vec<Name>,
    /// Only connections that are made for it.
    pub fresh: bool,
    /// What the client is told where nobody is left, and why.
    pub last: Option<(u16, Option<Ending>)>,
    left: u32,
    began: Instant,
}

// === impl Tries ===

impl Tries {
    /// `most`: members after the first.
    pub fn new(most: u32, began: Instant) -> Tries {
        Tries { tried: Vec::new(), fresh: false, last: None, left: most, began }
    }

    /// Whether there may be another member after this one.
    pub fn has_more(&self) -> bool {
        self.left > 0
    }

    /// `None`: again. `granted`: whether there is another, and, where a server has had the request (`true`), whether the
    /// vserver's budget has room for it.
    pub fn after(
        &mut self,
        failed: Failed,
        service: &Name,
        granted: impl FnOnce(&[Name], bool) -> bool,
    ) -> Option<(Remedy, Option<Ending>)> {
        let Failed { remedy, ending } = failed;
        match remedy {
            Remedy::Fresh => {
                self.fresh = true;
                None
            }
            Remedy::Another { status, price } => {
                self.tried.push(Name::clone(service));
                self.last = Some((status, ending));
                let counts = price != Price::Nothing;
                let may = !counts || (self.left > 0 && granted(&self.tried, price == Price::Load));
                if !may || self.began.elapsed() > TRIES_BUDGET {
                    return Some((Remedy::Page(status), ending));
                }
                self.left -= u32::from(counts);
                None
            }
            Remedy::Page(_) | Remedy::End(..) => Some((remedy, ending)),
        }
    }
}

// === impl Failed ===

impl Failed {
    /// The member went down meanwhile: no failure of its own.
    pub fn passed_over(story: &Exchange, reason: Reason) -> Failed {
        let ending = Some(story.ending(Who::Appliance, reason));
        Failed { remedy: Remedy::Another { status: 502, price: Price::Nothing }, ending }
    }

    pub fn unreached(story: &Exchange, reason: Reason) -> Failed {
        let ours = matches!(reason, Reason::NoSourcePort | Reason::NoDescriptor);
        let who = if ours { Who::Appliance } else { Who::Server };
        let status = if reason == Reason::ConnectTimeout { 504 } else { 502 };
        Failed { remedy: Remedy::Another { status, price: Price::Try }, ending: Some(story.ending(who, reason)) }
    }

    pub fn cut() -> Failed {
        Failed { remedy: Remedy::End(End::Reset, 0), ending: None }
    }

    /// `whole`: the request stands in the input as a whole; `idempotent`: it may be sent twice by its method; `reused`:
    /// the connection had been idle.
    pub fn in_transit(transit: &Transit<'_>, fail: Fail, whole: bool, idempotent: bool, reused: bool) -> Failed {
        let is_here = whole || transit.kept.is_some();
        let repeatable = is_here && idempotent;
        let (who, reason) = match (fail, transit.begun) {
            (Fail::Cut, _) => return Failed { remedy: Remedy::End(End::Reset, transit.status()), ending: None },
            (Fail::ClientGone, _) => (Who::Client, Reason::ClientGone),
            (Fail::ClientStalled, _) => (Who::Client, Reason::IdleTimeout),
            (Fail::ClientSlow, _) => (Who::Client, Reason::ClientSlow),
            (Fail::BadBody(refusal), _) => (Who::Client, refusal.reason()),
            (Fail::ServerSlow, None) if transit.is_sent() => (Who::Server, Reason::AnswerTimeout),
            (Fail::ServerSlow, _) => (Who::Server, Reason::IdleTimeout),
            (Fail::BadAnswer(_), _) => (Who::Server, Reason::BadAnswer),
            (Fail::Closed | Fail::Broken, None) => (Who::Server, Reason::ResetBeforeHead),
            (Fail::Closed | Fail::Broken, Some(_)) => (Who::Server, Reason::ResetInBody),
        };
        let remedy = match (fail, transit.begun) {
            (Fail::ClientGone, _) => Remedy::End(End::Close, transit.status()),
            // An end of the connection tells the client that the answer is not whole, unless that is how it ends.
            (_, Some(begun)) => Remedy::End(if begun.tells_its_end { End::Close } else { End::Reset }, begun.status),
            // Not a byte of it was taken by a connection that was dead already, or all of it may be done twice.
            (Fail::Closed, None) if reused && (repeatable || (is_here && !transit.wrote)) => Remedy::Fresh,
            (Fail::Closed, None) if repeatable => Remedy::Another { status: 502, price: Price::Load },
            (Fail::ClientStalled | Fail::ClientSlow, None) => Remedy::Page(408),
            (Fail::BadBody(refusal), None) => Remedy::Page(refusal.status),
            (Fail::ServerSlow, None) => Remedy::Page(504),
            _ => Remedy::Page(502),
        };
        Failed { remedy, ending: Some(transit.story.ending(who, reason)) }
    }
}
