//! The clients that people use, against the servers that people run, through a TCP vserver: a session with questions and
//! answers, and one answer of ten million bytes.

use std::net::SocketAddr;
use std::process::{Command, Stdio};

use bascule::model::service::Protocol::Tcp;

use crate::servers::{self, PASSWORD, USER};
use crate::world::{Plan, World};

const MUCH: usize = 10_000_000;

/// The VIP before a server.
async fn before(at: SocketAddr) -> (World, SocketAddr) {
    let world = World::start(Plan::default().service("a", Tcp, at).vserver("db", Tcp, &["a"])).await;
    let vip = world.vip("db");
    (world, vip)
}

/// What the client prints.
async fn said(mut command: Command) -> String {
    let output = tokio::task::spawn_blocking(move || command.stdin(Stdio::null()).output()).await.unwrap();
    let output = output.unwrap_or_else(|error| panic!("{error}; run scripts/install-prerequisites"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn psql_works_through_a_tcp_vserver_with_tls_and_without() {
    let server = tokio::task::spawn_blocking(servers::postgresql).await.unwrap();
    let (world, vip) = before(server.at).await;
    for mode in ["require", "disable"] {
        let mut psql = Command::new("psql");
        let target = format!("host={} port={} user={USER} dbname=postgres sslmode={mode}", vip.ip(), vip.port());
        psql.env("PGPASSWORD", PASSWORD).args(["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", &target]);
        psql.args(["-c", "create temp table t as select generate_series(1, 1000) n", "-c", "select sum(n) from t"]);
        psql.arg("-c").arg(format!("select repeat('x', {MUCH})"));
        let answer = said(psql).await;
        let mut lines = answer.lines().skip_while(|line| *line != "500500").skip(1);
        assert_eq!(lines.next().map(str::len), Some(MUCH), "sslmode={mode}");
    }
    crate::world::eventually("both sessions are over", || world.active("a") == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_works_through_a_tcp_vserver() {
    let server = tokio::task::spawn_blocking(servers::mariadb).await.unwrap();
    let (_world, vip) = before(server.at).await;
    let mut client = Command::new("mariadb");
    client.arg("--no-defaults").arg(format!("--host={}", vip.ip())).arg(format!("--port={}", vip.port()));
    client.arg(format!("--user={USER}")).arg(format!("--password={PASSWORD}"));
    client.args(["--protocol=TCP", "--skip-ssl", "--max-allowed-packet=64M", "-N", "-B"]);
    // As many bytes in many rows: one value is bounded by the server's packet.
    let rows = MUCH / 100_000;
    client.arg("-e").arg(format!("select n from shop.stock; select repeat('x', 100000) from seq_1_to_{rows};"));
    client.arg("shop");
    let answer = said(client).await;
    let mut lines = answer.lines();
    assert_eq!(lines.next(), Some("7"));
    assert_eq!(lines.map(str::len).sum::<usize>(), MUCH);
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_cli_works_through_a_tcp_vserver() {
    let server = tokio::task::spawn_blocking(servers::redis).await.unwrap();
    let (_world, vip) = before(server.at).await;
    let cli = |words: &[&str]| {
        let mut cli = Command::new("redis-cli");
        cli.args(["-h", &vip.ip().to_string(), "-p", &vip.port().to_string(), "--no-auth-warning", "-a", PASSWORD]);
        cli.args(words);
        cli
    };
    assert_eq!(said(cli(&["set", "k", "v"])).await.trim(), "OK");
    assert_eq!(said(cli(&["get", "k"])).await.trim(), "v");
    assert_eq!(said(cli(&["setrange", "much", &(MUCH - 1).to_string(), "x"])).await.trim(), MUCH.to_string());
    assert_eq!(said(cli(&["--raw", "get", "much"])).await.trim_end_matches('\n').len(), MUCH);
}
