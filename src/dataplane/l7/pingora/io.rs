//! Our streams as pingora's `IO`.

use std::sync::Arc;

use async_trait::async_trait;
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::{
    GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl, TimingDigest, UniqueID,
    UniqueIDType,
};
use pingora_http::ResponseHeader;
use tokio::io::AsyncWriteExt;

use crate::dataplane::l7::stream::ClientStream;

macro_rules! engine_io {
    ($($stream:ty),+) => {$(
        #[async_trait]
        impl Shutdown for $stream {
            async fn shutdown(&mut self) {
                let _ = AsyncWriteExt::shutdown(self).await;
            }
        }

        impl UniqueID for $stream {
            fn id(&self) -> UniqueIDType {
                self.fd()
            }
        }

        impl Ssl for $stream {}

        impl GetTimingDigest for $stream {
            fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
                Vec::new()
            }
        }

        /// Carries the link to the hooks.
        impl GetProxyDigest for $stream {
            fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
                let head = ResponseHeader::build(200, Some(0)).ok()?;
                Some(Arc::new(ProxyDigest::new(Box::new(head), Some(Box::new(Arc::clone(self.link()))))))
            }
        }

        impl GetSocketDigest for $stream {
            fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
                let digest = SocketDigest::from_raw_fd(self.fd());
                let _ = digest.peer_addr.set(Some(self.link().client.into()));
                Some(Arc::new(digest))
            }
        }

        impl Peek for $stream {}
    )+};
}

engine_io!(ClientStream);
