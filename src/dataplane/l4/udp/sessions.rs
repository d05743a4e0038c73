//! UDP: all datagrams of one client address and port are a session, balanced once; it ends when nothing has come from
//! either side for the vserver's `client_timeout`, or when its service goes away.
//!
//! ```text
//!  VIP ──a batch──▶ session by client ──its own connected socket──▶ member
//!      ◀─a batch──  answers of all sessions that were ready  ◀──────
//! ```
//!
//! A socket for each session gives the server a port of its own for each client, and lets the kernel say who is not
//! there: then the session goes to another member, with the datagram at hand.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use super::batch::{Asked, Batch, SIZE};
use super::session::Session;
use super::table::Table;
use super::{Carry, Vip};
use crate::dataplane::places::{GIVEN_UP_MOST, Place};
use crate::model::ending::{Reason, Who};

/// How often all sessions are looked at, also where no state has changed.
const LOOK_AT_ALL: Duration = Duration::from_secs(1);
/// Batches of datagrams before the answers get their turn.
const BATCHES: usize = 4;
/// Answers read of one session at once.
const ANSWERS: usize = 8;
/// Sessions of one VIP at most; fewer where the limit of open files says so.
const SESSIONS_MAX: usize = 65_536;

pub(super) struct Sessions {
    table: Table<Session>,
    input: Batch,
    output: Batch,
    /// The vserver's `client_timeout`.
    idle: Duration,
    /// Generation of the snapshot at the last look at all sessions, and when that was.
    seen: (u64, Instant),
}

impl Carry for Sessions {
    fn is_idle(&self) -> bool {
        self.table.len() == 0
    }

    fn answers(&mut self, vip: &Vip, slot: usize, now: Instant) {
        let Some(client) = self.table.client(slot) else { return };
        loop {
            if self.output.room() < ANSWERS {
                self.output.send(&vip.socket);
            }
            let Some(session) = self.table.get(slot) else { return };
            let first = self.output.len();
            match self.output.receive(&session.socket, ANSWERS) {
                Ok(0) => return,
                Ok(came) => {
                    let mut bytes = 0;
                    for at in first..first + came {
                        self.output.address(at, client, session.asked);
                        bytes += self.output.datagram(at).len();
                    }
                    session.answered(bytes, came);
                    self.table.touch(slot, now, true);
                    if came < ANSWERS {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => return self.move_on(vip, slot),
                Err(_) => return,
            }
        }
    }

    fn answered(&mut self, vip: &Vip) {
        self.output.send(&vip.socket);
    }

    fn datagrams(&mut self, vip: &Vip, now: Instant) -> bool {
        for _ in 0..BATCHES {
            self.input.clear();
            // An error is that of a datagram sent earlier; those that follow can be read.
            let came = self.input.receive(&vip.socket, SIZE).unwrap_or(0);
            for at in 0..came {
                self.forward(vip, at, now);
            }
            if came < SIZE {
                return false;
            }
        }
        true
    }

    fn look(&mut self, vip: &Vip, now: Instant) {
        let snapshot = vip.shared.plane.cell.load();
        if let Some(id) = snapshot.model.vserver_id(&vip.vserver) {
            self.idle = snapshot.model.vserver(id).client_timeout;
        }
        let generation = snapshot.generation;
        drop(snapshot);
        while let Some(slot) = self.table.expired(now, self.idle) {
            self.end(slot, Who::Appliance, Reason::IdleTimeout);
        }
        for _ in 0..GIVEN_UP_MOST {
            let Some(victim) = self.table.victim(now) else { break };
            if !vip.shared.places.gives_up(self.table.len()) {
                break;
            }
            self.end(victim, Who::Appliance, Reason::TooManyConnections);
        }
        if generation == self.seen.0 && now < self.seen.1 + LOOK_AT_ALL {
            return;
        }
        for slot in self.table.slots() {
            if let Some(reason) = self.table.get(slot).and_then(|session| session.is_to_end()) {
                self.end(slot, Who::Appliance, reason);
            }
        }
        self.seen = (generation, now);
    }

    fn stop(mut self) {
        for slot in self.table.slots() {
            self.end(slot, Who::Appliance, Reason::Shutdown);
        }
    }
}

// === impl Sessions ===

impl Sessions {
    pub fn new() -> Sessions {
        Sessions {
            table: Table::new(),
            input: Batch::new(),
            output: Batch::new(),
            idle: LOOK_AT_ALL,
            seen: (0, Instant::now()),
        }
    }

    fn forward(&mut self, vip: &Vip, at: usize, now: Instant) {
        let Some(client) = self.input.peer(at) else { return };
        let slot = match self.table.find(&client) {
            Some(slot) => slot,
            None => match self.open(vip, client, self.input.asked(at), now) {
                Some(slot) => slot,
                None => return,
            },
        };
        self.table.touch(slot, now, false);
        // Each refusal leaves a member less to choose from.
        while let Some(session) = self.table.get(slot) {
            match session.send(self.input.datagram(at)) {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => self.move_on(vip, slot),
                // What cannot be taken now is dropped, as datagrams are.
                _ => return,
            }
        }
    }

    /// A session for a new client; where there are too many, in the place of another.
    fn open(&mut self, vip: &Vip, client: SocketAddr, asked: Asked, now: Instant) -> Option<usize> {
        let mut place = self.place(vip);
        if place.is_none()
            && let Some(victim) = self.table.victim(now)
        {
            self.end(victim, Who::Appliance, Reason::TooManyConnections);
            place = self.place(vip);
        }
        if place.is_none() {
            vip.shared.places.want();
        }
        let session = Session::open(vip, client, asked, place?, now)?;
        let slot = self.table.next_slot();
        vip.watch(&session.socket, slot).ok()?;
        Some(self.table.insert(client, session, now))
    }

    fn place(&self, vip: &Vip) -> Option<Place> {
        (self.table.len() < SESSIONS_MAX).then(|| vip.place()).flatten()
    }

    /// Its member is not there: another one, or the end.
    fn move_on(&mut self, vip: &Vip, slot: usize) {
        let moved = self
            .table
            .get(slot)
            .is_some_and(|session| session.choose_again(vip) && vip.watch(&session.socket, slot).is_ok());
        if !moved {
            self.end(slot, Who::Server, Reason::ConnectFailed);
        }
    }

    fn end(&mut self, slot: usize, who: Who, reason: Reason) {
        if let Some(session) = self.table.remove(slot) {
            session.end(who, reason);
        }
    }
}
