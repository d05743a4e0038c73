//! The three reasons for which something of the process, or of the machine, must be used up: each with a process of its
//! own, so that no other test goes short.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bascule::model::ending::{Ending, Phase, Reason, Who};
use rustls::{ClientConnection, StreamOwned};
use socket2::{Domain, Socket, Type};

use super::box_under_test::{Backend, Box, http, within};
use crate::tls::pki::{Authority, BOTH};

const PATIENT: Duration = Duration::from_secs(10);

/// An ending, and what brings it about.
pub struct Case {
    pub ending: Ending,
    act: fn(Ending),
}

pub const CASES: &[Case] = &[
    Case { ending: Ending::new(Who::Appliance, Phase::Connect, Reason::NoDescriptor), act: with_one_file_left },
    Case { ending: NO_SOURCE_PORT, act: in_a_namespace_of_its_own },
    Case {
        ending: Ending::new(Who::Appliance, Phase::Tls, Reason::TooManyConnections),
        act: with_clients_that_are_silent_in_their_handshakes,
    },
];

const NO_SOURCE_PORT: Ending = Ending::new(Who::Appliance, Phase::Connect, Reason::NoSourcePort);

/// Set where namespaces cannot be had, by whoever accepts that `no_source_port` is not shown then.
const WITHOUT_NAMESPACES: &str = "BASCULE_WITHOUT_NAMESPACES";

#[test]
fn what_finds_files_ports_or_places_used_up_says_which() {
    std::thread::scope(|scope| {
        for case in CASES {
            scope.spawn(|| (case.act)(case.ending));
        }
    });
}

fn config(backend: &Backend, vserver: &str) -> String {
    format!(
        r#"
        [log]
        access = "access.log"
        [service.a]
        type = "TCP"
        address = "{}"
        health_monitor = false
        [vserver.web]
        address = "127.0.0.1:0"
        services = ["a"]
        {vserver}
        "#,
        backend.address
    )
}

/// It stands in the metrics and in the access log.
fn expect(box_: &Box, ending: Ending) {
    let (who, phase, reason) = (ending.who.word(), ending.phase.word(), ending.reason.word());
    let line = format!("who={who} phase={phase} reason={reason}");
    let log = || std::fs::read_to_string(box_.path("access.log")).unwrap_or_default();
    within(PATIENT, &format!("{line} in the access log"), || log().contains(&line));
    let metrics = http(box_.admin, "GET", "/metrics", "", &[]).expect("an answer").body;
    let counted = metrics.lines().any(|metric| {
        metric.starts_with("bascule_ended_total")
            && [who, phase, reason].iter().all(|word| metric.contains(&format!("\"{word}\"")))
            && !metric.ends_with(" 0")
    });
    assert!(counted, "{ending} is not in the metrics");
}

/// Ends without a byte, whether closed or reset.
fn is_cut(client: &mut TcpStream) -> bool {
    client.set_read_timeout(Some(PATIENT)).expect("a time-out");
    match client.read(&mut [0; 1]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}

fn limit_files(pid: u32, files: usize) {
    let status = Command::new("prlimit").args(["--pid", &pid.to_string(), &format!("--nofile={files}:")]).status();
    assert!(status.expect("prlimit: scripts/install-prerequisites").success());
}

/// The limit is lowered under the running process to leave one file: that is the client's, and none is left for the
/// connection to the server.
fn with_one_file_left(ending: Ending) {
    let backend = Backend::start("a");
    let box_ = Box::start(&config(&backend, "type = \"TCP\""));
    box_.expect_service("a", "UP", PATIENT);
    let open = || {
        let folder = std::fs::read_dir(format!("/proc/{}/fd", box_.pid())).expect("its files");
        let mut open: Vec<usize> = folder.flatten().filter_map(|f| f.file_name().to_str()?.parse().ok()).collect();
        open.sort_unstable();
        open
    };
    // The connections of the questions above are closed.
    let mut before = open();
    within(PATIENT, "its files stay the same", || {
        std::thread::sleep(Duration::from_millis(50));
        std::mem::replace(&mut before, open()) == before && !before.is_empty()
    });
    let files = before;
    let free = (0..).find(|number| !files.contains(number)).expect("a number");
    let limit = (free + 1..).find(|limit| limit - files.iter().filter(|&file| file < limit).count() == 1);
    limit_files(box_.pid(), limit.expect("a limit"));
    let mut client = TcpStream::connect(box_.vip("web")).expect("a connection");
    assert!(is_cut(&mut client), "there is no server for it");
    limit_files(box_.pid(), 1000);
    expect(&box_, ending);
    assert!(box_.log().contains("nothing left to connect with"));
    // What is there again is used again.
    let again = http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer");
    assert_eq!(again.body.trim(), "a");
}

/// Half of the connections that the limit of files allows may be in their handshakes at once. One client that begins many
/// and is silent drives out its own, and keeps no other out, on no VIP.
fn with_clients_that_are_silent_in_their_handshakes(ending: Ending) {
    let certs = tempfile::tempdir().expect("a folder");
    let authority = Authority::new("Test authority");
    let issued = authority.issue("www", &["www.test"]);
    for (name, text) in [("www.key", &issued.key), ("www.pem", &issued.chain)] {
        std::fs::write(certs.path().join(name), text).expect("it is written");
    }
    let backend = Backend::start("a");
    let folder = certs.path().display();
    let more = format!(
        "type = \"SSL_TCP\"\ncertificates = [\"www\"]\n[vserver.other]\naddress = \"127.0.0.1:0\"\nservices = [\"a\"]\n\
         type = \"SSL_TCP\"\ncertificates = [\"www\"]\n[certificate.www]\n\
         certificate = \"{folder}/www.pem\"\nkey = \"{folder}/www.key\""
    );
    let box_ = Box::start_with_files(Some(256), &config(&backend, &more));
    box_.expect_service("a", "UP", PATIENT);
    assert!(box_.log().contains("the limit of open files bounds client connections files=256 connections=44"));
    let connect = || TcpStream::connect(box_.vip("web")).expect("a connection");
    let mut silent: Vec<TcpStream> = (0..23).map(|_| connect()).collect();
    assert!(is_cut(&mut silent[0]), "the oldest gives way");
    expect(&box_, ending);
    let waits = |client: &mut TcpStream| {
        client.set_nonblocking(true).expect("a socket");
        client.read(&mut [0; 1]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    };
    let count = |silent: &mut [TcpStream]| silent.iter_mut().filter_map(|client| waits(client).then_some(())).count();
    assert_eq!(count(&mut silent), 22, "one is cut");
    // Far more than there are places, so that more than one limit is reached.
    silent.extend((0..200).map(|_| connect()));
    let config = Arc::new(authority.client(BOTH));
    for (host, vserver) in [(9, "web"), (10, "other"), (11, "web")] {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.bind(&SocketAddr::from(([127, 0, 0, host], 0)).into()).expect("an address");
        socket.connect(&box_.vip(vserver).into()).expect("a connection");
        let session = ClientConnection::new(Arc::clone(&config), "www.test".try_into().expect("a name"));
        let mut client = StreamOwned::new(session.expect("a client"), TcpStream::from(socket));
        client.sock.set_read_timeout(Some(PATIENT)).expect("a time-out");
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").expect("a handshake");
        let mut answer = String::new();
        let _ = client.read_to_string(&mut answer);
        assert!(answer.trim_end().ends_with('a'), "{answer}");
    }
    let left = count(&mut silent);
    assert!((20..=22).contains(&left), "nobody had to wait for them to end: {left}");
}

/// Runs the test below in a network namespace, whose range of ports is its own.
fn in_a_namespace_of_its_own(_: Ending) {
    if std::env::var_os(WITHOUT_NAMESPACES).is_some() {
        eprintln!("NOT SHOWN: no_source_port, since {WITHOUT_NAMESPACES} is set");
        return;
    }
    // Root has namespaces for the asking; others by way of a user namespace, where the machine allows it.
    let own = Command::new("unshare").args(["--net", "true"]).output().is_ok_and(|done| done.status.success());
    let how: &[&str] = if own { &["--net"] } else { &["--user", "--map-root-user", "--net"] };
    let name = module_path!().split_once("::").expect("a path").1;
    let done = Command::new("unshare")
        .args(how)
        .args(["sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().expect("this test"))
        .args(["--ignored", "--exact", &format!("{name}::with_two_ports")])
        .output()
        .expect("unshare: util-linux");
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success() && said.contains("1 passed"),
        "no_source_port needs a network namespace; where there are none, set {WITHOUT_NAMESPACES}\n{said}"
    );
}

#[test]
#[ignore = "is run by the test of no_source_port, in a network namespace"]
fn with_two_ports() {
    let backend = Backend::start("a");
    let box_ = Box::start(&config(&backend, "type = \"TCP\""));
    box_.expect_service("a", "UP", PATIENT);
    let range = |ports: &str| std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", ports).expect("the range");
    range("40000 40001");
    // The clients have ports of their own choice.
    let connect = |port: u16| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.bind(&SocketAddr::from(([127, 0, 0, 2], port)).into()).expect("a port");
        socket.connect(&box_.vip("web").into()).expect("a connection");
        TcpStream::from(socket)
    };
    let held: Vec<TcpStream> = (0..2).map(|at| connect(20_000 + at)).collect();
    let arrived = || {
        let sockets = std::fs::read_to_string("/proc/self/net/tcp").expect("the sockets");
        let to = format!(":{:04X} 01 ", backend.address.port());
        sockets.lines().filter(|socket| socket.contains(&to)).count()
    };
    within(PATIENT, "both have a server", || arrived() == 2);
    assert!(is_cut(&mut connect(20_002)), "a third port there is not");
    range("32768 60999");
    expect(&box_, NO_SOURCE_PORT);
    let again = http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer");
    assert_eq!(again.body.trim(), "a");
    drop(held);
}
