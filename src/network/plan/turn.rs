//! One look at one address: from how it stands and what the machine has, to how it stands then and what is done.

use std::net::IpAddr;

use super::{
    ACT_PATIENCE, ANNOUNCE_EVERY, ANNOUNCEMENTS, Act, CLAIM_LASTS, DEFEND_EVERY, PROBE_EVERY, PROBES, Phase,
    REFUSED_RETRY, Row, conflict, wake_by,
};
use crate::model::time::Tick;
use crate::network::machine::{Link, Machine};
use crate::network::wish::Wish;

pub(super) struct Turn<'a> {
    pub now: Tick,
    pub machine: &'a Machine,
    pub acts: &'a mut Vec<Act>,
    pub wake: &'a mut Option<Tick>,
}

// === impl Turn ===

impl Turn<'_> {
    pub fn row(&mut self, wish: &Wish, row: &mut Row) {
        let ip = wish.address.ip;
        let foreign = self.machine.places(ip).find(|a| !a.ours);
        if let Some(place) = foreign.filter(|_| !self.machine.places(ip).any(|a| a.ours)) {
            // The system's own: neither added nor announced nor removed, and not tried again.
            let link = place.link;
            let phase = if place.duplicate {
                Phase::Conflict { link, by: None, retry: Tick::ZERO }
            } else {
                Phase::Held { link, ours: false, announced: ANNOUNCEMENTS, due: Tick::ZERO }
            };
            *row = Row { phase, claim: None };
            return;
        }
        let home = match home(self.machine, wish) {
            Ok(home) => home,
            Err(why) => {
                *row = Row { phase: Phase::Waiting { why }, claim: None };
                return;
            }
        };
        let here = self.machine.places(ip).find(|a| a.link == home.index);
        match here {
            Some(place) if place.duplicate => {
                // It is removed with everything else that is not where it may be.
                if !matches!(row.phase, Phase::Conflict { retry, .. } if retry > self.now) {
                    row.phase = conflict(self.now, self.machine, home.index, ip, None);
                }
            }
            Some(place) if place.tentative => {
                let is_awaited = |link: u32, until: Tick| link == home.index && until > self.now;
                if !matches!(row.phase, Phase::Adding { link, until } if is_awaited(link, until)) {
                    row.phase = Phase::Adding { link: home.index, until: self.now + ACT_PATIENCE };
                }
            }
            Some(_) => {
                if !matches!(row.phase, Phase::Held { link, ours: true, .. } if link == home.index) {
                    // An earlier process has left it, and somebody else may have it by now: whoever does will answer.
                    if matches!(row.phase, Phase::New) && ip.is_ipv4() && home.asks && home.up && !wish.own {
                        self.acts.push(Act::Probe { link: home.index, ip });
                    }
                    let phase = Phase::Held { link: home.index, ours: true, announced: 0, due: self.now };
                    *row = Row { phase, claim: None };
                }
                self.held(ip, row, home);
            }
            None => self.missing(wish, row, home),
        }
        self.wake_for(&row.phase);
    }

    /// It is not where it belongs.
    fn missing(&mut self, wish: &Wish, row: &mut Row, home: &Link) {
        let ip = wish.address.ip;
        let now = self.now;
        match &mut row.phase {
            Phase::Conflict { link, retry, .. } | Phase::Refused { link, retry, .. }
                if *link == home.index && *retry > now => {}
            Phase::Probing { link, due, .. } if *link == home.index && *due > now => {}
            Phase::Probing { link, sent, due } if *link == home.index && *sent < PROBES => {
                (*sent, *due) = (*sent + 1, now + PROBE_EVERY);
                self.acts.push(Act::Probe { link: home.index, ip });
            }
            Phase::Adding { link, until } if *link == home.index && *until > now => {}
            Phase::Adding { link, .. } if *link == home.index => {
                let why = "it does not appear there".to_owned();
                row.phase = Phase::Refused { link: home.index, why, retry: now + REFUSED_RETRY };
            }
            Phase::Probing { link, .. } if *link == home.index => self.add(wish, row, home),
            _ if ip.is_ipv6() || !home.asks || home.mac.is_none() || wish.own => {
                self.add(wish, row, home);
            }
            _ => {
                row.phase = Phase::Probing { link: home.index, sent: 1, due: now + PROBE_EVERY };
                self.acts.push(Act::Probe { link: home.index, ip });
            }
        }
    }

    fn add(&mut self, wish: &Wish, row: &mut Row, home: &Link) {
        *row = Row { phase: Phase::Adding { link: home.index, until: self.now + ACT_PATIENCE }, claim: None };
        if wish.own && !home.set_up {
            self.acts.push(Act::Up { link: home.index });
        }
        self.acts.push(Act::Add { link: home.index, address: wish.address });
    }

    fn held(&mut self, ip: IpAddr, row: &mut Row, home: &Link) {
        let Phase::Held { announced, due, .. } = &mut row.phase else { return };
        if home.up && home.asks && *announced < ANNOUNCEMENTS {
            if *due <= self.now {
                (*announced, *due) = (*announced + 1, self.now + ANNOUNCE_EVERY);
                self.acts.push(Act::Announce { link: home.index, ip });
            }
            let (more, due) = (*announced < ANNOUNCEMENTS, *due);
            if more {
                wake_by(self.wake, due);
            }
        }
        let Some(claim) = &mut row.claim else { return };
        if self.now.since(claim.at) >= CLAIM_LASTS {
            row.claim = None;
            return;
        }
        if claim.defended.is_none_or(|at| at < claim.at && self.now.since(at) >= DEFEND_EVERY) {
            claim.defended = Some(self.now);
            self.acts.push(Act::Announce { link: home.index, ip });
        }
        let over = claim.at + CLAIM_LASTS;
        self.wake_by(over);
    }

    fn wake_for(&mut self, phase: &Phase) {
        match *phase {
            Phase::New | Phase::Waiting { .. } | Phase::Held { .. } => {}
            Phase::Probing { due, .. } => self.wake_by(due),
            Phase::Adding { until, .. } => self.wake_by(until),
            Phase::Conflict { retry, .. } | Phase::Refused { retry, .. } => self.wake_by(retry),
        }
    }

    fn wake_by(&mut self, at: Tick) {
        wake_by(self.wake, at);
    }
}

/// The interface that a wish belongs on; or why there is none.
fn home<'m>(machine: &'m Machine, wish: &Wish) -> Result<&'m Link, String> {
    let ip = wish.address.ip;
    let home = match &wish.interface {
        Some(name) => machine.named(name).ok_or_else(|| format!("there is no interface {name}"))?,
        None => {
            // Where a subnet goes for a while (a lease that is renewed), what is there stays.
            let stays = || machine.places(ip).find(|a| a.ours).and_then(|a| machine.link(a.link));
            let home = machine.with_subnet_of(ip).or_else(stays);
            home.ok_or_else(|| "no interface has its subnet".to_owned())?
        }
    };
    let is_there = machine.places(ip).any(|a| a.link == home.index);
    if !home.up && !is_there && !wish.own {
        return Err(format!("the interface {} is down", home.name));
    }
    Ok(home)
}
