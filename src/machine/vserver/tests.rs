//! Every combination of member states against naive formulas, every chain of four, then claims one by one.

use super::{Inputs, Link, effective_state, new_clients, own_state, spills_by_health};
use crate::model::id::{ServiceId, VserverId};
use crate::model::limit::{Spillover, SpilloverMethod};
use crate::model::service::Protocol;
use crate::model::state::{NewClients, ServiceState, VserverState};
use crate::model::vserver::{Member, Vserver};

use ServiceState::{Down, OutOfService, Trofs, TrofsDown, Unknown, Up};

/// A vserver whose members have these weights.
pub(super) fn vserver(weights: &[u32]) -> Vserver {
    let members = weights.iter().enumerate().map(|(i, &weight)| Member { weight, ..Member::new(ServiceId(i as u32)) });
    Vserver { members: members.collect(), ..Vserver::new("web", Protocol::Http) }
}

pub(super) fn spilling_below(threshold: u8, vserver: Vserver) -> Vserver {
    Vserver { spillover: Some(Spillover::new(SpilloverMethod::Health { threshold })), ..vserver }
}

pub(super) fn inputs(members: &[ServiceState]) -> Inputs<'_> {
    Inputs { members, disabled: false, feature_on: true, held_down: false }
}

pub(super) fn link(id: u32, vserver: &Vserver, members: &[ServiceState]) -> Link {
    Link::new(VserverId(id), vserver, &inputs(members))
}

fn state(members: &[ServiceState]) -> VserverState {
    own_state(&vserver(&vec![1; members.len()]), &inputs(members)).0
}

/// Every way `count` members can stand.
pub(super) fn all_members(count: u32) -> impl Iterator<Item = Vec<ServiceState>> {
    (0..6_usize.pow(count)).map(move |code| (0..count).map(|i| ServiceState::ALL[code / 6_usize.pow(i) % 6]).collect())
}

// === Every combination ===

#[test]
fn state_and_health_of_every_combination_of_up_to_four_members_follow_the_formulas() {
    let weights = [1, 2, 3, 50];
    for members in (0..=4).flat_map(all_members) {
        let count = |states: &[ServiceState]| members.iter().filter(|state| states.contains(state)).count();
        let weight = |out: &dyn Fn(ServiceState) -> bool| -> f64 {
            members.iter().zip(weights).filter(|&(&state, _)| out(state)).map(|(_, w)| f64::from(w)).sum()
        };
        for threshold in [0, 1, 25, 33, 34, 50, 51, 75, 99, 100] {
            let vserver = Vserver { health_threshold: threshold, ..vserver(&weights[..members.len()]) };
            let active = count(&[Up, Trofs]);
            let share = active as f64 / count(&[Up, Trofs, TrofsDown, Down, Unknown]) as f64;
            let is_up = active > 0 && share * 100.0 >= f64::from(threshold);
            let health = weight(&|state| state == Up) / weight(&|state| state != OutOfService);
            let health = if health.is_nan() { 0 } else { (health * 100.0 + 1e-9).floor() as u8 };
            let expected = if is_up { VserverState::Up } else { VserverState::Down };
            assert_eq!(own_state(&vserver, &inputs(&members)), (expected, health), "{members:?} at {threshold}");
            for flags in 1..8 {
                let (disabled, feature_on, held_down) = (flags & 1 == 1, flags & 2 == 0, flags & 4 == 4);
                let inputs = Inputs { members: &members, disabled, feature_on, held_down };
                let expected = if disabled { VserverState::OutOfService } else { VserverState::Down };
                assert_eq!(own_state(&vserver, &inputs).0, expected, "{inputs:?}");
            }
        }
    }
}

/// What a link of a chain can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Serving,
    ServingAndSpilling,
    Draining,
    DrainingAndSpilling,
    Down,
    OutOfService,
}

impl Role {
    const ALL: [Role; 6] = [
        Role::Serving,
        Role::ServingAndSpilling,
        Role::Draining,
        Role::DrainingAndSpilling,
        Role::Down,
        Role::OutOfService,
    ];

    fn link(self, id: u32) -> Link {
        let state = match self {
            Role::Down => VserverState::Down,
            Role::OutOfService => VserverState::OutOfService,
            _ => VserverState::Up,
        };
        let any_up = matches!(self, Role::Serving | Role::ServingAndSpilling);
        let spills = matches!(self, Role::ServingAndSpilling | Role::DrainingAndSpilling | Role::Down);
        let usable = (any_up && state == VserverState::Up).into();
        Link { id: VserverId(id), state, any_up, spills, usable }
    }
}

#[test]
fn every_chain_of_up_to_four_sends_new_clients_where_the_naive_rule_says() {
    for length in 1..=4_u32 {
        for code in 0..6_usize.pow(length) {
            let roles: Vec<Role> = (0..length).map(|i| Role::ALL[code / 6_usize.pow(i) % 6]).collect();
            let chain: Vec<Link> = roles.iter().zip(0..).map(|(role, id)| role.link(id)).collect();
            let position = |role: Role| roles.iter().skip(1).position(|&r| r == role).map(|i| i as u32 + 1);
            let last = |role: Role| roles.iter().skip(1).rposition(|&r| r == role).map(|i| i as u32 + 1);
            // Whoever takes the client without passing it on; else the last that would rather have passed it on.
            let backup = position(Role::Serving).or(last(Role::ServingAndSpilling));
            let backup = backup.map(|id| NewClients::Backup(VserverId(id)));
            let expected = match roles[0] {
                Role::Serving => NewClients::Own,
                Role::ServingAndSpilling => backup.unwrap_or(NewClients::Own),
                Role::Draining => NewClients::Refused,
                Role::DrainingAndSpilling | Role::Down | Role::OutOfService => backup.unwrap_or(NewClients::Refused),
            };
            assert_eq!(new_clients(&chain), expected, "{roles:?}");
            let works = roles.iter().any(|role| !matches!(role, Role::Down | Role::OutOfService));
            let expected = if works { VserverState::Up } else { VserverState::Down };
            assert_eq!(effective_state(&chain), expected, "{roles:?}");
        }
    }
}

// === The words of the field ===

#[test]
fn one_up_member_makes_a_vserver_up_and_all_down_or_none_makes_it_down() {
    assert_eq!(state(&[Up, Down]), VserverState::Up);
    assert_eq!(state(&[Down, Down]), VserverState::Down);
    assert_eq!(state(&[]), VserverState::Down);
    assert_eq!(own_state(&vserver(&[]), &inputs(&[])).1, 0);
    assert_eq!(state(&[Unknown]), VserverState::Down);
    assert_eq!(state(&[OutOfService, OutOfService]), VserverState::Down);
}

#[test]
fn a_vserver_whose_members_all_drain_counts_as_up_and_refuses_new_clients_despite_its_backup() {
    let primary = vserver(&[1, 1]);
    let chain = [link(0, &primary, &[Trofs, Trofs]), link(1, &vserver(&[1]), &[Up])];
    assert_eq!(chain[0].state, VserverState::Up);
    assert_eq!(new_clients(&chain), NewClients::Refused);
    assert_eq!(effective_state(&chain), VserverState::Up);
    // Once the probe fails too, or the drain is over, the backup is used.
    for members in [[TrofsDown, TrofsDown], [OutOfService, OutOfService], [TrofsDown, Down]] {
        let chain = [link(0, &primary, &members), chain[1]];
        assert_eq!(new_clients(&chain), NewClients::Backup(VserverId(1)), "{members:?}");
    }
}

#[test]
fn spillover_by_health_is_the_way_around_the_drain_trap() {
    let primary = spilling_below(99, vserver(&[1, 1]));
    let backup = link(1, &vserver(&[1]), &[Up]);
    assert_eq!(new_clients(&[link(0, &primary, &[Trofs, Trofs]), backup]), NewClients::Backup(VserverId(1)));
    assert_eq!(new_clients(&[link(0, &primary, &[Up, Trofs]), backup]), NewClients::Backup(VserverId(1)));
    assert_eq!(new_clients(&[link(0, &primary, &[Up, Up]), backup]), NewClients::Own);
}

#[test]
fn spillover_by_health_counts_weights_and_leaves_the_state_up() {
    // Weights 1, 2, 3 and threshold 50: it spills when the third and one more fail.
    let primary = spilling_below(50, vserver(&[1, 2, 3]));
    for (members, spills) in [
        ([Up, Up, Up], false),
        ([Down, Down, Up], false),
        ([Up, Up, Down], false),
        ([Down, Up, Down], true),
        ([Up, Down, Down], true),
        ([Up, Down, OutOfService], true),
        ([Down, Up, OutOfService], false),
    ] {
        let link = link(0, &primary, &members);
        assert_eq!((link.state, link.spills), (VserverState::Up, spills), "{members:?}");
    }
    assert!(!spills_by_health(&vserver(&[1]), 0), "no spillover configured");
}

#[test]
fn a_primary_that_spills_to_nobody_keeps_its_clients_while_a_member_is_up() {
    let primary = spilling_below(80, vserver(&[1, 1]));
    assert_eq!(new_clients(&[link(0, &primary, &[Up, Down])]), NewClients::Own);
    let dead = link(1, &vserver(&[1]), &[Down]);
    assert_eq!(new_clients(&[link(0, &primary, &[Up, Down]), dead]), NewClients::Own);
    assert_eq!(new_clients(&[link(0, &primary, &[Trofs, Down]), dead]), NewClients::Refused);
}

#[test]
fn health_threshold_counts_members_and_takes_the_vserver_down() {
    // Ten services, 50 %: five may fail, the sixth takes it down.
    let ten = Vserver { health_threshold: 50, ..vserver(&[1; 10]) };
    let failed = |count: usize| own_state(&ten, &inputs(&[vec![Down; count], vec![Up; 10 - count]].concat())).0;
    assert_eq!((failed(5), failed(6)), (VserverState::Up, VserverState::Down));
    // A draining service whose probe fails can be the one that breaks it; new clients then go to the backup.
    let two = Vserver { health_threshold: 75, ..vserver(&[1, 1]) };
    assert_eq!(link(0, &two, &[Up, Trofs]).state, VserverState::Up);
    let chain = [link(0, &two, &[Up, TrofsDown]), link(1, &vserver(&[1]), &[Up])];
    assert_eq!((chain[0].state, new_clients(&chain)), (VserverState::Down, NewClients::Backup(VserverId(1))));
    // Services out of service are not counted.
    assert_eq!(link(0, &two, &[Up, OutOfService]).state, VserverState::Up);
}

#[test]
fn a_disabled_vserver_is_out_of_service_and_effectively_down_or_what_its_chain_is() {
    let primary = vserver(&[1]);
    let disabled = Inputs { disabled: true, ..inputs(&[Up]) };
    let own = Link::new(VserverId(0), &primary, &disabled);
    assert_eq!(own.state, VserverState::OutOfService);
    assert_eq!((effective_state(&[own]), new_clients(&[own])), (VserverState::Down, NewClients::Refused));
    let chain = [own, link(1, &primary, &[Up])];
    assert_eq!(effective_state(&chain), VserverState::Up);
    assert_eq!(new_clients(&chain), NewClients::Backup(VserverId(1)));
}

#[test]
fn a_vserver_is_down_while_its_feature_is_off_and_while_it_is_held_down() {
    let off = Inputs { feature_on: false, ..inputs(&[Up]) };
    assert_eq!(own_state(&vserver(&[1]), &off).0, VserverState::Down);
    let held = Inputs { held_down: true, ..inputs(&[Up]) };
    assert_eq!(own_state(&vserver(&[1]), &held), (VserverState::Down, 100));
    let chain = [Link::new(VserverId(0), &vserver(&[1]), &held), link(1, &vserver(&[1]), &[Up])];
    assert_eq!(new_clients(&chain), NewClients::Backup(VserverId(1)));
}

#[test]
fn a_disabled_or_draining_backup_in_the_middle_of_a_chain_is_skipped() {
    let one = vserver(&[1]);
    let down = link(0, &one, &[Down]);
    let disabled = Link::new(VserverId(1), &one, &Inputs { disabled: true, ..inputs(&[Up]) });
    let draining = link(2, &one, &[Trofs]);
    let serving = link(3, &one, &[Up]);
    assert_eq!(new_clients(&[down, disabled, draining, serving]), NewClients::Backup(VserverId(3)));
    assert_eq!(new_clients(&[down, disabled, draining]), NewClients::Refused);
    assert_eq!(effective_state(&[down, disabled, draining]), VserverState::Up, "and yet it is effectively UP");
}

#[test]
fn a_backup_may_spill_to_its_own_backup() {
    let (one, two) = (vserver(&[1]), spilling_below(60, vserver(&[1, 1])));
    let (down, half) = (link(0, &one, &[Down]), link(1, &two, &[Up, Down]));
    assert_eq!(new_clients(&[down, half, link(2, &one, &[Up])]), NewClients::Backup(VserverId(2)));
    assert_eq!(new_clients(&[down, half, link(2, &one, &[Down])]), NewClients::Backup(VserverId(1)));
}
