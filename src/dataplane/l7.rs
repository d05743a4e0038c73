//! L7: HTTP/1.1 through pingora behind our own listeners.

pub mod head;
pub mod policy;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpStream;

use super::Shared;
use crate::model::id::Name;

pub(crate) struct Engine {}

impl Engine {
    pub(crate) fn new() -> Engine {
        Engine {}
    }
}

pub(crate) async fn serve(_shared: &Arc<Shared>, _stream: TcpStream, _client: SocketAddr, _vserver: Name) {}
