//! No way to fail goes past the thresholds.

use bascule::machine::check::CheckMachine;
use bascule::model::check::Schedule;
use bascule::model::condition::Truth;
use bascule::model::time::{Now, Tick, Wall};

use super::*;

#[tokio::test]
async fn whatever_goes_wrong_with_a_probe_is_one_failed_sample_and_none_goes_past_fall() {
    // Refused, reset in the midst of an answer, silent, wrong content, no TLS where TLS is expected.
    let refused = dead();
    let reset = peer(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200").await;
        // What was not read makes the close a reset.
        let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    })
    .await;
    let wrong = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsick").await;
    let plain = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let contains_ok = HttpExpect { body: Some(BodyMatch::Contains(b"ok".to_vec())), ..expect_200() };
    let tls = Some(TlsProbe { server_name: Some("localhost".into()), verify: false });
    let verdicts = [
        ("refused", probe(http(refused, expect_200()), PATIENT).await),
        ("reset", probe(http(reset, expect_200()), PATIENT).await),
        ("silent", probe(http(silent().await, expect_200()), SHORT).await),
        ("wrong content", probe(http(wrong, contains_ok), PATIENT).await),
        ("no TLS", probe(https(plain, tls, expect_200()), PATIENT).await),
    ];
    let schedule = Schedule { rise: 1, fall: 3, ..Schedule::default() };
    for (what, verdict) in verdicts {
        assert_eq!(verdict.outcome, Outcome::Fail, "{what}: {}", verdict.detail);
        let now = |second: u64| Now::new(Tick::from_millis(second * 1_000), Wall(0));
        let mut check = CheckMachine::new(now(0));
        check.observe(now(1), &schedule, &bascule::model::event::Verdict::new(Outcome::Pass, SHORT, "up"));
        for second in 2..=3 {
            check.observe(now(second), &schedule, &verdict);
            assert_eq!(check.state(), Truth::True, "{what}: one failed sample is one, at {second}");
        }
        check.observe(now(4), &schedule, &verdict);
        assert_eq!(check.state(), Truth::False, "{what}: the third in a row decides");
    }
}
