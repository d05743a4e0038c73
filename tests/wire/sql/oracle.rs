//! The test server for ORACLE: Oracle's own client judges that it speaks the protocol, and the appliance's guard is asked
//! against it, well-behaved and not.

use std::process::{Command, Stdio};

use super::*;
use crate::tns::{Generation, Manner, PASSWORD, SERVICE, Server, USER, Verifier};

/// What the judge is asked to do; each line it prints is compared.
const JUDGE: &str = r#"
import sys, oracledb
user, password, dsn = sys.argv[1:4]
def say(name, act):
    try: print(f"{name}: {act()}")
    except oracledb.Error as error: print(f"{name}: {str(error).splitlines()[0]}")
def connect(password=password, dsn=dsn): return oracledb.connect(user=user, password=password, dsn=dsn)
def rows(sql, timeout=0, again=False):
    with connect() as connection:
        connection.call_timeout = timeout
        cursor = connection.cursor()
        cursor.execute(sql)
        found = cursor.fetchall()
        if again:
            cursor.execute(sql)
            assert cursor.fetchall() == found
        return found
def insert():
    with connect() as connection:
        cursor = connection.cursor()
        cursor.execute("insert into deeds values (:seq, :cause)", seq="7", cause="it's")
        connection.commit()
        return cursor.rowcount
assert oracledb.is_thin_mode()
say("one", lambda: rows("select 1 from dual"))
say("text", lambda: rows("select status from failover_gate", again=True))
say("many", lambda: [(name[:3], n, note) for name, n, note in rows("select name, n, note from multi")])
say("none", lambda: rows("select empty from nothing"))
say("null", lambda: rows("select nothing from dual"))
say("error", lambda: rows("select x from missing"))
say("insert", insert)
say("wrong password", lambda: connect(password="wrong"))
say("wrong service", lambda: connect(dsn=dsn.rsplit("/", 1)[0] + "/nosuch"))
say("slow", lambda: rows("select sleep from dual", timeout=300))
"#;

fn dsn(server: &Server) -> String {
    format!("{}/{SERVICE}", server.at)
}

/// Python with Oracle's client, where it is installed. Without it this test says so, or fails where it must not be
/// missing.
fn python() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/referee/bin/python3");
    let named = std::env::var_os("BASCULE_TEST_ORACLE_PYTHON").map(PathBuf::from);
    let found = [named, Some(beside), Some("python3".into())].into_iter().flatten().find(|python| {
        let mut command = Command::new(python);
        command.args(["-c", "import oracledb"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    });
    if found.is_none() {
        assert!(
            std::env::var_os("BASCULE_TEST_ORACLE_REQUIRED").is_none(),
            "no Python with oracledb; run scripts/install-prerequisites --oracle"
        );
        eprintln!("SKIPPED: no Python with oracledb judges the test server; scripts/install-prerequisites --oracle");
    }
    found
}

async fn judged(python: PathBuf, server: &Server) -> String {
    let dsn = dsn(server);
    let run = move || {
        let output = Command::new(python).args(["-c", JUDGE, USER, PASSWORD, &dsn]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (String::from_utf8_lossy(&output.stdout).into_owned(), errors)
    };
    let (said, errors) = tokio::task::spawn_blocking(run).await.unwrap();
    assert_eq!(errors, "", "{said}");
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oracles_own_client_takes_the_test_server_for_a_database() {
    let Some(python) = python() else { return };
    for (generation, verifier) in [
        (Generation::Nineteen, Verifier::Twelve),
        (Generation::Nineteen, Verifier::Eleven),
        (Generation::TwentyThree, Verifier::Twelve),
    ] {
        let server = Server::start(Manner { generation, verifier, ..Manner::default() }).await;
        let said = judged(python.clone(), &server).await;
        let lines: Vec<&str> = said.lines().collect();
        let expected = [
            "one: [(1,)]",
            "text: [('YES',)]",
            "many: [('alp', 42.5, None), ('012', -7, 'x'), ('bet', -1234567.089, 'é'), ('gam', 0.005, None)]",
            "none: []",
            "null: [(None,)]",
            "error: ORA-00942: table or view does not exist",
            "insert: 1",
            "wrong password: ORA-01017: invalid credential or not authorized; logon denied",
        ];
        assert_eq!(lines[..expected.len()], expected, "{generation:?} {verifier:?}: {said}");
        assert!(lines[8].starts_with("wrong service: DPY-600"), "{said}");
        assert!(lines[9].starts_with("slow: DPY-4024"), "{said}");
        let happened = server.happened();
        assert!(happened.iter().any(|what| what.starts_with("with ") && what.contains("it's")), "{happened:?}");
        assert!(happened.contains(&"commit".to_owned()) && happened.contains(&"break".to_owned()), "{happened:?}");
    }
    // A listener that sends clients on, and a locked account.
    let server = Server::start(Manner::default()).await;
    let listener = Server::start(Manner { redirect: Some(server.at), ..Manner::default() }).await;
    assert!(judged(python.clone(), &listener).await.starts_with("one: [(1,)]"));
    let locked = Server::start(Manner { is_locked: true, ..Manner::default() }).await;
    assert!(judged(python, &locked).await.starts_with("one: ORA-28000"));
}

fn place(server: &Server, password: &str) -> Place {
    Place::new("ORACLE", server.at, SERVICE, USER, password)
}

#[cfg(not(feature = "oracle"))]
#[tokio::test]
async fn a_build_without_the_driver_says_so() {
    let server = Server::start(Manner::default()).await;
    assert_trouble(
        &place(&server, PASSWORD).read("select 1 from dual", "= 1").await,
        Trouble::Here,
        "--features oracle",
    );
    assert_eq!(server.happened(), [""; 0]);
}

#[cfg(feature = "oracle")]
mod driven {
    use super::*;
    use crate::tns::Fault;

    const ALL: [Fault; 5] = [Fault::Silent, Fault::CutOff, Fault::Garbage, Fault::Nonsense, Fault::Lying];

    #[tokio::test]
    async fn a_guard_passes_refuses_and_cannot_tell() {
        for generation in [Generation::Nineteen, Generation::TwentyThree] {
            let server = Server::start(Manner { generation, ..Manner::default() }).await;
            let right = place(&server, PASSWORD);
            assert_pass(&right.read("select lag from shipping", "<= 30").await, "gave `30`, as expected: `<= 30`");
            assert_refuse(&right.read("select lag from late_shipping", "<= 30").await, "gave `31.5`");
            assert_pass(&right.read("select status from failover_gate;", "= 'YES'").await, "`YES`");
            assert_refuse(&right.read("select status from failover_gate", "= 'NO'").await, "`YES`");
            assert_trouble(&right.read("select nothing from dual", "<= 30").await, Trouble::Shape, "NULL");
            assert_trouble(&right.read("select empty from nothing", "<= 30").await, Trouble::Shape, "no row");
            assert_trouble(&right.read("select x from missing", "= 1").await, Trouble::Database, "ORA-00942");
            let happened = server.happened();
            let is = |what: &str| happened.iter().any(|happened| happened == what);
            assert!(is("execute set transaction read only") && is("rollback") && !is("commit"), "{happened:?}");
            assert_trouble(
                &place(&server, "wrong").read("select 1 from dual", "= 1").await,
                Trouble::Connect,
                "ORA-01017",
            );
            let elsewhere = Place::new("ORACLE", server.at, "nosuch", USER, PASSWORD);
            assert_trouble(&elsewhere.read("select 1 from dual", "= 1").await, Trouble::Connect, "nosuch");
        }
    }

    #[tokio::test]
    async fn a_trigger_commits_with_its_values_bound() {
        let server = Server::start(Manner::default()).await;
        let binds = [("seq", "7"), ("cause", "it's; DROP TABLE x"), ("payload", "{}")];
        let act = |sql, expect| {
            let place = place(&server, PASSWORD);
            async move { place.ask(Access::Act, sql, &binds, expect, Times::within(PATIENT)).await }
        };
        assert_pass(&act("insert into deeds values (:seq, :cause)", Some("= 1")).await, "changed 1 row");
        assert_refuse(&act("update deeds set seq = :seq", Some("= 1")).await, "changed 3 rows");
        assert_trouble(&act("insert into locked values (1)", None).await, Trouble::Database, "ORA-00054");
        let happened = server.happened();
        assert!(happened.contains(&"execute insert into deeds values (:b_seq, :b_cause)".to_owned()), "{happened:?}");
        assert!(happened.iter().any(|what| what.starts_with("with ") && what.contains("it's; DROP TABLE x")));
        assert_eq!(happened.iter().filter(|what| **what == "commit").count(), 2, "{happened:?}");
    }

    #[tokio::test]
    async fn a_locked_account_an_old_verifier_and_a_redirect_are_told_apart() {
        let locked = Server::start(Manner { is_locked: true, ..Manner::default() }).await;
        assert_trouble(
            &place(&locked, PASSWORD).read("select 1 from dual", "= 1").await,
            Trouble::Connect,
            "ORA-28000",
        );
        let old = Server::start(Manner { verifier: Verifier::Eleven, ..Manner::default() }).await;
        assert_trouble(
            &place(&old, PASSWORD).read("select 1 from dual", "= 1").await,
            Trouble::Connect,
            "11g verifier",
        );
        let server = Server::start(Manner::default()).await;
        let listener = Server::start(Manner { redirect: Some(server.at), ..Manner::default() }).await;
        assert_pass(&place(&listener, PASSWORD).read("select 1 from dual", "= 1").await, "`1`");
    }

    /// A statement takes some six packets of the server's: whichever goes wrong, the outcome is that nothing is known.
    #[tokio::test]
    async fn whatever_a_server_does_the_guard_ends_in_time_and_does_not_pass() {
        let quick = Duration::from_millis(1_500);
        let times = Times { connect: quick, statement: quick, total: quick * 2 };
        for fault in ALL {
            for from in 0..7 {
                let server = Server::start(Manner { fault: Some((from, fault)), ..Manner::default() }).await;
                let begun = Instant::now();
                let outcome = place(&server, PASSWORD)
                    .ask(Access::Read, "select lag from shipping", &[], Some("<= 30"), times)
                    .await;
                assert!(begun.elapsed() < times.total + Duration::from_secs(5), "{fault:?} {from}");
                assert!(matches!(outcome, Outcome::CannotTell(..)), "{fault:?} from packet {from}: {outcome:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_silent_server_and_a_slow_one_cost_their_time_outs() {
        let (short, silent) =
            (Duration::from_millis(300), Manner { fault: Some((0, Fault::Silent)), ..Manner::default() });
        let server = Server::start(silent).await;
        let times = Times { connect: short, ..Times::within(PATIENT) };
        let begun = Instant::now();
        let outcome = place(&server, PASSWORD).ask(Access::Read, "select 1 from dual", &[], Some("= 1"), times).await;
        assert_trouble(&outcome, Trouble::TimedOut, "no connection and login within 300 ms");
        assert!(begun.elapsed() < PATIENT);
        // The statement that takes long is broken off, so that the database hears of it.
        let server = Server::start(Manner::default()).await;
        let times = Times { statement: Duration::from_secs(2), ..Times::within(PATIENT) };
        let outcome =
            place(&server, PASSWORD).ask(Access::Read, "select sleep from dual", &[], Some("= 1"), times).await;
        assert_trouble(&outcome, Trouble::TimedOut, "");
        assert!(server.happened().contains(&"break".to_owned()), "{:?}", server.happened());
        // A slow server is one that answers, where there is time.
        let slow = Server::start(Manner { delay: Duration::from_millis(30), ..Manner::default() }).await;
        assert_pass(&place(&slow, PASSWORD).read("select 1 from dual", "= 1").await, "`1`");
    }
}
