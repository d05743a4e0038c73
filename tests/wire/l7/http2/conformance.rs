//! RFC 9113 and RFC 7541, frame by frame: what must end a stream, what must end the connection, what must not matter.

#[path = "conformance/cases.rs"]
mod cases;

use super::one;
use super::raw::{self, Raw, Seen};
use crate::world::{Server, World};
use cases::{Case, Must, all};

/// Where the frame layer does other than the RFC asks: section and what is sent. The manual says why.
const DEVIATIONS: &[(&str, &str)] = &[("8.1", "pseudo-field in trailers")];

const PROTOCOL_ERROR: u32 = 1;

#[tokio::test]
async fn every_case_ends_as_the_rfc_asks_or_as_the_manual_says() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let vip = world.vip("web");
    let (mut deviating, mut generic) = (Vec::new(), 0);
    let cases = all();
    for case in &cases {
        match judge(case.must, outcome(vip, case).await) {
            Verdict::Meets => {}
            Verdict::Generic => generic += 1,
            Verdict::Deviates(seen) => {
                deviating.push((case.section, case.what));
                println!("{} {}: {:?} asked for, {seen:?} seen", case.section, case.what, case.must);
            }
        }
    }
    assert_eq!(deviating, DEVIATIONS);
    // As the manual says.
    assert_eq!((cases.len(), generic), (109, 20));
    // Whatever was sent, a proper client is served afterwards.
    assert_eq!(super::Client::connect(vip).await.get("/").await.text(), "a");
}

enum Verdict {
    Meets,
    /// It ends, with PROTOCOL_ERROR where a more special code is asked for.
    Generic,
    Deviates(Seen),
}

/// What the other side makes of it; [`Seen::Pong`]: nothing.
async fn outcome(vip: std::net::SocketAddr, case: &Case) -> Seen {
    let mut raw = Raw::silent(vip).await;
    raw.send(raw::PREFACE).await;
    if !case.bare {
        raw.frame(raw::SETTINGS, 0, 0, &[]).await;
        raw.frame(raw::SETTINGS, raw::ACK, 0, &[]).await;
    }
    raw.send(&case.bytes).await;
    let stream = match case.must {
        Must::EndStream(stream, _) | Must::Answer(stream) => stream,
        Must::EndConnection(_) | Must::NotMind => 0,
    };
    // An answer that was due before an error of the stream says nothing.
    let wants_answer = matches!(case.must, Must::Answer(_));
    // A reset may be written after the answer to a PING that came later, but not after that to a second one.
    for round in 0..2u8 {
        raw.frame(raw::PING, 0, 0, &[round; 8]).await;
        loop {
            let Some(frame) = raw.next().await else { return Seen::Closed };
            match (frame.kind, &*frame.payload) {
                (raw::GOAWAY, payload) => return Seen::GoAway(raw::code(&payload[4..])),
                (raw::RST_STREAM, payload) if frame.stream == stream => return Seen::Reset(raw::code(payload)),
                (raw::HEADERS, payload) if frame.stream == stream => {
                    let status = raw::status(payload);
                    if wants_answer || status == 400 {
                        return Seen::Status(status);
                    }
                }
                (raw::PING, payload) if frame.flags & raw::ACK != 0 && payload == [round; 8] && !wants_answer => break,
                _ => {}
            }
        }
    }
    Seen::Pong
}

fn judge(must: Must, seen: Seen) -> Verdict {
    let meets = match (must, seen) {
        (Must::EndConnection(codes), Seen::GoAway(code)) => codes.contains(&code),
        (Must::EndConnection(_) | Must::EndStream(..), Seen::Closed) => true,
        // An error of a stream may be taken for one of the connection (§5.4.1), and a malformed request answered (§8.1.1).
        (Must::EndStream(_, codes), Seen::Reset(code) | Seen::GoAway(code)) => codes.contains(&code),
        (Must::EndStream(..), Seen::Status(400)) => true,
        (Must::Answer(_), Seen::Status(200)) | (Must::NotMind, Seen::Pong) => true,
        _ => false,
    };
    let ends = matches!(must, Must::EndConnection(_) | Must::EndStream(..));
    match seen {
        _ if meets => Verdict::Meets,
        Seen::GoAway(PROTOCOL_ERROR) if ends => Verdict::Generic,
        _ => Verdict::Deviates(seen),
    }
}

#[tokio::test]
async fn settings_are_acknowledged_and_ours_say_the_bounds() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let mut raw = Raw::connect(world.vip("web")).await;
    let (mut ours, mut acknowledged) = (None, false);
    while ours.is_none() || !acknowledged {
        let frame = raw.next().await.expect("open");
        assert!(frame.kind == raw::SETTINGS || frame.kind == raw::WINDOW_UPDATE, "{frame:?}");
        if frame.kind == raw::SETTINGS && frame.flags & raw::ACK != 0 {
            acknowledged = true;
        } else if frame.kind == raw::SETTINGS {
            ours = Some(frame.payload);
        }
    }
    let ours = ours.unwrap();
    let value = |id: u16| {
        let of = |s: &&[u8]| s[..2] == id.to_be_bytes();
        ours.chunks(6).find(of).map(|s| u32::from_be_bytes(s[2..].try_into().unwrap()))
    };
    assert_eq!(value(3), Some(100), "MAX_CONCURRENT_STREAMS");
    assert_eq!(value(6), Some(64 * 1024), "MAX_HEADER_LIST_SIZE");
    assert_eq!(value(8), None, "no extended CONNECT");
}

#[tokio::test]
async fn no_byte_of_a_body_is_sent_that_the_client_has_no_window_for() {
    let server = Server::http("body").await;
    let world = World::start(one(&server)).await;
    let mut raw = Raw::silent(world.vip("web")).await;
    raw.send(raw::PREFACE).await;
    raw.frame(raw::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]).await;
    raw.headers(1, true, raw::GET).await;
    assert_eq!(raw.status(1).await, 200);
    raw.frame(raw::PING, 0, 0, &[7; 8]).await;
    let mut body = Vec::new();
    for grant in [0u8, 1, 2, 9] {
        if grant > 0 {
            raw.frame(raw::WINDOW_UPDATE, 0, 1, &[0, 0, 0, grant]).await;
        }
        raw.frame(raw::PING, 0, 0, &[grant; 8]).await;
        let granted = (body.len() + usize::from(grant)).min(4);
        loop {
            let frame = raw.next().await.expect("open");
            match frame.kind {
                raw::DATA => body.extend_from_slice(&frame.payload),
                raw::PING if frame.payload == [grant; 8] && body.len() >= granted => break,
                raw::PING if body.len() < granted => raw.frame(raw::PING, 0, 0, &[grant; 8]).await,
                _ => {}
            }
        }
        assert_eq!(body.len(), granted);
    }
    assert_eq!(body, b"body");
}
