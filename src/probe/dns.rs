//! DNS: one query over UDP or TCP, recursion desired.
//!
//! An answer counts when it comes from the address that was asked (the socket is connected), repeats the id and the
//! question, and has no error. It must hold a record of the type asked for and, where addresses are expected, at least
//! one of them. Datagrams that answer something else are not the server's word on our question: they are passed over
//! until the time-out, which then counts them.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};

use super::wire::Wire;
use super::{Answer, Deadline, Found, Miss, connect, random, udp};
use crate::model::check::DnsType;

/// Largest answer looked at. Bytes.
const ANSWER_MAX: usize = 4096;

/// What a datagram says.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    /// Not an answer to our question.
    Stray,
    Pass(String),
    Fail(String),
}

/// `to`: the addresses, and where it leaves from.
pub(super) async fn probe(
    to: (&[SocketAddr], Option<IpAddr>),
    tcp: bool,
    query: &str,
    qtype: DnsType,
    expect: &[IpAddr],
    deadline: Deadline,
) -> Found {
    let asked = question(query, qtype, u16::from_be_bytes(random())).map_err(Miss::Fail)?;
    let bytes = asked.to_vec().map_err(|error| Miss::Fail(format!("the query cannot be written: {error}")))?;
    let about = format!("about {query} {}", word(qtype));
    match tcp {
        true => over_tcp(to, &bytes, &about, |answer| judge(answer, &asked, expect), deadline).await,
        false => over_udp((to.0[0], to.1), &bytes, &about, |answer| judge(answer, &asked, expect), deadline).await,
    }
}

async fn over_udp(
    (address, source): (SocketAddr, Option<IpAddr>),
    query: &[u8],
    about: &str,
    judge: impl Fn(&[u8]) -> Reply,
    deadline: Deadline,
) -> Found {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::ConnectionRefused => Miss::Fail(format!("{address}: port unreachable")),
        _ => Miss::from_io(&error, &format!("DNS query to {address}")),
    };
    let socket = udp::connected(address, source, failed).await?;
    socket.send(query).await.map_err(failed)?;
    let mut datagram = [0; ANSWER_MAX];
    let mut strays = 0_u32;
    loop {
        let waiting_for = || match strays {
            0 => format!("an answer from {address} {about}"),
            n => format!("an answer from {address} {about} (strays passed over: {n})"),
        };
        let received = deadline.within(waiting_for, socket.recv(&mut datagram)).await?;
        match judge(&datagram[..received.map_err(failed)?]) {
            Reply::Stray => strays += 1,
            Reply::Pass(what) => return Ok(Answer::pass(what)),
            Reply::Fail(what) => return Err(Miss::Fail(format!("{address}: {what}"))),
        }
    }
}

/// Messages with their length before them (RFC 1035 §4.2.2). On a connection of our own nothing else can be due.
async fn over_tcp(
    (addresses, source): (&[SocketAddr], Option<IpAddr>),
    query: &[u8],
    about: &str,
    judge: impl Fn(&[u8]) -> Reply,
    deadline: Deadline,
) -> Found {
    let (stream, address) = connect::tcp(addresses, source, deadline).await?;
    let mut wire = Wire::new(connect::Connection::Plain(stream), address, deadline);
    // A query is at most a name and twenty bytes.
    let mut message = (query.len() as u16).to_be_bytes().to_vec();
    message.extend_from_slice(query);
    wire.send(&message).await?;
    let waiting_for = format!("an answer {about}");
    let length = wire.exact(2, &waiting_for).await?;
    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
    match judge(&wire.exact(length, &waiting_for).await?) {
        Reply::Pass(what) => Ok(Answer::pass(what)),
        Reply::Fail(what) => Err(Miss::Fail(format!("{address}: {what}"))),
        Reply::Stray => Err(Miss::Fail(format!("{address} answered another question than the one {about}"))),
    }
}

fn question(query: &str, qtype: DnsType, id: u16) -> Result<Message, String> {
    let mut name = Name::from_str(query).map_err(|error| format!("{query} is not a domain name: {error}"))?;
    name.set_fqdn(true);
    let mut message = Message::new(id, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name, record_type(qtype)));
    Ok(message)
}

/// Judges one datagram from the address that was asked.
fn judge(bytes: &[u8], asked: &Message, expect: &[IpAddr]) -> Reply {
    let is_ours =
        matches!(bytes, [a, b, flags, ..] if [*a, *b] == asked.metadata.id.to_be_bytes() && flags & 0x80 != 0);
    if !is_ours {
        return Reply::Stray;
    }
    let answer = match Message::from_vec(bytes) {
        Ok(answer) => answer,
        Err(error) => return Reply::Fail(format!("malformed answer of {} bytes: {error}", bytes.len())),
    };
    let question = &asked.queries[0];
    let about = format!("{} {}", question.name(), question.query_type());
    // A server that could not read the question, or refuses it, may leave it out.
    let repeats = answer.queries.iter().any(|q| q.name() == question.name() && q.query_type() == question.query_type());
    let code = answer.metadata.response_code;
    let may_leave_it_out = answer.queries.is_empty() && code != ResponseCode::NoError;
    if !repeats && !may_leave_it_out {
        return Reply::Stray;
    }
    if code != ResponseCode::NoError {
        return Reply::Fail(format!("{about}: {code}"));
    }
    let of_type: Vec<&RData> =
        answer.answers.iter().filter(|r| r.record_type() == question.query_type()).map(|r| &r.data).collect();
    let cut = if answer.metadata.truncation { " (cut, TC)" } else { "" };
    if of_type.is_empty() {
        return Reply::Fail(format!("{about}: no record of this type in the answer{cut}"));
    }
    let addresses: Vec<IpAddr> = of_type.iter().filter_map(|data| address_of(data)).collect();
    if !expect.is_empty() && !addresses.iter().any(|got| expect.contains(got)) {
        return Reply::Fail(format!("{about}: got {}{cut}, expected {}", list(&addresses), list(expect)));
    }
    match addresses[..] {
        [] => Reply::Pass(format!("{about}: {} records", of_type.len())),
        _ => Reply::Pass(format!("{about}: {}", list(&addresses))),
    }
}

fn address_of(data: &RData) -> Option<IpAddr> {
    match data {
        RData::A(a) => Some(IpAddr::V4(a.0)),
        RData::AAAA(aaaa) => Some(IpAddr::V6(aaaa.0)),
        _ => None,
    }
}

fn list(addresses: &[IpAddr]) -> String {
    const SHOWN_MAX: usize = 8;
    let shown: Vec<String> = addresses.iter().take(SHOWN_MAX).map(IpAddr::to_string).collect();
    match addresses.len().saturating_sub(SHOWN_MAX) {
        0 if shown.is_empty() => "no address".to_owned(),
        0 => shown.join(" "),
        more => format!("{} and {more} more", shown.join(" ")),
    }
}

fn record_type(qtype: DnsType) -> RecordType {
    match qtype {
        DnsType::A => RecordType::A,
        DnsType::Aaaa => RecordType::AAAA,
        DnsType::Ns => RecordType::NS,
        DnsType::Soa => RecordType::SOA,
        DnsType::Txt => RecordType::TXT,
        DnsType::Mx => RecordType::MX,
        DnsType::Cname => RecordType::CNAME,
        DnsType::Srv => RecordType::SRV,
        DnsType::Ptr => RecordType::PTR,
    }
}

fn word(qtype: DnsType) -> String {
    record_type(qtype).to_string()
}

#[cfg(test)]
mod tests {
    use hickory_proto::rr::Record;
    use hickory_proto::rr::rdata::A;
    use proptest::prelude::*;

    use super::*;

    fn asked() -> Message {
        question("www.example.test", DnsType::A, 0x1234).unwrap()
    }

    fn answer(change: impl FnOnce(&mut Message)) -> Vec<u8> {
        let mut message = asked();
        message.metadata.message_type = MessageType::Response;
        let name = message.queries[0].name().clone();
        message.add_answer(Record::from_rdata(name, 30, RData::A(A::new(192, 0, 2, 10))));
        change(&mut message);
        message.to_vec().unwrap()
    }

    fn said(change: impl FnOnce(&mut Message), expect: &[&str]) -> Reply {
        let expect: Vec<IpAddr> = expect.iter().map(|ip| ip.parse().unwrap()).collect();
        judge(&answer(change), &asked(), &expect)
    }

    #[test]
    fn an_answer_with_one_of_the_expected_addresses_passes() {
        assert_eq!(said(|_| {}, &[]), Reply::Pass("www.example.test. A: 192.0.2.10".to_owned()));
        assert!(matches!(said(|_| {}, &["192.0.2.10", "192.0.2.11"]), Reply::Pass(_)));
        let Reply::Fail(why) = said(|_| {}, &["192.0.2.99"]) else { panic!() };
        assert_eq!(why, "www.example.test. A: got 192.0.2.10, expected 192.0.2.99");
    }

    #[test]
    fn an_error_or_an_empty_answer_fails() {
        let code = |code| said(|m| m.metadata.response_code = code, &[]);
        assert!(matches!(code(ResponseCode::NXDomain), Reply::Fail(_)));
        assert!(matches!(code(ResponseCode::ServFail), Reply::Fail(_)));
        assert!(matches!(said(|m| m.answers.clear(), &[]), Reply::Fail(_)));
        let refused = |m: &mut Message| {
            m.queries.clear();
            m.answers.clear();
            m.metadata.response_code = ResponseCode::Refused;
        };
        assert!(matches!(said(refused, &[]), Reply::Fail(_)));
    }

    #[test]
    fn what_answers_another_question_is_passed_over() {
        assert_eq!(said(|m| m.metadata.id = 1, &[]), Reply::Stray);
        assert_eq!(said(|m| m.metadata.message_type = MessageType::Query, &[]), Reply::Stray);
        assert_eq!(
            said(|m| m.queries[0] = question("other.test", DnsType::A, 1).unwrap().queries[0].clone(), &[]),
            Reply::Stray
        );
        assert_eq!(judge(b"", &asked(), &[]), Reply::Stray);
    }

    #[test]
    fn a_cut_datagram_with_our_id_fails_at_once() {
        let whole = answer(|_| {});
        assert!(
            matches!(judge(&whole[..whole.len() - 3], &asked(), &[]), Reply::Fail(why) if why.contains("malformed"))
        );
    }

    proptest! {
        #[test]
        fn no_datagram_panics(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = judge(&bytes, &asked(), &[]);
        }

        #[test]
        fn no_damage_to_an_answer_panics(at in 0usize..60, byte in any::<u8>(), cut in 0usize..60) {
            let mut bytes = answer(|_| {});
            let length = bytes.len();
            bytes[at % length] = byte;
            let _ = judge(&bytes[..length - cut % length], &asked(), &[]);
        }
    }
}
