//! Every combination of members and a backup against every way the unknown ones can turn out, then claims one by one.

use super::super::tests::{all_members, inputs, link, spilling_below, vserver};
use super::super::{Inputs, Link, effective_state, new_clients, own_state};
use super::facet;
use crate::model::condition::{Truth, VserverFacet};
use crate::model::id::VserverId;
use crate::model::state::{NewClients, ServiceState, VserverState};
use crate::model::vserver::Vserver;

use ServiceState::{Down, OutOfService, Trofs, TrofsDown, Unknown, Up};

/// Every way the members that nobody has heard of can turn out.
fn outcomes(members: &[ServiceState]) -> Vec<Vec<ServiceState>> {
    members.iter().fold(vec![vec![]], |outcomes, &member| {
        let can_be = if member == Unknown { vec![Up, Down] } else { vec![member] };
        outcomes.iter().flat_map(|head| can_be.iter().map(move |&state| [head.clone(), vec![state]].concat())).collect()
    })
}

/// The facets of a vserver and one backup, all members known, in the words of the table.
fn known_facets(primary: &Vserver, inputs: &Inputs<'_>, backup: Link) -> [(VserverFacet, bool); 5] {
    let members = inputs.members;
    let own = Link::new(VserverId(0), primary, inputs);
    let target = new_clients(&[own, backup]);
    let could = own.state == VserverState::Up && own.any_up;
    let taken_out = |state: &ServiceState| matches!(state, OutOfService | Trofs | TrofsDown);
    let missing: Vec<_> = members.iter().filter(|&&state| state != Up).collect();
    let held = inputs.held_down && members.contains(&Up);
    let by_members = !missing.is_empty() && missing.iter().all(|&state| taken_out(state)) && !held;
    let admin = !could && (inputs.disabled || !inputs.feature_on || by_members);
    [
        (VserverFacet::Serves, target != NewClients::Refused),
        (VserverFacet::Primary, target == NewClients::Own),
        (VserverFacet::Admin, admin),
        (VserverFacet::Fault, !could && !admin),
        (VserverFacet::HealthAtLeast(50), own_state(primary, inputs).1 >= 50),
    ]
}

#[test]
fn a_facet_is_unknown_exactly_while_members_nobody_has_heard_of_can_decide_it() {
    let backup = spilling_below(60, vserver(&[1, 1]));
    for members in (0..=3).flat_map(all_members) {
        let plain = Vserver { backup: Some(VserverId(1)), ..vserver(&[1, 2, 3][..members.len()]) };
        let definitions = [
            plain.clone(),
            Vserver { health_threshold: 60, ..plain.clone() },
            spilling_below(60, plain.clone()),
            Vserver { health_threshold: 40, ..spilling_below(100, plain) },
        ];
        let situations = [(false, true, false), (true, true, false), (false, false, false), (false, true, true)];
        for (primary, (disabled, feature_on, held_down)) in
            definitions.iter().flat_map(|definition| situations.map(|situation| (definition, situation)))
        {
            for behind in [&[][..], &[Up], &[Unknown], &[Down, Unknown], &[Trofs], &[Trofs, Unknown]] {
                let backup = Vserver { members: backup.members[..behind.len()].to_vec(), ..backup.clone() };
                let (own_outcomes, other_outcomes) = (outcomes(&members), outcomes(behind));
                let inputs_of = |members| Inputs { members, disabled, feature_on, held_down };
                let mut expected = [Truth::Unknown; 5];
                let mut facets = [VserverFacet::Serves; 5];
                let pairs = own_outcomes.iter().flat_map(|own| other_outcomes.iter().map(move |other| (own, other)));
                for (i, (own, other)) in pairs.enumerate() {
                    let known = known_facets(primary, &inputs_of(own), link(1, &backup, other));
                    for (slot, (facet, value)) in known.into_iter().enumerate() {
                        facets[slot] = facet;
                        if i == 0 {
                            expected[slot] = value.into();
                        } else if expected[slot] != value.into() {
                            expected[slot] = Truth::Unknown;
                        }
                    }
                }
                let inputs = inputs_of(&members);
                let chain = [Link::new(VserverId(0), primary, &inputs), link(1, &backup, behind)];
                for (slot, wanted) in facets.into_iter().enumerate() {
                    let value = facet(wanted, primary, &inputs, &chain);
                    assert_eq!(value, expected[slot], "{wanted:?} of {primary:?} {inputs:?} before {behind:?}");
                }
            }
        }
    }
}

// === Claims ===

/// Serves, primary, admin, fault of a vserver without backup.
fn facets(members: &[ServiceState]) -> [Truth; 4] {
    let vserver = vserver(&vec![1; members.len()]);
    let chain = [link(0, &vserver, members)];
    [VserverFacet::Serves, VserverFacet::Primary, VserverFacet::Admin, VserverFacet::Fault]
        .map(|wanted| facet(wanted, &vserver, &inputs(members), &chain))
}

#[test]
fn draining_a_site_is_admin_and_not_fault_and_a_failure_beside_the_drain_is_fault() {
    use Truth::{False as F, True as T, Unknown as U};
    for (members, expected) in [
        (&[Up, Up][..], [T, T, F, F]),
        (&[Up, Down], [T, T, F, F]),
        (&[Up, Trofs], [T, T, F, F]),
        (&[Trofs, Trofs], [F, F, T, F]),
        (&[Trofs, TrofsDown], [F, F, T, F]),
        (&[OutOfService, OutOfService], [F, F, T, F]),
        (&[Down, OutOfService], [F, F, F, T]),
        (&[Down, Trofs], [F, F, F, T]),
        (&[Down, Down], [F, F, F, T]),
        (&[], [F, F, F, T]),
        (&[Unknown, Unknown], [U, U, F, U]),
        (&[Unknown, Up], [T, T, F, F]),
        (&[Unknown, Down], [U, U, F, U]),
        (&[Unknown, OutOfService], [U, U, F, U]),
    ] {
        assert_eq!(facets(members), expected, "{members:?}");
    }
}

#[test]
fn a_vserver_that_an_operator_switched_off_or_disabled_is_admin_and_a_held_one_is_fault() {
    let one = vserver(&[1]);
    for (inputs, admin) in [
        (Inputs { disabled: true, ..inputs(&[Down]) }, true),
        (Inputs { feature_on: false, ..inputs(&[Up]) }, true),
        (Inputs { held_down: true, ..inputs(&[Up]) }, false),
        (Inputs { held_down: true, ..inputs(&[OutOfService]) }, true),
    ] {
        let chain = [Link::new(VserverId(0), &one, &inputs)];
        assert_eq!(facet(VserverFacet::Admin, &one, &inputs, &chain), admin.into(), "{inputs:?}");
        assert_eq!(facet(VserverFacet::Fault, &one, &inputs, &chain), (!admin).into(), "{inputs:?}");
    }
}

#[test]
fn a_vserver_that_spills_serves_and_is_neither_primary_nor_at_fault() {
    let primary = spilling_below(80, vserver(&[1, 1]));
    let members = [Up, Down];
    let chain = [link(0, &primary, &members), link(1, &vserver(&[1]), &[Up])];
    let value = |wanted| facet(wanted, &primary, &inputs(&members), &chain);
    assert_eq!(value(VserverFacet::Serves), Truth::True);
    assert_eq!(value(VserverFacet::Primary), Truth::False);
    assert_eq!(value(VserverFacet::Fault), Truth::False);
    assert_eq!(value(VserverFacet::HealthAtLeast(50)), Truth::True);
    assert_eq!(value(VserverFacet::HealthAtLeast(51)), Truth::False);
}

#[test]
fn the_drain_trap_shows_in_the_id_although_the_effective_state_is_up() {
    let primary = vserver(&[1]);
    let chain = [link(0, &primary, &[Trofs]), link(1, &vserver(&[1]), &[Up])];
    assert_eq!(effective_state(&chain), VserverState::Up);
    assert_eq!(facet(VserverFacet::Serves, &primary, &inputs(&[Trofs]), &chain), Truth::False);
}
