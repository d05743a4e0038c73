//! One session: a client, the member that serves it, and the socket between.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use super::batch::Asked;
use super::{Vip, connect};
use crate::dataplane::ended::{Conn, Exchange};
use crate::dataplane::member::{Admitted, Refused, Serving, admit};
use crate::dataplane::places::Place;
use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::Name;
use crate::snapshot::live::{Counted, VserverLive};

pub(super) struct Session {
    /// Connected to the member, not blocking.
    pub socket: UdpSocket,
    /// The address that the client sent to: answers come from it.
    pub asked: Asked,
    client: SocketAddr,
    serving: Serving,
    exchange: Exchange,
    conn: Arc<Conn>,
    /// Members that were not there.
    tried: Vec<Name>,
    is_sent: bool,
    is_answered: bool,
    _admitted: Admitted,
    _counted: Counted<VserverLive>,
    _place: Place,
}

// === impl Session ===

impl Session {
    /// `None`: nobody takes this client; counted.
    pub fn open(vip: &Vip, client: SocketAddr, asked: Asked, place: Place, now: Instant) -> Option<Session> {
        let conn = Conn::open(&vip.shared, client, &vip.vserver, &vip.live, now);
        let counted = Counted::new(&vip.live, |live| &live.connections);
        let mut exchange = Exchange::begin(&conn, now);
        exchange.head();
        let snapshot = vip.shared.plane.cell.load_full();
        let chosen = match snapshot.model.vserver_id(&vip.vserver) {
            Some(entry) => admit(&snapshot, entry, &vip.wanted(client, &[])).and_then(|admitted| {
                let acquired = vip.acquire(client, &[])?;
                Ok((admitted, acquired))
            }),
            None => Err(Refused::unavailable(Reason::Removed)),
        };
        let (admitted, acquired) = match chosen {
            Ok(chosen) => chosen,
            Err(refused) => {
                vip.live.refused_total.fetch_add(1, Ordering::Relaxed);
                exchange.finish(refused.ending, 0);
                return None;
            }
        };
        exchange.chosen(&acquired);
        exchange.calling();
        let socket = match connect(&vip.shared, acquired.choice.address) {
            Ok(socket) => socket,
            Err(error) => {
                vip.live.refused_total.fetch_add(1, Ordering::Relaxed);
                let reason = crate::dataplane::connect::reason(&error);
                exchange.finish(Ending::new(Who::Appliance, Phase::Connect, reason), 0);
                return None;
            }
        };
        exchange.connected(None);
        Some(Session {
            socket,
            asked,
            client,
            serving: acquired.serving,
            exchange,
            conn,
            tried: Vec::new(),
            is_sent: false,
            is_answered: false,
            _admitted: admitted,
            _counted: counted,
            _place: place,
        })
    }

    /// To the member.
    pub fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        self.socket.send(datagram)?;
        self.exchange.moved_in(datagram.len() as u64);
        if !std::mem::replace(&mut self.is_sent, true) {
            self.exchange.sent();
        }
        Ok(())
    }

    /// Its member has sent so much.
    pub fn answered(&mut self, bytes: usize, datagrams: usize) {
        self.exchange.moved(0, 0, bytes as u64, datagrams as u64);
        if !std::mem::replace(&mut self.is_answered, true) {
            self.exchange.first_byte();
        }
    }

    /// Another member in the place of one that is not there. False: there is none.
    pub fn choose_again(&mut self, vip: &Vip) -> bool {
        self.serving.live().connect_failures_total.fetch_add(1, Ordering::Relaxed);
        self.tried.push(Arc::clone(self.serving.service()));
        let Ok(acquired) = vip.acquire(self.client, &self.tried) else { return false };
        let Ok(socket) = connect(&vip.shared, acquired.choice.address) else { return false };
        self.exchange.chosen(&acquired);
        self.exchange.calling();
        self.exchange.connected(None);
        (self.socket, self.serving, self.is_sent) = (socket, acquired.serving, false);
        true
    }

    /// Why it must end: it was kicked, or its service or vserver went away (`downStateFlush`).
    pub fn is_to_end(&self) -> Option<Reason> {
        if let Some(reason) = self.conn.entry.cut_for() {
            return Some(reason);
        }
        if !self.serving.is_flushed() {
            return None;
        }
        let mut flushed = pin!(self.serving.flushed());
        match flushed.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(reason) => Some(reason),
            Poll::Pending => Some(Reason::Flushed),
        }
    }

    pub fn end(self, who: Who, reason: Reason) {
        self.exchange.end(who, reason, 0);
    }
}
