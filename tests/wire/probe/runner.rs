//! Names, kinds that are not there, and the runner.

use super::*;

#[tokio::test]
async fn a_name_is_looked_up_and_any_of_its_addresses_will_do() {
    let target = Target::at(Host::Name("localhost".into()), silent().await.port);
    let verdict = probe(Probe::Tcp { target }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Pass, "127.0.0.1:");
}

#[tokio::test]
async fn a_name_without_an_address_fails_a_check_and_is_void_for_a_monitor() {
    let target = Target::at(Host::Name("nothing.invalid".into()), 80);
    let mut check = check(Probe::Tcp { target }, Duration::from_secs(2));
    assert_verdict(&sample(&check).await, Outcome::Fail, "nothing.invalid does not resolve");
    check.origin = Origin::Monitor { monitor: MonitorId(0), service: ServiceId(0) };
    assert_verdict(&sample(&check).await, Outcome::Void, "nothing.invalid does not resolve");
}

#[tokio::test]
async fn a_kind_that_is_not_in_this_build_is_void_and_says_so() {
    let verdict = probe(Probe::Unavailable { kind: "RADIUS".into() }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Void, "RADIUS are not available in this build");
}

#[test]
fn a_refused_connection_is_reported_at_once() {
    let (results, mut receiver) = tokio::sync::mpsc::channel(8);
    let runner = Runner::start(results, 8).unwrap();
    let check = Arc::new(check(Probe::Tcp { target: dead() }, PATIENT));
    let mut fastest = Duration::MAX;
    for _ in 0..20 {
        let due = Instant::now();
        runner.schedule(Job { check: check.clone(), due, traffic: None, way: bascule::probe::Way::default() });
        let sampled = receiver.blocking_recv().unwrap();
        assert_eq!(sampled.verdict.outcome, Outcome::Fail);
        fastest = fastest.min(due.elapsed());
    }
    println!("schedule to report of a refused connection: {fastest:?} at best");
    assert!(fastest < Duration::from_millis(20), "{fastest:?}");
    runner.stop();
}

#[test]
fn a_peer_sees_one_probe_for_one_due_time_however_often_it_is_asked_for() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let target = Target::new(at);
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counter.fetch_add(1, Ordering::SeqCst);
            drop(stream);
        }
    });
    let (results, mut receiver) = tokio::sync::mpsc::channel(8);
    let runner = Runner::start(results, 8).unwrap();
    let check = Arc::new(check(Probe::Tcp { target }, PATIENT));
    let due = Instant::now() + Duration::from_millis(30);
    for _ in 0..100 {
        runner.schedule(Job { check: check.clone(), due, traffic: None, way: bascule::probe::Way::default() });
    }
    let sampled = receiver.blocking_recv().unwrap();
    assert_eq!(sampled.verdict.outcome, Outcome::Pass);
    assert!(Instant::now() >= due, "never early");
    runner.stop();
    assert!(receiver.blocking_recv().is_none());
    // Taken behind whatever came before it.
    let mut last = std::net::TcpStream::connect(at).unwrap();
    let _ = std::io::Read::read(&mut last, &mut [0; 1]);
    assert_eq!(seen.load(Ordering::SeqCst), 2, "the probe and this");
}
