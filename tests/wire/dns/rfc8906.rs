//! RFC 8906 as a table: queries that a server may not know what to do with, over UDP and TCP, and what each must get.

use std::sync::Arc;
use std::time::Duration;

use bascule::model::dns::{ClientSubnet, Cookies};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UdpSocket};

use super::{Appliance, framed, name, read_bytes, soon};

/// A query in parts.
struct Ask {
    /// The two bytes of flags: opcode, RD, Z, AD, CD.
    flags: u16,
    /// `None`: a bare header.
    rtype: Option<u16>,
    /// Version, flags and options of the OPT record.
    opt: Option<(u8, u16, Vec<u8>)>,
    size: u16,
    owner: &'static str,
}

const CLIENT_COOKIE: &[u8] = &[0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8];
/// With sixteen bytes to come.
const CLIENT_COOKIE_24: &[u8] = &[0, 10, 0, 24, 1, 2, 3, 4, 5, 6, 7, 8];
const SOA: u16 = 6;
const A: u16 = 1;

fn ask(rtype: u16) -> Ask {
    Ask { flags: 0, rtype: Some(rtype), opt: None, size: 1232, owner: "example.test." }
}

fn flags(flags: u16) -> Ask {
    Ask { flags, ..ask(SOA) }
}

fn edns(version: u8, flags: u16, options: &[u8]) -> Ask {
    Ask { opt: Some((version, flags, options.to_vec())), ..ask(SOA) }
}

impl Ask {
    fn wire(&self) -> Vec<u8> {
        let mut wire = vec![0xab, 0xcd];
        wire.extend(self.flags.to_be_bytes());
        wire.extend([0, u8::from(self.rtype.is_some()), 0, 0, 0, 0, 0, u8::from(self.opt.is_some())]);
        if let Some(rtype) = self.rtype {
            wire.extend_from_slice(&name(self.owner).0);
            wire.extend(rtype.to_be_bytes());
            wire.extend([0, 1]);
        }
        if let Some((version, flags, options)) = &self.opt {
            wire.extend([0, 0, 41]);
            wire.extend(self.size.to_be_bytes());
            wire.extend([0, *version]);
            wire.extend(flags.to_be_bytes());
            wire.extend((options.len() as u16).to_be_bytes());
            wire.extend(options);
        }
        wire
    }
}

/// What is looked at in an answer, written as a line: `NOERROR aa 1/0/0`, and of the OPT record its version, its flags
/// and the codes of its options.
fn seen(wire: &[u8], question: &[u8]) -> String {
    assert_eq!(wire[..2], [0xab, 0xcd], "the id of the query");
    let rcodes = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"];
    let count = |at: usize| u16::from_be_bytes([wire[at], wire[at + 1]]);
    assert!(wire[2] & 0x80 != 0, "QR");
    assert_eq!(wire[2] & 0x79, question[2] & 0x79, "opcode and RD as asked");
    assert_eq!(wire[3] & 0xf0, 0, "RA, Z, AD and CD are never set");
    let mut rcode = usize::from(wire[3] & 0x0f);
    let mut opt = String::new();
    if count(10) > 0
        && let Some(at) = wire.windows(5).rposition(|w| w == [0, 0, 41, 4, 208])
    {
        rcode |= usize::from(wire[at + 5]) << 4;
        let length = usize::from(u16::from_be_bytes([wire[at + 9], wire[at + 10]]));
        assert_eq!(at + 11 + length, wire.len(), "the OPT record is the last and whole");
        opt = format!(" edns{} flags {:#x}", wire[at + 6], u16::from_be_bytes([wire[at + 7], wire[at + 8]]));
        let mut rest = &wire[at + 11..];
        while rest.len() >= 4 {
            opt += &format!(" option {}", u16::from_be_bytes([rest[0], rest[1]]));
            rest = &rest[4 + usize::from(u16::from_be_bytes([rest[2], rest[3]]))..];
        }
    }
    let rcode = match rcode {
        16 => "BADVERS",
        23 => "BADCOOKIE",
        _ => rcodes[rcode],
    };
    let flag = |bit: u8, word: &'static str| if wire[2] & bit != 0 { word } else { "" };
    let aa = flag(4, " aa").to_owned() + flag(2, " tc");
    format!("{rcode}{aa} {}/{}/{}{opt}", count(6), count(8), count(10))
}

async fn udp(server: std::net::SocketAddr, query: &[u8]) -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.send_to(query, server).await.unwrap();
    let mut buffer = vec![0; 4096];
    let length = soon(socket.recv(&mut buffer)).await.unwrap();
    buffer.truncate(length);
    buffer
}

async fn tcp(server: std::net::SocketAddr, query: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server).await.unwrap();
    stream.write_all(&framed(query)).await.unwrap();
    read_bytes(&mut stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_may_not_know_is_answered_as_rfc_8906_has_it() {
    let appliance = Appliance::start(&["127.0.0.1:0"]).await;
    let unknown_option: &[u8] = &[0, 100, 0, 2, 7, 7];
    // NSID, subnet, cookie, EXPIRE, keepalive, in one query.
    let known: Vec<u8> = [
        &[0, 3, 0, 0][..],
        &[0, 8, 0, 7, 0, 1, 24, 0, 192, 0, 2],
        &[0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8],
        &[0, 9, 0, 0],
        &[0, 11, 0, 0],
    ]
    .concat();
    let opcode = |n: u16| flags(n << 11);
    let many = |size: u16| Ask { owner: "many.example.test.", size, rtype: Some(A), ..edns(0, 0, &[]) };
    let table: Vec<(&str, Ask, &str, &str)> = vec![
        ("§8.1.1 the zone is here", ask(SOA), "NOERROR aa 1/0/0", ""),
        ("§8.1.2 an unknown type", ask(1000), "NOERROR aa 0/1/0", ""),
        ("§8.1.2 a private type", ask(65_280), "NOERROR aa 0/1/0", ""),
        ("a meta type that nobody knows", ask(240), "NOTIMP 0/0/0", ""),
        ("§8.1.3.1 AD", flags(0x0020), "NOERROR aa 1/0/0", ""),
        ("§8.1.3.1 CD", flags(0x0010), "NOERROR aa 1/0/0", ""),
        ("§8.1.3.2 the last reserved bit", flags(0x0040), "NOERROR aa 1/0/0", ""),
        ("§8.1.3.3 recursion", flags(0x0100), "NOERROR aa 1/0/0", ""),
        ("AA, TC, RA and a code in a query", flags(0x068b), "NOERROR aa 1/0/0", ""),
        ("§8.1.4 an unknown opcode, header only", Ask { rtype: None, ..opcode(15) }, "NOTIMP 0/0/0", ""),
        ("an inverse query", opcode(1), "NOTIMP 0/0/0", ""),
        ("STATUS", opcode(2), "NOTIMP 0/0/0", ""),
        ("UPDATE", opcode(5), "NOTIMP 0/0/0", ""),
        ("a stateful operation", opcode(6), "NOTIMP 0/0/0", ""),
        ("§8.2.1 EDNS", edns(0, 0, &[]), "NOERROR aa 1/0/1 edns0 flags 0x0", ""),
        ("§8.2.2 version 1", edns(1, 0, &[]), "BADVERS 0/0/1 edns0 flags 0x0", ""),
        ("version 255", edns(255, 0, &[]), "BADVERS 0/0/1 edns0 flags 0x0", ""),
        ("§8.2.3 an unknown option", edns(0, 0, unknown_option), "NOERROR aa 1/0/1 edns0 flags 0x0", ""),
        ("§8.2.4 an unknown flag", edns(0, 0x0040, &[]), "NOERROR aa 1/0/1 edns0 flags 0x0", ""),
        ("§8.2.5 version 1 and a flag", edns(1, 0x0040, &[]), "BADVERS 0/0/1 edns0 flags 0x0", ""),
        ("§8.2.6 version 1 and an option", edns(1, 0, unknown_option), "BADVERS 0/0/1 edns0 flags 0x0", ""),
        ("§8.2.8 DNSSEC", edns(0, 0x8000, &[]), "NOERROR aa 1/0/1 edns0 flags 0x8000", ""),
        ("§8.2.9 version 1 and DNSSEC", edns(1, 0x8000, &[]), "BADVERS 0/0/1 edns0 flags 0x8000", ""),
        (
            "§8.2.10 many options",
            edns(0, 0, &known),
            "NOERROR aa 1/0/1 edns0 flags 0x0 option 10",
            "NOERROR aa 1/0/1 edns0 flags 0x0 option 10 option 11",
        ),
        (
            "§8.2.7 a long answer",
            many(512),
            "NOERROR aa tc 0/0/1 edns0 flags 0x0",
            "NOERROR aa 100/0/1 edns0 flags 0x0",
        ),
        (
            "a payload beyond what is sent",
            many(65_535),
            "NOERROR aa tc 0/0/1 edns0 flags 0x0",
            "NOERROR aa 100/0/1 edns0 flags 0x0",
        ),
        ("a payload of nothing", Ask { size: 0, ..edns(0, 0, &[]) }, "NOERROR aa 1/0/1 edns0 flags 0x0", ""),
        ("a cookie of no length that is one", edns(0, 0, &[0, 10, 0, 4, 1, 2, 3, 4]), "FORMERR 0/0/0", ""),
        ("the type of EDNS itself", ask(41), "NOTIMP 0/0/0", ""),
        ("type 0, which is none", ask(0), "NOERROR aa 0/1/0", ""),
        ("no question", Ask { rtype: None, ..ask(0) }, "FORMERR 0/0/0", ""),
        ("no question, with EDNS", Ask { rtype: None, ..edns(0, 0, &[]) }, "FORMERR 0/0/0", ""),
        (
            "RFC 7873 §5.4: a cookie and no question",
            Ask { rtype: None, ..edns(0, 0, CLIENT_COOKIE) },
            "NOERROR 0/0/1 edns0 flags 0x0 option 10",
            "",
        ),
        (
            "RFC 7873 §5.4: the cookie of another server",
            Ask { rtype: None, ..edns(0, 0, &[CLIENT_COOKIE_24, &[9; 16]].concat()) },
            "BADCOOKIE 0/0/1 edns0 flags 0x0 option 10",
            "",
        ),
        ("a name that is not here", Ask { owner: "example.org.", ..ask(SOA) }, "REFUSED 0/0/0", ""),
    ];
    let mut wrong = Vec::new();
    for (what, ask, over_udp, over_tcp) in &table {
        let query = ask.wire();
        let over_tcp = if over_tcp.is_empty() { over_udp } else { over_tcp };
        for (transport, expected, got) in [
            ("UDP", over_udp, udp(appliance.address(), &query).await),
            ("TCP", over_tcp, tcp(appliance.address(), &query).await),
        ] {
            let got = seen(&got, &query);
            if got != **expected {
                wrong.push(format!("{what} over {transport}\n  expected {expected}\n  got      {got}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_are_answered_where_they_are_configured() {
    let mut appliance = Appliance::start(&["127.0.0.1:0"]).await;
    appliance.model.dns.nsid = Some("gtm-a".into());
    appliance.model.dns.ecs = Some(ClientSubnet { ipv4_prefix: 24, ipv6_prefix: 56, from: Vec::new() });
    appliance.publish(false).await;
    let ask = |options: &[u8]| edns(0, 0, options).wire();
    let nsid = udp(appliance.address(), &ask(&[0, 3, 0, 0])).await;
    assert!(nsid.ends_with(b"\x00\x03\x00\x05gtm-a"), "{nsid:?}");
    // A subnet comes back with the scope of the answer: this one is for everybody.
    let subnet = udp(appliance.address(), &ask(&[0, 8, 0, 8, 0, 1, 32, 0, 192, 0, 2, 1])).await;
    assert!(subnet.ends_with(&[0, 8, 0, 8, 0, 1, 32, 0, 192, 0, 2, 1]), "{subnet:?}");
    for malformed in [
        &[0, 8, 0, 7, 0, 1, 23, 0, 192, 0, 3][..],
        &[0, 8, 0, 7, 0, 9, 24, 0, 192, 0, 2],
        &[0, 8, 0, 8, 0, 1, 24, 0, 192, 0, 2, 0],
        &[0, 8, 0, 7, 0, 1, 24, 24, 192, 0, 2],
        &[0, 8, 0, 2, 0, 1],
    ] {
        assert_eq!(udp(appliance.address(), &ask(malformed)).await[3] & 0x0f, 1, "{malformed:?} is FORMERR");
    }

    // The cookie that a server gives is good at the next query, and off is off.
    let given = udp(appliance.address(), &ask(&[0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8])).await;
    let cookie = given[given.len() - 28..].to_vec();
    assert_eq!(cookie[..12], [0, 10, 0, 24, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(udp(appliance.address(), &ask(&cookie)).await.ends_with(&cookie));
    // Also without a question (RFC 7873 §5.4).
    let alone = Ask { rtype: None, ..edns(0, 0, &cookie) }.wire();
    let again = udp(appliance.address(), &alone).await;
    assert_eq!(seen(&again, &alone), "NOERROR 0/0/1 edns0 flags 0x0 option 10");
    assert!(again.ends_with(&cookie));
    let good = || appliance.cell.load().dns.good_cookies_total.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(good(), 2);
    appliance.model.dns.cookies = Cookies::Off;
    appliance.publish(false).await;
    assert!(udp(appliance.address(), &ask(&cookie)).await.ends_with(&[0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]));
    assert_eq!(seen(&udp(appliance.address(), &alone).await, &alone), "FORMERR 0/0/0");
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_over_udp_is_held_back_but_not_tcp_and_not_who_has_a_cookie() {
    let mut appliance = Appliance::start(&["127.0.0.1:0"]).await;
    appliance.model.dns.rate_limit = Some(bascule::model::dns::RateLimit {
        per_second: 1,
        slip: 1,
        ipv4_prefix: 24,
        ipv6_prefix: 56,
        table: 1_024,
        exempt: Vec::new(),
    });
    appliance.publish(false).await;
    let query = edns(0, 0, &[0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]).wire();
    let mut slipped = Vec::new();
    for _ in 0..20 {
        let reply = udp(appliance.address(), &query).await;
        if reply[2] & 2 != 0 {
            slipped = reply;
        }
    }
    assert_eq!(seen(&slipped, &query), "NOERROR tc 0/0/1 edns0 flags 0x0 option 10");
    let cookie = edns(0, 0, &slipped[slipped.len() - 28..]).wire();
    for _ in 0..20 {
        assert_eq!(
            seen(&udp(appliance.address(), &cookie).await, &cookie),
            "NOERROR aa 1/0/1 edns0 flags 0x0 option 10"
        );
        assert_eq!(tcp(appliance.address(), &query).await[2] & 2, 0);
    }
    let live = Arc::clone(&appliance.cell.load().dns);
    assert!(live.slipped_total.load(std::sync::atomic::Ordering::Relaxed) >= 10);
    // What is no query is answered as rarely.
    let mut notify = query.clone();
    notify[2] = 4 << 3;
    let limited = || live.limited_total.load(std::sync::atomic::Ordering::Relaxed);
    let (before, socket) = (limited(), UdpSocket::bind("127.0.0.1:0").await.unwrap());
    for _ in 0..50 {
        socket.send_to(&notify, appliance.address()).await.unwrap();
    }
    while limited() < before + 40 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    drop(appliance.server.take());
}
