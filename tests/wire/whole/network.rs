//! Addresses on interfaces: two appliances and two servers on networks of their own.

use std::time::Duration;

use serde_json::Value;

use super::box_under_test::{Box, within};
use super::namespaces::{self, Networks};

pub(super) const VIP: &str = "10.77.0.10";
pub(super) const SNIP: &str = "10.77.1.20";
/// Longer than any wait of the program (a conflict is tried again after at most four seconds), on a busy machine.
pub(super) const PATIENT: Duration = Duration::from_secs(30);

/// Appliances `a` and `b` on both networks, servers `s1` and `s2` on the back one, a client `c` on the front one.
pub(super) fn networks() -> Networks {
    let mut networks = Networks::new();
    networks
        .host("a", &[("eth0", "front", &["10.77.0.1/24", "2001:db8:77::1/64"]), ("eth1", "back", &["10.77.1.1/24"])]);
    networks
        .host("b", &[("eth0", "front", &["10.77.0.2/24", "2001:db8:77::2/64"]), ("eth1", "back", &["10.77.1.2/24"])]);
    networks.host("s1", &[("eth0", "back", &["10.77.1.101/24"])]);
    networks.host("s2", &[("eth0", "back", &["10.77.1.102/24"])]);
    networks.host("c", &[("eth0", "front", &["10.77.0.200/24", "2001:db8:77::200/64"])]);
    networks
}

pub(super) fn config(source: &str, rest: &str) -> String {
    format!(
        r#"
        [network]
        manager = "netlink"
        source_addresses = ["{source}/24"]
        [alert.taken]
        on = ["address.conflict"]
        [monitor.health]
        type = "HTTP"
        request = "GET /health"
        interval = "200ms"
        response_timeout = "150ms"
        down_time = "200ms"
        [service.s1]
        type = "HTTP"
        address = "10.77.1.101:80"
        monitors = ["health"]
        [service.s2]
        type = "HTTP"
        address = "10.77.1.102:80"
        monitors = ["health"]
        {rest}
        "#
    )
}

pub(super) fn web(address: &str) -> String {
    format!("[vserver.web]\ntype = \"HTTP\"\naddress = \"{address}:80\"\nservices = [\"s1\", \"s2\"]\n")
}

fn address_state(appliance: &Box, vserver: &str) -> String {
    appliance.get(&format!("/vservers/{vserver}"))["address_state"].as_str().unwrap_or("null").to_owned()
}

pub(super) fn expect_state(appliance: &Box, vserver: &str, state: &str) -> Duration {
    within(PATIENT, &format!("the address of {vserver} is {state}"), || address_state(appliance, vserver) == state)
}

fn remove(appliance: &Box, vserver: &str) {
    let (status, answer) = appliance.send("DELETE", &format!("/vservers/{vserver}"), "");
    assert!((200..300).contains(&status), "{status} {answer}");
}

fn items(list: Value) -> Vec<Value> {
    list["items"].as_array().cloned().unwrap_or_default()
}

#[test]
fn a_vip_is_announced_served_refused_to_another_box_handed_over_and_adopted_after_a_kill() {
    if !namespaces::can_be_made("VIPs on interfaces of two appliances") {
        return;
    }
    let networks = networks();
    let (s1, s2) = (networks.serve("s1", "0.0.0.0:80"), networks.serve("s2", "0.0.0.0:80"));
    let (front, back) = (networks.capture("c", "eth0", "arp"), networks.capture("s1", "eth0", "arp"));
    let opening = "tcp dst port 80 and tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn";
    let opened = networks.capture("s1", "eth0", opening);
    let mut a = Box::start_in(&networks.name("a"), &config(SNIP, &web(VIP)));
    expect_state(&a, "web", "present");
    assert_eq!(front.announcer(VIP, PATIENT), networks.mac("a", "eth0"), "clients hear where it is");
    assert_eq!(back.announcer(SNIP, PATIENT), networks.mac("a", "eth1"), "servers hear of the source address");
    assert!(networks.addresses("a", "eth0").contains(&format!("{VIP}/32")));
    assert_eq!(a.get("/vservers/web")["interface"], "eth0");
    assert_eq!(a.get("/vservers/web")["address_local"], true);

    // Traffic, and what servers see of it.
    within(PATIENT, "the VIP serves", || networks.fetch("c", "10.77.0.10:80").is_ok());
    let snip: std::net::IpAddr = SNIP.parse().unwrap();
    for server in [&s1, &s2] {
        // The one that was on its way had no such address yet.
        within(PATIENT, "probes leave from the source address", || server.take("/health").contains(&snip));
        server.take("/page");
    }
    opened.take(|_| true);
    let mut bodies: Vec<String> = (0..8).filter_map(|_| networks.fetch("c", "10.77.0.10:80").ok()).collect();
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies, ["s1", "s2"]);
    for server in [&s1, &s2] {
        let mut probes = server.take("/health");
        within(PATIENT, "it is probed", || {
            probes.extend(server.take("/health"));
            !probes.is_empty()
        });
        assert!(probes.iter().all(|from| *from == snip), "probes leave from the source address: {probes:?}");
        let pages = server.take("/page");
        assert!(!pages.is_empty() && pages.iter().all(|from| *from == snip), "so do requests: {pages:?}");
    }

    let packets = opened.take(|_| true);
    let leaves_there = |line: &String| line.contains(&format!(" {SNIP}.")) && line.contains(" > 10.77.1.101.80: ");
    assert!(!packets.is_empty() && packets.iter().all(leaves_there), "as the wire has it: {packets:?}");
    assert!(back.announced(VIP).is_empty(), "the servers' network hears nothing of the VIP");

    // The other box wants it, too.
    let mut b = Box::start_in(&networks.name("b"), &config("10.77.1.30", &web(VIP)));
    expect_state(&b, "web", "conflict");
    let mac = networks.mac("a", "eth0");
    let shown = b.get("/vservers/web");
    assert!(shown["address_error"].as_str().is_some_and(|why| why.contains(&mac)), "{shown}");
    assert!(!networks.addresses("b", "eth0").contains(&format!("{VIP}/32")));
    let problems = b.get("/status")["problems"].as_array().cloned().unwrap_or_default();
    let said = |p: &Value| p["object"] == "web" && p["text"].as_str().is_some_and(|t| t.contains("address conflict"));
    assert!(problems.iter().any(said), "{problems:?}");
    let written = || {
        let entries = items(b.get("/journal"));
        entries.iter().any(|e| e["kind"] == "address" && e["body"]["what"] == "conflict")
    };
    within(PATIENT, "the conflict is written down", written);
    within(PATIENT, "an alert is raised", || items(b.get("/alerts")).iter().any(|alert| alert["object"] == "web"));
    assert_eq!(address_state(&a, "web"), "present", "who has it is not disturbed");
    assert_eq!(networks.fetch("c", "10.77.0.10:80").map(|_| ()), Ok(()));

    // It is handed over by a box that stops.
    assert!(front.announced(VIP).iter().all(|by| *by == mac), "nobody but who has it announces it");
    assert_eq!(a.stop(), 0);
    assert_eq!(networks.addresses("a", "eth0").iter().filter(|held| held.starts_with(VIP)).count(), 0);
    assert!(networks.addresses("a", "eth0").contains(&"10.77.0.1/24".to_owned()), "its own address stays");
    expect_state(&b, "web", "present");
    assert_eq!(front.announcer(VIP, PATIENT), networks.mac("b", "eth0"));
    within(PATIENT, "the other box serves", || networks.fetch("c", "10.77.0.10:80").is_ok());
    within(PATIENT, "the alert is over", || items(b.get("/alerts")).is_empty());
    a.start_again();
    expect_state(&a, "web", "conflict");
    assert_eq!(a.stop(), 0);

    // A process that is killed leaves it behind, and the next one has it at once.
    b.kill();
    assert!(networks.addresses("b", "eth0").contains(&format!("{VIP}/32")));
    front.announced(VIP);
    b.start_again();
    let took = expect_state(&b, "web", "present");
    assert!(b.log().matches(&format!("{VIP} added to")).count() == 1, "it was not added again, after {took:?}");
    assert_eq!(front.announcer(VIP, PATIENT), networks.mac("b", "eth0"));

    // It moves to another interface, and back into nothing with its vserver.
    let (status, answer) = b.send("PATCH", "/vservers/web", r#"{"interface": "eth1"}"#);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(back.announcer(VIP, PATIENT), networks.mac("b", "eth1"));
    within(PATIENT, "it has moved", || {
        networks.addresses("b", "eth1").contains(&format!("{VIP}/32"))
            && !networks.addresses("b", "eth0").contains(&format!("{VIP}/32"))
    });
    networks.route("s2", &format!("{VIP}/32"), "eth0");
    within(PATIENT, "it serves there", || networks.fetch("s2", "10.77.0.10:80").is_ok());
    b.kill();
    std::fs::write(b.path("box.toml"), config("10.77.1.30", "")).unwrap();
    b.start_again();
    within(PATIENT, "what a killed process left and nobody wants is gone", || {
        !networks.addresses("b", "eth1").contains(&format!("{VIP}/32"))
    });
}

#[test]
fn an_address_goes_with_its_last_vserver_and_what_others_added_never_does() {
    if !namespaces::can_be_made("addresses that several vservers share") {
        return;
    }
    let networks = networks();
    let one = |name: &str, address: &str| format!("[vserver.{name}]\ntype = \"HTTP\"\naddress = \"{address}\"\n");
    let rest = [
        one("first", "10.77.0.10:80"),
        one("second", "10.77.0.10:81"),
        one("own", "10.77.0.1:80"),
        one("six", "[2001:db8:77::10]:80"),
        one("taken", "[2001:db8:77::200]:80"),
        one("nowhere", "203.0.113.1:80"),
    ];
    let extra = "[network.interface.eth1]\naddresses = [\"10.77.1.9/24\"]\n";
    let mut a = Box::start_in(&networks.name("a"), &config(SNIP, &format!("{extra}{}", rest.concat())));
    for (vserver, state) in [
        ("first", "present"),
        ("second", "present"),
        ("own", "present"),
        ("six", "present"),
        ("taken", "conflict"),
        ("nowhere", "waiting"),
    ] {
        expect_state(&a, vserver, state);
    }
    assert_eq!(a.get("/vservers/nowhere")["address_error"], "no interface has its subnet");
    let has =
        |address: &str| ["eth0", "eth1"].iter().any(|link| networks.addresses("a", link).iter().any(|x| x == address));
    assert!(has("2001:db8:77::10/128") && !has("2001:db8:77::200/128") && has("10.77.1.9/24"));
    remove(&a, "first");
    remove(&a, "own");
    remove(&a, "six");
    within(PATIENT, "the address of the vserver goes", || !has("2001:db8:77::10/128"));
    assert!(has("10.77.0.10/32"), "another vserver is there yet");
    remove(&a, "second");
    within(PATIENT, "it goes with the last", || !has("10.77.0.10/32"));
    assert!(has("10.77.0.1/24"), "what others added stays");
    // Somebody takes one away.
    let source = format!("{SNIP}/32");
    within(PATIENT, "the source address is there", || has(&source));
    networks.ip("a", &["addr", "del", &source, "dev", "eth1"]);
    within(PATIENT, "it is added again", || has(&source));
    assert_eq!(a.stop(), 0);
    assert!(!has(&source), "it leaves with the box");
    assert!(has("10.77.1.9/24"), "the interface's own address stays");
}
