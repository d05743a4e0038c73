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
fn keeper(
    from: &[SocketAddr],
    turns: &Turns<SocketAddr>,
    have: Option<Received>,
) -> (Keeper, mpsc::Receiver<Observation>) {
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

/// A primary that answers everything but AXFR, and that too once `refusals` are used up.
struct Answers {
    refusals: AtomicU32,
    /// What it says when it is asked for its SOA, and what it sends.
    says: u32,
    sends: u32,
}

/// Of serial 7.
async fn primary(refusals: u32) -> SocketAddr {
    serve(Answers { refusals: AtomicU32::new(refusals), says: 7, sends: 7 }).await
}

async fn serve(answers: Answers) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let answers = Arc::new(answers);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answers = Arc::clone(&answers);
            tokio::spawn(async move {
                while let Ok(length) = stream.read_u16().await {
                    let mut asked = vec![0; usize::from(length)];
                    stream.read_exact(&mut asked).await.unwrap();
                    let reply = reply(&asked, &answers);
                    stream.write_all(&(reply.len() as u16).to_be_bytes()).await.unwrap();
                    stream.write_all(&reply).await.unwrap();
                }
            });
        }
    });
    at
}

fn reply(asked: &[u8], answers: &Answers) -> Vec<u8> {
    let end = 12 + origin().0.len() + 4;
    let rtype = u16::from_be_bytes([asked[12 + origin().0.len()], asked[13 + origin().0.len()]]);
    let less = |left: u32| left.checked_sub(1);
    let is_refused = rtype == AXFR && answers.refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
    let is_transfer = rtype != RecordType::SOA.0;
    let serial = if is_transfer { answers.sends } else { answers.says };
    let soas = if is_refused { 0 } else { 1 + u8::from(is_transfer) };
    let code = if is_refused { 5 } else { 0 };
    let mut reply = [&asked[..2], &[0x84, code, 0, 1, 0, soas, 0, 0, 0, 0], &asked[12..end]].concat();
    for _ in 0..soas {
        let soa = soa([serial, 100, 10, 500]);
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

#[tokio::test]
async fn a_primary_that_says_one_serial_and_sends_an_older_one_has_failed_and_nothing_goes_back() {
    for (sends, told_of, serial) in [(50, "failed", 60), (60, "confirmed", 60), (99, "transferred", 99)] {
        let at = serve(Answers { refusals: AtomicU32::new(0), says: 100, sends }).await;
        let (mut keeper, mut told) = keeper(&[at], &Turns::default(), Some(have([60, 100, 10, 500])));
        keeper.look(None, false).await;
        assert_eq!(news(&mut told), [told_of], "it sends {sends}");
        assert_eq!(keeper.have.as_ref().unwrap().contents.serial(), serial);
        let error = keeper.live.secondary.status.lock().error.clone().unwrap_or_default();
        assert_eq!(error.contains("older than 60"), told_of == "failed", "{error}");
        keeper.live.secondary.ring(true);
        keeper.look(keeper.live.secondary.wants_whole(), true).await;
        assert_eq!(keeper.have.as_ref().unwrap().contents.serial(), sends, "a person may take it back");
    }
}
