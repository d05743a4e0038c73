use super::*;
use crate::model::service::{Protocol, Service};
use crate::model::state::{ServiceView, VserverView};
use crate::model::vserver::Member;

/// `s1`, `s2` and, where named, `s3` (with a server that is a name), all bound to `web`.
fn model(services: &[&str]) -> Arc<Model> {
    let mut model = Model::empty();
    let mut web = Vserver::new("web", Protocol::Http);
    for (i, name) in services.iter().enumerate() {
        let mut service = Service::new(*name, Protocol::Http, "192.0.2.1:80".parse().unwrap());
        if *name == "s3" {
            service.host = Host::Name("app3.test".into());
        }
        web.members.push(Member::new(ServiceId::from_index(i)));
        model.services.push(service);
    }
    model.vservers.push(web);
    Arc::new(model)
}

struct World {
    registry: Registry,
    generation: u64,
}

impl World {
    fn next(
        &mut self,
        model: &Arc<Model>,
        states: &[ServiceState],
        web: VserverState,
        previous: Option<&Snapshot>,
    ) -> Snapshot {
        self.generation += 1;
        let view = StateView {
            services: states.iter().map(|&state| ServiceView { state, ..ServiceView::default() }).collect(),
            vservers: vec![VserverView { state: web, ..VserverView::default() }],
            ..StateView::default()
        };
        build(Parts {
            generation: self.generation,
            model,
            view: &view,
            registry: &mut self.registry,
            zones: &Arc::default(),
            resolved: &Default::default(),
            previous,
            scenario_active: vec![],
            ready: true,
        })
    }
}

use ServiceState::{Down, OutOfService, Trofs, TrofsDown, Unknown, Up};

#[test]
fn what_goes_down_or_out_is_flushed_and_what_drains_is_not() {
    let cases = [
        (Up, Down, true),
        (Up, OutOfService, true),
        (Up, Trofs, false),
        (Up, Unknown, false),
        (Trofs, TrofsDown, true),
        (Trofs, OutOfService, true),
        (TrofsDown, OutOfService, true),
        (Down, Down, false),
        (Down, Up, false),
        (OutOfService, Up, false),
    ];
    for (before, after, flushed) in cases {
        let (mut world, model) = (World { registry: Registry::default(), generation: 0 }, model(&["s1", "s2"]));
        let first = world.next(&model, &[Up, before], VserverState::Up, None);
        let second = world.next(&model, &[Up, after], VserverState::Up, Some(&first));
        let expected = if flushed { vec![ServiceId(1)] } else { vec![] };
        assert_eq!(to_flush(&first, &second), expected, "{before:?} to {after:?}");
        assert!(vservers_to_flush(&first, &second).is_empty());
        flush(&first, &second);
        assert_eq!(second.services[1].live.flush.borrow().generation, u64::from(flushed));
    }
}

#[test]
fn a_flag_that_is_off_flushes_nothing() {
    let mut world = World { registry: Registry::default(), generation: 0 };
    let mut edited = (*model(&["s1"])).clone();
    edited.services[0].settings.down_state_flush = false;
    edited.vservers[0].down_state_flush = false;
    let model = Arc::new(edited);
    let first = world.next(&model, &[Up], VserverState::Up, None);
    let second = world.next(&model, &[Down], VserverState::Down, Some(&first));
    assert!(to_flush(&first, &second).is_empty() && vservers_to_flush(&first, &second).is_empty());
}

#[test]
fn a_vserver_that_goes_down_and_a_service_that_is_removed_are_flushed() {
    let mut world = World { registry: Registry::default(), generation: 0 };
    let (two, one) = (model(&["s1", "s2"]), model(&["s1"]));
    let first = world.next(&two, &[Up, Up], VserverState::Up, None);
    let second = world.next(&one, &[Up], VserverState::Down, Some(&first));
    assert_eq!(to_flush(&first, &second), []);
    assert_eq!(vservers_to_flush(&first, &second), [VserverId(0)]);
    flush(&first, &second);
    assert_eq!(first.services[0].live.flush.borrow().generation, 0);
    assert_eq!(first.services[1].live.flush.borrow().generation, 1);
    assert_eq!(second.vservers[0].live.flush.borrow().generation, 1);
}

#[test]
fn only_members_that_are_up_and_have_an_address_get_new_clients() {
    let mut world = World { registry: Registry::default(), generation: 0 };
    let model = model(&["s1", "s2", "s3"]);
    let snapshot = world.next(&model, &[Up, Trofs, Up], VserverState::Up, None);
    assert_eq!(&*snapshot.vservers[0].up, [0]);
    assert_eq!(snapshot.services[2].address, None);
    // A view that is behind the model counts as unknown.
    let early = world.next(&model, &[], VserverState::Up, Some(&snapshot));
    assert_eq!(early.services[0].state, Unknown);
    assert!(Arc::ptr_eq(&early.routing, &snapshot.routing));
    assert!(Arc::ptr_eq(&early.services[0].live, &snapshot.services[0].live));
}
