//! Odd machines, and much of everything.

use super::*;

#[test]
fn an_address_of_the_systems_that_moves_or_is_somebody_elses_is_told_as_it_stands_and_left_alone() {
    let mut world = World::new(&[wish("192.0.2.1/32", None), wish("2001:db8::1/128", None)]);
    let place =
        |world: &World, ip: &str| world.machine.addresses.iter().position(|a| a.address.ip.to_string() == ip).unwrap();
    let (four, six) = (place(&world, "192.0.2.1"), place(&world, "2001:db8::1"));
    world.machine.addresses[four].link = 3;
    world.machine.addresses[six].duplicate = true;
    world.observe();
    assert_eq!(world.state("192.0.2.1"), AddressState::Present { interface: "eth1".into(), ours: false });
    let by = "another host".to_owned();
    assert_eq!(world.state("2001:db8::1"), AddressState::Conflict { interface: "eth0".into(), by });
    world.wait(SECOND * 30);
    assert_eq!(world.take(), [""; 0]);
}

#[test]
fn an_interface_that_is_removed_and_made_again_gets_its_addresses_again() {
    let mut world = held();
    let gone = world.machine.clone();
    world.machine.links.retain(|link| link.index != 2);
    world.machine.addresses.retain(|a| a.link != 2);
    world.observe();
    assert_eq!(world.state(VIP).trouble().as_deref(), Some("no interface has its subnet"));
    // Under another number, and with its own address a moment later.
    world.machine.links.push(Link { mac: gone.links[0].mac, ..link(7, "eth0") });
    world.observe();
    world.machine.addresses.push(at(7, "192.0.2.1/24", false));
    world.observe();
    world.wait(SECOND * 5);
    assert_eq!(world.state(VIP), AddressState::Present { interface: "eth0".into(), ours: true });
    assert!(world.take().contains(&"add 7 192.0.2.10/32".to_owned()));
}

#[test]
fn an_address_that_the_system_does_not_let_go_of_is_told_once_and_tried_without_haste() {
    let mut world = held();
    world.plan.want(BTreeMap::new());
    let ip: IpAddr = VIP.parse().unwrap();
    assert_eq!(world.plan.settle(world.now).len(), 1);
    assert!(world.plan.not_removed(world.now, 2, ip, "it lacks the right"), "it is news");
    assert!(!world.plan.not_removed(world.now, 2, ip, "it lacks the right"));
    assert_eq!(world.plan.left_over(), ["192.0.2.10 is left on eth0: not removed, it lacks the right"]);
    assert_eq!(world.plan.settle(world.now + (REFUSED_RETRY - SECOND)), []);
    assert_eq!(world.plan.settle(world.now + REFUSED_RETRY).len(), 1);
    // Wanted again: nothing is left over.
    world.want(&[wish("192.0.2.10/32", None)]);
    assert_eq!(world.plan.left_over(), [""; 0]);
}

#[test]
fn a_hundred_addresses_are_asked_for_together_and_added_within_a_second() {
    let wishes: Vec<_> = (10..110).map(|last| wish(&format!("192.0.2.{last}/32"), None)).collect();
    let mut world = World::new(&wishes);
    world.wait(PROBE_EVERY * 3);
    assert_eq!(world.plan.states().filter(|(_, state)| state.is_here()).count(), 100);
    assert_eq!(world.plan.leave().len(), 100);
}
