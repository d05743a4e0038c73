//! DNS over TLS and HTTPS, as `kdig`, `dig` and `curl` speak them, and what clients that hang may hold.

use super::*;
use crate::tls::pki::{Authority, BOTH};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

const HOST: &str = "ns1.example.test";

fn config(tcp: &str) -> String {
    format!(
        "[certificate.dns]\ncertificate = \"dns.pem\"\nkey = \"dns.key\"\n{}\n[dns.tcp]\n{tcp}\n\
         [dns.tls]\nlisten = [\"127.0.0.1:0\"]\ncertificates = [\"dns\"]\n\
         [dns.https]\nlisten = [\"127.0.0.1:0\"]\ncertificates = [\"dns\"]\n\
         [zone.\"example.test\".transfer]\nallow = [\"127.0.0.1\"]\n",
        CONFIG
    )
}

fn certificate(folder: &Path, authority: &Authority) {
    let issued = authority.issue("dns", &[HOST]);
    std::fs::write(folder.join("dns.pem"), &issued.chain).unwrap();
    std::fs::write(folder.join("dns.key"), &issued.key).unwrap();
    std::fs::write(folder.join("ca.pem"), &authority.pem).unwrap();
}

struct Secured {
    served: Served,
    authority: Authority,
    tls: SocketAddr,
    https: SocketAddr,
}

async fn start(tcp: &str) -> Secured {
    let authority = Authority::new("the test");
    let served = Served::start(&config(tcp), |folder| certificate(folder, &authority)).await;
    let dns = Arc::clone(&served.cell.load().dns);
    let first = |listening: &parking_lot::Mutex<Vec<(SocketAddr, bascule::snapshot::live::Listening)>>| match listening
        .lock()[0]
        .1
    {
        bascule::snapshot::live::Listening::Bound { address, .. } => address,
        ref other => panic!("{other:?}"),
    };
    let (tls, https) = (first(&dns.listening_tls), first(&dns.listening_https));
    Secured { served, authority, tls, https }
}

impl Secured {
    async fn connect(&self, at: SocketAddr, alpn: &[&[u8]]) -> TlsStream<TcpStream> {
        let mut config = self.authority.client(BOTH);
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        let name = rustls_pki_types::ServerName::try_from(HOST).unwrap();
        let stream = TcpStream::connect(at).await.unwrap();
        tokio_rustls::TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
    }

    fn ca(&self) -> String {
        self.served.folder.path().join("ca.pem").to_string_lossy().into_owned()
    }
}

/// A query for the A records of `web.example.test`.
fn query(id: u16) -> Vec<u8> {
    question(id, b"\x03web\x07example\x04test\x00", 1)
}

fn question(id: u16, name: &[u8], rtype: u16) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    message.extend_from_slice(name);
    message.extend_from_slice(&rtype.to_be_bytes());
    message.extend_from_slice(&[0, 1]);
    message
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

/// The next message, without its length.
async fn message(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let read = async {
        let length = stream.read_u16().await.unwrap();
        let mut message = vec![0; usize::from(length)];
        stream.read_exact(&mut message).await.unwrap();
        message
    };
    tokio::time::timeout(Duration::from_secs(10), read).await.expect("an answer comes")
}

fn holds_web(reply: &[u8]) -> bool {
    reply.windows(4).any(|window| window == [192, 0, 2, 80])
}

/// Reads to the end; how long that took.
async fn until_closed(stream: &mut (impl AsyncRead + Unpin)) -> Duration {
    let began = Instant::now();
    let mut scrap = [0; 4096];
    let closed = async { while stream.read(&mut scrap).await.is_ok_and(|read| read > 0) {} };
    tokio::time::timeout(Duration::from_secs(15), closed).await.expect("it is closed");
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn kdig_and_dig_get_over_tls_and_https_what_they_get_over_tcp() {
    let secured = start("").await;
    let ca = secured.ca();
    let (tls, https) = (secured.tls.port().to_string(), secured.https.port().to_string());
    let host = format!("+tls-hostname={HOST}");
    let kdig_ca = format!("+tls-ca={ca}");
    let (dig_ca, dig_host) = (format!("+tls-ca={ca}"), format!("+tls-hostname={HOST}"));
    let asked: [(&str, Vec<&str>); 5] = [
        ("kdig", vec!["-p", &tls, "+tls", &kdig_ca, &host]),
        ("kdig", vec!["-p", &https, "+https", &kdig_ca, &host]),
        ("dig", vec!["-p", &tls, "+tls", &dig_ca, &dig_host]),
        ("dig", vec!["-p", &https, "+https", &dig_ca, &dig_host]),
        ("dig", vec!["-p", &https, "+https-get", &dig_ca, &dig_host]),
    ];
    for (program, arguments) in asked {
        for (question, word) in [("web.example.test A", "192.0.2.80"), ("nothing.example.test A", "NXDOMAIN")] {
            let mut all = vec!["@127.0.0.1"];
            all.extend(arguments.iter().copied());
            all.extend(question.split(' '));
            let (printed, good) = run(program, &all).await;
            assert!(good && printed.contains(word), "{program} {all:?}\n{printed}");
        }
    }
    // A transfer goes over TLS too (RFC 9103).
    let (printed, _) = run("kdig", &["@127.0.0.1", "-p", &tls, "+tls", &kdig_ca, &host, "example.test", "AXFR"]).await;
    assert!(printed.contains("192.0.2.80") && printed.contains("192.0.2.99"), "{printed}");
    let dns = Arc::clone(&secured.served.cell.load().dns);
    let total = |counter: &std::sync::atomic::AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!((total(&dns.tls_queries_total), total(&dns.https_queries_total)), (4, 6));
    secured.served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_gets_and_posts_messages_over_both_versions_of_http_and_is_told_what_is_wrong() {
    let secured = start("").await;
    let folder = secured.served.folder.path().to_owned();
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    std::fs::write(folder.join("query"), query(0)).unwrap();
    std::fs::write(folder.join("huge"), vec![0; 70_000]).unwrap();
    let base64 = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(query(0));
    let (ca, body, said) = (secured.ca(), file("body"), file("said"));
    let resolve = format!("{HOST}:{}:127.0.0.1", secured.https.port());
    let origin = format!("https://{HOST}:{}", secured.https.port());
    let (posted, huge) = (format!("@{}", file("query")), format!("@{}", file("huge")));
    let kind = "content-type: application/dns-message";
    let cases: Vec<(Vec<&str>, String, &str)> = vec![
        (vec![], format!("/dns-query?dns={base64}"), "200"),
        (vec!["-H", kind, "--data-binary", &posted], "/dns-query".into(), "200"),
        (vec![], "/dns-query?dns=!!".into(), "400"),
        (vec![], "/dns-query".into(), "400"),
        (vec![], "/dns-query?dns=AAAA".into(), "400"),
        (vec![], "/other".into(), "404"),
        (vec!["-X", "DELETE"], "/dns-query".into(), "405"),
        (vec!["-H", kind, "--data-binary", &huge], "/dns-query".into(), "413"),
        (vec!["--data-binary", &posted], "/dns-query".into(), "415"),
    ];
    for version in ["--http1.1", "--http2"] {
        for (more, path, status) in &cases {
            let url = format!("{origin}{path}");
            let mut all = vec!["-sS", "--max-time", "10", "--cacert", &ca, "--resolve", &resolve, version];
            all.extend(["-o", &body, "-D", &said, "-w", "%{http_code}"]);
            all.extend(more.iter().copied());
            all.push(&url);
            let (printed, _) = run("curl", &all).await;
            assert!(printed.ends_with(status), "curl {all:?}\n{printed}");
            if *status == "200" {
                let head = std::fs::read_to_string(&said).unwrap().to_lowercase();
                assert!(holds_web(&std::fs::read(&body).unwrap()), "{head}");
                assert!(head.contains("application/dns-message") && head.contains("max-age=30"), "{head}");
            }
        }
        for (path, status) in [(format!("/dns-query?dns={base64}"), "200"), ("/elsewhere".to_owned(), "404")] {
            let url = format!("{origin}{path}");
            let ends = ["-w", "%{http_code}%{errormsg}", "-o", "/dev/null"];
            let all = [&[version, "-sI", "--cacert", &ca, "--resolve", &resolve, &url][..], &ends].concat();
            let (printed, _) = run("curl", &all).await;
            assert!(printed.ends_with(status), "curl {all:?}\n{printed}");
        }
    }
    secured.served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_certificate_is_shown_from_the_next_handshake_on_and_no_connection_is_dropped() {
    let mut secured = start("").await;
    let mut old = secured.connect(secured.tls, &[b"dot"]).await;
    old.write_all(&framed(&query(1))).await.unwrap();
    assert!(holds_web(&message(&mut old).await));
    let shown = |stream: &TlsStream<TcpStream>| stream.get_ref().1.peer_certificates().unwrap()[0].clone();
    let before = shown(&old);
    certificate(secured.served.folder.path(), &secured.authority);
    // The authority's file is the same; only the leaf is new.
    secured.served.reload(&config("")).await;
    let mut new = secured.connect(secured.tls, &[b"dot"]).await;
    assert_ne!(shown(&new), before);
    for (id, stream) in [(2, &mut old), (3, &mut new)] {
        stream.write_all(&framed(&query(id))).await.unwrap();
        assert!(holds_web(&message(stream).await));
    }
    secured.served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_hangs_or_sends_byte_by_byte_is_let_go_of_over_every_transport() {
    let secured = start("idle_timeout = \"1s\"").await;
    let mut hangs: Vec<tokio::task::JoinHandle<Duration>> = Vec::new();
    // Silent before the handshake, in its middle, and after it.
    for at in [secured.served.address(), secured.tls, secured.https] {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(&[22, 3, 1][..if at == secured.served.address() { 1 } else { 3 }]).await.unwrap();
        hangs.push(tokio::spawn(async move { until_closed(&mut stream).await }));
    }
    let begun: [(&[u8], &[u8]); 5] = [
        (b"dot", b""),
        (b"dot", &[0, 200, 1, 2, 3]),
        (b"http/1.1", b"GET /dns-query?dns=AAAA HTTP/1.1\r\nHost: ns"),
        (b"http/1.1", b"POST /dns-query HTTP/1.1\r\nHost: x\r\nContent-Type: application/dns-message\r\nContent-Length: 50\r\n\r\nabc"),
        (b"h2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"),
    ];
    for (alpn, bytes) in begun {
        let at = if alpn == b"dot" { secured.tls } else { secured.https };
        let mut stream = secured.connect(at, &[alpn]).await;
        stream.write_all(bytes).await.unwrap();
        hangs.push(tokio::spawn(async move { until_closed(&mut stream).await }));
    }
    // One that sends its head a byte at a time, for ever.
    let mut slow = secured.connect(secured.https, &[b"http/1.1"]).await;
    hangs.push(tokio::spawn(async move {
        let began = Instant::now();
        for byte in b"GET /dns-query?dns=".iter().chain(std::iter::repeat(&b'A')) {
            if slow.write_all(&[*byte]).await.is_err() || slow.flush().await.is_err() || began.elapsed().as_secs() > 14
            {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        began.elapsed()
    }));
    for (at, hang) in hangs.into_iter().enumerate() {
        let held = hang.await.unwrap();
        assert!(held < Duration::from_secs(8), "client {at} was held for {held:?}");
    }
    secured.served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_brings_as_many_queries_as_it_may_and_a_client_as_many_connections() {
    let secured = start("queries_per_connection = 3\nconnections_per_client = 2").await;
    let mut one = secured.connect(secured.tls, &[b"dot"]).await;
    let four: Vec<u8> = (1..=4).flat_map(|id| framed(&query(id))).collect();
    one.write_all(&four).await.unwrap();
    for id in 1..=3u16 {
        assert_eq!(message(&mut one).await[..2], id.to_be_bytes());
    }
    let mut two = TcpStream::connect(secured.served.address()).await.unwrap();
    two.write_all(&framed(&query(9))).await.unwrap();
    assert!(holds_web(&message(&mut two).await), "places are free again, and one for another is left");
    until_closed(&mut one).await;
    drop(one);
    let dns = Arc::clone(&secured.served.cell.load().dns);
    let is_free = async |connections: &std::sync::atomic::AtomicU32| {
        while connections.load(std::sync::atomic::Ordering::Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    is_free(&dns.tls_connections).await;
    let mut get = secured.connect(secured.https, &[b"http/1.1"]).await;
    let base64 = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(query(0));
    for _ in 0..3 {
        let head = format!("GET /dns-query?dns={base64} HTTP/1.1\r\nHost: {HOST}\r\n\r\n");
        get.write_all(head.as_bytes()).await.unwrap();
        let mut read = Vec::new();
        while !holds_web(&read) {
            assert!(get.read_buf(&mut read).await.unwrap() > 0, "{}", read.escape_ascii());
        }
    }
    until_closed(&mut get).await;
    drop(get);
    is_free(&dns.https_connections).await;
    // Both places are taken by this: the oldest that waits makes room.
    let mut third = TcpStream::connect(secured.served.address()).await.unwrap();
    third.write_all(&framed(&query(5))).await.unwrap();
    assert!(holds_web(&message(&mut third).await));
    let mut fourth = TcpStream::connect(secured.served.address()).await.unwrap();
    fourth.write_all(&framed(&query(6))).await.unwrap();
    assert!(holds_web(&message(&mut fourth).await));
    until_closed(&mut two).await;
    secured.served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_behind_a_transfer_does_not_wait_for_its_end() {
    let many: String = (0..4000).map(|i| format!("host-{i} TXT \"{}\"\n", "x".repeat(200))).collect();
    let config = config("").replace("web          A", &format!("{many}web          A"));
    let authority = Authority::new("the test");
    let served = Served::start(&config, |folder| certificate(folder, &authority)).await;
    let mut stream = TcpStream::connect(served.address()).await.unwrap();
    let transfer = framed(&question(1, b"\x07example\x04test\x00", 252));
    stream.write_all(&[transfer, framed(&query(2))].concat()).await.unwrap();
    let (mut received, mut answered) = (0, false);
    while received < 4000 {
        let part = message(&mut stream).await;
        if part[..2] == [0, 2] {
            answered = true;
            continue;
        }
        assert_eq!(part[..2], [0, 1]);
        received += usize::from(u16::from_be_bytes([part[6], part[7]]));
    }
    assert!(answered, "the answer comes before the transfer is over");
    stream.write_all(&framed(&query(3))).await.unwrap();
    assert!(holds_web(&message(&mut stream).await));
    served.stop().await;
}
