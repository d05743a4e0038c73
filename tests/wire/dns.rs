//! The DNS service over real sockets.

#[path = "dns/rfc8906.rs"]
mod rfc8906;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, atomic::Ordering};
use std::time::Duration;

use bascule::config::zonefile;
use bascule::dataplane::dns::DnsServer;
use bascule::model::Model;
use bascule::model::condition::Condition;
use bascule::model::id::ScenarioId;
use bascule::model::scenario::{DirectionRules, Mode, Oscillation, Scenario};
use bascule::model::state::StateView;
use bascule::model::zone::{DnsName, OnEmpty, Record, RecordType, Rrset, Select, SelectMethod, Soa, Zone};
use bascule::snapshot::build::{Parts, build};
use bascule::snapshot::live::{Listening, Registry};
use bascule::snapshot::zones::ZoneIndex;
use bascule::snapshot::{Cell, Snapshot};
use hickory_proto::op::{Message, ResponseCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::process::Command;

const ZONE: &str = "
@      NS   ns1
ns1    A    127.0.0.1
web    A    192.0.2.80
alias  CNAME www
*.w    TXT  \"a wildcard\"
";

/// An appliance that answers `example.test.`, `www` steered by the scenario `dr`.
struct Appliance {
    cell: Arc<Cell>,
    registry: Registry,
    model: Model,
    server: Option<DnsServer>,
}

impl Appliance {
    async fn start(listen: &[&str]) -> Appliance {
        let model = model(listen);
        let mut registry = Registry::default();
        let cell = Cell::new(snapshot(&model, 1, false, &mut registry));
        let server = DnsServer::start(Arc::clone(&cell)).await;
        Appliance { cell, registry, model, server: Some(server) }
    }

    /// Publishes the next generation and waits until its sockets are bound.
    async fn publish(&mut self, active: bool) {
        let generation = self.cell.load().generation + 1;
        self.cell.publish(snapshot(&self.model, generation, active, &mut self.registry));
        let mut reconciled = self.server.as_ref().unwrap().reconciled();
        reconciled.wait_for(|g| *g >= generation).await.unwrap();
    }

    fn address(&self) -> SocketAddr {
        self.cell.load().dns.addresses()[0]
    }

    async fn stop(mut self) {
        self.server.take().unwrap().stop(Duration::from_secs(2)).await;
    }
}

fn snapshot(model: &Model, generation: u64, active: bool, registry: &mut Registry) -> Snapshot {
    let model = Arc::new(model.clone());
    build(Parts {
        generation,
        model: &model,
        view: &StateView::default(),
        registry,
        zones: &Arc::new(ZoneIndex::build(&model)),
        resolved: &Default::default(),
        previous: None,
        scenario_active: vec![active],
        ready: true,
    })
}

fn model(listen: &[&str]) -> Model {
    let mut model = Model::empty();
    model.dns.listen = listen.iter().map(|l| l.parse().unwrap()).collect();
    let direction = || DirectionRules {
        base_mode: Mode::Auto,
        when: Condition::default(),
        gate: None,
        guard: None,
        triggers: Vec::new(),
    };
    model.scenarios.push(Scenario {
        name: "dr".into(),
        about: "".into(),
        initially_active: false,
        directions: [direction(), direction()],
        oscillation: Oscillation { commits: 10, within: Duration::from_secs(600) },
        min_dwell: Duration::ZERO,
        renamed_from: None,
        pair: None,
    });
    model.scenario_order.push(ScenarioId(0));
    let origin = name("example.test.");
    let soa = Soa {
        mname: name("ns1.example.test."),
        rname: name("hostmaster.example.test."),
        serial: 1,
        refresh: Duration::from_secs(3600),
        retry: Duration::from_secs(600),
        expire: Duration::from_secs(86_400),
        minimum: Duration::from_secs(5),
    };
    let many: String = (0..100).map(|i| format!("many A 198.51.100.{i}\n")).collect();
    let (records, problems) = zonefile::read(&format!("{ZONE}{many}"), &origin, 30);
    assert!(problems.is_empty(), "{problems:?}");
    model.zones.push(Zone {
        name: "example.test".into(),
        ttl: Duration::from_secs(30),
        degraded_ttl: None,
        soa,
        dnssec: None,
        transfer: Default::default(),
        text: None,
        records,
        rrsets: vec![Rrset {
            key: "www A".into(),
            owner: name("www.example.test."),
            rtype: RecordType::A,
            ttl: 30,
            own_ttl: false,
            degraded_ttl: None,
            own_degraded_ttl: false,
            gslb_vserver: None,
            records: vec![record([192, 0, 2, 10], None), record([198, 51, 100, 10], Some(ScenarioId(0)))],
            on_empty: OnEmpty::ServeAll,
            select: Select { topology: false, geo: false, method: SelectMethod::Ordered, answers: None },
            datacenter: None,
        }],
        origin,
    });
    model
}

fn record(address: [u8; 4], dr_cond: Option<ScenarioId>) -> Record {
    Record {
        data: IpAddr::from(address).to_string().into(),
        rtype: RecordType::A,
        rdata: Arc::from(address.as_slice()),
        cond: None,
        dr_cond,
        check: None,
        enabled: true,
        weight: 1,
        datacenter: None,
        geo: Vec::new(),
    }
}

fn name(text: &str) -> DnsName {
    DnsName::parse(text, &DnsName::root()).unwrap()
}

fn query(id: u16, owner: &str, rtype: u16) -> Vec<u8> {
    let mut query = vec![(id >> 8) as u8, id as u8, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    query.extend_from_slice(&name(owner).0);
    query.extend_from_slice(&rtype.to_be_bytes());
    query.extend_from_slice(&[0, 1]);
    query
}

fn framed(query: &[u8]) -> Vec<u8> {
    [&(query.len() as u16).to_be_bytes(), query].concat()
}

async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(crate::world::PATIENT, work).await.expect("an answer")
}

async fn ask_udp(server: SocketAddr, query: &[u8]) -> (Message, SocketAddr) {
    let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any).await.unwrap();
    socket.send_to(query, server).await.unwrap();
    let mut buffer = [0; 4096];
    let (length, from) = soon(socket.recv_from(&mut buffer)).await.unwrap();
    (Message::from_vec(&buffer[..length]).unwrap(), from)
}

async fn read_message(stream: &mut TcpStream) -> Message {
    Message::from_vec(&read_bytes(stream).await).unwrap()
}

async fn read_bytes(stream: &mut TcpStream) -> Vec<u8> {
    let length = soon(stream.read_u16()).await.unwrap();
    let mut message = vec![0; usize::from(length)];
    soon(stream.read_exact(&mut message)).await.unwrap();
    message
}

fn data(message: &Message) -> Vec<String> {
    message.answers.iter().map(|r| r.data.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_published_transition_is_in_the_next_answer() {
    let mut appliance = Appliance::start(&["127.0.0.1:0"]).await;
    let www = query(7, "www.example.test.", 1);
    assert_eq!(data(&ask_udp(appliance.address(), &www).await.0), ["192.0.2.10"]);
    appliance.publish(true).await;
    let (reply, _) = ask_udp(appliance.address(), &www).await;
    assert_eq!((data(&reply), reply.metadata.id), (vec!["198.51.100.10".to_string()], 7));
    let live = Arc::clone(&appliance.cell.load().dns);
    assert_eq!(live.udp_queries_total.load(Ordering::Relaxed), 2);
    assert_eq!(appliance.cell.load().zone_live[0].queries_total.load(Ordering::Relaxed), 2);
    let sets = appliance.cell.load().zone_live[0].rrset(&"www A".into());
    assert_eq!(sets.totals().take(3).collect::<Vec<_>>(), [("primary", 1), ("dr", 1), ("serve_all", 0)]);
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_is_cut_over_udp_and_whole_over_tcp_on_the_same_port() {
    let appliance = Appliance::start(&["127.0.0.1:0"]).await;
    let many = query(1, "many.example.test.", 1);
    let (cut, _) = ask_udp(appliance.address(), &many).await;
    assert!(cut.metadata.truncation && cut.answers.is_empty());
    let mut stream = TcpStream::connect(appliance.address()).await.unwrap();
    stream.write_all(&framed(&many)).await.unwrap();
    assert_eq!(read_message(&mut stream).await.answers.len(), 100);
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pipelined_queries_are_answered_in_order_however_they_are_cut() {
    let appliance = Appliance::start(&["127.0.0.1:0"]).await;
    let mut stream = TcpStream::connect(appliance.address()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let all: Vec<u8> = (0..500).flat_map(|id| framed(&query(id, "web.example.test.", 1))).collect();
    for piece in all.chunks(37) {
        stream.write_all(piece).await.unwrap();
    }
    for id in 0..500 {
        let reply = read_message(&mut stream).await;
        assert_eq!((reply.metadata.id, data(&reply)), (id, vec!["192.0.2.80".to_string()]));
    }
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_query_ends_a_connection_and_no_server() {
    let appliance = Appliance::start(&["127.0.0.1:0"]).await;
    for garbage in [&b"\x00\x02hi"[..], b"\xff\xffGET / HTTP/1.1\r\n\r\n", b"\x00\x00"] {
        let mut stream = TcpStream::connect(appliance.address()).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        let mut rest = Vec::new();
        // Closed or reset, but not kept.
        let _ = soon(stream.read_to_end(&mut rest)).await;
        assert!(rest.is_empty());
    }
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for garbage in [&b""[..], b"x", &[0xff; 1500]] {
        socket.send_to(garbage, appliance.address()).await.unwrap();
    }
    let (reply, _) = ask_udp(appliance.address(), &query(1, "web.example.test.", 1)).await;
    assert_eq!(data(&reply), ["192.0.2.80"]);
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_client_cannot_take_all_connections() {
    let appliance = Appliance::start(&["127.0.0.1:0"]).await;
    let mut streams = Vec::new();
    for _ in 0..110 {
        streams.push(TcpStream::connect(appliance.address()).await.unwrap());
    }
    let dns = Arc::clone(&appliance.cell.load().dns);
    while dns.tcp_rejected_total.load(Ordering::Relaxed) < 10 || dns.tcp_connections.load(Ordering::Relaxed) > 100 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for (at, stream) in streams.iter_mut().enumerate() {
        let _ = stream.write_all(&framed(&query(1, "web.example.test.", 1))).await;
        assert_eq!(soon(stream.read_u16()).await.is_ok(), at >= 10, "{at}: the oldest that wait have made room");
    }
    drop(streams);
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_come_and_go_with_the_configuration() {
    let mut appliance = Appliance::start(&["127.0.0.1:0"]).await;
    let first = appliance.address();
    appliance.publish(false).await;
    assert_eq!(appliance.address(), first, "an unchanged address keeps its port");
    // The same port on all addresses: the old socket stands in its way and must go first.
    appliance.model.dns.listen = vec![SocketAddr::from(([0, 0, 0, 0], first.port()))];
    appliance.publish(false).await;
    let (reply, _) = ask_udp(first, &query(1, "web.example.test.", 1)).await;
    assert_eq!(data(&reply), ["192.0.2.80"]);
    assert!(TcpStream::connect(first).await.is_ok());

    appliance.model.dns.listen = Vec::new();
    appliance.publish(false).await;
    assert!(appliance.cell.load().dns.addresses().is_empty());
    assert!(TcpStream::connect(first).await.is_err());
    let free = std::net::UdpSocket::bind(first);
    assert!(free.is_ok(), "the port is free: {free:?}");
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_in_use_is_told_and_the_others_serve() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let appliance = Appliance::start(&[&address, "127.0.0.1:0"]).await;
    let states = appliance.cell.load().dns.listening.lock().clone();
    assert!(matches!(&states[0].1, Listening::Failed { error } if error.contains("in use")), "{states:?}");
    let (reply, _) = ask_udp(appliance.address(), &query(1, "web.example.test.", 1)).await;
    assert_eq!(reply.metadata.response_code, ResponseCode::NoError);
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_not_here_is_bound_all_the_same() {
    let appliance = Appliance::start(&["192.0.2.53:0"]).await;
    let states = appliance.cell.load().dns.listening.lock().clone();
    assert!(matches!(states[0].1, Listening::Bound { local: false, .. }), "{states:?}");
    appliance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_on_all_addresses_answers_from_the_one_that_was_asked() {
    let appliance = Appliance::start(&["0.0.0.0:0"]).await;
    let port = appliance.address().port();
    // Any address of 127/8 is local; a plain reply would come from 127.0.0.1.
    let asked = SocketAddr::from(([127, 0, 0, 9], port));
    let (reply, from) = ask_udp(asked, &query(1, "web.example.test.", 1)).await;
    assert_eq!((data(&reply), from), (vec!["192.0.2.80".to_string()], asked));
    appliance.stop().await;

    if std::net::UdpSocket::bind("[::1]:0").is_ok() {
        let appliance = Appliance::start(&["[::]:0"]).await;
        let asked = SocketAddr::from((std::net::Ipv6Addr::LOCALHOST, appliance.address().port()));
        let (_, from) = ask_udp(asked, &query(1, "web.example.test.", 1)).await;
        assert_eq!(from, asked);
        appliance.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_answers_what_was_asked_and_frees_the_port() {
    let appliance = Appliance::start(&["127.0.0.1:0"]).await;
    let address = appliance.address();
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(&framed(&query(1, "web.example.test.", 1))).await.unwrap();
    read_message(&mut idle).await;
    let stop = appliance.server.unwrap().stop(10 * crate::world::PATIENT);
    tokio::time::timeout(crate::world::PATIENT, stop).await.expect("an idle connection delays nothing");
    assert_eq!(soon(idle.read(&mut [0; 1])).await.unwrap(), 0);
    assert!(std::net::UdpSocket::bind(address).is_ok());
}

/// What `dig` prints for these arguments; `None` where it is not installed.
async fn dig(server: SocketAddr, arguments: &str) -> Option<String> {
    let mut command = Command::new("dig");
    command.arg(format!("@{}", server.ip())).args(["-p", &server.port().to_string(), "+tries=1", "+time=5"]);
    let output = command.args(arguments.split(' ')).output().await.ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn dig_is_content_with_every_kind_of_answer() {
    let appliance = Appliance::start(&["127.0.0.1:0"]).await;
    let cases = [
        ("www.example.test A", "status: NOERROR", "192.0.2.10"),
        ("www.example.test A +tcp", "status: NOERROR", "192.0.2.10"),
        ("alias.example.test A", "ANSWER: 2", "www.example.test."),
        ("WwW.ExAmPlE.tEsT A +noedns", "status: NOERROR", "192.0.2.10"),
        ("www.example.test AAAA", "status: NOERROR", "SOA"),
        ("nothing.example.test A", "status: NXDOMAIN", "SOA"),
        ("x.w.example.test TXT", "status: NOERROR", "\"a wildcard\""),
        ("many.example.test A +notcp", "ANSWER: 100", "198.51.100.99"),
        ("many.example.test A +ignore", "flags: qr aa tc rd", ""),
        ("example.org A", "status: REFUSED", "EDE: 20 (Not Authoritative)"),
        ("example.test AXFR", "Transfer failed", ""),
        ("example.test A +edns=1 +noednsneg", "status: BADVERS", ""),
        ("example.test SOA +opcode=STATUS", "status: NOTIMP", ""),
        ("example.test NS +dnssec +nsid +cookie +subnet=192.0.2.0/24", "status: NOERROR", "flags: do"),
        ("version.bind TXT CH", "status: REFUSED", ""),
    ];
    for (arguments, header, body) in cases {
        let Some(printed) = dig(appliance.address(), arguments).await else {
            eprintln!("dig is not installed: skipped");
            break;
        };
        assert!(printed.contains(header) && printed.contains(body), "dig {arguments}\n{printed}");
        assert!(!printed.contains("WARNING: Messages has"), "dig {arguments}\n{printed}");
    }
    appliance.stop().await;
}
