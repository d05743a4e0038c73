//! What is sent to a server at first.

use super::body::Body;
use super::buffer::Buffer;
use super::client::Client;
use super::kept::Kept;
use super::serve::Trip;
use super::write::{self, Onwards};
use crate::dataplane::l7::forward::{self, About};
use crate::dataplane::l7::head::chunk::Form;
use crate::dataplane::l7::head::{Field, Framing};
use crate::dataplane::member::Acquired;

/// What goes out first: the head, and what is there of the body. And what of the body is still to come.
pub(super) struct Outset {
    pub out: Buffer,
    pub body: Body,
    /// What leaves the input, where it may have to be sent again.
    pub kept: Option<Kept>,
    /// For copies; empty where there are none.
    pub copied_head: Vec<u8>,
}

pub(super) fn outset<S>(
    client: &mut Client<S>,
    acquired: &Acquired,
    trip: &mut Trip<'_>,
    whole: bool,
    reused: bool,
    last: bool,
) -> Outset {
    let mut out = Buffer::new();
    let input = client.input();
    let request = &mut *trip.request;
    let snapshot = &acquired.snapshot;
    let service = snapshot.model.service(acquired.choice.service);
    let about = About {
        client: client.info.client.ip(),
        port: client.info.local.port(),
        tls: client.info.is_tls(),
        host: request.host(input),
    };
    let sent = |name: &'static str| {
        let is = move |field: &&Field| field.name.of(input).eq_ignore_ascii_case(name.as_bytes());
        let named = request.fields.iter().filter(is);
        named.map(move |field| field.value.text(input))
    };
    let asked = snapshot.model.vserver_id(&client.vserver).map(|id| snapshot.model.vserver(id));
    let mut said = asked.map(|asked| forward::fields(asked, service, &about, sent)).unwrap_or_default();
    trip.story.tell_trace(&mut said, || sent("tracestate").next().is_some());
    let routed = trip.routed.as_deref_mut();
    // HTTP/1.0 needs none, but goes on as HTTP/1.1.
    let needs_host = request.head.host.is_none() || routed.is_some();
    let host = if needs_host { acquired.choice.address.to_string() } else { String::new() };
    let edits = routed.as_ref().map(|routed| &routed.edits).filter(|edits| !edits.is_empty());
    // What rules and the service say of fields counts for those behind the body as well, which nobody looks at.
    let trails = edits.is_none() && service.settings.client_ip_header.is_none();
    let onwards = Onwards { edits, said: &said, host: &host, last, trails };
    write::request(&mut out, request.source(input), &request.head, &onwards);
    let body = if whole { &input[request.length..request.length + request.body_length()] } else { &[][..] };
    let mut copied_head = Vec::new();
    if let Some(copies) = routed.map(|routed| &mut routed.copies).filter(|copies| !copies.is_empty()) {
        copies.restart();
        copies.body(body);
        copied_head = write::copied(out.data());
    }
    if whole {
        // It stays where it is until the answer is there, so that it can be sent again.
        if !body.is_empty() {
            out.put(body);
            trip.story.moved_in(body.len() as u64);
        }
        return Outset { out, body: Body::none(), kept: None, copied_head };
    }
    let body = match request.head.framing {
        Framing::None => Body::none(),
        Framing::Length(length) => Body::length(length),
        Framing::Chunked => Body::chunks(if trails { Form::ChunksAndTrailers } else { Form::Chunks }),
    };
    // Over a connection that was idle it may come to nothing through no fault of the member's.
    let keeps = reused || (request.idempotent && request.fits() && trip.repeats);
    let kept = keeps.then(|| Kept::new(request, client.input()));
    request.gone = true;
    let length = request.length;
    client.consume(length);
    Outset { out, body, kept, copied_head }
}
