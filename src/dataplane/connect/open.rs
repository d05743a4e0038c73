//! A TCP connection with a system call less than the usual way.

use std::io;
use std::net::{IpAddr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Connects, from `source` where there is one; small writes leave at once. Whether it worked is read from the readiness
/// that came: the kernel is asked only where that tells of an error.
pub(crate) async fn open(to: SocketAddr, source: Option<IpAddr>) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
    socket.set_tcp_nodelay(true)?;
    if let Some(source) = source {
        leave_from(&socket, source)?;
    }
    match socket.connect(&to.into()) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        Err(error) => return Err(error),
    }
    let stream = TcpStream::from_std(socket.into())?;
    let ready = stream.ready(Interest::WRITABLE | Interest::ERROR).await?;
    if (ready.is_error() || ready.is_write_closed())
        && let Some(error) = stream.take_error()?
    {
        return Err(error);
    }
    Ok(stream)
}

/// Has `socket` leave from `source`. Its port is chosen with the connection: one is enough for every server.
pub(crate) fn leave_from(socket: &Socket, source: IpAddr) -> io::Result<()> {
    // Without it a port of this machine is taken for each connection, which works as well, as long as there are some.
    let _ = nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::IpBindAddressNoPort, &true);
    socket.bind(&SocketAddr::new(source, 0).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_connection_leaves_from_its_source() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let source = IpAddr::from([127, 0, 0, 77]);
        assert_eq!(open(at, Some(source)).await.unwrap().local_addr().unwrap().ip(), source);
        let error = open(at, Some(IpAddr::from([192, 0, 2, 77]))).await.expect_err("it is not on this machine");
        assert_eq!(error.kind(), io::ErrorKind::AddrNotAvailable);
    }

    #[tokio::test]
    async fn a_connection_that_is_refused_is_an_error_and_one_that_is_taken_is_open() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        for _ in 0..100 {
            let stream = open(at, None).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), at);
            assert!(stream.nodelay().unwrap());
        }
        drop(listener);
        for _ in 0..100 {
            let error = open(at, None).await.expect_err("nobody listens");
            assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        }
    }
}
