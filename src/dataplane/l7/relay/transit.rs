//! The way of one request and its answer over one connection to a server: both directions at once, nothing held back.
//!
//! | the answer's side | event | to |
//! |---|---|---|
//! | Head | an interim head (1xx) | Head; it is passed on to clients of HTTP/1.1 |
//! | Head | the head of the answer | Body |
//! | Body | its last byte | Over |
//!
//! The request's side is its head (with what is there of the body, in one write), then the rest of the body as it comes.
//! A server may answer before it has all of it: the answer goes on at once, the body too for as long as the answer takes,
//! and the client is told that its connection closes.

mod reply;

use std::task::{Context, Poll};
use std::time::Duration;

use super::answer::{Answer, Why};
use super::body::Body;
use super::buffer::Buffer;
use super::client::{Client, Stop};
use super::kept::Kept;
use super::server::Server;
use super::write::Keep;
use crate::dataplane::conn::Transport;
use crate::dataplane::ended::Exchange;
use crate::dataplane::l7::head::Refusal;
use crate::dataplane::l7::routed::Routed;
use crate::dataplane::member::Acquired;
use crate::model::vserver::Vserver;

/// What a transit must know of its request.
#[derive(Debug)]
pub(super) struct Terms {
    /// The answer has no body (HEAD).
    pub to_head: bool,
    /// 0 or 1: what the client speaks.
    pub minor: u8,
    /// The client waits for `100 Continue` before it sends its body.
    pub expects: bool,
    /// A client that closes its sending side before the answer has left.
    pub abort_on_close: bool,
    /// As the client wants it.
    pub keep: Keep,
    /// Due in the answer.
    pub set_cookie: Option<String>,
    /// Idle time-outs; the server's may be none.
    pub client_limit: Duration,
    pub server_limit: Option<Duration>,
}

pub(super) struct Transit<'a> {
    terms: &'a Terms,
    pub story: &'a mut Exchange,
    pub server: Server,
    /// To the server, before the body.
    out: Buffer,
    pub body: Body,
    /// What has left the input, for as long as it can be sent again.
    pub kept: Option<Kept>,
    /// The server takes nothing any more.
    deaf: bool,
    /// Something went to the server.
    pub wrote: bool,
    server_unflushed: bool,
    told_sent: bool,
    told_answered: bool,
    /// From the server.
    reply: Option<Buffer>,
    scanned: usize,
    state: State,
    interims: u32,
    /// To the client, before the body.
    back: Buffer,
    /// The answer, once its head is there.
    pub begun: Option<Begun>,
    /// The vserver that was addressed, where it has clients that are told how their answers came about.
    diagnosed: Option<&'a Vserver>,
    /// Who serves it.
    acquired: Option<&'a Acquired>,
    routed: Option<&'a mut Routed>,
    /// The head for copies; empty where there are none.
    copied_head: Vec<u8>,
}

#[derive(Debug)]
enum State {
    Head,
    Body(Body),
    Over,
}

/// The head of the answer is there, and on its way to the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub answer: Answer,
    /// What the client is told: a rule may have changed it.
    pub status: u16,
    pub keep: Keep,
    /// The client can tell where the answer ends other than by the end of the connection.
    pub tells_its_end: bool,
}

/// Why it did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fail {
    /// A flush, or the limit of the drain.
    Cut,
    ClientGone,
    /// It did not send its body in time.
    ClientStalled,
    /// It did not take the answer in time.
    ClientSlow,
    /// Its body is malformed.
    BadBody(Refusal),
    /// The server ended before the first byte of its answer.
    Closed,
    ServerSlow,
    BadAnswer(Why),
    /// The server ended within its answer.
    Broken,
}

// === impl Transit ===

impl<'a> Transit<'a> {
    /// `out`: the request as it is to be sent at first; `body`: what of it is still to come from the client.
    pub fn new(terms: &'a Terms, story: &'a mut Exchange, server: Server, out: Buffer, body: Body) -> Transit<'a> {
        Transit {
            terms,
            story,
            server,
            out,
            body,
            kept: None,
            deaf: false,
            wrote: false,
            server_unflushed: false,
            told_sent: false,
            told_answered: false,
            reply: None,
            scanned: 0,
            state: State::Head,
            interims: 0,
            back: Buffer::none(),
            begun: None,
            diagnosed: None,
            acquired: None,
            routed: None,
            copied_head: Vec::new(),
        }
    }

    /// It may have to be sent again, though it does not stay in the input.
    pub fn keep(&mut self, kept: Option<Kept>) {
        self.kept = kept;
    }

    /// A client of a member that drains is to come again, and be balanced.
    pub fn watch(&mut self, acquired: &'a Acquired) {
        self.acquired = Some(acquired);
    }

    pub fn diagnose(&mut self, vserver: Option<&'a Vserver>) {
        self.diagnosed = vserver;
    }

    /// What rules change in the answer, and what is copied.
    pub fn route(&mut self, routed: Option<&'a mut Routed>, copied_head: Vec<u8>) {
        self.routed = routed;
        self.copied_head = copied_head;
    }

    /// To the end of the answer, or to what prevents it.
    pub async fn run<S: Transport>(&mut self, client: &mut Client<S>) -> Result<(), Fail> {
        let mut moved = true;
        std::future::poll_fn(|cx| {
            loop {
                let up = self.poll_request(client, cx)?;
                let down = self.poll_answer(client, cx)?;
                moved |= up | down;
                if matches!(self.state, State::Over) && self.back.is_empty() && !client.unflushed {
                    return Poll::Ready(Ok(()));
                }
                if !(up || down) {
                    break;
                }
            }
            if std::mem::take(&mut moved) {
                client.timer.set(self.limit());
            }
            client.poll_stop(cx).map(|stop| {
                Err(match stop {
                    Stop::Cut => Fail::Cut,
                    Stop::TimedOut if self.offers_answer() => Fail::ClientSlow,
                    Stop::TimedOut if self.waits_for_client() => Fail::ClientStalled,
                    Stop::TimedOut => Fail::ServerSlow,
                })
            })
        })
        .await
    }

    /// The whole request went out.
    pub fn is_sent(&self) -> bool {
        self.out.is_empty() && self.body.is_over() && !self.deaf
    }

    /// What the client was told; 0: nothing yet.
    pub fn status(&self) -> u16 {
        self.begun.map_or(0, |begun| begun.status)
    }

    /// Whether the connection may carry another request: the request went out, the answer was read to its end, and
    /// nothing else came.
    pub fn is_clean(&self) -> bool {
        let keeps = self.begun.is_some_and(|begun| begun.answer.keeps_connection());
        let quiet = self.reply.as_ref().is_none_or(Buffer::is_empty);
        keeps && quiet && self.is_sent() && !self.server_unflushed && matches!(self.state, State::Over)
    }

    fn limit(&self) -> Option<Duration> {
        if self.waits_for_client() { Some(self.terms.client_limit) } else { self.terms.server_limit }
    }

    /// The client is to take something of the answer.
    fn offers_answer(&self) -> bool {
        match &self.state {
            State::Head => !self.back.is_empty(),
            State::Body(body) => !self.back.is_empty() || body.has_ready(),
            State::Over => true,
        }
    }

    /// The client is to move next, not the server.
    fn waits_for_client(&self) -> bool {
        let owes_body = self.out.is_empty() && !self.body.is_read() && !self.body.has_ready() && !self.deaf;
        let waits_for_continue = self.terms.expects && self.interims == 0 && matches!(self.state, State::Head);
        self.offers_answer() || (owes_body && !waits_for_continue)
    }

    /// Sends what there is to send. True where something moved.
    fn poll_request<S: Transport>(&mut self, client: &mut Client<S>, cx: &mut Context<'_>) -> Result<bool, Fail> {
        let mut moved = false;
        while !self.deaf {
            let ready = match &client.input {
                _ if !self.out.is_empty() => self.out.data(),
                Some(input) if self.body.has_ready() => self.body.ready(input),
                _ => &[],
            };
            if !ready.is_empty() {
                match self.server.poll_write(cx, ready) {
                    Poll::Ready(Ok(wrote @ 1..)) => self.sent(client, wrote),
                    // It may have answered before it closed.
                    Poll::Ready(_) => self.deaf = true,
                    Poll::Pending => break,
                }
                moved = true;
            } else if self.body.is_read() {
                if !std::mem::replace(&mut self.told_sent, true) {
                    self.story.sent();
                    self.copy(client);
                }
                self.flush_server(cx);
                break;
            } else if !self.make_ready(client)? {
                match client.poll_read(cx) {
                    Poll::Ready(Ok(1..)) => moved = true,
                    Poll::Ready(_) => return Err(Fail::ClientGone),
                    Poll::Pending => {
                        self.flush_server(cx);
                        break;
                    }
                }
            }
        }
        Ok(moved)
    }

    fn sent<S>(&mut self, client: &mut Client<S>, wrote: usize) {
        self.wrote = true;
        self.server_unflushed = true;
        if !self.out.is_empty() {
            self.out.consume(wrote);
            self.out.rest();
        } else if let Some(input) = &mut client.input {
            self.body.wrote(input, wrote);
        }
    }

    /// The request is out, and so are its copies.
    fn copy<S>(&mut self, client: &Client<S>) {
        if let Some(routed) = self.routed.as_mut().filter(|_| !self.copied_head.is_empty()) {
            let copies = std::mem::take(&mut routed.copies);
            copies.send(&client.shared, client.info.client, client.info.local, &self.copied_head);
        }
    }

    fn flush_server(&mut self, cx: &mut Context<'_>) {
        if self.server_unflushed {
            match self.server.poll_flush(cx) {
                Poll::Ready(Ok(())) => self.server_unflushed = false,
                Poll::Ready(Err(_)) => self.deaf = true,
                Poll::Pending => {}
            }
        }
    }

    /// Looks for bytes of the body in what was read. False where there are none.
    fn make_ready<S>(&mut self, client: &mut Client<S>) -> Result<bool, Fail> {
        if let Some(input) = client.input.as_mut().filter(|input| !input.is_empty()) {
            if let Some(kept) = &mut self.kept {
                kept.put(input);
            }
            let data = self.body.take(input).map_err(Fail::BadBody)?;
            self.kept.take_if(|kept| !kept.took(&self.body, input));
            self.story.moved_in(data);
            if let Some(routed) = self.routed.as_mut().filter(|_| !self.copied_head.is_empty()) {
                // Of known length: a body in chunks that is copied goes through the other engine.
                routed.copies.body(self.body.ready(input));
            }
        }
        let more = self.body.has_ready() || self.body.is_read();
        if !more
            && self.body.is_bulk()
            && client.input.as_ref().is_none_or(|input| input.is_empty() && !input.is_bulk())
        {
            client.input = Some(Buffer::bulk());
        }
        Ok(more)
    }
}
