//! Requests as nobody should send them: the relay, pingora and nginx agree where each of them ends, or it is refused.
//!
//! A corpus is made from a fixed seed: requests with framing that contradicts itself, is malformed or is merely unusual,
//! several on one connection, cut into pieces anywhere. Both of our engines must hand on exactly the same requests; and
//! of these each must be what nginx, reading the same bytes, took for the request at that place, as far as it went. What
//! is refused ends the connection, so nothing behind it can be smuggled.

use std::net::SocketAddr;
use std::time::Duration;

use bascule::dataplane::l7::Carrier;
use bascule::model::Model;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::engines::messages;
use super::one;
use crate::world::{Server, World, connect, eventually};

const SEED: u64 = 0x5eed_0000_0008;
const STREAMS: usize = 400;

/// xorshift64*: the same corpus everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// One request, usually sound. Its path tells it from all others.
fn request(dice: &mut Dice, stream: usize, n: usize) -> String {
    let method = dice.pick(&["GET", "POST", "POST", "PUT", "HEAD", "DELETE"]);
    let version = match dice.roll(24) {
        0 => "HTTP/1.2",
        1 => "http/1.1",
        2..5 => "HTTP/1.0",
        _ => "HTTP/1.1",
    };
    let end = if dice.roll(20) == 0 { dice.pick(&["\n", "\r", "\r\r\n", " \r\n"]) } else { "\r\n" };
    let body = dice.pick(&["", "hello", "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", "0\r\n\r\n"]);
    let mut head = format!("{method} /{stream}/{n} {version}{end}");
    if dice.roll(25) > 0 {
        head.push_str("Host: x\r\n");
    }
    let length = body.len();
    let sound = match (method, dice.roll(3)) {
        ("GET" | "HEAD" | "DELETE", 0 | 1) => return format!("{head}\r\n"),
        (_, 0) => format!("Content-Length: {length}\r\n"),
        (_, 1) => "Transfer-Encoding: chunked\r\n".to_owned(),
        _ => String::new(),
    };
    let odd = [
        format!("Content-Length: {}\r\n", length + 1),
        format!("Content-Length: {length}\r\nContent-Length: {length}\r\n"),
        format!("Content-Length: {length}\r\nContent-Length: 0\r\n"),
        format!("Content-Length: +{length}\r\n"),
        format!("Content-Length: 0x{length:x}\r\n"),
        format!("Content-Length : {length}\r\n"),
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        "Transfer-Encoding: chunked, chunked\r\n".into(),
        "Transfer-Encoding: gzip, chunked\r\n".into(),
        "Transfer-Encoding: xchunked\r\n".into(),
        "Transfer-Encoding:\x0bchunked\r\n".into(),
        "Transfer-Encoding\t: chunked\r\n".into(),
        "Transfer-Encoding:\r\n chunked\r\n".into(),
        "transfer_encoding: chunked\r\n".into(),
        "Connection: Content-Length\r\nContent-Length: 5\r\n".into(),
        " Content-Length: 5\r\n".into(),
        "X: a\rTransfer-Encoding: chunked\r\n".into(),
        "X: a\nTransfer-Encoding: chunked\r\n".into(),
    ];
    let framing = if dice.roll(5) == 0 { odd[dice.roll(odd.len())].clone() } else { sound };
    let sent = if framing.to_lowercase().contains("chunked") { chunked(dice, body) } else { body.to_owned() };
    format!("{head}{framing}\r\n{sent}")
}

fn chunked(dice: &mut Dice, body: &str) -> String {
    let size = body.len();
    let line = match dice.roll(16) {
        0 => format!("{size:x};ext=\"a\"\r\n"),
        1 => format!("{size:X}\r\n"),
        2 => format!("000{size:x}\r\n"),
        3 => format!("{size:x} \r\n"),
        4 => format!("0x{size:x}\r\n"),
        5 => format!("{size:x}\n"),
        _ => format!("{size:x}\r\n"),
    };
    let chunk = if body.is_empty() { String::new() } else { format!("{line}{body}\r\n") };
    let end = match dice.roll(12) {
        0 => "0\r\nX-T: 1\r\n\r\n",
        1 => "0\r\n \r\n\r\n",
        2 => "00\r\n\r\n",
        3 => "0\n\n",
        _ => "0\r\n\r\n",
    };
    format!("{chunk}{end}")
}

/// The stream ends with its last request, whose answer is to come all the same.
fn patient(server: &Server) -> Model {
    one(server).with(|web| web.abort_on_close = false).model()
}

/// Sends the pieces, each after the last has had time to be read, and waits for the end: how reading ended, and what came.
async fn send(to: SocketAddr, pieces: &[&[u8]]) -> String {
    let mut client = connect(to).await;
    client.set_nodelay(true).unwrap();
    let (mut reader, mut writer) = client.split();
    let write = async {
        for piece in pieces {
            if writer.write_all(piece).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let _ = writer.shutdown().await;
    };
    let mut answers = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), reader.read_to_end(&mut answers));
    let ((), end) = tokio::join!(write, read);
    format!("{end:?} {:?}", String::from_utf8_lossy(&answers))
}

/// Method, path and body of each request that reached the server, without those of the stream before that came late.
fn requests(server: &Server, stream: usize) -> Vec<(String, String)> {
    let late = format!(" /{}/", stream.wrapping_sub(1));
    let seen = server.seen();
    let all = messages(seen.as_bytes(), &|_, _| false);
    let all = all.into_iter().filter(|message| !message.line.contains(&late));
    all.map(|message| (message.line.replace("HTTP/1.0", "HTTP/1.1"), message.body)).collect()
}

/// nginx, handing everything on to `server`.
struct Nginx {
    at: SocketAddr,
    process: std::process::Child,
    _folder: tempfile::TempDir,
}

impl Nginx {
    async fn start(server: SocketAddr) -> Nginx {
        let folder = tempfile::tempdir().unwrap();
        let at = crate::world::nobody().await;
        let config = format!(
            "daemon off; master_process off; worker_processes 1; pid nginx.pid; error_log stderr crit;
             events {{}}
             http {{ access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
               uwsgi_temp_path uwsgi; scgi_temp_path scgi; underscores_in_headers on; client_body_timeout 2s;
               server {{ listen {at}; location / {{ proxy_http_version 1.1; proxy_ignore_client_abort on; proxy_pass http://{server}; }} }} }}"
        );
        std::fs::write(folder.path().join("nginx.conf"), config).unwrap();
        let process = std::process::Command::new("nginx")
            .args(["-p", folder.path().to_str().unwrap(), "-c", "nginx.conf"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("nginx: scripts/install-prerequisites installs it");
        let mut up = false;
        for _ in 0..500 {
            up = tokio::net::TcpStream::connect(at).await.is_ok();
            if up {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(up, "nginx does not listen");
        Nginx { at, process, _folder: folder }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn relay_pingora_and_nginx_agree_where_each_request_ends_or_it_is_refused() {
    let (by_relay, by_pingora, by_nginx) = (Server::http("a").await, Server::http("a").await, Server::http("a").await);
    let relay = World::through(patient(&by_relay), Carrier::Relay).await;
    let pingora = World::through(patient(&by_pingora), Carrier::Pingora).await;
    let nginx = Nginx::start(by_nginx.at).await;
    let mut dice = Dice(SEED);
    let (mut passed, mut refused) = (0, 0);
    for stream in 0..STREAMS {
        let count = 1 + dice.roll(4);
        let text: String = (0..count).map(|n| request(&mut dice, stream, n)).collect();
        let bytes = text.as_bytes();
        let cut = dice.roll(bytes.len());
        for server in [&by_relay, &by_pingora, &by_nginx] {
            server.seen.lock().clear();
        }
        let pieces = [&bytes[..cut], &bytes[cut..]];
        let answers =
            tokio::join!(send(relay.vip("web"), &pieces), send(pingora.vip("web"), &pieces), send(nginx.at, &pieces));
        eventually("nothing is active", || relay.active("a") + pingora.active("a") == 0).await;
        let (ours, theirs, judged) =
            (requests(&by_relay, stream), requests(&by_pingora, stream), requests(&by_nginx, stream));
        let what = || {
            let requests = format!("relay {ours:?}\npingora {theirs:?}\nnginx {judged:?}");
            format!("stream {stream}, cut at {cut}: {text:?}\n{requests}\nanswers {answers:#?}")
        };
        assert_eq!(ours, theirs, "{}", what());
        // Either may refuse what the other takes, and nothing follows then; what both take they take for the same.
        assert!(judged.starts_with(&ours) || ours.starts_with(&judged), "{}", what());
        passed += ours.len();
        refused += usize::from(ours.len() < count);
    }
    assert!(passed > STREAMS && refused > STREAMS / 4, "{passed} passed, {refused} streams with something refused");
}
