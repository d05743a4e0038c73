//! Dialogues with the servers that people run: right and wrong passwords, right and wrong answers.

use bascule::model::dialogue::{Dialogue, LdapSearch, Login, SqlQuery};
use bascule::model::scenario::Secret;
use bascule::probe::{Surroundings, sample_in};

use super::*;
use crate::servers::{self, PASSWORD, USER};

/// Secrets as files beside one another.
struct Secrets {
    folder: tempfile::TempDir,
}

impl Secrets {
    fn new() -> Secrets {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("right", PASSWORD), ("wrong", "wrong"), ("other", &PASSWORD.replace(' ', "-"))] {
            std::fs::write(folder.path().join(name), format!("{text}\n")).unwrap();
        }
        Secrets { folder }
    }

    async fn probe(&self, at: SocketAddr, tls: bool, dialogue: Dialogue) -> Verdict {
        let tls = tls.then_some(TlsProbe { server_name: None, verify: false });
        let check = check(Probe::Dialogue { target: Target::new(at), tls, dialogue }, PATIENT);
        sample_in(&check, &Surroundings { folder: self.folder.path().to_owned() }, None).await
    }
}

fn file(name: &str) -> Secret {
    Secret::File(name.into())
}

fn login(user: &str, password: &str) -> Option<Login> {
    Some(Login { user: user.into(), password: Some(file(password)) })
}

fn query(sql: &str, expect: Option<&str>) -> Option<SqlQuery> {
    Some(SqlQuery { sql: sql.into(), expect: expect.map(Into::into) })
}

#[tokio::test]
async fn postgresql_is_asked_with_and_without_a_login_a_query_and_tls() {
    let (server, secrets) = (servers::postgresql(), Secrets::new());
    let postgresql = |login, query| Dialogue::Postgresql { login, database: Some("postgres".into()), query };
    for tls in [false, true] {
        let ask = |login, query| secrets.probe(server.at, tls, postgresql(login, query));
        assert_verdict(&ask(None, None).await, Outcome::Pass, "answers as PostgreSQL does");
        assert_verdict(&ask(login(USER, "right"), None).await, Outcome::Pass, "accepted the login of probe");
        assert_verdict(&ask(login(USER, "wrong"), None).await, Outcome::Fail, "28P01");
        let right = || login(USER, "right");
        let verdict = ask(right(), query("SELECT pg_is_in_recovery()", Some("f"))).await;
        assert_verdict(&verdict, Outcome::Pass, "answered the query with \"f\"");
        let verdict = ask(right(), query("SELECT 1", Some("2"))).await;
        assert_verdict(&verdict, Outcome::Fail, "the query gave \"1\", expected \"2\"");
        assert_verdict(&ask(right(), query("SELECT 1 WHERE false", None)).await, Outcome::Fail, "no row");
        assert_verdict(&ask(right(), query("SELECT NULL", Some("x"))).await, Outcome::Fail, "gave NULL");
        assert_verdict(&ask(right(), query("SELEC", None)).await, Outcome::Fail, "42601");
        let flood = query("SELECT repeat('x', 1000) FROM generate_series(1, 100000)", None);
        assert_verdict(&ask(right(), flood).await, Outcome::Fail, "more than a probe looks at");
    }
    assert!(!server.log().contains("unexpected EOF"), "sessions end in order:\n{}", server.log());
}

#[tokio::test]
async fn mariadb_is_asked_with_and_without_a_login_a_query_and_tls() {
    let (server, secrets) = (servers::mariadb(), Secrets::new());
    for tls in [false, true] {
        let ask = |login, database: Option<&str>, query| {
            secrets.probe(server.at, tls, Dialogue::Mysql { login, database: database.map(Into::into), query })
        };
        assert_verdict(&ask(None, None, None).await, Outcome::Pass, "MariaDB");
        assert_verdict(&ask(login(USER, "right"), None, None).await, Outcome::Pass, "accepted the login of probe");
        assert_verdict(&ask(login(USER, "wrong"), None, None).await, Outcome::Fail, "error 1045 \"Access denied");
        let right = || login(USER, "right");
        let verdict = ask(right(), Some("shop"), query("SELECT n FROM stock", Some("7"))).await;
        assert_verdict(&verdict, Outcome::Pass, "answered the query with \"7\"");
        let verdict = ask(right(), Some("shop"), query("SELECT n, n FROM stock", Some("8"))).await;
        assert_verdict(&verdict, Outcome::Fail, "the query gave \"7\", expected \"8\"");
        let verdict = ask(right(), Some("shop"), query("SELECT n FROM stock WHERE n = 0", None)).await;
        assert_verdict(&verdict, Outcome::Fail, "no row");
        assert_verdict(&ask(right(), Some("none"), None).await, Outcome::Fail, "error 104");
        assert_verdict(&ask(right(), None, query("SELEC", None)).await, Outcome::Fail, "error 1064");
    }
}

#[tokio::test]
async fn redis_is_pinged_as_default_or_as_a_user() {
    let (server, secrets) = (servers::redis(), Secrets::new());
    let ask = |login| secrets.probe(server.at, false, Dialogue::Redis { login });
    assert_verdict(&ask(None).await, Outcome::Fail, "NOAUTH");
    assert_verdict(&ask(login("default", "right")).await, Outcome::Pass, "PONG");
    assert_verdict(&ask(login(USER, "other")).await, Outcome::Pass, "PONG");
    assert_verdict(&ask(login("default", "wrong")).await, Outcome::Fail, "WRONGPASS");
    assert_verdict(&ask(login("default", "missing")).await, Outcome::Void, "missing cannot be read");
}

#[tokio::test]
async fn a_directory_is_bound_to_and_searched() {
    let (server, secrets) = (servers::slapd(), Secrets::new());
    let find = |filter: &str, attribute: Option<&str>| {
        let (base_dn, filter) = ("dc=example".into(), filter.into());
        Some(LdapSearch { base_dn, filter, attribute: attribute.map(Into::into) })
    };
    let ask = |login, search| secrets.probe(server.at, false, Dialogue::Ldap { login, search });
    let admin = || login("cn=admin,dc=example", "right");
    assert_verdict(&ask(None, None).await, Outcome::Pass, "anonymous bind");
    assert_verdict(&ask(admin(), None).await, Outcome::Pass, "accepted the bind");
    let wrong = login("cn=admin,dc=example", "wrong");
    assert_verdict(&ask(wrong, None).await, Outcome::Fail, "invalid credentials");
    for filter in [
        "(uid=probe)",
        "uid=probe",
        "(&(objectClass=inetOrgPerson)(!(uid=other)))",
        "(|(sn=nobody)(mail=probe@*))",
        "(cn=Probe\\2aOne)",
        "(cn=*obe*)",
        "(objectClass=*)",
    ] {
        assert_verdict(&ask(admin(), find(filter, None)).await, Outcome::Pass, "found an entry");
    }
    assert_verdict(&ask(admin(), find("(uid=probe)", Some("MAIL"))).await, Outcome::Pass, "found an entry");
    assert_verdict(&ask(admin(), find("(uid=other)", Some("mail"))).await, Outcome::Fail, "has no mail");
    assert_verdict(&ask(None, find("(uid=nobody)", None)).await, Outcome::Fail, "nothing found");
    let elsewhere = Some(LdapSearch { base_dn: "dc=test".into(), filter: "(uid=x)".into(), attribute: None });
    assert_verdict(&ask(admin(), elsewhere).await, Outcome::Fail, "code 32");
}

#[tokio::test]
async fn a_radius_server_accepts_rejects_and_accounts() {
    let (server, secrets) = (servers::freeradius(), Secrets::new());
    let ask = |password: &str, codes: &[u8], secret: &str| {
        let login = login(USER, password).unwrap();
        let radius = Dialogue::Radius { login, secret: file(secret), nas_ip: None, codes: codes.to_vec() };
        secrets.probe(server.at, false, radius)
    };
    assert_verdict(&ask("right", &[2], "right").await, Outcome::Pass, "Access-Accept");
    assert_verdict(&ask("wrong", &[2], "right").await, Outcome::Fail, "Access-Reject");
    assert_verdict(&ask("wrong", &[2, 3], "right").await, Outcome::Pass, "Access-Reject");
    let accounting = |secret: &str| {
        let nas_ip = Some("192.0.2.1".parse().unwrap());
        Dialogue::RadiusAccounting { user: Some(USER.into()), secret: file(secret), nas_ip }
    };
    let at = SocketAddr::new(server.at.ip(), server.at.port() + 1);
    assert_verdict(&secrets.probe(at, false, accounting("right")).await, Outcome::Pass, "accounted");

    // Who does not know the secret is not answered.
    let probe = Probe::Dialogue { target: Target::new(at), tls: None, dialogue: accounting("wrong") };
    let around = Surroundings { folder: secrets.folder.path().to_owned() };
    let verdict = sample_in(&check(probe, Duration::from_millis(300)), &around, None).await;
    assert_verdict(&verdict, Outcome::Fail, "where the secret is wrong");
}

#[tokio::test]
async fn a_message_broker_takes_a_session_with_the_right_password_alone() {
    let (server, secrets) = (servers::mosquitto(), Secrets::new());
    let ask = |login, id: Option<&str>| {
        secrets.probe(server.at, false, Dialogue::Mqtt { login, client_id: id.map(Into::into) })
    };
    assert_verdict(&ask(login(USER, "right"), None).await, Outcome::Pass, "answered a ping");
    assert_verdict(&ask(login(USER, "right"), Some("of-ours")).await, Outcome::Pass, "answered a ping");
    assert_verdict(&ask(login(USER, "wrong"), None).await, Outcome::Fail, "not authorised");
    assert_verdict(&ask(None, None).await, Outcome::Fail, "not authorised");
}

#[tokio::test]
async fn a_file_server_lets_in_who_may_and_has_the_file() {
    if !servers::is_root() {
        eprintln!("not tested: vsftpd must be started by root");
        return;
    }
    let (server, secrets) = (servers::vsftpd(), Secrets::new());
    let ask = |login, file: Option<&str>| {
        secrets.probe(server.at, false, Dialogue::Ftp { login, file: file.map(Into::into) })
    };
    assert_verdict(&ask(None, None).await, Outcome::Pass, "220");
    let anonymous = || login("anonymous", "right");
    assert_verdict(&ask(anonymous(), None).await, Outcome::Pass, "230");
    assert_verdict(&ask(login(USER, "right"), None).await, Outcome::Fail, "530");
    assert_verdict(&ask(anonymous(), Some("alive")).await, Outcome::Pass, "213 5");
    assert_verdict(&ask(anonymous(), Some("gone")).await, Outcome::Fail, "550");
}

#[tokio::test]
async fn a_mail_server_lets_in_who_has_the_password() {
    if !servers::is_root() {
        eprintln!("not tested: dovecot must be started by root");
        return;
    }
    let (server, secrets) = (servers::dovecot(), Secrets::new());
    let ask = |login| secrets.probe(server.at, false, Dialogue::Pop3 { login });
    assert_verdict(&ask(None).await, Outcome::Pass, "+OK");
    assert_verdict(&ask(login(USER, "right")).await, Outcome::Pass, "+OK");
    assert_verdict(&ask(login(USER, "wrong")).await, Outcome::Fail, "-ERR");
}

#[tokio::test]
async fn http_2_with_prior_knowledge_is_judged_like_http_1() {
    let server = servers::nginx();
    let http2 = |path: &str, body: &str| {
        let request = HttpRequest {
            method: "GET".into(),
            path: path.into(),
            host: Some("app.example".into()),
            headers: vec![("X-Probe".into(), "yes".into())],
            body: Vec::new(),
        };
        let body = Some(BodyMatch::Contains(body.as_bytes().to_vec()));
        let expect = HttpExpect { body, ..expect_200() };
        probe(Probe::Http2 { target: Target::new(server.at), tls: None, request, expect }, PATIENT)
    };
    assert_verdict(&http2("/ready", "ready").await, Outcome::Pass, "200");
    assert_verdict(&http2("/ready", "steady").await, Outcome::Fail, "no \"steady\" in the body of 5 bytes");
    assert_verdict(&http2("/", "").await, Outcome::Fail, "404, expected 200");
}
