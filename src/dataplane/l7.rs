//! L7: HTTP behind our own listeners. Each request is judged ([`head`]), decided ([`policy`]) and given to a member of its
//! own, on the snapshot of its moment; pingora carries the bytes.

mod forward;
pub mod head;
mod link;
mod mirror;
mod pages;
mod pingora;
pub mod policy;
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

/// Serves one connection to the end.
pub(crate) async fn serve<S: Transport>(shared: &Arc<Shared>, stream: S, info: ClientInfo, vserver: Name) {
    pingora::take_over(shared, stream, info, Bytes::new(), vserver).await;
}
