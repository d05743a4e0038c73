//! Dialogues with peers that refuse, that speak something else, that hang, that close early and that never stop.

use bascule::model::dialogue::{Dialogue, LdapSearch, Login, SqlQuery};
use bascule::model::scenario::Secret;

use super::*;

/// One of every kind, as it goes furthest.
fn every() -> Vec<Dialogue> {
    // PATH is set wherever tests run, and holds neither line breaks nor zero bytes.
    let password = || Some(Secret::Env("PATH".into()));
    let login = || Some(Login { user: "probe".into(), password: password() });
    let query = || Some(SqlQuery { sql: "SELECT 1".into(), expect: None });
    let search = LdapSearch { base_dn: "dc=x".into(), filter: "(a=b)".into(), attribute: None };
    vec![
        Dialogue::Ftp { login: login(), file: Some("x".into()) },
        Dialogue::Smtp,
        Dialogue::Pop3 { login: login() },
        Dialogue::Nntp { group: Some("x".into()) },
        Dialogue::Ldap { login: login(), search: Some(search) },
        Dialogue::Mysql { login: login(), database: None, query: query() },
        Dialogue::Postgresql { login: login(), database: None, query: query() },
        Dialogue::Postgresql { login: None, database: None, query: None },
        Dialogue::Redis { login: login() },
        Dialogue::Mqtt { login: login(), client_id: None },
        Dialogue::Grpc { service: "x".into() },
    ]
}

async fn speak(target: &Target, dialogue: &Dialogue, timeout: Duration) -> Verdict {
    probe(Probe::Dialogue { target: target.clone(), tls: None, dialogue: dialogue.clone() }, timeout).await
}

#[tokio::test]
async fn no_dialogue_passes_with_a_peer_that_is_not_there_hangs_or_closes() {
    let (dead, silent) = (dead(), silent().await);
    let closing = peer(|stream| async move { drop(stream) }).await;
    for dialogue in every() {
        assert_verdict(&speak(&dead, &dialogue, PATIENT).await, Outcome::Fail, "connection refused");
        assert_verdict(&speak(&silent, &dialogue, SHORT).await, Outcome::Fail, "timed out after 500 ms");
        let verdict = speak(&closing, &dialogue, PATIENT).await;
        assert_eq!(verdict.outcome, Outcome::Fail, "{dialogue:?}: {}", verdict.detail);
    }
}

#[tokio::test]
async fn no_dialogue_passes_with_garbage_or_reads_a_flood_to_its_end() {
    for garbage in
        [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"\0", b"\r\n", &[0xff; 64], b"220", b"999 x\r\n", b"+\r\n"]
    {
        let target = peer(move |mut stream| async move {
            let _ = stream.write_all(garbage).await;
            let _ = stream.shutdown().await;
            let mut rest = Vec::new();
            let _ = stream.read_to_end(&mut rest).await;
        })
        .await;
        for dialogue in every() {
            let verdict = speak(&target, &dialogue, PATIENT).await;
            assert_eq!(verdict.outcome, Outcome::Fail, "{dialogue:?} with {garbage:?}: {}", verdict.detail);
        }
    }
    for chunk in [&b"220-x\r\n220-y\r\n"[..], &[b'x'; 512], &[0; 512], &[0x30, 0x84, 0x7f, 0xff, 0xff, 0xff]] {
        static TAKEN: AtomicUsize = AtomicUsize::new(0);
        TAKEN.store(0, Ordering::SeqCst);
        let target = peer(move |mut stream| async move {
            while stream.write_all(chunk).await.is_ok() {
                TAKEN.fetch_add(chunk.len(), Ordering::SeqCst);
            }
        })
        .await;
        for dialogue in every() {
            let verdict = speak(&target, &dialogue, PATIENT).await;
            assert_eq!(verdict.outcome, Outcome::Fail, "{dialogue:?} with a flood: {}", verdict.detail);
            assert!(!verdict.detail.contains("timed out"), "{dialogue:?}: a bound ends it: {}", verdict.detail);
        }
    }
}

/// A peer that says `greeting`, and after every line the next of `answers`.
async fn by_lines(greeting: &'static str, answers: &'static [&'static str]) -> Target {
    peer(move |mut stream| async move {
        let _ = stream.write_all(greeting.as_bytes()).await;
        for answer in answers {
            while stream.read_u8().await.is_ok_and(|byte| byte != b'\n') {}
            let _ = stream.write_all(answer.as_bytes()).await;
        }
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    })
    .await
}

#[tokio::test]
async fn mail_and_news_servers_are_greeted_as_they_understand_it() {
    let target = by_lines("220-mail\r\n220 ready\r\n", &["250-mail\r\n250-SIZE 1\r\n250 HELP\r\n"]).await;
    assert_verdict(&speak(&target, &Dialogue::Smtp, PATIENT).await, Outcome::Pass, "250 HELP");
    let target = by_lines("220 old\r\n", &["502 no\r\n", "250 hello\r\n"]).await;
    assert_verdict(&speak(&target, &Dialogue::Smtp, PATIENT).await, Outcome::Pass, "250 hello");
    let target = by_lines("554 go away\r\n", &[]).await;
    let verdict = speak(&target, &Dialogue::Smtp, PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, "answered \"554 go away\", expected 220");

    let group = || Dialogue::Nntp { group: Some("comp.test".into()) };
    let target = by_lines("201 news\r\n", &["211 3 1 3 comp.test\r\n"]).await;
    assert_verdict(&speak(&target, &group(), PATIENT).await, Outcome::Pass, "211");
    let target = by_lines("200 news\r\n", &["411 no such group\r\n"]).await;
    assert_verdict(&speak(&target, &group(), PATIENT).await, Outcome::Fail, "411");
}

#[tokio::test]
async fn a_secret_that_is_not_there_is_void_and_is_asked_for_before_anybody_is_called() {
    let login = Some(Login { user: "probe".into(), password: Some(Secret::Env("BASCULE_TEST_NOT_SET".into())) });
    let verdict = speak(&dead(), &Dialogue::Redis { login }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Void, "BASCULE_TEST_NOT_SET is not set");
}

#[tokio::test]
async fn dns_over_tcp_is_judged_like_dns_over_udp() {
    // The question as it came, with the answer bit set and the given code.
    let server = |code: u8| {
        peer(move |mut stream| async move {
            let length = stream.read_u16().await.unwrap();
            let mut message = vec![0; length.into()];
            stream.read_exact(&mut message).await.unwrap();
            message[2] |= 0x80;
            message[3] = code;
            let _ = stream.write_u16(length).await;
            let _ = stream.write_all(&message).await;
            std::future::pending::<()>().await;
        })
    };
    let query =
        |target| Probe::Dns { target, tcp: true, query: "a.test".into(), qtype: DnsType::A, expect: Vec::new() };
    let verdict = probe(query(server(3).await), PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, "Non-Existent Domain");
    assert_verdict(&probe(query(server(0).await), PATIENT).await, Outcome::Fail, "no record of this type");
    assert_verdict(&probe(query(silent().await), SHORT).await, Outcome::Fail, "an answer about a.test A");
}
