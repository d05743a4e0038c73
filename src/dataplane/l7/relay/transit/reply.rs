//! The server's side of it: the answer, from its first interim head to its last byte.

use std::task::{Context, Poll};

use super::{Begun, Fail, State, Transit};
use crate::balance::extract;
use crate::dataplane::conn::Transport;
use crate::dataplane::l7::head::chunk::Form;
use crate::dataplane::l7::head::{Field, HEAD_MAX_BYTES};
use crate::dataplane::l7::policy::{self, edits::HeadEdits};
use crate::dataplane::l7::relay::answer::{self, Answer, Framing, INTERIM_MAX};
use crate::dataplane::l7::relay::body::Body;
use crate::dataplane::l7::relay::buffer::Buffer;
use crate::dataplane::l7::relay::client::Client;
use crate::dataplane::l7::relay::write::{self, Keep, Parts, Source, Towards};
use crate::dataplane::member::learn;
use crate::model::balancing::Extract;
use crate::model::id::Name;

impl Transit<'_> {
    /// Passes on what the server says. True where something moved.
    pub(super) fn poll_answer<S: Transport>(
        &mut self,
        client: &mut Client<S>,
        cx: &mut Context<'_>,
    ) -> Result<bool, Fail> {
        let mut moved = false;
        loop {
            let ready = match (&self.state, &self.reply) {
                _ if !self.back.is_empty() => self.back.data(),
                (State::Body(body), Some(reply)) => body.ready(reply),
                _ => &[],
            };
            if !ready.is_empty() {
                match client.poll_write(cx, ready) {
                    Poll::Ready(Ok(wrote)) => self.passed(wrote),
                    Poll::Ready(Err(_)) => return Err(Fail::ClientGone),
                    Poll::Pending => return Ok(moved),
                }
                moved = true;
                continue;
            }
            if matches!(self.state, State::Over) {
                let flushed = client.poll_flush(cx);
                return if let Poll::Ready(Err(_)) = flushed { Err(Fail::ClientGone) } else { Ok(moved) };
            }
            if self.advance(client)? {
                moved = true;
                continue;
            }
            match self.poll_reply(cx) {
                Poll::Ready(read) => read?,
                Poll::Pending => {
                    self.read_ahead(client, cx)?;
                    let flushed = client.poll_flush(cx);
                    return if let Poll::Ready(Err(_)) = flushed { Err(Fail::ClientGone) } else { Ok(moved) };
                }
            }
            moved = true;
        }
    }

    /// Makes something of what was read. False where more must be read.
    fn advance<S: Transport>(&mut self, client: &Client<S>) -> Result<bool, Fail> {
        match &self.state {
            State::Head => self.find_head(client),
            State::Body(body) if body.is_read() => {
                self.state = State::Over;
                Ok(true)
            }
            State::Body(_) => self.make_passable(),
            State::Over => Ok(false),
        }
    }

    fn passed(&mut self, wrote: usize) {
        if self.begun.is_some() && !std::mem::replace(&mut self.told_answered, true) {
            self.story.answered();
        }
        if !self.back.is_empty() {
            self.back.consume(wrote);
            self.back.rest();
        } else if let (State::Body(body), Some(reply)) = (&mut self.state, &mut self.reply) {
            body.wrote(reply, wrote);
        }
    }

    /// Reads from the server; notes an end.
    fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fail>> {
        let in_head = matches!(self.state, State::Head);
        let reply = self.reply.get_or_insert_with(Buffer::new);
        if in_head && reply.room().is_empty() {
            reply.grow(HEAD_MAX_BYTES + 1);
        }
        match self.server.poll_read(cx, reply.room()) {
            Poll::Ready(Ok(read @ 1..)) => {
                reply.filled(read);
                Poll::Ready(Ok(()))
            }
            Poll::Ready(ended) => Poll::Ready(match &mut self.state {
                State::Head if reply.is_empty() => Err(Fail::Closed),
                State::Body(body) if ended.is_ok() => body.end().then_some(()).ok_or(Fail::Broken),
                _ => Err(Fail::Broken),
            }),
            Poll::Pending => {
                // While nothing comes no buffer is held.
                if reply.is_empty() {
                    self.reply = None;
                }
                Poll::Pending
            }
        }
    }

    /// The request went out, its answer has not come: what the client sends meanwhile waits for its turn. It is how a
    /// reset is noticed, and an end.
    fn read_ahead<S: Transport>(&mut self, client: &mut Client<S>, cx: &mut Context<'_>) -> Result<(), Fail> {
        let has_room = client.input.as_mut().is_none_or(|input| !input.room().is_empty());
        if client.ended || !has_room || !self.body.is_over() || self.begun.is_some() {
            return Ok(());
        }
        let was_empty = client.input.is_none();
        match client.poll_read(cx) {
            Poll::Ready(Err(_)) => Err(Fail::ClientGone),
            Poll::Ready(Ok(0)) if self.terms.abort_on_close => Err(Fail::ClientGone),
            // Once more, so that the task is woken by what comes next.
            Poll::Ready(Ok(_)) => self.read_ahead(client, cx),
            Poll::Pending => {
                if was_empty {
                    client.input = None;
                }
                Ok(())
            }
        }
    }

    /// Looks for bytes of the answer's body in what was read. False where there are none.
    fn make_passable(&mut self) -> Result<bool, Fail> {
        let State::Body(body) = &mut self.state else { return Ok(false) };
        if let Some(reply) = self.reply.as_mut().filter(|reply| !reply.is_empty()) {
            let data = body.take(reply).map_err(|refusal| Fail::BadAnswer(refusal.why))?;
            self.story.moved_out(data);
        }
        let more = body.has_ready() || body.is_read();
        if !more && body.is_bulk() && self.reply.as_ref().is_none_or(|reply| reply.is_empty() && !reply.is_bulk()) {
            self.reply = Some(Buffer::bulk());
        }
        Ok(more)
    }

    /// Looks for a head in what was read. True where one was there.
    fn find_head<S: Transport>(&mut self, client: &Client<S>) -> Result<bool, Fail> {
        let Some(reply) = self.reply.as_mut().filter(|reply| !reply.is_empty()) else { return Ok(false) };
        let Some(end) = answer::end(reply.data(), &mut self.scanned).map_err(Fail::BadAnswer)? else {
            return Ok(false);
        };
        let mut fields: Vec<Field> = Vec::with_capacity(32);
        let answer = answer::parse(&reply.data()[..end], self.terms.to_head, &mut fields).map_err(Fail::BadAnswer)?;
        if answer.status == 101 {
            return Err(Fail::BadAnswer("switching protocols without being asked to"));
        }
        if answer.is_interim() {
            self.interims += 1;
            if self.interims > INTERIM_MAX {
                return Err(Fail::BadAnswer("interim answers without an end"));
            }
        }
        if !answer.is_interim() {
            self.story.said(answer.status);
            if let (Some(acquired), Some(reply)) = (self.acquired, &self.reply) {
                let source = Source { head: &reply.data()[..end], fields: &fields };
                let parts = Parts { source, target: "", client: client.info.client.ip() };
                let value = |wanted: &Extract| extract::value(&parts, wanted);
                learn(&acquired.snapshot, acquired.choice, || client.shared.now(), &value);
            }
        }
        let mut begun = self.begin(answer, client.signals.is_closing() || client.shared.is_draining());
        // HTTP/1.0 knows no interim answers (RFC 9110 §15.2).
        if !answer.is_interim() || self.terms.minor == 1 {
            let Some(reply) = &self.reply else { return Ok(false) };
            let source = Source { head: &reply.data()[..end], fields: &fields };
            let edits = if answer.is_interim() { None } else { self.edits(source, answer.status) };
            let (edits, by) = edits.unzip();
            if let Some(rule) = by.flatten() {
                self.story.by_rule(&rule);
            }
            begun.status = edits.as_ref().and_then(|edits| edits.status).unwrap_or(answer.status);
            let told = self.diagnosed.filter(|_| !answer.is_interim());
            let towards = Towards {
                knows_chunks: self.terms.minor == 1,
                keep: begun.keep,
                set_cookie: self.terms.set_cookie.as_deref(),
                edits: edits.as_ref(),
                told: &told.map(|vserver| self.story.diagnostics(vserver, None)).unwrap_or_default(),
            };
            write::answer(&mut self.back, source, &answer, &towards);
        }
        if let Some(reply) = &mut self.reply {
            reply.consume(end);
        }
        self.scanned = 0;
        if !answer.is_interim() {
            self.state = State::Body(self.body_of(&answer));
            // A body that is malformed from the first is no answer: the client has not had a byte of it.
            self.append_first()?;
            self.begun = Some(begun);
            self.kept = None;
        }
        Ok(true)
    }

    /// What rules change in the head of the answer, and the one that gives it another status.
    fn edits(&self, from: Source<'_>, status: u16) -> Option<(HeadEdits, Option<Name>)> {
        let routed = self.routed.as_ref().filter(|routed| routed.edits_answer())?;
        let fields: Vec<(&str, &[u8])> =
            from.fields.iter().map(|field| (field.name.text(from.head), field.value.of(from.head))).collect();
        let (edits, by) = routed.answer_edits(&policy::answer::Answer { status, fields: &fields });
        Some((edits, by.cloned()))
    }

    /// What becomes of the client's connection after this answer.
    fn begin(&self, answer: Answer, closing: bool) -> Begun {
        let knows_chunks = self.terms.minor == 1;
        let tells_its_end = match answer.framing {
            Framing::None | Framing::Length(_) => true,
            Framing::Chunked => knows_chunks,
            Framing::UntilEnd => false,
        };
        // A body that is still on its way would be taken for the next request.
        let draining = || self.acquired.is_some_and(|acquired| acquired.serving.is_draining());
        let goes_on = tells_its_end && !closing && self.body.is_over() && !self.deaf && !draining();
        Begun {
            answer,
            status: answer.status,
            keep: if goes_on { self.terms.keep } else { Keep::Close },
            tells_its_end,
        }
    }

    fn body_of(&self, answer: &Answer) -> Body {
        match answer.framing {
            Framing::None => Body::none(),
            Framing::Length(length) => Body::length(length),
            Framing::Chunked if self.terms.minor == 1 => Body::chunks(Form::ChunksAndTrailers),
            Framing::Chunked => Body::chunks(Form::Data),
            Framing::UntilEnd => Body::until_end(),
        }
    }

    /// What came of the body with the head leaves with the head.
    fn append_first(&mut self) -> Result<(), Fail> {
        if self.make_passable()?
            && let (State::Body(body), Some(reply)) = (&mut self.state, &mut self.reply)
        {
            self.back.put(body.ready(reply));
            let count = body.ready(reply).len();
            body.wrote(reply, count);
        }
        Ok(())
    }
}
