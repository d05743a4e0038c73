//! The PROXY protocol: a header at the start of a connection that says on whose behalf it is made.
//!
//! In: where a vserver asks for it, and then on every connection; read strictly, byte by byte as much as is surely the
//! header, so that nothing of what follows is taken. Out: where a service asks for it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::conn::TlsInfo;
use crate::model::service::ProxyProtocol;
use crate::model::tls::TlsVersion;

/// Time for the whole header.
const LIMIT: Duration = Duration::from_secs(5);
/// Bytes of a line of version 1, its end included.
const LINE_MAX: usize = 107;
/// Bytes of a header of version 2 behind its first 16: addresses and fields. The protocol asks for no more than 520.
const BLOCK_MAX: usize = 4096;
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// Who the client is and what it connected to. `None`: the header says that it is the proxy itself, such as a health
/// check, or says nothing.
pub(crate) type Told = Option<(SocketAddr, SocketAddr)>;

/// Takes the header off the connection. Errors of kind `InvalidData` say what is wrong with it.
pub(crate) async fn read(stream: &mut TcpStream) -> io::Result<Told> {
    let header = async {
        let mut first = [0; 12];
        stream.read_exact(&mut first).await?;
        if first == SIGNATURE {
            return read_v2(stream).await;
        }
        if !first.starts_with(b"PROXY ") {
            return Err(invalid("no PROXY protocol header"));
        }
        read_v1(stream, first.to_vec()).await
    };
    tokio::time::timeout(LIMIT, header).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

async fn read_v1(stream: &mut TcpStream, mut line: Vec<u8>) -> io::Result<Told> {
    // Twelve bytes are fewer than the shortest line has, so that its end is still to come.
    let mut waiting = [0; LINE_MAX];
    loop {
        let most = LINE_MAX - line.len();
        let seen = stream.peek(&mut waiting[..most]).await?;
        if seen == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let end = waiting[..seen].iter().position(|&b| b == b'\n').map(|at| at + 1);
        let taken = &mut waiting[..end.unwrap_or(seen)];
        stream.read_exact(taken).await?;
        line.extend_from_slice(taken);
        if end.is_some() {
            return parse_v1(&line).map_err(invalid);
        }
        if line.len() == LINE_MAX {
            return Err(invalid("the line is too long"));
        }
    }
}

/// A whole line, CR LF included.
fn parse_v1(line: &[u8]) -> Result<Told, &'static str> {
    let text =
        line.strip_suffix(b"\r\n").and_then(|line| std::str::from_utf8(line).ok()).ok_or("the line is malformed")?;
    let mut words = text.split(' ');
    if words.next() != Some("PROXY") {
        return Err("the line is malformed");
    }
    let family = words.next().ok_or("no family")?;
    match family {
        // Whatever follows is to be ignored.
        "UNKNOWN" => return Ok(None),
        "TCP4" | "TCP6" => {}
        _ => return Err("an unknown family"),
    }
    let mut address = || words.next()?.parse::<IpAddr>().ok().filter(|ip| ip.is_ipv6() == (family == "TCP6"));
    let (source, destination) = (address().ok_or("not an address")?, address().ok_or("not an address")?);
    let mut port = || words.next().and_then(port);
    let (from, to) = (port().ok_or("not a port")?, port().ok_or("not a port")?);
    if words.next().is_some() {
        return Err("more than addresses and ports");
    }
    Ok(Some((SocketAddr::new(source, from), SocketAddr::new(destination, to))))
}

/// Digits alone, without leading zeros.
fn port(word: &str) -> Option<u16> {
    let canonical = word.bytes().all(|b| b.is_ascii_digit()) && (word == "0" || !word.starts_with('0'));
    word.parse().ok().filter(|_| canonical)
}

async fn read_v2(stream: &mut TcpStream) -> io::Result<Told> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    let [version_and_command, family, a, b] = head;
    let length = usize::from(u16::from_be_bytes([a, b]));
    if version_and_command >> 4 != 2 {
        return Err(invalid("an unknown version"));
    }
    if length > BLOCK_MAX {
        return Err(invalid("the header is too long"));
    }
    let mut block = vec![0; length];
    stream.read_exact(&mut block).await?;
    parse_v2(version_and_command & 0xf, family, &block).map_err(invalid)
}

fn parse_v2(command: u8, family: u8, block: &[u8]) -> Result<Told, &'static str> {
    match command {
        // The proxy's own connection: addresses, if any, are to be ignored.
        0 => return Ok(None),
        1 => {}
        _ => return Err("an unknown command"),
    }
    let (ends, fields) = match family {
        // UNSPEC: nothing is known of the client.
        0x00 => return Ok(None),
        0x11 => {
            let (block, fields) = block.split_first_chunk::<12>().ok_or("addresses are missing")?;
            let [a, b, c, d, e, f, g, h, ports @ ..] = *block;
            (sockets([a, b, c, d].into(), [e, f, g, h].into(), ports), fields)
        }
        0x21 => {
            let (block, fields) = block.split_first_chunk::<36>().ok_or("addresses are missing")?;
            let source: [u8; 16] = block[..16].try_into().map_err(|_| "addresses are missing")?;
            let destination: [u8; 16] = block[16..32].try_into().map_err(|_| "addresses are missing")?;
            let ports = block[32..].try_into().map_err(|_| "addresses are missing")?;
            (sockets(source.into(), destination.into(), ports), fields)
        }
        _ => return Err("not TCP over IP"),
    };
    if !are_fields(fields) {
        return Err("malformed fields");
    }
    Ok(Some(ends))
}

fn sockets(source: IpAddr, destination: IpAddr, ports: [u8; 4]) -> (SocketAddr, SocketAddr) {
    let [a, b, c, d] = ports;
    (SocketAddr::new(source, u16::from_be_bytes([a, b])), SocketAddr::new(destination, u16::from_be_bytes([c, d])))
}

/// Type, length and value, to the end. What they say is not used.
fn are_fields(mut rest: &[u8]) -> bool {
    while !rest.is_empty() {
        let Some((&[_, a, b], values)) = rest.split_first_chunk::<3>() else { return false };
        let Some((_, after)) = values.split_at_checked(u16::from_be_bytes([a, b]).into()) else { return false };
        rest = after;
    }
    true
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// The header for a connection that is made for a client at `ends.0` that connected to `ends.1`.
pub(crate) fn header(version: ProxyProtocol, ends: (SocketAddr, SocketAddr), tls: Option<&TlsInfo>) -> Vec<u8> {
    let (source, destination) = same_family(ends.0, ends.1);
    match version {
        ProxyProtocol::V1 => {
            let family = if source.is_ipv4() { "TCP4" } else { "TCP6" };
            let (from, to) = (source.port(), destination.port());
            format!("PROXY {family} {} {} {from} {to}\r\n", source.ip(), destination.ip()).into_bytes()
        }
        ProxyProtocol::V2 => v2(source, destination, tls),
    }
}

fn v2(source: SocketAddr, destination: SocketAddr, tls: Option<&TlsInfo>) -> Vec<u8> {
    let mut block = Vec::new();
    for end in [source, destination] {
        match end.ip() {
            IpAddr::V4(ip) => block.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => block.extend_from_slice(&ip.octets()),
        }
    }
    block.extend_from_slice(&source.port().to_be_bytes());
    block.extend_from_slice(&destination.port().to_be_bytes());
    if let Some(tls) = tls {
        fields(&mut block, tls);
    }
    let mut header = SIGNATURE.to_vec();
    header.extend_from_slice(&[0x21, if source.is_ipv4() { 0x11 } else { 0x21 }]);
    header.extend_from_slice(&u16::try_from(block.len()).unwrap_or(0).to_be_bytes());
    header.extend_from_slice(&block);
    header
}

/// PP2_TYPE_AUTHORITY (the SNI) and PP2_TYPE_SSL with its version.
fn fields(block: &mut Vec<u8>, tls: &TlsInfo) {
    let mut field = |kind: u8, value: &[u8]| {
        block.push(kind);
        block.extend_from_slice(&u16::try_from(value.len()).unwrap_or(0).to_be_bytes());
        block.extend_from_slice(value);
    };
    if let Some(name) = &tls.server_name {
        field(0x02, name.as_bytes());
    }
    let version: &[u8] = match tls.version {
        TlsVersion::V1_2 => b"TLSv1.2",
        TlsVersion::V1_3 => b"TLSv1.3",
    };
    // The client speaks TLS; whether its certificate was verified is not told (0 would say that it was).
    let mut ssl = vec![0x01, 0, 0, 0, 1, 0x21, 0, 7];
    ssl.extend_from_slice(version);
    field(0x20, &ssl);
}

/// Both of one family, as a header can tell: IPv4 goes into IPv6 where only one is.
fn same_family(source: SocketAddr, destination: SocketAddr) -> (SocketAddr, SocketAddr) {
    let canonical = |end: SocketAddr| SocketAddr::new(end.ip().to_canonical(), end.port());
    let (source, destination) = (canonical(source), canonical(destination));
    if source.is_ipv4() == destination.is_ipv4() {
        return (source, destination);
    }
    let mapped = |end: SocketAddr| match end.ip() {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), end.port()),
        IpAddr::V6(_) => end,
    };
    (mapped(source), mapped(destination))
}

#[cfg(test)]
mod tests;
