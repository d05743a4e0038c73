use std::net::SocketAddr;
use std::sync::atomic::AtomicU32;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::model::zone::{RecordType, StaticRecord, ZoneContents};

const AXFR: u16 = 252;

fn origin() -> DnsName {
    DnsName::parse("example.test.", &DnsName::root()).unwrap()
}

/// SOA with these numbers: serial, refresh, retry, expire.
fn soa(numbers: [u32; 4]) -> StaticRecord {
    let rdata: Vec<u8> = [0, 0].into_iter().chain(numbers.into_iter().chain([30]).flat_map(u32::to_be_bytes)).collect();
    StaticRecord { owner: origin(), rtype: RecordType::SOA, ttl: 60, rdata: rdata.into() }
}

fn have(numbers: [u32; 4]) -> Received {
    let contents = ZoneContents::new(origin(), vec![soa(numbers)]).unwrap();
    Received { contents: Arc::new(contents), confirmed: wall_now(), is_expired: false }
}

/// A keeper of `have` that asks `from`, with the other end of its reports.
fn keeper(from: &[SocketAddr], turns: &Turns, have: Option<Received>) -> (Keeper, mpsc::Receiver<Observation>) {
    let (reports, told) = mpsc::channel(64);
    let from = from.iter().map(|&address| Primary { address, key: None }).collect();
    let transfer = Transfer { from, max_size: 1 << 20, allow: Vec::new(), key: None, notify: Vec::new(), history: 0 };
    let schedule =
        Schedule::new(Duration::ZERO, have.as_ref().map(|have| (Timers::of(&have.contents), Duration::ZERO)));
    let keeper = Keeper {
        origin: origin(),
        definition: Definition { name: "example.test".into(), transfer, keys: Vec::new(), signed_here: false },
        live: Arc::default(),
        reports,
        shelf: None,
        turns: turns.clone(),
        have,
        schedule,
        began: Instant::now(),
        told: None,
    };
    (keeper, told)
}

fn news(told: &mut mpsc::Receiver<Observation>) -> Vec<&'static str> {
    let mut all = Vec::new();
    while let Ok(Observation::Zone { news, .. }) = told.try_recv() {
        all.push(match news {
            ZoneNews::Transferred { .. } => "transferred",
            ZoneNews::Confirmed { .. } => "confirmed",
            ZoneNews::Expired => "expired",
            ZoneNews::Failed { .. } => "failed",
        });
    }
    all
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_waits_for_its_turn_expires_in_time() {
    let (slow, turns) = (SocketAddr::from(([192, 0, 2, 1], 53)), Turns::default());
    let _others = [turns.take(slow).await, turns.take(slow).await];
    let (keeper, mut told) = keeper(&[slow], &turns, Some(have([7, 10, 5, 500])));
    let (began, live) = (Instant::now(), Arc::clone(&keeper.live));
    let task = tokio::spawn(keeper.keep());
    let first = tokio::time::timeout(Duration::from_secs(3_600), told.recv()).await.expect("it is told").unwrap();
    assert!(matches!(first, Observation::Zone { news: ZoneNews::Expired, .. }));
    assert_eq!(began.elapsed().as_secs(), 500);
    tokio::task::yield_now().await;
    assert_eq!(live.secondary.status.lock().expires, None, "and shown");
    task.abort();
}

/// A primary with serial 7 that answers everything but AXFR, and that too once `refusals` are used up.
async fn primary(refusals: u32) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let left = Arc::new(AtomicU32::new(refusals));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let left = Arc::clone(&left);
            tokio::spawn(async move {
                while let Ok(length) = stream.read_u16().await {
                    let mut asked = vec![0; usize::from(length)];
                    stream.read_exact(&mut asked).await.unwrap();
                    let reply = reply(&asked, &left);
                    stream.write_all(&(reply.len() as u16).to_be_bytes()).await.unwrap();
                    stream.write_all(&reply).await.unwrap();
                }
            });
        }
    });
    at
}

fn reply(asked: &[u8], left: &AtomicU32) -> Vec<u8> {
    let end = 12 + origin().0.len() + 4;
    let rtype = u16::from_be_bytes([asked[end - 4], asked[end - 3]]);
    let is_refused =
        rtype == AXFR && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok();
    let soas = if is_refused { 0 } else { 1 + u8::from(rtype == AXFR) };
    let code = if is_refused { 5 } else { 0 };
    let mut reply = [&asked[..2], &[0x84, code, 0, 1, 0, soas, 0, 0, 0, 0], &asked[12..end]].concat();
    for _ in 0..soas {
        let soa = soa([7, 100, 10, 500]);
        reply.extend_from_slice(&soa.owner.0);
        reply.extend_from_slice(&[0, 6, 0, 1, 0, 0, 0, 60, 0, soa.rdata.len() as u8]);
        reply.extend_from_slice(&soa.rdata);
    }
    reply
}

#[tokio::test]
async fn a_wish_for_the_whole_zone_outlives_failures_and_the_zone_is_confirmed_meanwhile() {
    let at = primary(2).await;
    let (mut keeper, mut told) = keeper(&[at], &Turns::default(), Some(have([7, 100, 10, 500])));
    let live = Arc::clone(&keeper.live);
    live.secondary.ring(true);
    for expected in [&["confirmed", "failed"][..], &["confirmed"]] {
        keeper.look(live.secondary.wants_whole(), true).await;
        assert_eq!(news(&mut told), expected, "the same fault is told once");
        assert!(live.secondary.wants_whole().is_some());
        let error = live.secondary.status.lock().error.clone().unwrap();
        assert!(error.contains("the whole zone") && error.contains("REFUSED"), "{error}");
        let next = keeper.schedule.next() - keeper.now();
        assert!(next <= Duration::from_secs(10), "{next:?}: as soon as after any failure");
    }
    keeper.look(live.secondary.wants_whole(), false).await;
    assert_eq!(news(&mut told), ["transferred"]);
    assert_eq!((live.secondary.wants_whole(), live.secondary.status.lock().error.clone()), (None, None));
}

#[tokio::test]
async fn a_wish_for_the_whole_zone_outlives_the_keeper_that_did_not_meet_it() {
    let at = primary(1).await;
    let (mut first, _told) = keeper(&[at], &Turns::default(), None);
    first.live.secondary.ring(true);
    first.look(first.live.secondary.wants_whole(), true).await;
    let (mut second, mut told) = keeper(&[at], &Turns::default(), Some(have([7, 100, 10, 500])));
    second.live = Arc::clone(&first.live);
    second.look(second.live.secondary.wants_whole(), false).await;
    assert_eq!(news(&mut told), ["transferred"], "although the serial is the same");
}
