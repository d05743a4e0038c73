//! Connections to servers.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::dataplane::conn::{Stream, Transport};

/// A connection to a server over which answers were read to their end, or none yet.
#[derive(Debug)]
pub(super) struct Server {
    stream: Stream,
    /// Requests that it has carried.
    pub requests: u32,
    /// It was made for one client, and is never used for another.
    pub is_the_clients: bool,
}

// === impl Server ===

impl Server {
    pub fn new(stream: Stream, is_the_clients: bool) -> Server {
        Server { stream, requests: 0, is_the_clients }
    }

    /// Whether it can be used again: nothing came while it was idle, no end either. Asks the kernel only where there is
    /// news.
    pub fn is_quiet(&mut self) -> bool {
        let mut scrap = [0; 1];
        let mut cx = Context::from_waker(Waker::noop());
        self.poll_read(&mut cx, &mut scrap).is_pending()
    }

    /// The same, asking the kernel in any case. Under TLS what lies there may be no end (a session ticket); what it is
    /// cannot be told without taking it, and a new connection costs less than a request that is lost.
    pub fn is_quiet_now(&mut self) -> bool {
        let socket = socket2::SockRef::from(self.stream.socket());
        let peeked = socket.peek(&mut [std::mem::MaybeUninit::uninit(); 1]);
        peeked.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) && self.is_quiet()
    }

    pub fn poll_read(&mut self, cx: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buf = ReadBuf::new(room);
        let read = Pin::new(&mut self.stream).poll_read(cx, &mut buf);
        read.map_ok(|()| buf.filled().len())
    }

    pub fn poll_write(&mut self, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, data)
    }

    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::{ClientConfig, RootCertStore, ServerConfig};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_rustls::{TlsAcceptor, TlsConnector, server};

    use super::*;

    /// A kept connection, over which an answer has come, and the server's end of it.
    async fn kept() -> (Server, server::TlsStream<TcpStream>) {
        let issued = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
        let provider = || Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(issued.cert.der().clone()).unwrap();
        let client = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
        let client = client.with_root_certificates(roots).with_no_client_auth();
        let server = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
        let key = issued.signing_key.serialize_der().try_into().unwrap();
        let server = server.with_no_client_auth().with_single_cert(vec![issued.cert.der().clone()], key).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let (near, far) = tokio::join!(TcpStream::connect(at), listener.accept());
        let near = TlsConnector::from(Arc::new(client)).connect("a.test".try_into().unwrap(), near.unwrap());
        let (near, far) = tokio::join!(near, TlsAcceptor::from(Arc::new(server)).accept(far.unwrap().0));
        let (mut near, mut far) = (near.unwrap(), far.unwrap());
        far.write_all(b"a").await.unwrap();
        far.flush().await.unwrap();
        assert_eq!(near.read_u8().await.unwrap(), b'a');
        let mut kept = Server::new(near.into(), false);
        assert!(kept.is_quiet() && kept.is_quiet_now(), "session tickets were read with the answer");
        (kept, far)
    }

    /// One thread, and nothing is waited for between the end and the look: only the kernel knows of it.
    #[tokio::test]
    async fn the_end_of_a_connection_through_tls_is_seen_as_soon_as_the_kernel_has_it() {
        let (mut kept, mut far) = kept().await;
        far.shutdown().await.unwrap();
        assert!(kept.is_quiet(), "what the runtime was told");
        assert!(!kept.is_quiet_now(), "close_notify");
    }

    #[tokio::test]
    async fn the_end_of_a_connection_under_tls_is_seen_as_soon_as_the_kernel_has_it() {
        let (mut kept, far) = kept().await;
        socket2::SockRef::from(far.get_ref().0).shutdown(std::net::Shutdown::Write).unwrap();
        assert!(kept.is_quiet(), "what the runtime was told");
        assert!(!kept.is_quiet_now(), "FIN");
    }
}
