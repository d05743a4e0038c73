//! Guards and triggers of a running appliance that go to a database.

use std::net::SocketAddr;
use std::time::Duration;

use super::box_under_test::{Box, within};
use crate::servers::{self, PASSWORD, USER};

/// Long enough for anything, on a busy machine.
const PATIENT: Duration = Duration::from_secs(60);

fn config(kind: &str, at: SocketAddr, name: &str, user: &str, sql: &str, more: &str) -> String {
    format!(
        r#"
        [switch.go]
        [query.lag]
        type = "{kind}"
        dsn = "{at}/{name}"
        user = "{user}"
        password = {{ file = "database.secret" }}
        sql = "{sql}"
        expect = "<= 30"
        timeout = "1s"
        {more}
        [scenario.s.activate]
        when = [["sw:go"]]
        guard = {{ run = ["lag"], on_timeout = "block", deadline = "60s", timeout = "1s", backoff = "50ms", retries = 0 }}
        [scenario.s.deactivate]
        when = [["sw:go!"]]
        "#
    )
}

fn start(text: &str, password: &str) -> Box {
    let box_ = Box::start(text);
    std::fs::write(box_.path("database.secret"), format!("{password}\n")).expect("the secret is written");
    box_
}

#[test]
fn a_guard_asks_a_database_before_the_commit_and_a_trigger_writes_into_it_after() {
    let server = servers::mariadb();
    let trigger = format!(
        r#"
        [trigger.log]
        type = "MYSQL"
        dsn = "{}/shop"
        user = "{USER}"
        password = {{ file = "database.secret" }}
        sql = "insert into deeds values (:seq, concat(:scenario, ' ', :direction, ' ', :key))"
        expect = "= 1"
        "#,
        server.at
    );
    let text = config("MYSQL", server.at, "shop", USER, "select n from stock", &trigger);
    let text = text.replacen("when = [[\"sw:go\"]]", "when = [[\"sw:go\"]]\n        triggers = [\"log\"]", 1);
    let box_ = start(&text, PASSWORD);
    box_.act("PUT", "/switches/go", r#"{"value": true}"#);
    within(PATIENT, "the guard passes", || box_.get("/scenarios/s")["state"] == "active");
    assert_eq!(box_.get("/queries/lag")["passed"], 1);
    within(PATIENT, "the row is written", || box_.get("/triggers/log")["delivered"] == 1);
    assert!(!box_.log().contains(PASSWORD));
}

#[cfg(feature = "oracle")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_check_of_oracle_logs_in_asks_and_compares_and_is_down_where_it_cannot() {
    use crate::tns::{self, Fault, Manner, SERVICE, Server};

    let fault = |fault| Manner { fault: Some((0, fault)), ..Manner::default() };
    let locked = Manner { is_locked: true, ..Manner::default() };
    const LAG: &str = "sql_query = \"select lag from shipping\"\nsql_expect = \"<= 30\"";
    for (manner, query, state, words) in [
        (Manner::default(), "", "up", "answered the query with \"1\""),
        (Manner::default(), LAG, "up", "answered the query with \"30\""),
        (Manner::default(), &*LAG.replace("shipping", "late_shipping"), "down", "gave \"31.5\", expected `<= 30`"),
        (Manner::default(), "sql_query = \"select nothing from dual\"\nsql_expect = \"= 1\"", "down", "NULL"),
        (Manner::default(), "sql_query = \"select x from y\"", "down", "ORA-00942"),
        (locked, "", "down", "ORA-28000"),
        (fault(Fault::Silent), "", "down", "no connection and login within"),
    ] {
        let server = Server::start(manner).await;
        let text = format!(
            "[check.db]\ntype = \"ORACLE\"\naddress = \"{}\"\ndatabase = \"{SERVICE}\"\nuser_name = \"{}\"\n\
             password = {{ env = \"TEST_ORACLE_PASSWORD\" }}\ninterval = \"30s\"\ntimeout = \"8s\"\nfall = 1\n{query}\n",
            server.at,
            tns::USER
        );
        let box_ = Box::start_with_environment(&[("TEST_ORACLE_PASSWORD", tns::PASSWORD)], &text);
        within(PATIENT, words, || box_.get("/checks/db")["last_result"].is_string());
        let check = box_.get("/checks/db");
        assert_eq!(check["state"], state, "{check}");
        assert!(check["last_response"].as_str().unwrap_or_default().contains(words), "{check}");
        assert!(!box_.log().contains(tns::PASSWORD));
        let happened = server.happened();
        if state == "up" {
            assert!(happened.iter().any(|act| act.starts_with("login ")), "{happened:?}");
            assert!(happened.iter().any(|act| act.starts_with("execute select")), "{happened:?}");
            assert!(!happened.iter().any(|act| act == "commit"), "a check only reads: {happened:?}");
        }
    }
}

#[cfg(feature = "oracle")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guard_of_oracle_passes_refuses_and_cannot_tell_and_the_appliance_goes_on() {
    use crate::tns::{self, Fault, Manner, SERVICE, Server};

    let fault = |fault| Manner { fault: Some((0, fault)), ..Manner::default() };
    for (manner, sql, expected) in [
        (Manner::default(), "select lag from shipping", "passed"),
        (Manner::default(), "select lag from late_shipping", "refused"),
        (fault(Fault::Silent), "select lag from shipping", "undecided"),
        (fault(Fault::Garbage), "select lag from shipping", "undecided"),
    ] {
        let server = Server::start(manner).await;
        let text = config("ORACLE", server.at, SERVICE, tns::USER, sql, "").replace("\"1s\"", "\"8s\"");
        let box_ = start(&text, tns::PASSWORD);
        box_.act("PUT", "/switches/go", r#"{"value": true}"#);
        within(PATIENT, expected, || box_.get("/queries/lag")[expected].as_u64() > Some(0));
        let is_active = box_.get("/scenarios/s")["state"] == "active";
        assert_eq!(is_active, expected == "passed", "{}", box_.get("/scenarios/s"));
    }
}
