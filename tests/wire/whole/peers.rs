//! Boxes that hear each other: two sites and a witness, as processes, over mutual TLS.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::box_under_test::{Box, within};
use crate::tls::pki::{Authority, Issued};

pub const PATIENT: Duration = Duration::from_secs(20);
/// Of the link.
const INTERVAL_MS: u64 = 600;

/// A folder with certificates of one authority.
pub struct Pki {
    pub authority: Authority,
    pub dir: tempfile::TempDir,
}

impl Pki {
    pub fn new(name: &str) -> Pki {
        let pki = Pki { authority: Authority::new(name), dir: tempfile::tempdir().expect("a folder") };
        std::fs::write(pki.dir.path().join("ca.pem"), &pki.authority.pem).expect("the authority is written");
        pki
    }

    /// A certificate for `name`, good until the end of `year`, as NAME.pem and NAME.key.
    pub fn issue(&self, name: &str, year: i32) -> Issued {
        let issued = self.authority.issue_until(name, &[name], year);
        std::fs::write(self.path(&format!("{name}.pem")), &issued.chain).expect("written");
        std::fs::write(self.path(&format!("{name}.key")), &issued.key).expect("written");
        issued
    }

    pub fn path(&self, file: &str) -> std::path::PathBuf {
        self.dir.path().join(file)
    }

    /// `[peer_link]` of the box with this certificate.
    pub fn link(&self, own: &str, cluster: &str) -> String {
        let shown = |path: &Path| path.display().to_string();
        format!(
            "[peer_link]\nlisten = \"127.0.0.1:0\"\ncluster = \"{cluster}\"\ninterval = \"{INTERVAL_MS}ms\"\n\
             timeout = \"500ms\"\ncertificate = \"{}\"\nkey = \"{}\"\nca = \"{}\"\n",
            shown(&self.path(&format!("{own}.pem"))),
            shown(&self.path(&format!("{own}.key"))),
            shown(&self.path("ca.pem"))
        )
    }
}

/// `[peer.NAME]`; without an address it may only ask.
pub fn peer(name: &str, site: &str, at: Option<SocketAddr>) -> String {
    let url = at.map(|at| format!("url = \"https://{at}\"\n")).unwrap_or_default();
    format!("[peer.{name}]\nsite = \"{site}\"\n{url}")
}

/// Where peers can ask a box.
pub fn listens(of: &Box) -> SocketAddr {
    within(PATIENT, "it says where peers can ask", || of.get("/status")["peer_listen"].is_string());
    of.get("/status")["peer_listen"].as_str().and_then(|at| at.parse().ok()).expect("an address")
}

/// Gives a running box another configuration.
pub fn reconfigure(of: &Box, config: &str) {
    std::fs::write(of.path("box.toml"), config).expect("the configuration is written");
    of.signal("HUP");
}

fn access_list(at: SocketAddr) -> String {
    format!("{{ targets = [\"tcp:{at}\"], interval = \"100ms\", timeout = \"90ms\", rise = 1, fall = 1 }}")
}

/// What every box of the two sites has in common.
fn common(wan_of_a: SocketAddr, well: SocketAddr) -> String {
    let (a, all) = (access_list(wan_of_a), access_list(well));
    format!(
        r#"
        [datacenter.dc-a]
        wan = {a}
        lan = {all}
        internet = {all}
        [datacenter.dc-b]
        wan = {all}
        lan = {all}
        internet = {all}
        [datacenter_pair.main]
        active = "dc-a"
        backup = "dc-b"
        witness = "dc-w"
        loss_hold = "1s"
        return_hold = "1s"
        "#
    )
}

const ZONE: &str = r#"
[dns]
listen = ["127.0.0.1:0"]
[zone."example.test"]
soa = { mname = "ns1.example.test.", rname = "hostmaster.example.test." }
static = "@ NS ns1.example.test.\n"
[zone."example.test".rrset."www A"]
records = [
  { data = "192.0.2.10", cond = "main/from-active" },
  { data = "198.51.100.10", drCond = "main/to-backup", cond = "main/from-backup" },
]
"#;

fn appliance(name: &str, site: &str) -> String {
    format!("[appliance]\nname = \"{name}\"\nsite = \"{site}\"\n")
}

fn state_of(of: &Box, peer: &str) -> String {
    of.get(&format!("/peers/{peer}"))["state"].as_str().expect("a word").to_owned()
}

/// A signal of the pair, by its name in the manual.
fn signal(of: &Box, name: &str) -> Value {
    let pair = of.get("/datacenter-pairs/main");
    let found = pair["signals"].as_array().expect("a list").iter().find(|s| s["name"] == name).cloned();
    found.unwrap_or_else(|| panic!("no {name} in {pair}"))
}

fn micros(time: &Value) -> i64 {
    let time = time.as_str().unwrap_or_else(|| panic!("{time} is no time"));
    time.parse::<jiff::Timestamp>().expect("RFC 3339").as_microsecond()
}

/// Takes every connection and says nothing, until it is dropped.
struct Door {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    taker: Option<std::thread::JoinHandle<()>>,
}

impl Door {
    fn open() -> Door {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("its address");
        let closing = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&closing);
        let taker = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                drop(listener.accept());
            }
        });
        Door { address, closing, taker: Some(taker) }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        // One more connection, so that it looks.
        drop(std::net::TcpStream::connect(self.address));
        if let Some(taker) = self.taker.take() {
            let _ = taker.join();
        }
    }
}

/// Two boxes and a witness that hear each other.
struct World {
    a: Box,
    b: Box,
    w: Box,
    /// A's WAN, as the two boxes reach it.
    wan: Option<Door>,
    _well: Door,
    pki: Pki,
    shared: String,
    a_config: String,
}

impl World {
    fn start() -> World {
        let pki = Pki::new("peers");
        for name in ["box-a", "box-b", "box-w"] {
            pki.issue(name, 4096);
        }
        let (wan, well) = (Door::open(), Door::open());
        let shared = common(wan.address, well.address);
        let config = |name: &str, site: &str, zone: &str, peers: &[(&str, &str, Option<SocketAddr>)]| {
            let peers: String = peers.iter().map(|(name, site, at)| peer(name, site, *at)).collect();
            // The witness has a way of its own to A's WAN.
            let shared = if zone.is_empty() { common(well.address, well.address) } else { shared.clone() };
            appliance(name, site) + &pki.link(name, "prod") + &peers + &shared + zone
        };
        let a = Box::start(&config("box-a", "dc-a", ZONE, &[("box-b", "dc-b", None)]));
        let w = Box::start(&config("box-w", "dc-w", "", &[("box-a", "dc-a", None), ("box-b", "dc-b", None)]));
        let (at_a, at_w) = (listens(&a), listens(&w));
        let peers = [("box-a", "dc-a", Some(at_a)), ("box-w", "dc-w", Some(at_w))];
        let b = Box::start(&config("box-b", "dc-b", ZONE, &peers));
        let to_b = [("box-b", "dc-b", Some(listens(&b)))];
        // The port stays A's over a restart: B has it in its configuration.
        let a_config = config("box-a", "dc-a", ZONE, &to_b).replacen(
            "listen = \"127.0.0.1:0\"",
            &format!("listen = \"{at_a}\""),
            1,
        );
        reconfigure(&a, &a_config);
        for (of, peer) in [(&a, "box-b"), (&b, "box-a"), (&b, "box-w")] {
            within(PATIENT, &format!("{peer} is heard"), || state_of(of, peer) == "heard");
        }
        World { a, b, w, wan: Some(wan), _well: well, pki, shared, a_config }
    }
}

#[test]
fn rows_arrive_and_a_box_that_is_killed_becomes_unknown_after_three_intervals_and_never_false() {
    let mut world = World::start();
    let (b, a) = (&world.b, &mut world.a);
    within(PATIENT, "A's word is at B", || signal(b, "A.internet")["value"] == "true");
    within(PATIENT, "the witness' view is at B", || signal(b, "A.wan@W")["value"] == "true");
    within(PATIENT, "what A sees of B is at B", || signal(b, "B.wan@A")["value"] == "true");
    assert_eq!(signal(b, "A.internet")["id"], "dc:dc-a.internet@dc-a");
    assert_eq!(signal(a, "A.wan")["id"], "dc:dc-a.wan@dc-b", "A decides with B's eyes");
    within(PATIENT, "all is good", || b.get("/datacenter-pairs/main")["row"] == "all good");
    // It was away for a moment when it took its port for good.
    within(PATIENT, "nothing is wrong with A", || b.get("/peers/box-a")["error"].is_null());
    let seen = b.get("/peers/box-a");
    assert_eq!(seen["datacenters"].as_array().map(Vec::len), Some(2));
    assert_eq!(seen["config_differs_in"], serde_json::json!([]));
    assert!(seen["clock_offset"].as_f64().is_some_and(|off| off.abs() < 2.0), "{seen}");
    assert_eq!(b.get("/peers/box-w")["witness"], true);
    let state = b.path("state").display().to_string();
    let (status, shown) = b.run(&["shell", "--state", &state, "-c", "show peers", "-c", "show pairs main"]);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("box-a (https://") && shown.contains("State: HEARD"), "{shown}");
    assert!(shown.contains("Situation: all good"), "{shown}");

    a.kill();
    within(PATIENT, "it is unknown", || state_of(b, "box-a") == "unknown");
    let lost = b.get("/peers/box-a");
    let silent_us = micros(&lost["since"]) - micros(&lost["heard_at"]);
    // Times are printed to the millisecond.
    assert!(silent_us >= 3 * INTERVAL_MS as i64 * 1_000 - 1_000, "unknown after {silent_us} µs already");
    assert!(lost["error"].as_str().is_some_and(|why| why.contains("nobody listens there")), "{lost}");
    assert_eq!(signal(b, "A.internet")["value"], "unknown");
    assert_eq!(b.get("/scenarios/main%2Ffrom-active")["state"], "inactive");
    assert_eq!(b.resolve("www.example.test"), ["192.0.2.10"], "silence moves nothing");
    // Entries are written beside the turn that shows what they say.
    let told = || -> Vec<String> {
        let rows = b.get("/journal?limit=10000");
        let of_a = |e: &&Value| e["kind"] == "board" && e["body"].to_string().contains("dc:dc-a.internet@dc-a");
        rows["items"].as_array().expect("a list").iter().filter(of_a).map(|e| e["body"].to_string()).collect()
    };
    within(PATIENT, "the journal has it", || told().iter().any(|row| row.contains("unknown")));
    let told = told();
    assert!(told.iter().all(|row| !row.contains("\"false\"")), "{told:?}");
    let metrics = super::box_under_test::http(b.admin, "GET", "/metrics", "", &[]).expect("metrics").body;
    assert!(metrics.contains("bascule_peer_heard{peer=\"box-a\"} 0\n"));
    assert!(metrics.contains("bascule_peer_heard{peer=\"box-w\"} 1\n"));
    let problems = b.get("/status")["problems"].to_string();
    assert!(problems.contains("peer_unknown: not heard"), "{problems}");

    a.start_again();
    within(PATIENT, "it is heard again", || state_of(b, "box-a") == "heard");
    within(PATIENT, "its word is back", || signal(b, "A.internet")["value"] == "true");
    let (status, text) = b.run(&["replay", &state]);
    assert_eq!(status, 0, "{text}");
}

#[test]
fn a_wan_that_only_we_cannot_reach_is_disputed_and_moves_nothing() {
    let mut world = World::start();
    let b = &world.b;
    within(PATIENT, "all is good", || b.get("/datacenter-pairs/main")["row"] == "all good");
    drop(world.wan.take());
    within(PATIENT, "it is disputed", || b.get("/datacenter-pairs/main")["disputed"] == true);
    assert_eq!(b.get("/datacenter-pairs/main")["serving"], "dc-a");
    assert_eq!(b.resolve("www.example.test"), ["192.0.2.10"]);
    let problems = b.get("/status")["problems"].to_string();
    assert!(problems.contains("disputed: dc-a cannot be reached from here"), "{problems}");
    within(PATIENT, "the journal has it", || {
        b.get("/journal?limit=10000").to_string().contains("datacenter_pair main")
    });
    let _ = &world.w;
}

#[test]
fn a_configuration_that_is_another_one_is_named_table_by_table_on_both_sides() {
    let world = World::start();
    let (a, b) = (&world.a, &world.b);
    within(PATIENT, "they are the same", || b.get("/peers/box-a")["config_differs_in"] == serde_json::json!([]));
    let other = world.a_config.replace("192.0.2.10", "192.0.2.11");
    reconfigure(a, &other);
    let differs = |of: &Box, peer: &str| of.get(&format!("/peers/{peer}"))["config_differs_in"].clone();
    within(PATIENT, "B sees it", || differs(b, "box-a") == serde_json::json!(["zone"]));
    within(PATIENT, "A sees it", || differs(a, "box-b") == serde_json::json!(["zone"]));
    assert_eq!(b.get("/peers/box-a")["config_differs"], false, "not before a minute");
    // Maintenance set on one box alone is told.
    a.act("PUT", "/switches/dc-a.maintenance", r#"{"value": true}"#);
    within(PATIENT, "B sees that as well", || {
        b.get("/peers/box-a")["differences"].to_string().contains("switch dc-a.maintenance")
    });
    let _ = (&world.pki, &world.shared);
}
