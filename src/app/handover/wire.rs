//! What two processes say to each other over a pair of Unix sockets: first a line that tells of the sockets, then one
//! message for each with its descriptor, then lines in both directions.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::dataplane::handed::Socket;

/// Of what is said here. A process that knows another one says so and ends, and the old one goes on.
pub(super) const VERSION: u32 = 1;

/// A line at most. Bytes.
const LINE_MOST: u64 = 16 << 20;

/// How long either side may take to take or give the sockets.
const PATIENCE: Duration = Duration::from_secs(20);

/// One thing that is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(super) enum Said {
    /// New: FILE is good.
    Loaded,
    /// New: it ends, and why.
    Failed { why: String },
    /// Old: the store is closed.
    Yours,
    /// New: whether every member was heard of by now, which vservers are not UP, and which are. `up` `None`: a program
    /// of a version that does not say it.
    Sees {
        settled: bool,
        down: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        up: Option<Vec<String>>,
    },
    /// Old: accept.
    Go,
    /// New: it accepts.
    Serving,
    /// Old: the service manager knows which process is the main one from now on.
    Named,
}

/// What comes before the descriptors.
#[derive(Debug, Serialize, Deserialize)]
struct Opening {
    version: u32,
    #[serde(default)]
    sockets: Vec<Label>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Label {
    owner: String,
    datagrams: bool,
    asked: SocketAddr,
}

/// Sends all sockets.
pub(super) fn send(stream: &UnixStream, sockets: &[Socket]) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let label = |s: &Socket| Label { owner: s.owner.clone(), datagrams: s.datagrams, asked: s.asked };
    let opening = Opening { version: VERSION, sockets: sockets.iter().map(label).collect() };
    (&*stream).write_all(format!("{}\n", serde_json::to_string(&opening)?).as_bytes())?;
    for socket in sockets {
        let descriptors = [socket.fd.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        rustix::net::sendmsg(stream, &[IoSlice::new(b"+")], &mut control, SendFlags::NOSIGNAL)?;
    }
    Ok(())
}

/// Takes all sockets.
pub(super) fn receive(stream: &UnixStream) -> io::Result<Vec<Socket>> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let opening: Opening = serde_json::from_str(&opening_line(stream)?)?;
    if opening.version != VERSION {
        return Err(io::Error::other(format!(
            "it hands over as version {}, this one knows {VERSION}",
            opening.version
        )));
    }
    let mut sockets = Vec::new();
    for Label { owner, datagrams, asked } in opening.sockets {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let came =
            rustix::net::recvmsg(stream, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let fd = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        match fd {
            Some(fd) => sockets.push(Socket { owner, datagrams, asked, fd }),
            None if came.bytes == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            None => return Err(io::Error::other("a socket came without its descriptor")),
        }
    }
    Ok(sockets)
}

/// The first line, byte by byte: what follows it carries descriptors.
fn opening_line(mut stream: &UnixStream) -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < LINE_MOST as usize {
        stream.read_exact(&mut byte)?;
        if byte[0] == b'\n' {
            return String::from_utf8(line).map_err(io::Error::other);
        }
        line.push(byte[0]);
    }
    Err(io::Error::other("a line without an end"))
}

/// The two ends talk.
pub(super) struct Line {
    from: BufReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
    /// Of the line that is coming.
    partial: Vec<u8>,
}

// === impl Line ===

impl Line {
    /// To be called inside a runtime.
    pub fn new(stream: UnixStream) -> io::Result<Line> {
        stream.set_nonblocking(true)?;
        let (from, to) = tokio::net::UnixStream::from_std(stream)?.into_split();
        Ok(Line { from: BufReader::new(from), to, partial: Vec::new() })
    }

    pub async fn say(&mut self, said: &Said) -> io::Result<()> {
        let line = format!("{}\n", serde_json::to_string(said)?);
        self.to.write_all(line.as_bytes()).await
    }

    /// The next that the other one says; may be given up in the middle and asked again. Errors: it has ended, or says what
    /// is unknown.
    pub async fn hear(&mut self) -> io::Result<Said> {
        (&mut self.from).take(LINE_MOST).read_until(b'\n', &mut self.partial).await?;
        let line = std::mem::take(&mut self.partial);
        match line.last() {
            Some(b'\n') => Ok(serde_json::from_slice(&line)?),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "clients of a test may block")]
mod tests {
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use super::*;
    use crate::dataplane::handed::Handed;

    #[test]
    fn sockets_arrive_with_their_labels_and_work_after_the_sender_has_closed_its_own() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let (listener, datagrams) = (TcpListener::bind(any).unwrap(), UdpSocket::bind(any).unwrap());
        let at = (listener.local_addr().unwrap(), datagrams.local_addr().unwrap());
        let sockets = [
            Socket::stream("vserver web", any, &listener).unwrap(),
            Socket::datagram("dns", at.1, &datagrams).unwrap(),
        ];
        send(&ours, &sockets).unwrap();
        drop((sockets, listener, datagrams));
        let client = TcpStream::connect(at.0).unwrap();
        UdpSocket::bind(any).unwrap().send_to(b"hello", at.1).unwrap();
        let handed = Handed::new(receive(&theirs).unwrap());
        let listener = handed.listener("vserver web", any).unwrap();
        listener.set_nonblocking(false).unwrap();
        assert_eq!(listener.accept().unwrap().1, client.local_addr().unwrap());
        let datagrams = handed.datagrams("dns", at.1).pop().unwrap();
        let mut bytes = [0; 16];
        assert_eq!(datagrams.recv(&mut bytes).unwrap(), 5);
        assert_eq!(handed.close(), 0);
    }

    #[test]
    fn another_version_and_an_end_in_the_middle_are_errors_and_no_sockets() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (&ours).write_all(b"{\"version\":2,\"words\":[]}\n").unwrap();
        assert!(receive(&theirs).unwrap_err().to_string().contains("version 2"));
        let (ours, theirs) = UnixStream::pair().unwrap();
        let label = r#"{"owner":"dns","datagrams":false,"asked":"127.0.0.1:53"}"#;
        (&ours).write_all(format!("{{\"version\":1,\"sockets\":[{label}]}}\n").as_bytes()).unwrap();
        drop(ours);
        assert_eq!(receive(&theirs).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[tokio::test]
    async fn what_is_said_is_heard_and_the_end_of_the_other_one_too() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut old, mut new) = (Line::new(ours).unwrap(), Line::new(theirs).unwrap());
        let said = Said::Sees { settled: true, down: vec!["web".into()], up: Some(vec!["api".into()]) };
        new.say(&said).await.unwrap();
        new.say(&Said::Serving).await.unwrap();
        drop(new);
        assert_eq!(old.hear().await.unwrap(), said);
        assert_eq!(old.hear().await.unwrap(), Said::Serving, "said before it ended");
        assert_eq!(old.hear().await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_version_that_says_less_of_what_it_sees_is_understood() {
        let said: Said = serde_json::from_str(r#"{"say":"sees","settled":true,"down":["web"]}"#).unwrap();
        assert_eq!(said, Said::Sees { settled: true, down: vec!["web".into()], up: None });
    }
}
