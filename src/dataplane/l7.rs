//! L7: HTTP behind our own listeners. Each request is judged ([`head`]), decided ([`policy`]) and given to a member of its
//! own, on the snapshot of its moment. Two engines carry the bytes, by the same rules: [`relay`] the common request, and
//! [`mod@pingora`] HTTP/2, upgrades and what is rare.

mod close;
mod date;
mod forward;
pub mod head;
mod link;
mod mirror;
mod pages;
mod pingora;
pub mod policy;
mod relay;
pub(crate) mod routed;
mod sticky;
mod stream;

use std::sync::Arc;

use bytes::Bytes;

use super::Shared;
use super::conn::{ClientInfo, Transport};
use crate::model::id::Name;

pub(crate) use mirror::Mirrors;
pub(crate) use pingora::Engine;
pub(crate) use relay::Relay;

/// Who is given connections at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// The relay, which hands on what it does not carry.
    #[default]
    Relay,
    /// Always pingora: the engines can be compared.
    Pingora,
}

/// Serves one connection to the end.
pub(crate) async fn serve<S: Transport>(shared: &Arc<Shared>, stream: S, info: ClientInfo, vserver: Name) {
    if shared.carrier == Carrier::Pingora || info.tls.as_ref().is_some_and(|tls| tls.http2) {
        return Box::pin(pingora::take_over(shared, stream, info, Bytes::new(), vserver)).await;
    }
    relay::serve(shared, stream, info, vserver).await;
}
