//! Servers by name and members from DNS: a name server that changes its mind under traffic.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use hickory_proto::op::{Message, ResponseCode};
use hickory_proto::rr::rdata::{A, SRV};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use parking_lot::Mutex;

use super::box_under_test::{Box, free_port, http, within};

const SECOND: Duration = Duration::from_secs(1);

/// By name and type; `None`: SERVFAIL.
type Zone = HashMap<(String, RecordType), Option<Vec<RData>>>;

/// Answers from a table, with a TTL of a second.
struct NameServer {
    at: SocketAddr,
    zone: Arc<Mutex<Zone>>,
    asked: Arc<AtomicU32>,
}

impl NameServer {
    fn start() -> NameServer {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let at = socket.local_addr().expect("an address");
        let (zone, asked): (Arc<Mutex<Zone>>, Arc<AtomicU32>) = Default::default();
        let (shared, count) = (Arc::clone(&zone), Arc::clone(&asked));
        std::thread::spawn(move || {
            let mut packet = [0; 1_500];
            while let Ok((length, from)) = socket.recv_from(&mut packet) {
                let Ok(query) = Message::from_vec(&packet[..length]) else { continue };
                count.fetch_add(1, Ordering::Relaxed);
                let answer = answer(&query, &shared.lock());
                let _ = socket.send_to(&answer.to_vec().expect("it can be written"), from);
            }
        });
        NameServer { at, zone, asked }
    }

    fn say(&self, name: &str, rtype: RecordType, records: Vec<RData>) {
        self.zone.lock().insert((name.to_owned(), rtype), Some(records));
    }

    fn a(&self, name: &str, addresses: &[&str]) {
        let records = addresses.iter().map(|a| RData::A(A(a.parse().expect("an address")))).collect();
        self.say(name, RecordType::A, records);
    }

    fn fail(&self, name: &str, rtype: RecordType) {
        self.zone.lock().insert((name.to_owned(), rtype), None);
    }

    fn forget(&self, name: &str, rtype: RecordType) {
        self.zone.lock().remove(&(name.to_owned(), rtype));
    }
}

fn answer(query: &Message, zone: &Zone) -> Message {
    let mut reply = Message::response(query.metadata.id, query.metadata.op_code);
    reply.metadata.recursion_available = true;
    for question in &query.queries {
        reply.add_query(question.clone());
        let name = question.name().to_ascii().trim_end_matches('.').to_ascii_lowercase();
        let known = zone.keys().any(|(known, _)| *known == name);
        match zone.get(&(name, question.query_type())) {
            Some(None) => reply.metadata.response_code = ResponseCode::ServFail,
            None if !known => reply.metadata.response_code = ResponseCode::NXDomain,
            None => {}
            Some(Some(records)) => {
                for data in records {
                    reply.add_answer(Record::from_rdata(question.name().clone(), 1, data.clone()));
                }
            }
        }
    }
    reply
}

/// HTTP with keep-alive on an address of its own; answers with it, and counts.
fn backend(at: SocketAddr) -> Arc<AtomicU32> {
    let listener = TcpListener::bind(at).expect("the address is free");
    let served = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&served);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let counter = Arc::clone(&counter);
            std::thread::spawn(move || serve(stream, &counter, at));
        }
    });
    served
}

fn serve(mut stream: TcpStream, served: &AtomicU32, at: SocketAddr) {
    let mut read = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        while let Some(end) = read.windows(4).position(|w| w == b"\r\n\r\n") {
            let probe = read.starts_with(b"GET /health");
            read.drain(..end + 4);
            // Long enough that a change of members meets requests that are under way.
            std::thread::sleep(Duration::from_millis(3));
            let body = at.to_string();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            // Counted first: who has the answer may read the count.
            served.fetch_add(u32::from(!probe), Ordering::Relaxed);
            if stream.write_all(head.as_bytes()).is_err() {
                return;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => read.extend_from_slice(&buffer[..count]),
        }
    }
}

/// Clients that ask without a pause until they are told to stop; what went wrong.
struct Clients {
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<(u32, Vec<String>)>>,
}

impl Clients {
    fn start(vip: SocketAddr) -> Clients {
        let stop = Arc::new(AtomicBool::new(false));
        let client = |stop: Arc<AtomicBool>| {
            move || {
                let (mut good, mut bad) = (0, Vec::new());
                while !stop.load(Ordering::Relaxed) {
                    match http(vip, "GET", "/", "", &[]) {
                        Ok(answer) if answer.status == 200 => good += 1,
                        other => bad.push(format!("{other:?}")),
                    }
                }
                (good, bad)
            }
        };
        let threads = (0..4).map(|_| std::thread::spawn(client(Arc::clone(&stop)))).collect();
        Clients { stop, threads }
    }

    /// How many requests were answered; none may have failed.
    fn end(self) -> u32 {
        self.stop.store(true, Ordering::Relaxed);
        let (mut good, mut bad) = (0, Vec::new());
        for thread in self.threads {
            let (answered, mut failed) = thread.join().expect("the client lives");
            good += answered;
            bad.append(&mut failed);
        }
        assert!(bad.is_empty(), "{} of {good} failed, such as {:?}", bad.len(), bad[0]);
        good
    }
}

fn config(dns: &NameServer, more: &str) -> String {
    format!(
        r#"
        [resolver]
        name_servers = ["{}"]
        [monitor.ok]
        type = "HTTP"
        request = "GET /health"
        interval = "1s"
        response_timeout = "950ms"
        [defaults.service]
        type = "HTTP"
        monitors = ["ok"]
        [vserver.web]
        type = "HTTP"
        address = "127.0.0.1:0"
        groups = ["web"]
        lb_method = "ROUNDROBIN"
        {more}
        "#,
        dns.at
    )
}

fn members(box_: &Box) -> Vec<(String, String)> {
    let group = box_.get("/service-groups/web");
    let members = group["members"].as_array().expect("members").iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("").to_owned();
    members.map(|member| (text(&member["name"]), text(&member["state"]))).collect()
}

fn expect_members(box_: &Box, limit: Duration, wanted: &[(SocketAddr, &str)]) {
    let wanted: Vec<_> = wanted.iter().map(|(at, state)| (at.to_string(), (*state).to_owned())).collect();
    within(limit, &format!("{wanted:?}, not {:?}", members(box_)), || members(box_) == wanted);
}

#[test]
fn members_follow_their_name_under_traffic_and_no_request_fails() {
    let dns = NameServer::start();
    let port = free_port();
    let at = |last: u8| SocketAddr::new(IpAddr::from([127, 0, 7, last]), port);
    let served = [1, 2, 3].map(|last| backend(at(last)));
    dns.a("app.example.test", &["127.0.7.1", "127.0.7.2"]);
    let mut box_ = Box::start(&config(
        &dns,
        &format!(
            r#"
            [server.pool]
            address = "app.example.test"
            query_type = "A"
            [service_group.web]
            auto_scale = "DNS"
            auto_delayed_trofs = true
            auto_disable_graceful = true
            auto_disable_delay = "5s"
            member.pool = {{ server = "pool", port = {port} }}
            "#
        ),
    ));
    expect_members(&box_, SECOND * 5, &[(at(1), "UP"), (at(2), "UP")]);
    let clients = Clients::start(box_.vip("web"));

    dns.a("app.example.test", &["127.0.7.2", "127.0.7.3"]);
    expect_members(&box_, SECOND * 15, &[(at(2), "UP"), (at(3), "UP")]);
    dns.a("app.example.test", &["127.0.7.1"]);
    expect_members(&box_, SECOND * 15, &[(at(1), "UP")]);

    // The name server is out, and then knows nothing of the name: the members stay, and it shows.
    dns.fail("app.example.test", RecordType::A);
    within(SECOND * 15, "the failure shows", || box_.get("/servers/pool")["resolution"]["error"].is_string());
    assert_eq!(members(&box_), [(at(1).to_string(), "UP".to_owned())]);
    dns.forget("app.example.test", RecordType::A);
    let nxdomain = || box_.get("/servers/pool")["resolution"]["error"].as_str().unwrap_or("").contains("NXDOMAIN");
    within(SECOND * 15, "it is told that the name is gone", nxdomain);
    assert_eq!(members(&box_), [(at(1).to_string(), "UP".to_owned())]);
    assert!(clients.end() > 100);
    assert!(served.iter().all(|served| served.load(Ordering::Relaxed) > 0), "everyone had a share");

    // A start while DNS knows nothing begins with the members of before.
    box_.kill();
    box_.start_again();
    expect_members(&box_, SECOND * 5, &[(at(1), "UP")]);
    assert_eq!(http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer").status, 200);
}

#[test]
fn srv_records_say_ports_weights_and_order() {
    let dns = NameServer::start();
    let ports = [free_port(), free_port(), free_port()];
    let at = |n: usize| SocketAddr::from(([127, 0, 0, 1], ports[n]));
    let served = [0, 1, 2].map(|n| backend(at(n)));
    let srv = |n: usize, priority, weight| {
        RData::SRV(SRV::new(priority, weight, ports[n], Name::from_ascii("host.example.test.").expect("a name")))
    };
    dns.a("host.example.test", &["127.0.0.1"]);
    dns.say("_http._tcp.app.example.test", RecordType::SRV, vec![srv(0, 10, 30), srv(1, 10, 10), srv(2, 20, 50)]);
    let box_ = Box::start(&config(
        &dns,
        r#"
        [server.pool]
        address = "_http._tcp.app.example.test"
        query_type = "SRV"
        [service_group.web]
        auto_scale = "DNS"
        member.pool = { server = "pool" }
        "#,
    ));
    let mut sorted = [0, 1, 2].map(|n| (at(n), "UP"));
    sorted.sort();
    expect_members(&box_, SECOND * 5, &sorted);
    for _ in 0..40 {
        assert_eq!(http(box_.vip("web"), "GET", "/", "", &[]).expect("an answer").status, 200);
    }
    let shares = [0, 1, 2].map(|n: usize| served[n].load(Ordering::Relaxed));
    assert_eq!(shares, [30, 10, 0], "the second priority waits");
}

#[test]
fn a_server_with_a_name_moves_at_its_ttl_and_no_request_fails() {
    let dns = NameServer::start();
    let port = free_port();
    let at = |last: u8| SocketAddr::new(IpAddr::from([127, 0, 8, last]), port);
    let served = [1, 2].map(|last| backend(at(last)));
    dns.a("app.example.test", &["127.0.8.1"]);
    let box_ = Box::start(&config(
        &dns,
        &format!(
            r#"
            [server.app]
            address = "app.example.test"
            [service_group.web]
            member.app = {{ server = "app", port = {port} }}
            "#
        ),
    ));
    within(SECOND * 5, "it is up", || members(&box_) == [("app".to_owned(), "UP".to_owned())]);
    let clients = Clients::start(box_.vip("web"));
    within(SECOND * 5, "the first serves", || served[0].load(Ordering::Relaxed) > 20);
    let asked = dns.asked.load(Ordering::Relaxed);
    dns.a("app.example.test", &["127.0.8.2"]);
    let took = within(SECOND * 5, "the second serves", || served[1].load(Ordering::Relaxed) > 0);
    assert!(took < SECOND * 3, "a TTL of a second, and it took {took:?}");
    assert!(dns.asked.load(Ordering::Relaxed) > asked);
    let left = served[0].load(Ordering::Relaxed);
    within(SECOND * 5, "the second goes on", || served[1].load(Ordering::Relaxed) > 50);
    assert!(served[0].load(Ordering::Relaxed) <= left + 8, "what was under way, and nothing new");
    assert_eq!(box_.get("/servers/app")["resolution"]["addresses"][0], "127.0.8.2");
    assert!(clients.end() > 50);
}
