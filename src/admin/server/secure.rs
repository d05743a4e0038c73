//! A TCP connection where TLS is spoken: the handshake has its time and its number, and who speaks plain text is told.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header, uri};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::server::Acceptor;

use super::super::auth::Peer;
use super::super::problem::Problem;
use super::super::tls::Identity;
use super::carry;

/// From the connection to the end of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Handshakes that are computed at once: each costs a signature, and traffic needs the other cores. No turn is held while a
/// peer is waited for, so who says half of something holds nobody up.
const SIGNATURES_AT_ONCE: usize = 1;
/// The first byte of TLS: a handshake record.
const HANDSHAKE: u8 = 0x16;

/// What all connections over TLS share.
#[derive(Clone)]
pub(super) struct Secure {
    turns: Arc<Semaphore>,
    plain: Router,
}

// === impl Secure ===

impl Secure {
    pub fn new() -> Secure {
        Secure { turns: Arc::new(Semaphore::new(SIGNATURES_AT_ONCE)), plain: Router::new().fallback(speak_tls) }
    }

    pub async fn carry(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        identity: Arc<Identity>,
        router: Router,
        shutdown: watch::Receiver<bool>,
    ) {
        let opening = async {
            let mut first = [0];
            if stream.peek(&mut first).await.ok() != Some(1) {
                return None;
            }
            if first[0] != HANDSHAKE {
                return Some(Err(stream));
            }
            let shaken = async {
                let hello = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
                let handshake = {
                    let _turn = self.turns.acquire().await.map_err(std::io::Error::other)?;
                    hello.into_stream(Arc::clone(&identity.config))
                };
                handshake.await
            };
            match shaken.await {
                Ok(stream) => Some(Ok(stream)),
                Err(error) => {
                    tracing::debug!(%error, peer = %address.ip(), "a handshake with the management failed");
                    None
                }
            }
        };
        // The stream is gone where this takes too long.
        match tokio::time::timeout(HANDSHAKE_TIMEOUT, opening).await.ok().flatten() {
            Some(Ok(stream)) => carry(stream, Peer::Tcp { address, tls: true }, router, shutdown).await,
            Some(Err(stream)) => {
                carry(stream, Peer::Tcp { address, tls: false }, self.plain.clone(), shutdown).await;
            }
            None => {}
        }
    }
}

/// Sends a reader on to where TLS is spoken. An act is refused: what it carried has crossed the network already, and must
/// not do so again without anybody noticing.
async fn speak_tls(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()?.parse::<uri::Authority>().ok());
    let path = uri.path_and_query().map_or("/", uri::PathAndQuery::as_str);
    let refused = || {
        let detail =
            "this address speaks TLS only: use https://; what this request carried went over the network unprotected";
        Problem::new(StatusCode::BAD_REQUEST, "tls_only", detail)
            .header(header::CONNECTION, HeaderValue::from_static("close"))
    };
    let Some(host) = host.filter(|_| matches!(method, Method::GET | Method::HEAD)) else {
        return refused().into_response();
    };
    match HeaderValue::from_str(&format!("https://{host}{path}")) {
        Ok(to) => {
            let fields = [(header::LOCATION, to), (header::CONNECTION, HeaderValue::from_static("close"))];
            (StatusCode::PERMANENT_REDIRECT, fields).into_response()
        }
        Err(_) => refused().into_response(),
    }
}
