//! A saved `ns.conf` of seven hundred lines: brought over by `bascule import`, started, and asked over real sockets.
//!
//! Of the file only addresses, and ports that need a superuser, are others: all of them on the loopback.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::box_under_test::{Box, within};
use crate::tls::pki::{Authority, BOTH};

const SAVED: &str = include_str!("../../golden/nsconf/saved.ns.conf");
const PATIENT: Duration = Duration::from_secs(60);

/// A back end that says its name, and what it was asked.
fn serve(name: &'static str, at: SocketAddr) {
    let listener = TcpListener::bind(at).unwrap_or_else(|error| panic!("{name} at {at}: {error}"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = answer(name, stream);
            });
        }
    });
}

fn answer(name: &str, mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let (mut asked, mut piece) = (Vec::new(), [0; 2048]);
    while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        asked.extend_from_slice(&piece[..length]);
        // Of a protocol that nobody looks into.
        if asked.ends_with(b"hello\n") {
            return stream.write_all(format!("{name}\n").as_bytes());
        }
    }
    let body = format!("{name}\n{}", String::from_utf8_lossy(&asked));
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nServer: secret/1.0\r\nX-Powered-By: magic\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Sends a request whole and reads to the end.
fn ask(mut stream: impl Read + Write, request: &str, host: &str, more: &str) -> String {
    let text = format!("{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
    stream.write_all(text.as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    // A peer that closes without a word is an answer too.
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        answer.extend_from_slice(&piece[..length]);
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn plain(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).expect("the VIP is there");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
    stream
}

fn over_tls(to: SocketAddr, config: &Arc<ClientConfig>, name: &str) -> StreamOwned<ClientConnection, TcpStream> {
    let name = name.to_owned().try_into().expect("a name");
    StreamOwned::new(ClientConnection::new(Arc::clone(config), name).expect("a client"), plain(to))
}

/// The line of the answer, and the name of the back end.
fn who(answer: &str) -> (&str, &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    (head.lines().next().unwrap_or(""), body.lines().next().unwrap_or(""))
}

#[test]
fn a_saved_configuration_of_seven_hundred_lines_is_imported_and_served() {
    // Tests at the same time have networks of their own.
    let net = 64 + std::process::id() % 128;
    let address = |rest: &str| -> IpAddr { format!("127.{net}.{rest}").parse().expect("an address") };
    let text = SAVED.replace(" 10.20.", &format!(" 127.{net}.")).replace("198.51.100.", &format!("127.{net}.200."));
    // The clock of the machine that tests run on is not theirs.
    let text = text.replace("add ntp server 192.0.2.123\n", "");
    let high = |text: &str, port: &str, instead: &str| {
        let vip = regex::Regex::new(&format!(r"(127\.{net}\.200\.\d+) {port}\b")).expect("a pattern");
        vip.replace_all(text, format!("$1 {instead}")).into_owned()
    };
    let text = high(&high(&text, "80", "8080"), "443", "8443");
    assert!(text.lines().count() > 700);

    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("ns.conf");
    std::fs::write(&saved, &text).expect("it is written");
    let program = env!("CARGO_BIN_EXE_bascule");
    let imported = std::process::Command::new(program).arg("import").arg(&saved).output().expect("it starts");
    let told = String::from_utf8_lossy(&imported.stderr).into_owned();
    assert!(told.contains("the TOML loads once the files of its certificates are there"), "{told}");
    let toml = String::from_utf8(imported.stdout).expect("text");

    for (name, rest, port) in [
        ("app01-1", "11.1", 8080),
        ("app01-2", "11.2", 8080),
        ("app02-1", "12.1", 8080),
        ("app13-2", "23.2", 8080),
        ("app15-1", "25.1", 8080),
        ("app15-2", "25.2", 8080),
        ("app15-3", "25.3", 8080),
        ("app17-1", "27.1", 8080),
        ("app25-3", "35.3", 5000),
    ] {
        serve(name, SocketAddr::new(address(rest), port));
    }
    let authority = Authority::new("Test authority");
    let [wild, api] =
        [("wild", "*.example.test"), ("api", "api.example.test")].map(|(name, host)| authority.issue(name, &[host]));
    let beside = [("wild.crt", &wild.chain), ("wild.key", &wild.key), ("api.crt", &api.chain), ("api.key", &api.key)];
    let beside = beside.map(|(name, text)| (name, text.as_str()));
    let appliance = Box::start_beside(&beside, &toml);
    let is_up = |vserver: &str| appliance.get(&format!("/vservers/{vserver}"))["state"] == "UP";
    for vserver in ["lb-app01", "lb-app02", "lb-app13", "lb-app15", "lb-app17", "lb-app25", "cs-http", "cs-https"] {
        within(PATIENT, &format!("{vserver} is UP"), || is_up(vserver));
    }
    for service in ["svc-app01-1", "svc-app01-2"] {
        appliance.expect_service(service, "UP", PATIENT);
    }

    // Balanced over the members of a group.
    let mut served = std::collections::BTreeSet::new();
    within(PATIENT, "all three members serve", || {
        let answer = ask(plain(appliance.vip("lb-app15")), "GET /", "app15.example.test", "");
        assert_eq!(who(&answer).0, "HTTP/1.1 200 OK", "{answer}");
        served.insert(who(&answer).1.to_owned());
        served.len() == 3
    });
    assert!(served.iter().all(|name| name.starts_with("app15-")), "{served:?}");

    // Its members are DOWN: the backup's own serve.
    within(PATIENT, "the backup serves for lb-app14", || {
        who(&ask(plain(appliance.vip("lb-app14")), "GET /", "app14.example.test", "")).1 == "app01-1"
    });

    // A responder policy sends to https.
    let answer = ask(plain(appliance.vip("lb-app17")), "GET /a?b=c", "app17.example.test", "");
    assert_eq!(who(&answer).0, "HTTP/1.1 301 Moved Permanently", "{answer}");
    assert!(answer.to_lowercase().contains("location: https://app17.example.test/a?b=c"), "{answer}");

    // TLS ends here.
    let client = Arc::new(authority.client(BOTH));
    let tls = |vserver: &str, name: &str| over_tls(appliance.vip(vserver), &client, name);
    let answer = ask(tls("lb-app13", "app13.example.test"), "GET /", "app13.example.test", "");
    assert_eq!(who(&answer), ("HTTP/1.1 200 OK", "app13-2"));

    // Content switching by host over TLS, with persistence by cookie and rewritten fields on both sides.
    let switched = |request: &str, host: &str, more: &str| ask(tls("cs-https", host), request, host, more);
    let answer = switched("GET /shop", "app01.example.test", "");
    let (line, first) = who(&answer);
    assert!(line == "HTTP/1.1 200 OK" && first.starts_with("app01-"), "{answer}");
    let lower = answer.to_lowercase();
    assert!(lower.contains("\nx-client-ip: 127."), "the server is told who asked: {answer}");
    assert!(lower.contains("\nstrict-transport-security: max-age=31536000"), "{answer}");
    assert!(!lower.contains("secret/1.0") && !lower.contains("x-powered-by"), "{answer}");
    let cookie =
        answer.lines().find_map(|line| line.strip_prefix("set-cookie: ").or(line.strip_prefix("Set-Cookie: ")));
    let cookie = cookie.and_then(|cookie| cookie.split(';').next()).expect("a cookie for persistence");
    for _ in 0..6 {
        let again = switched("GET /shop", "app01.example.test", &format!("Cookie: {cookie}\r\n"));
        assert_eq!(who(&again).1, first, "{again}");
    }
    // Nothing fits: the default. By a pattern set: pictures.
    assert_eq!(who(&switched("GET /", "other.example.test", "")).1, "app02-1");
    assert!(who(&switched("GET /logo.png", "other.example.test", "")).1.starts_with("app01-"));
    // The certificate is the one of the name that was asked for.
    let api = ask(tls("cs-https", "api.example.test"), "GET /", "api.example.test", "");
    assert_eq!(who(&api).1, "app02-1");
    // A responder policy with a pattern set and a named expression.
    let answer = switched("GET /admin/users", "app01.example.test", "");
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.ends_with("not from here\n"), "{answer}");

    // Without TLS: by host and path, the default, and what is dropped.
    let plainly = |request: &str, host: &str| ask(plain(appliance.vip("cs-http")), request, host, "");
    assert_eq!(who(&plainly("GET /app02/x", "app02.example.test")).1, "app02-1");
    assert!(who(&plainly("GET /x", "app02.example.test")).1.starts_with("app01-"));
    assert_eq!(plainly("GET /a/..b", "app02.example.test"), "", "dropped without an answer");

    // Connections of a protocol that nobody looks into.
    let mut stream = plain(appliance.vip("lb-app25"));
    stream.write_all(b"hello\n").expect("it is sent");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("an answer");
    assert_eq!(said, "app25-3\n");

    // What was written beside the objects came along.
    assert_eq!(appliance.get("/servers/srv-app15-1")["comment"], "rack 4, row 1");
    assert_eq!(appliance.get("/vservers/lb-app25")["comment"], "app25 over TCP");
}
