use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Want(Vec<u8>),
    Wait(u16),
    Hear(u8, bool),
    Flap,
    TakeAway(u8),
    Appear(u8, bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        proptest::collection::vec(10..14u8, 0..4).prop_map(Step::Want),
        (0..8_000u16).prop_map(Step::Wait),
        (10..14u8, any::<bool>()).prop_map(|(ip, probe)| Step::Hear(ip, probe)),
        Just(Step::Flap),
        (10..14u8).prop_map(Step::TakeAway),
        (10..14u8, any::<bool>()).prop_map(|(ip, ours)| Step::Appear(ip, ours)),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_nothing_foreign_goes_nothing_unwanted_stays_and_it_comes_to_rest(
        steps in proptest::collection::vec(step(), 1..40)
    ) {
        let mut world = World::new(&[]);
        for step in steps {
            let foreign: Vec<Assigned> = world.machine.addresses.iter().filter(|a| !a.ours).cloned().collect();
            match step {
                Step::Want(last) => {
                    let wanted: Vec<_> = last.iter().map(|b| wish(&format!("192.0.2.{b}/32"), None)).collect();
                    world.want(&wanted);
                }
                Step::Wait(ms) => world.wait(Duration::from_millis(ms.into())),
                Step::Hear(ip, true) => world.hear(LOWER, "0.0.0.0", &format!("192.0.2.{ip}")),
                Step::Hear(ip, false) => world.hear(HIGHER, &format!("192.0.2.{ip}"), "192.0.2.1"),
                Step::Flap => {
                    world.machine.links[0].up ^= true;
                    world.observe();
                }
                Step::TakeAway(ip) => {
                    let ip: IpAddr = [192, 0, 2, ip].into();
                    world.machine.addresses.retain(|a| a.address.ip != ip || !a.ours);
                    world.observe();
                }
                Step::Appear(ip, ours) => {
                    let ip: IpAddr = [192, 0, 2, ip].into();
                    if world.machine.places(ip).next().is_none() {
                        let address = InterfaceAddress { ip, prefix: if ours { 32 } else { 24 } };
                        let new = Assigned { link: 2, address, ours, tentative: false, duplicate: false };
                        world.machine.addresses.push(new);
                    }
                    world.observe();
                }
            }
            for place in foreign {
                prop_assert!(world.machine.addresses.contains(&place), "{place:?} is gone");
            }
        }
        world.want(&[]);
        world.wait(ACT_PATIENCE * 2);
        prop_assert!(!world.machine.addresses.iter().any(|a| a.ours));
        prop_assert_eq!(world.plan.wake_at(), None);
    }
}
