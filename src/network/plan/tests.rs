use std::net::Ipv4Addr;

use super::*;
use crate::model::network::InterfaceAddress;
use crate::network::arp::Heard;
use crate::network::machine::Link;

const VIP: &str = "192.0.2.10";
const OURS: Mac = Mac([2, 0, 0, 0, 0, 5]);
const LOWER: Mac = Mac([2, 0, 0, 0, 0, 1]);
const HIGHER: Mac = Mac([2, 0, 0, 0, 0, 9]);

/// A machine that does what it is told, and a time that is told.
struct World {
    plan: Plan,
    machine: Machine,
    now: Tick,
    /// What was done, as one reads it: `probe 2 192.0.2.10`.
    done: Vec<String>,
}

fn link(index: u32, name: &str) -> Link {
    let mac = Some(Mac([2, 0, 0, 0, 0, u8::try_from(index + 3).unwrap()]));
    Link { index, name: name.into(), mac, set_up: true, up: true, loopback: false, asks: true }
}

fn at(link: u32, address: &str, ours: bool) -> Assigned {
    Assigned { link, address: address.parse().unwrap(), ours, tentative: false, duplicate: false }
}

fn wish(address: &str, interface: Option<&str>) -> (IpAddr, Wish) {
    let address: InterfaceAddress = address.parse().unwrap();
    let interface = interface.map(Name::from);
    (address.ip, Wish { address, interface, vservers: vec!["web".into()], dns: false, source: false, own: false })
}

impl World {
    /// eth0 (2) in 192.0.2.0/24 and 2001:db8::/64, eth1 (3) in 198.51.100.0/24.
    fn new(wishes: &[(IpAddr, Wish)]) -> World {
        let machine = Machine {
            links: vec![link(2, "eth0"), link(3, "eth1")],
            fell: Vec::new(),
            addresses: vec![
                at(2, "192.0.2.1/24", false),
                at(2, "2001:db8::1/64", false),
                at(3, "198.51.100.1/24", false),
            ],
        };
        let mut world = World { plan: Plan::default(), machine, now: Tick(1_000_000), done: Vec::new() };
        world.plan.observe(world.machine.clone());
        world.want(wishes);
        world
    }

    fn want(&mut self, wishes: &[(IpAddr, Wish)]) {
        self.plan.want(wishes.iter().cloned().collect());
        self.settle();
    }

    /// Carries out what is asked for, as the kernel does, until nothing is.
    fn settle(&mut self) {
        for _ in 0..20 {
            let acts = self.plan.settle(self.now);
            if acts.is_empty() {
                return;
            }
            acts.iter().for_each(|act| self.carry_out(act));
            self.plan.observe(self.machine.clone());
        }
        panic!("it does not come to rest: {:?}", self.done);
    }

    fn carry_out(&mut self, act: &Act) {
        let said = match act {
            Act::Up { link } => format!("up {link}"),
            Act::Add { link, address } => {
                let new = Assigned { link: *link, address: *address, ours: true, tentative: false, duplicate: false };
                self.machine.addresses.push(new);
                format!("add {link} {address}")
            }
            Act::Remove { link, address } => {
                self.machine.addresses.retain(|a| (a.link, a.address) != (*link, *address));
                format!("remove {link} {address}")
            }
            Act::Probe { link, ip } => format!("probe {link} {ip}"),
            Act::Announce { link, ip } => format!("announce {link} {ip}"),
        };
        self.done.push(said);
    }

    fn observe(&mut self) {
        self.plan.observe(self.machine.clone());
        self.settle();
    }

    /// Lets time pass, and does what is due in it when it is due.
    fn wait(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(wake) = self.plan.wake_at().filter(|wake| *wake <= end) {
            assert!(wake >= self.now, "it wakes in the past");
            self.now = wake.max(self.now + Duration::from_micros(1));
            self.settle();
        }
        self.now = end;
        self.settle();
    }

    fn hear(&mut self, mac: Mac, sender: &str, target: &str) {
        let ip = |text: &str| text.parse::<Ipv4Addr>().unwrap();
        self.plan.hear(self.now, 2, Heard { mac, sender: ip(sender), target: ip(target), request: true });
        self.settle();
    }

    fn state(&self, ip: &str) -> AddressState {
        let ip: IpAddr = ip.parse().unwrap();
        self.plan.states().find(|(wish, _)| wish.address.ip == ip).unwrap().1
    }

    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.done)
    }
}

const PROBED: [&str; 3] = ["probe 2 192.0.2.10", "probe 2 192.0.2.10", "probe 2 192.0.2.10"];
const SECOND: Duration = Duration::from_secs(1);

fn held() -> World {
    let mut world = World::new(&[wish("192.0.2.10/32", None)]);
    world.wait(SECOND * 5);
    world.take();
    world
}

#[test]
fn an_address_is_asked_for_three_times_added_to_the_interface_of_its_subnet_and_announced_three_times() {
    let mut world = World::new(&[wish("192.0.2.10/32", None)]);
    assert_eq!(world.state(VIP), AddressState::Probing { interface: "eth0".into() });
    world.wait(PROBE_EVERY * 3);
    assert_eq!(world.state(VIP), AddressState::Present { interface: "eth0".into(), ours: true });
    world.wait(SECOND * 5);
    let added = ["add 2 192.0.2.10/32", "announce 2 192.0.2.10", "announce 2 192.0.2.10", "announce 2 192.0.2.10"];
    assert_eq!(world.take(), [&PROBED[..], &added].concat());
    assert_eq!(world.plan.wake_at(), None, "nothing is left to do");
}

#[test]
fn it_goes_with_the_last_that_wants_it() {
    let mut world = held();
    world.want(&[]);
    assert_eq!(world.take(), ["remove 2 192.0.2.10/32"]);
}

#[test]
fn an_address_that_somebody_answers_for_is_refused_told_and_tried_again() {
    let mut world = World::new(&[wish("192.0.2.10/32", None)]);
    world.hear(HIGHER, VIP, "192.0.2.1");
    assert_eq!(world.state(VIP), AddressState::Conflict { interface: "eth0".into(), by: HIGHER.to_string() });
    world.wait(CONFLICT_RETRY - SECOND);
    assert_eq!(world.take(), ["probe 2 192.0.2.10"], "not asked again meanwhile, and not added");
    while !matches!(world.state(VIP), AddressState::Probing { .. }) {
        world.wait(Duration::from_millis(50));
    }
    world.hear(HIGHER, VIP, "192.0.2.1");
    assert!(matches!(world.state(VIP), AddressState::Conflict { .. }));
    world.take();
    // The other one has left.
    world.wait(CONFLICT_RETRY + SECOND * 2);
    assert_eq!(world.state(VIP), AddressState::Present { interface: "eth0".into(), ours: true });
    assert!(world.take().contains(&"add 2 192.0.2.10/32".to_owned()));
}

#[test]
fn of_two_that_ask_in_one_moment_the_one_with_the_lower_hardware_address_goes_on() {
    let mut world = World::new(&[wish("192.0.2.10/32", None)]);
    world.hear(HIGHER, "0.0.0.0", VIP);
    world.wait(SECOND);
    assert!(world.state(VIP).is_here(), "ours is the lower one");
    let mut world = World::new(&[wish("192.0.2.10/32", None)]);
    world.hear(LOWER, "0.0.0.0", VIP);
    assert!(matches!(world.state(VIP), AddressState::Conflict { .. }));
}

#[test]
fn what_its_own_links_say_is_no_conflict() {
    let mut world = World::new(&[wish("192.0.2.10/32", None)]);
    world.hear(OURS, VIP, VIP);
    world.hear(Mac([2, 0, 0, 0, 0, 6]), VIP, VIP);
    world.wait(SECOND);
    assert!(world.state(VIP).is_here());
}

#[test]
fn somebody_who_claims_an_address_that_is_held_is_told_of_and_answered_but_not_in_a_storm() {
    let mut world = held();
    for _ in 0..50 {
        world.hear(HIGHER, VIP, VIP);
        world.wait(Duration::from_millis(100));
    }
    assert_eq!(world.take(), ["announce 2 192.0.2.10"]);
    assert_eq!(world.state(VIP), AddressState::Contested { interface: "eth0".into(), by: HIGHER.to_string() });
    world.wait(CLAIM_LASTS + SECOND);
    assert_eq!(world.state(VIP), AddressState::Present { interface: "eth0".into(), ours: true });
}

#[test]
fn what_the_system_has_is_used_as_it_is_and_never_removed() {
    let mut world = World::new(&[wish("192.0.2.1/32", None)]);
    world.wait(SECOND * 5);
    assert_eq!(world.state("192.0.2.1"), AddressState::Present { interface: "eth0".into(), ours: false });
    world.hear(HIGHER, "192.0.2.1", "192.0.2.1");
    world.want(&[]);
    assert_eq!(world.take(), [""; 0]);
    assert_eq!(world.plan.leave(), []);
}

#[test]
fn what_a_killed_process_has_left_is_kept_where_it_is_wanted_and_removed_where_not() {
    let mut world = World::new(&[]);
    world.machine.addresses.extend([at(2, "192.0.2.10/32", true), at(3, "198.51.100.77/32", true)]);
    world.plan.want([wish("192.0.2.10/32", None)].into());
    world.observe();
    world.wait(SECOND * 5);
    let done = world.take();
    assert_eq!(done[..3], ["probe 2 192.0.2.10", "announce 2 192.0.2.10", "remove 3 198.51.100.77/32"]);
    assert!(done[3..].iter().all(|act| act == "announce 2 192.0.2.10"), "{done:?}");
    assert!(world.state(VIP).is_here(), "at once, and whatever the answer is");
    world.hear(HIGHER, VIP, VIP);
    assert_eq!(world.state(VIP), AddressState::Contested { interface: "eth0".into(), by: HIGHER.to_string() });
}

#[test]
fn an_address_moves_to_another_interface_without_a_gap() {
    let mut world = held();
    world.want(&[wish("192.0.2.10/32", Some("eth1"))]);
    world.wait(PROBE_EVERY * 3);
    let done = world.take();
    let place = |act: &str| done.iter().position(|done| done == act).unwrap_or_else(|| panic!("{act}: {done:?}"));
    assert!(place("add 3 192.0.2.10/32") < place("remove 2 192.0.2.10/32"));
    assert!(place("add 3 192.0.2.10/32") < place("announce 3 192.0.2.10"));
    assert_eq!(world.state(VIP), AddressState::Present { interface: "eth1".into(), ours: true });
}

#[test]
fn what_somebody_takes_away_is_added_again() {
    let mut world = held();
    world.machine.addresses.retain(|a| !a.ours);
    world.observe();
    world.wait(SECOND);
    assert!(world.state(VIP).is_here());
    assert!(world.take().contains(&"add 2 192.0.2.10/32".to_owned()));
}

#[test]
fn without_an_interface_it_waits_and_says_for_what() {
    let waiting = |world: &World, ip: &str| match world.state(ip) {
        AddressState::Waiting { why } => why,
        other => panic!("{other:?}"),
    };
    let mut world = World::new(&[wish("203.0.113.1/32", None), wish("192.0.2.10/32", Some("eth7"))]);
    assert_eq!(waiting(&world, "203.0.113.1"), "no interface has its subnet");
    assert_eq!(waiting(&world, VIP), "there is no interface eth7");
    world.want(&[wish("192.0.2.10/32", None)]);
    world.machine.links[0].up = false;
    world.observe();
    assert_eq!(waiting(&world, VIP), "the interface eth0 is down");
    assert_eq!(world.plan.wake_at(), None, "only the machine can change that");
    world.machine.links[0].up = true;
    world.observe();
    world.wait(SECOND);
    assert!(world.state(VIP).is_here());
}

#[test]
fn a_link_that_comes_back_hears_of_its_addresses_again() {
    let mut world = held();
    world.machine.links[0].up = false;
    world.observe();
    world.wait(SECOND * 5);
    assert_eq!(world.take(), [""; 0], "nobody would hear it");
    assert!(world.state(VIP).is_here());
    world.machine.links[0].up = true;
    world.observe();
    assert_eq!(world.take(), ["announce 2 192.0.2.10"]);
    // One that is back before anybody looks was away all the same.
    world.wait(SECOND * 5);
    world.take();
    world.machine.fell = vec![2];
    world.plan.observe(world.machine.clone());
    world.machine.fell.clear();
    world.settle();
    assert_eq!(world.take(), ["announce 2 192.0.2.10"]);
}

#[test]
fn a_subnet_that_goes_for_a_while_takes_no_address_with_it() {
    let mut world = held();
    world.machine.addresses.retain(|a| a.ours);
    world.observe();
    assert!(world.state(VIP).is_here());
    assert_eq!(world.take(), [""; 0]);
}

#[test]
fn the_kernel_finds_out_whether_an_address_of_ipv6_is_free() {
    let mut world = World::new(&[]);
    world.plan.want([wish("2001:db8::10/128", None)].into());
    let acts = world.plan.settle(world.now);
    assert_eq!(acts.len(), 1);
    acts.iter().for_each(|act| world.carry_out(act));
    world.machine.addresses.last_mut().unwrap().tentative = true;
    world.observe();
    assert_eq!(world.state("2001:db8::10"), AddressState::Probing { interface: "eth0".into() });
    assert_eq!(world.take(), ["add 2 2001:db8::10/128"], "not announced before it is known to be free");
    world.machine.addresses.last_mut().unwrap().duplicate = true;
    world.observe();
    assert!(matches!(world.state("2001:db8::10"), AddressState::Conflict { .. }));
    assert_eq!(world.take(), ["remove 2 2001:db8::10/128"]);
    world.wait(CONFLICT_RETRY + SECOND);
    assert_eq!(world.take(), ["add 2 2001:db8::10/128", "announce 2 2001:db8::10"]);
}

#[test]
fn an_address_that_stays_tentative_is_waited_for_without_haste() {
    let mut world = World::new(&[]);
    world.plan.want([wish("2001:db8::10/128", None)].into());
    let acts = world.plan.settle(world.now);
    acts.iter().for_each(|act| world.carry_out(act));
    world.machine.addresses.last_mut().unwrap().tentative = true;
    for _ in 0..20 {
        world.observe();
        let wake = world.plan.wake_at().unwrap();
        assert!(wake > world.now);
        world.now = wake;
    }
    assert_eq!(world.state("2001:db8::10"), AddressState::Probing { interface: "eth0".into() });
}

#[test]
fn what_the_system_refuses_is_told_and_tried_again_later() {
    let mut world = World::new(&[]);
    world.plan.want([wish("2001:db8::10/128", None)].into());
    world.plan.settle(world.now);
    world.plan.refused(world.now, "2001:db8::10".parse().unwrap(), "it needs CAP_NET_ADMIN");
    world.settle();
    let why = "not added to eth0: it needs CAP_NET_ADMIN";
    assert_eq!(world.state("2001:db8::10").trouble().as_deref(), Some(why));
    world.wait(REFUSED_RETRY - SECOND);
    assert_eq!(world.take(), [""; 0]);
    world.wait(SECOND);
    assert!(world.state("2001:db8::10").is_here());
}

#[test]
fn addresses_of_loopback_and_of_links_without_neighbours_are_added_and_not_asked_for() {
    let mut world = World::new(&[]);
    world.machine.links.push(Link { mac: None, loopback: true, asks: false, ..link(1, "lo") });
    world.plan.observe(world.machine.clone());
    world.want(&[wish("192.0.2.10/32", Some("lo"))]);
    world.wait(SECOND * 5);
    assert_eq!(world.take(), ["add 1 192.0.2.10/32"]);
}

#[test]
fn the_interfaces_own_addresses_stay_when_the_vips_leave() {
    let mut world = World::new(&[]);
    world.machine.links[1].set_up = false;
    world.machine.links[1].up = false;
    world.plan.observe(world.machine.clone());
    let (ip, own) = wish("203.0.113.5/24", Some("eth1"));
    world.want(&[(ip, Wish { own: true, ..own }), wish("192.0.2.10/32", None)]);
    world.wait(SECOND);
    let done = world.take();
    assert_eq!(done.iter().filter(|act| !act.contains(VIP)).collect::<Vec<_>>(), ["up 3", "add 3 203.0.113.5/24"]);
    let address = "192.0.2.10/32".parse().unwrap();
    assert_eq!(world.plan.leave(), [Act::Remove { link: 2, address }]);
}

mod laws;
mod machines;
