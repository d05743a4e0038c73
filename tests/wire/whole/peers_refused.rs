//! What is no peer, or not the right one, is refused with an error that says whose fault it is.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::box_under_test::{Box, free_port, http, within};
use super::peers::{PATIENT, Pki, listens, peer};

/// How a server that is no peer behaves once a connection is there.
#[derive(Clone)]
enum Manner {
    /// Says nothing, not even in TLS.
    Silent,
    /// Says something that is not TLS.
    Plain(&'static [u8]),
    /// Speaks TLS, takes the question, and says nothing.
    Hung(Arc<ServerConfig>),
    /// Speaks TLS and answers this.
    Answers(Arc<ServerConfig>, Vec<u8>),
}

fn serve(runtime: &tokio::runtime::Runtime, manner: Manner) -> SocketAddr {
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a listener");
    let address = listener.local_addr().expect("its address");
    runtime.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let manner = manner.clone();
            tokio::spawn(async move {
                let (config, answer) = match manner {
                    Manner::Silent => return std::future::pending().await,
                    Manner::Plain(text) => {
                        let _ = stream.write_all(text).await;
                        return std::future::pending().await;
                    }
                    Manner::Hung(config) => (config, None),
                    Manner::Answers(config, answer) => (config, Some(answer)),
                };
                let Ok(mut stream) = TlsAcceptor::from(config).accept(stream).await else { return };
                let mut question = [0; 4096];
                while stream.read(&mut question).await.is_ok_and(|read| read > 0) {
                    let Some(answer) = &answer else { continue };
                    if stream.write_all(answer).await.is_err() || stream.flush().await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn answer(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn report(appliance: &str, site: &str, cluster: &str) -> Vec<u8> {
    answer(&format!(
        r#"{{"protocol":1,"appliance":"{appliance}","site":"{site}","cluster":"{cluster}","version":"1","now_us":0,
        "config":{{"hash":"x","tables":[]}},"witness":true,"pairs":[],"datacenters":[],"scenarios":[]}}"#
    ))
}

#[test]
fn whatever_answers_and_is_no_peer_is_refused_and_says_whose_fault_it_is() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let (pki, other) = (Pki::new("ours"), Pki::new("another authority"));
    pki.issue("box-b", 4096);
    let tls = |pki: &Pki, name: &str, year: i32| pki.issue(name, year).server(None);
    let good = |name: &str| tls(&pki, name, 4096);
    let large = b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec();
    let endless = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 64 << 10]].concat();
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{} and more".to_vec();
    let not_report = "what it answers is no report";
    let cases: Vec<(&str, Manner, &str)> = vec![
        ("wrong-ca", Manner::Hung(tls(&other, "wrong-ca", 4096)), "is not signed by an authority in `ca`"),
        ("expired", Manner::Hung(tls(&pki, "expired", 2020)), "its certificate has expired: renew it there"),
        ("misnamed", Manner::Hung(good("somebody-else")), "its certificate is not for `misnamed`"),
        ("silent", Manner::Silent, "did not finish the TLS handshake within 500 ms"),
        ("hung", Manner::Hung(good("hung")), "it took the question and did not answer within 500 ms"),
        ("plain", Manner::Plain(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n"), "what it sends is not TLS"),
        ("garbage", Manner::Answers(good("garbage"), b"\0\xff\r\n\r\n".to_vec()), "what it answers is not HTTP"),
        ("html", Manner::Answers(good("html"), answer("<html>")), not_report),
        ("deep", Manner::Answers(good("deep"), answer(&"[".repeat(100_000))), not_report),
        ("large", Manner::Answers(good("large"), large), "its answer is larger than 2 MiB"),
        ("endless", Manner::Answers(good("endless"), endless), "what it answers is not HTTP"),
        ("talker", Manner::Answers(good("talker"), cut), "it sends more than it was asked for"),
        ("namesake", Manner::Answers(good("namesake"), report("x", "dc-x", "prod")), "calls itself `x` and not"),
        ("moved", Manner::Answers(good("moved"), report("moved", "dc-y", "prod")), "it says that it stands in `dc-y`"),
        ("lab", Manner::Answers(good("lab"), report("lab", "dc-x", "lab")), "it is of the cluster `lab`"),
    ];
    let mut peers = String::new();
    for (name, manner, _) in &cases {
        peers += &peer(name, "dc-x", Some(serve(&runtime, manner.clone())));
    }
    let gone = SocketAddr::from(([127, 0, 0, 1], free_port()));
    peers += &peer("gone", "dc-x", Some(gone));
    let config = "[appliance]\nname = \"box-b\"\nsite = \"dc-b\"\n".to_owned() + &pki.link("box-b", "prod") + &peers;
    let mut b = Box::start(&config);
    let all = cases.iter().map(|(name, _, said)| (*name, *said)).chain([("gone", "nobody listens there")]);
    for (name, said) in all {
        let view = || b.get(&format!("/peers/{name}"));
        within(PATIENT, &format!("{name} is refused"), || view()["error"].is_string());
        within(PATIENT, &format!("{name}: {said}; it says {}", view()["error"]), || {
            view()["error"].as_str().is_some_and(|why| why.contains(said))
        });
        assert_eq!(view()["state"], "unknown", "{name}");
        assert_eq!(view()["datacenters"], serde_json::json!([]), "{name}");
    }
    // Faults are told once and not at every attempt.
    let told = b.get("/journal?limit=10000");
    let of = |name: &str| {
        let warned =
            |entry: &&serde_json::Value| entry["kind"] == "warning" && entry["object"] == format!("peer {name}");
        told["items"].as_array().expect("a list").iter().filter(warned).count()
    };
    assert_eq!((of("expired"), of("lab")), (1, 1));
    assert_eq!(b.stop(), 0);
}

#[test]
fn whoever_asks_and_is_no_peer_is_refused_and_told_why() {
    let (pki, other) = (Pki::new("ours"), Pki::new("another authority"));
    for name in ["box-a", "box-x", "box-lab"] {
        pki.issue(name, 4096);
    }
    pki.issue("box-old", 2020);
    other.issue("box-c", 4096);
    let appliance = |name: &str| format!("[appliance]\nname = \"{name}\"\nsite = \"dc-b\"\n");
    let known: String = ["box-old", "box-lab", "box-c"].map(|name| peer(name, "dc-b", None)).concat();
    let a = Box::start(
        &("[appliance]\nname = \"box-a\"\nsite = \"dc-a\"\n".to_owned() + &pki.link("box-a", "prod") + &known),
    );
    let at = listens(&a);
    let to_a = peer("box-a", "dc-a", Some(at));
    let ours = pki.path("ca.pem");
    let from_other =
        other.link("box-c", "prod").replace(&other.path("ca.pem").display().to_string(), &ours.display().to_string());
    let cases = [
        (
            "box-x",
            pki.link("box-x", "prod"),
            "it refuses this box: the certificate is not for a peer that this box knows",
        ),
        (
            "box-lab",
            pki.link("box-lab", "lab"),
            "it refuses this box: this box is of the cluster `prod`, the asker of `lab`",
        ),
        ("box-old", pki.link("box-old", "prod"), "this box's own certificate"),
        ("box-c", from_other, "it does not accept this box's certificate"),
    ];
    for (name, link, said) in cases {
        let asker = Box::start(&(appliance(name) + &link + &to_a));
        let view = || asker.get("/peers/box-a");
        within(PATIENT, &format!("{name} is refused"), || view()["error"].is_string());
        within(PATIENT, &format!("{name}: {said}; it says {}", view()["error"]), || {
            view()["error"].as_str().is_some_and(|why| why.contains(said))
        });
        assert_eq!(view()["state"], "unknown", "{name}");
    }
    // They are counted together, once a second.
    within(PATIENT, "all are counted", || {
        let metrics = http(a.admin, "GET", "/metrics", "", &[]).expect("metrics").body;
        let refused = metrics.lines().find_map(|line| line.strip_prefix("bascule_peer_refused_total "));
        refused.and_then(|n| n.parse::<f64>().ok()).is_some_and(|n| n >= 4.0)
    });
    assert!(a.log().contains("a box that asks as a peer is refused"), "{}", a.log());
    assert!(!a.log().contains("PRIVATE KEY"));
}
