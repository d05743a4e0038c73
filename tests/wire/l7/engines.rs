//! Both engines with the same requests: what the server saw and what the client saw must be the same.
//!
//! What may differ, and is left out of the comparison:
//! - the order of fields, the case of their names, and how pieces of a body are cut into chunks;
//! - `Connection`, as each engine may say more or less than it must about a connection that ends anyway;
//! - how an answer without a length is framed: up to the end of the connection (relay), or in chunks (pingora);
//! - trailers of an answer, which only the relay passes on;
//! - the version in the status line of an answer in HTTP/1.0;
//! - framing fields of an answer that has no body by its status;
//! - the id of a request in answers of our own;
//! - several `Cookie` fields, which pingora joins;
//! - the value of a `Date` that is ours.

use std::collections::BTreeMap;

use bascule::dataplane::l7::Carrier;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::one;
use crate::world::{PATIENT, Server, World, connect, eventually, exchange, read_request};

/// What a server says to a path; then the connection goes on, or closes.
fn canned(path: &str) -> (&'static [u8], bool) {
    match path {
        "/chunked" => (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0004;x=y\r\ndefg\r\n0\r\n\r\n", false),
        "/trailers" => (
            b"HTTP/1.1 200 OK\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX-T: 1\r\n\r\n",
            false,
        ),
        "/204" => (b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", false),
        "/204-length" => (b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nX-A: 1\r\n\r\n", false),
        "/304" => (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nETag: \"a\"\r\n\r\n", false),
        "/nothing" => (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false),
        "/until-end" => (b"HTTP/1.1 200 OK\r\n\r\nall of it", true),
        "/1.0" => (b"HTTP/1.0 200 OK\r\n\r\nall of it", true),
        "/closing" => (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", true),
        "/interim" => (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false),
        "/error" => (b"HTTP/1.1 500 Oh no\r\nContent-Length: 3\r\n\r\nbad", false),
        "/hop" => (
            b"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nProxy-Connection: a\r\n\
              Server: s\r\nDate: Mon, 30 Nov 2020 00:00:00 GMT\r\nContent-Length: 2\r\n\r\nok",
            false,
        ),
        "/cookies" => (b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok", false),
        "/broken-length" => (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart", true),
        "/broken-chunks" => (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", true),
        "/garbage" => (b"garbage\r\n\r\n", true),
        "/bad-length" => (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", true),
        "/silence" => (b"", true),
        _ => (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Answer: yes\r\n\r\nhello", false),
    }
}

async fn server() -> Server {
    let seen: std::sync::Arc<parking_lot::Mutex<Vec<u8>>> = std::sync::Arc::default();
    let record = std::sync::Arc::clone(&seen);
    let mut server = Server::each(move |mut stream: TcpStream| {
        let record = std::sync::Arc::clone(&record);
        async move {
            while let Some(request) = read_request(&mut stream).await {
                record.lock().extend_from_slice(request.as_bytes());
                let path = request.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").to_owned();
                let (answer, closes) = canned(&path);
                let silent = request.starts_with("HEAD ");
                let end = answer.windows(4).rposition(|w| w == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
                let answer = if silent && path != "/chunked" && path != "/trailers" { &answer[..end] } else { answer };
                let answer = if silent { head_of(answer) } else { answer };
                if stream.write_all(answer).await.is_err() || closes {
                    return;
                }
            }
        }
    })
    .await;
    server.seen = seen;
    server
}

fn head_of(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    &answer[..end]
}

/// Start line, fields and body of one message.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    pub line: String,
    fields: BTreeMap<String, Vec<String>>,
    pub body: String,
}

const NOT_COMPARED: &[&str] =
    &["connection", "transfer-encoding", "trailer", "x-request-id", "content-length", "keep-alive"];

/// Cuts what came over one connection into messages. `heads`: for which of them no body comes.
pub fn messages(mut bytes: &[u8], heads: &dyn Fn(usize, &str) -> bool) -> Vec<Message> {
    let mut all = Vec::new();
    while let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        bytes = &bytes[end + 4..];
        let mut lines = head.split("\r\n");
        let line = lines.next().unwrap_or_default().replace("HTTP/1.0", "HTTP/1.1");
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            fields.entry(name.to_lowercase()).or_default().push(value.trim().to_owned());
        }
        let of = |name: &str| fields.get(name).map(|values| values.join(", "));
        let is_answer = line.starts_with("HTTP/");
        let bodiless = heads(all.len(), &line);
        let body = match (of("transfer-encoding"), of("content-length")) {
            _ if bodiless => Vec::new(),
            (Some(_), _) => dechunked(&mut bytes),
            (None, Some(length)) => take(&mut bytes, length.parse().unwrap_or(usize::MAX)),
            (None, None) if is_answer => take(&mut bytes, usize::MAX),
            (None, None) => Vec::new(),
        };
        let body = String::from_utf8_lossy(&body).split("id: ").next().unwrap_or_default().to_owned();
        if let Some(cookies) = fields.get_mut("cookie") {
            *cookies = vec![cookies.join("; ")];
        }
        fields.retain(|name, _| !NOT_COMPARED.contains(&name.as_str()));
        for date in fields.get_mut("date").into_iter().flatten().filter(|date| !date.ends_with(" 2020 00:00:00 GMT")) {
            *date = "ours".to_owned();
        }
        all.push(Message { line, fields, body });
    }
    all
}

fn take(bytes: &mut &[u8], most: usize) -> Vec<u8> {
    let (taken, rest) = bytes.split_at(most.min(bytes.len()));
    *bytes = rest;
    taken.to_vec()
}

/// The data of a body in chunks, as far as it goes.
fn dechunked(bytes: &mut &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    while let Some(end) = bytes.windows(2).position(|w| w == b"\r\n") {
        let size = String::from_utf8_lossy(&take(bytes, end)).into_owned();
        take(bytes, 2);
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16).unwrap_or(0);
        if size == 0 {
            // Trailers, up to the empty line.
            while let Some(end) = bytes.windows(2).position(|w| w == b"\r\n") {
                take(bytes, end + 2);
                if end == 0 {
                    break;
                }
            }
            break;
        }
        data.extend(take(bytes, size));
        take(bytes, 2);
    }
    data
}

/// What server and client saw of one connection.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    by_server: Vec<Message>,
    by_client: Vec<Message>,
}

async fn seen(carrier: Carrier, request: &[u8]) -> Seen {
    let server = server().await;
    // The client says at once that it has nothing more to say.
    let model = one(&server).with(|web| web.abort_on_close = false).model();
    let world = World::through(model, carrier).await;
    let mut client = connect(world.vip("web")).await;
    let mut got = Vec::new();
    {
        let (mut reader, mut writer) = client.split();
        let write = async {
            let _ = writer.write_all(request).await;
            let _ = writer.shutdown().await;
        };
        let read = async {
            let _ = tokio::time::timeout(PATIENT, reader.read_to_end(&mut got)).await.expect("no end");
        };
        tokio::join!(write, read);
    }
    eventually("nothing is active", || world.active("a") == 0).await;
    let methods: Vec<bool> = request
        .split(|&b| b == b'\n')
        .filter(|l| l.ends_with(b"HTTP/1.1\r") || l.ends_with(b"HTTP/1.0\r"))
        .map(|l| l.starts_with(b"HEAD "))
        .collect();
    let answered = std::cell::Cell::new(0);
    let bodiless = |_: usize, line: &str| {
        let interim = line.starts_with("HTTP/1.1 1");
        let to_head = methods.get(answered.get()).copied().unwrap_or_default();
        if !interim {
            answered.set(answered.get() + 1);
        }
        interim || to_head || line.contains(" 204 ") || line.contains(" 304 ")
    };
    let by_client = messages(&got, &bodiless);
    let by_server = messages(server.seen().replace(&server.at.to_string(), "SERVER").as_bytes(), &|_, _| false);
    Seen { by_server, by_client }
}

/// A request line, fields, and a body in each framing.
fn table() -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    let mut add = |request: String| all.push((request.chars().take(160).collect(), request.into_bytes()));
    let paths = [
        "/",
        "/chunked",
        "/trailers",
        "/204",
        "/304",
        "/nothing",
        "/until-end",
        "/1.0",
        "/closing",
        "/interim",
        "/error",
        "/hop",
        "/cookies",
        "/broken-length",
        "/broken-chunks",
        "/garbage",
        "/bad-length",
        "/silence",
    ];
    for path in paths {
        add(format!("GET {path}?a=b HTTP/1.1\r\nHost: x.test\r\n\r\n"));
    }
    for path in ["/", "/chunked", "/204", "/304", "/until-end", "/1.0"] {
        add(format!("HEAD {path} HTTP/1.1\r\nHost: x.test\r\n\r\n"));
    }
    for path in ["/", "/chunked", "/204", "/304", "/until-end", "/1.0", "/interim", "/error"] {
        add(format!("GET {path} HTTP/1.0\r\n\r\n"));
    }
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] {
        add(format!("{method} / HTTP/1.1\r\nHost: x.test\r\n\r\n"));
        add(format!("{method} / HTTP/1.1\r\nHost: x.test\r\nContent-Length: 5\r\n\r\nhello"));
        add(format!(
            "{method} / HTTP/1.1\r\nHost: x.test\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\n\r\n"
        ));
    }
    add("OPTIONS * HTTP/1.1\r\nHost: x.test\r\n\r\n".into());
    add("POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello".into());
    add(format!("POST / HTTP/1.1\r\nHost: x.test\r\nContent-Length: 300000\r\n\r\n{}", "0123456789".repeat(30_000)));
    add("POST / HTTP/1.1\r\nHost: x.test\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello".into());
    add("GET http://x.test/a?b HTTP/1.1\r\nHost: x.test\r\n\r\n".into());
    for fields in [
        "X-Forwarded-For: 192.0.2.1\r\nx_forwarded_for: 192.0.2.2\r\n",
        "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n",
        "Connection: close, X-Mine\r\nX-Mine: 1\r\nX-Other: 2\r\n",
        "Keep-Alive: 5\r\nProxy-Connection: a\r\n",
        "Cookie: a=1\r\nCookie: b=2; c=3\r\n",
        "A:\r\nB:   spaced   \r\nC: \u{e4}\r\nd: lower\r\n",
        "TE: trailers\r\nConnection: TE\r\n",
    ] {
        add(format!("GET / HTTP/1.1\r\nHost: x.test\r\n{fields}\r\n"));
    }
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x.test\r\n\r\n");
    let post = |path: &str| format!("POST {path} HTTP/1.1\r\nHost: x.test\r\nContent-Length: 5\r\n\r\nhello");
    add([get("/1"), get("/chunked"), get("/204"), get("/3")].concat());
    add([post("/1"), get("/chunked"), post("/3"), "HEAD /4 HTTP/1.1\r\nHost: x.test\r\n\r\n".into(), get("/5")]
        .concat());
    for bad in [
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\n\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi",
        "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/2.0\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: x-forwarded-for\r\n\r\n",
        "delete / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: admin%2etest\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: admin.test..\r\n\r\n",
    ] {
        add(bad.to_owned());
        add([get("/1"), bad.to_owned()].concat());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn both_engines_tell_server_and_client_the_same() {
    let mut different = Vec::new();
    for (what, request) in table() {
        let relay = seen(Carrier::Relay, &request).await;
        let pingora = seen(Carrier::Pingora, &request).await;
        if relay != pingora {
            different.push(format!("{what:?}\n  relay:   {relay:?}\n  pingora: {pingora:?}"));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

#[tokio::test]
async fn an_answer_that_has_no_body_by_its_status_says_no_length_through_either_engine() {
    let server = server().await;
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let world = World::through(one(&server).model(), carrier).await;
        let request = "GET /204-length HTTP/1.1\r\nHost: x.test\r\nConnection: close\r\n\r\n";
        let answer = exchange(world.vip("web"), request).await.to_lowercase();
        assert!(answer.starts_with("http/1.1 204") && answer.contains("x-a: 1"), "{carrier:?}: {answer}");
        assert!(!answer.contains("content-length"), "{carrier:?}: {answer}");
    }
}
