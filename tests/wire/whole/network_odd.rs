//! Addresses on interfaces, where something stands in the way.

use super::box_under_test::{Box, within};
use super::namespaces;
use super::network::{PATIENT, SNIP, VIP, config, expect_state, networks, web};

#[test]
fn a_handover_leaves_every_address_where_it_is_and_servers_see_the_same_source_all_along() {
    if !namespaces::can_be_made("addresses in a handover") {
        return;
    }
    let networks = networks();
    let (s1, _s2) = (networks.serve("s1", "0.0.0.0:80"), networks.serve("s2", "0.0.0.0:80"));
    let mut a = Box::start_in(&networks.name("a"), &config(SNIP, &web(VIP)));
    expect_state(&a, "web", "present");
    within(PATIENT, "the VIP serves", || networks.fetch("c", "10.77.0.10:80").is_ok());
    let snip: std::net::IpAddr = SNIP.parse().unwrap();
    within(PATIENT, "probes leave from the source address", || s1.take("/health").contains(&snip));
    s1.take("/health");
    let (status, text) = a.run(&["handover", "--state", &a.path("state").display().to_string()]);
    assert_eq!(status, 0, "{text}");
    assert_eq!(a.handed_over(), 0);
    expect_state(&a, "web", "present");
    let mut probes = s1.take("/health");
    within(PATIENT, "it is probed", || {
        probes.extend(s1.take("/health"));
        probes.len() > 8
    });
    // The first ones may be on their way before the addresses of the machine are known.
    let elsewhere = probes.iter().filter(|from| **from != snip).count();
    let last = &probes[probes.len() - 3..];
    assert!(elsewhere <= 3 && last.iter().all(|from| *from == snip), "{probes:?}");
    assert!(networks.addresses("a", "eth0").contains(&format!("{VIP}/32")));
    assert!(!a.log().contains("removed from"), "nothing was ever taken off: {}", a.log());
    assert_eq!(a.log().matches(&format!("{VIP} added to")).count(), 1, "nor added again");
    assert_eq!(networks.fetch("c", "10.77.0.10:80").map(|_| ()), Ok(()));
}

#[test]
fn a_process_without_the_right_says_which_one_it_lacks_and_leaves_what_it_cannot_remove() {
    if !namespaces::can_be_made("VIPs without CAP_NET_ADMIN") {
        return;
    }
    let networks = networks();
    // What a process with the right had left.
    let mut before = Box::start_in(&networks.name("a"), &config(SNIP, &web("10.77.0.77")));
    expect_state(&before, "web", "present");
    before.kill();
    let rest = web(VIP) + "[vserver.six]\ntype = \"HTTP\"\naddress = \"[2001:db8:77::10]:80\"\n";
    let a = Box::start_powerless_in(&networks.name("a"), &config(SNIP, &rest));
    expect_state(&a, "web", "refused");
    expect_state(&a, "six", "refused");
    let why = |vserver: &str| a.get(&format!("/vservers/{vserver}"))["address_error"].as_str().unwrap().to_owned();
    let asked = "not added to eth0: it cannot be asked for: this process lacks the capability CAP_NET_RAW";
    assert_eq!(why("web"), asked);
    assert_eq!(why("six"), "not added to eth0: this process lacks the capability CAP_NET_ADMIN");
    let left = "10.77.0.77 is left on eth0: not removed, this process lacks the capability CAP_NET_ADMIN";
    within(PATIENT, "what is left over is a problem", || {
        let problems = a.get("/status")["problems"].clone();
        problems.as_array().is_some_and(|all| all.iter().any(|problem| problem["text"] == left))
    });
    assert_eq!(networks.addresses("a", "eth0").iter().filter(|held| held.starts_with(VIP)).count(), 0);

    // Without `[network]` it says the same of what its own state directory names, and nothing where it names none.
    drop(a);
    let mut a = Box::start_powerless_in(&networks.name("a"), "");
    assert!(!a.get("/status").to_string().contains("is left on"));
    a.kill();
    std::fs::write(a.path("state/addresses"), "10.77.0.77\n").unwrap();
    a.start_again();
    within(PATIENT, "what is left over is a problem without a network, too", || {
        let problems = a.get("/status")["problems"].clone();
        problems.as_array().is_some_and(|all| all.iter().any(|problem| problem["text"] == left))
    });
    assert!(a.log().contains("10.77.0.77 is not removed from eth0: this process lacks"), "{}", a.log());
}

#[test]
fn an_interface_that_goes_and_comes_back_has_its_addresses_again_and_a_hundred_leave_in_time() {
    if !namespaces::can_be_made("a hundred VIPs, and an interface that goes") {
        return;
    }
    let networks = networks();
    let front = networks.capture("c", "eth0", "arp or icmp6");
    let vserver = |at: &str, name: &str| format!("[vserver.{name}]\ntype = \"HTTP\"\naddress = \"{at}:80\"\n");
    let many: String = (100..200).map(|last| vserver(&format!("10.77.0.{last}"), &format!("v{last}"))).collect();
    let six = vserver("[2001:db8:77::10]", "six");
    let mut a = Box::start_in(&networks.name("a"), &config(SNIP, &(many + &six)));
    let ours = || networks.addresses("a", "eth0").iter().filter(|held| held.ends_with("/32")).count();
    within(PATIENT, "a hundred addresses are there", || ours() == 100);
    expect_state(&a, "six", "present");
    let mac = networks.mac("a", "eth0");
    assert_eq!(front.announcer("2001:db8:77::10", PATIENT), mac, "an unsolicited neighbour advertisement");
    assert_eq!(front.announcer("10.77.0.199", PATIENT), mac);

    networks.remake("a", "eth0", "front");
    within(PATIENT, "it is told that it has nowhere to go", || {
        a.get("/vservers/v100")["address_state"] == "waiting" || ours() == 0
    });
    networks.ip("a", &["addr", "add", "10.77.0.1/24", "dev", "eth0"]);
    within(PATIENT, "all are there again", || ours() == 100);
    expect_state(&a, "v150", "present");
    front.announced("10.77.0.150");
    // Down and up again: neighbours hear of them once more.
    networks.ip("a", &["link", "set", "eth0", "down"]);
    networks.ip("a", &["link", "set", "eth0", "up"]);
    assert_eq!(front.announcer("10.77.0.150", PATIENT), networks.mac("a", "eth0"));

    // Somebody's own hand: the address is no longer the program's to remove.
    networks.ip("a", &["addr", "change", "10.77.0.150/32", "dev", "eth0"]);
    assert_eq!(a.stop(), 0);
    let held = networks.addresses("a", "eth0");
    let left: Vec<&String> = held.iter().filter(|held| held.ends_with("/32")).collect();
    assert_eq!(left, ["10.77.0.150/32"]);
}

#[test]
fn what_a_process_put_on_interfaces_goes_with_a_start_without_a_network_and_another_instances_stays() {
    if !namespaces::can_be_made("addresses that are left over without [network]") {
        return;
    }
    let networks = networks();
    let without = "[vserver.web]\ntype = \"HTTP\"\naddress = \"10.77.0.10:80\"\n";
    let held = || [networks.addresses("a", "eth0"), networks.addresses("a", "eth1")].concat();
    let has = |address: &str| held().iter().any(|held| held.starts_with(&format!("{address}/32")));
    let own = "[network.interface.eth1]\naddresses = [\"10.77.1.9/24\"]\n";
    let other = "[vserver.other]\ntype = \"HTTP\"\naddress = \"10.77.0.98:80\"\n";
    let with = config(SNIP, &format!("{own}{}{other}", web(VIP)));
    let mut a = Box::start_in(&networks.name("a"), &with);
    expect_state(&a, "web", "present");
    within(PATIENT, "all are there", || has(SNIP) && has("10.77.0.98"));
    a.kill();
    // What the file does not name is another instance's, though it bears the mark.
    let named = std::fs::read_to_string(a.path("state/addresses")).unwrap();
    assert_eq!(named, format!("{VIP}\n10.77.0.98\n{SNIP}\n"));
    std::fs::write(a.path("state/addresses"), named.replace("10.77.0.98\n", "")).unwrap();
    std::fs::write(a.path("box.toml"), without).unwrap();
    a.start_again();
    within(PATIENT, "a killed process's addresses are gone", || !has(VIP) && !has(SNIP));
    assert!(has("10.77.0.98"), "another instance's stays: {:?}", held());
    assert!(held().contains(&"10.77.1.9/24".to_owned()), "and so does the interface's own");
    networks.ip("a", &["addr", "del", "10.77.0.98/32", "dev", "eth0"]);
    assert_eq!(a.stop(), 0);

    std::fs::write(a.path("box.toml"), &with).unwrap();
    a.start_again();
    expect_state(&a, "web", "present");
    std::fs::write(a.path("box.toml"), without).unwrap();
    let state = a.path("state").display().to_string();
    let (status, text) = a.run(&["reload", "--state", &state]);
    assert_eq!(status, 0, "{text}");
    within(PATIENT, "they are gone after a reload", || !has(VIP) && !has(SNIP));
    let (status, text) = a.run(&["handover", "--state", &state]);
    assert_eq!(status, 0, "{text}");
    assert_eq!(a.handed_over(), 0);
    assert!(!has(VIP) && !has(SNIP), "and stay so: {:?}", held());
    assert!(a.get("/vservers/web")["address_state"].is_null(), "nobody looks after it");
}
