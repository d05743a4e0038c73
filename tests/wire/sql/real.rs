//! PostgreSQL and MariaDB as they are.

use super::*;

const BINDS: [(&str, &str); 3] =
    [("seq", "7"), ("cause", "it's \\'; DROP TABLE deeds -- é"), ("direction", "activate")];

async fn act(place: &Place, sql: &str, expect: Option<&str>) -> Outcome {
    place.ask(Access::Act, sql, &BINDS, expect, Times::within(PATIENT)).await
}

#[tokio::test]
async fn a_guard_asks_postgresql_and_changes_nothing() {
    let server = servers::postgresql();
    let place = Place::new("POSTGRESQL", server.at, "postgres", USER, PASSWORD);
    assert_pass(&place.read("select 30", "<= 30").await, "gave `30`, as expected: `<= 30`");
    assert_refuse(&place.read("select 31::bigint", "<= 30").await, "gave `31`");
    assert_pass(&place.read("select round(12.5 * 3, 2)", "= 37.5").await, "gave `37.50`");
    assert_pass(&place.read("select -0.005::numeric", "= -0.005").await, "gave `-0.005`");
    assert_pass(&place.read("select 'YES'::varchar(3)", "= 'YES'").await, "`YES`");
    assert_pass(&place.read("select pg_is_in_recovery()", "= 'false'").await, "`false`");
    assert_trouble(&place.read("select null::int", "<= 30").await, Trouble::Shape, "gave NULL");
    assert_trouble(&place.read("select 1 where false", "<= 30").await, Trouble::Shape, "gave no row");
    assert_trouble(&place.read("select now()", "<= 30").await, Trouble::Shape, "cast it to text");
    assert_trouble(&place.read("select 'x'", "<= 30").await, Trouble::Shape, "no number");
    assert_trouble(&place.read("selec 1", "= 1").await, Trouble::Database, "42601");
    assert_trouble(&place.read("select 1; select 2", "= 1").await, Trouble::Database, "42601");
    // A million rows are not read: the first is enough.
    assert_pass(&place.read("select n from generate_series(1, 1000000) n", "= 1").await, "`1`");
    let flood = "select repeat('x', 10000000)";
    assert_trouble(&place.read(flood, "= 'x'").await, Trouble::Database, "more than a probe looks at");

    assert_pass(&act(&place, "create table deeds (seq int)", None).await, "changed 0 rows");
    assert_trouble(&place.read("insert into deeds values (1) returning seq", "= 1").await, Trouble::Database, "25006");
    assert_trouble(&place.read("drop table deeds", "= 0").await, Trouble::Database, "25006");
    assert_pass(&place.read("select count(*) from deeds", "= 0").await, "`0`");
}

#[tokio::test]
async fn a_trigger_acts_on_postgresql_once_and_with_its_values_bound() {
    let server = servers::postgresql();
    let place = Place::new("POSTGRESQL", server.at, "postgres", USER, PASSWORD);
    act(&place, "create table deeds (seq int, cause text)", None).await;
    let insert = "insert into deeds values (:seq, :cause)";
    assert_pass(&act(&place, insert, Some("= 1")).await, "changed 1 row");
    assert_pass(&place.read("select count(*) from deeds where seq = 7", "= 1").await, "");
    let mine =
        place.ask(Access::Read, "select cause = :cause from deeds", &BINDS, Some("= 'true'"), Times::within(PATIENT));
    assert_pass(&mine.await, "`true`");
    // A value that comes back, and a number of rows that is not as expected: it is done all the same.
    assert_pass(&act(&place, "insert into deeds values (:seq, 'b') returning seq", Some("= 7")).await, "`7`");
    assert_refuse(&act(&place, "update deeds set cause = 'c'", Some("= 1")).await, "changed 2 rows");
    assert_pass(&place.read("select count(*) from deeds where cause = 'c'", "= 2").await, "");
    // What fails leaves nothing.
    let broken = "insert into deeds select n, (1 / (n - 3))::text from generate_series(1, 3) n";
    assert_trouble(&act(&place, broken, None).await, Trouble::Database, "22012");
    assert_pass(&place.read("select count(*) from deeds", "= 2").await, "");
}

#[tokio::test]
async fn a_slow_statement_ends_by_its_time_on_the_server_too() {
    let server = servers::postgresql();
    let place = Place::new("POSTGRESQL", server.at, "postgres", USER, PASSWORD);
    let times = Times { statement: Duration::from_millis(200), ..Times::within(PATIENT) };
    let begun = Instant::now();
    let outcome = place.ask(Access::Read, "select pg_sleep(60)", &[], None, times).await;
    assert_trouble(&outcome, Trouble::TimedOut, "");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let others = "select count(*) from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()";
    let begun = Instant::now();
    while !matches!(place.read(others, "= 0").await, Outcome::Pass(_)) {
        assert!(begun.elapsed() < PATIENT, "the statement runs on");
    }
}

#[tokio::test]
async fn a_login_that_is_refused_is_no_answer() {
    let server = servers::postgresql();
    let wrong = Place::new("POSTGRESQL", server.at, "postgres", USER, "wrong");
    assert_trouble(&wrong.read("select 1", "= 1").await, Trouble::Connect, "28P01");
    let nowhere = Place::new("POSTGRESQL", server.at, "nowhere", USER, PASSWORD);
    assert_trouble(&nowhere.read("select 1", "= 1").await, Trouble::Connect, "3D000");
    // Over TLS nobody is trusted whose certificate is not.
    let mut tls = Place::new("POSTGRESQL", server.at, "postgres", USER, PASSWORD);
    tls.database.dsn = format!("tcps://{}/postgres", server.at).into();
    assert_trouble(&tls.read("select 1", "= 1").await, Trouble::Connect, "TLS handshake");
}

#[tokio::test]
async fn a_guard_asks_mariadb_and_changes_nothing() {
    let server = servers::mariadb();
    let place = Place::new("MYSQL", server.at, "shop", USER, PASSWORD);
    assert_pass(&place.read("select n from stock", "<= 30").await, "gave `7`, as expected: `<= 30`");
    assert_refuse(&place.read("select 30.5", "<= 30").await, "gave `30.5`");
    assert_pass(&place.read("select 'YES'", "= 'YES'").await, "`YES`");
    assert_trouble(&place.read("select null", "<= 30").await, Trouble::Shape, "gave NULL");
    assert_trouble(&place.read("select n from stock where n = 0", "= 0").await, Trouble::Shape, "no row");
    assert_trouble(&place.read("selec 1", "= 1").await, Trouble::Database, "error 1064");
    assert_trouble(&place.read("select 1; select 2", "= 1").await, Trouble::Database, "error 1064");
    for sql in
        ["insert into deeds values (1, 'x')", "truncate table deeds", "alter table deeds add x int", "drop table deeds"]
    {
        assert_trouble(&place.read(sql, "= 1").await, Trouble::Database, "error 1792");
    }
    assert_pass(&place.read("select count(*) from deeds", "= 0").await, "");
    let wrong = Place::new("MYSQL", server.at, "shop", USER, "wrong");
    assert_trouble(&wrong.read("select 1", "= 1").await, Trouble::Connect, "error 1045");
}

#[tokio::test]
async fn a_trigger_acts_on_mariadb_once_and_with_its_values_bound() {
    let server = servers::mariadb();
    let place = Place::new("MYSQL", server.at, "shop", USER, PASSWORD);
    assert_pass(&act(&place, "insert into deeds values (:seq, :cause)", Some("= 1")).await, "changed 1 row");
    let mine = "select count(*) from deeds where seq = :seq and cause = :cause";
    let outcome = place.ask(Access::Read, mine, &BINDS, Some("= 1"), Times::within(PATIENT)).await;
    assert_pass(&outcome, "`1`");
    assert_pass(&act(&place, "insert into deeds values (:seq, 'b') returning seq", Some("= 7")).await, "`7`");
    assert_refuse(&act(&place, "update deeds set cause = 'c'", Some("= 1")).await, "changed 2 rows");
    assert_pass(&place.read("select count(*) from deeds where cause = 'c'", "= 2").await, "");
    let times = Times { statement: Duration::from_millis(200), ..Times::within(PATIENT) };
    let begun = Instant::now();
    let outcome = place.ask(Access::Read, "select sleep(60) from stock", &[], Some("= 0"), times).await;
    assert!(!matches!(outcome, Outcome::Pass(_)), "{outcome:?}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
