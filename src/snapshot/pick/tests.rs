mod ejected;
mod split;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::balance::passive::Outcome;
use crate::model::Model;
use crate::model::id::{GroupId, Name};
use crate::model::service::{GroupMember, Passive, Protocol, Service, ServiceGroup, ServiceSettings};
use crate::model::state::{ServiceState, ServiceView, StateView};
use crate::model::time::Now;
use crate::snapshot::build::{Parts, build};
use crate::snapshot::live::Registry;
use crate::snapshot::zones::ZoneIndex;

const WEB: VserverId = VserverId(0);

/// One vserver `web` and the states of its services, by name.
struct World {
    model: Model,
    states: HashMap<Name, (ServiceState, Tick)>,
    registry: Registry,
    previous: Option<Snapshot>,
}

impl World {
    fn new(members: &[(&str, u32, u32)]) -> World {
        let mut model = Model::empty();
        let mut vserver = Vserver::new("web", Protocol::Http);
        for (at, (name, weight, order)) in members.iter().enumerate() {
            model.services.push(Service::new(*name, Protocol::Http, format!("192.0.2.{at}:80").parse().unwrap()));
            vserver.members.push(Member { weight: *weight, order: *order, ..Member::new(ServiceId::from_index(at)) });
        }
        model.vservers.push(vserver);
        World { model, states: HashMap::new(), registry: Registry::default(), previous: None }
    }

    /// The members whose name begins with the group's.
    fn group(mut self, name: &str, share: u8) -> World {
        let at = u16::try_from(self.model.groups.len()).unwrap();
        let settings = ServiceSettings::new(Protocol::Http);
        let mut group = ServiceGroup { name: name.into(), settings, members: Vec::new(), auto_scale: None };
        let vserver = &mut self.model.vservers[0];
        for member in vserver.members.iter_mut() {
            let service = &mut self.model.services[member.service.index()];
            if service.name.starts_with(name) {
                member.group = Some(at);
                service.group = Some(GroupId::from_index(usize::from(at)));
                let (name, service) = (Name::clone(&service.name), member.service);
                group.members.push(GroupMember { name, service, weight: member.weight, order: 1 });
            }
        }
        vserver.groups.push(GroupId::from_index(usize::from(at)));
        vserver.balancing.split.push(share);
        self.model.groups.push(group);
        self
    }

    fn method(mut self, method: Method) -> World {
        self.model.vservers[0].balancing.method = method;
        self
    }

    fn with(mut self, edit: impl FnOnce(&mut Vserver)) -> World {
        edit(&mut self.model.vservers[0]);
        self
    }

    fn passive(mut self, max_ejected: u8) -> World {
        for service in &mut self.model.services {
            service.settings.passive = Some(Passive { connect_failures: 1, max_ejected, ..Passive::default() });
        }
        self
    }

    fn state(mut self, name: &str, state: ServiceState, since: Tick) -> World {
        self.states.insert(name.into(), (state, since));
        self
    }

    fn snapshot(&mut self) -> &Snapshot {
        let model = match &self.previous {
            Some(previous) if *previous.model == self.model => Arc::clone(&previous.model),
            _ => Arc::new(self.model.clone()),
        };
        let view = |service: &Service| {
            let (state, tick) = self.states.get(&service.name).copied().unwrap_or((ServiceState::Up, Tick::ZERO));
            let since = Now { tick, ..Now::default() };
            ServiceView { state, since, ..ServiceView::default() }
        };
        let view = StateView { services: model.services.iter().map(view).collect(), ..StateView::default() };
        let next = build(Parts {
            generation: 1,
            model: &model,
            view: &view,
            registry: &mut self.registry,
            zones: &Arc::new(ZoneIndex::build(&model)),
            resolved: &Default::default(),
            previous: self.previous.as_ref(),
            scenario_active: Vec::new(),
            ready: true,
        });
        self.previous.insert(next)
    }
}

fn nothing(_: &Extract) -> Option<String> {
    None
}

fn at(seconds: u64) -> Tick {
    Tick::from_millis(seconds * 1000)
}

fn from(client: &str) -> Ask<'static> {
    let client = client.parse().unwrap();
    let local = "198.51.100.1:80".parse().unwrap();
    Ask { client, local, value: &nothing, out: &|_| None, narrowed: false, now: at(1000), dry: false }
}

fn ask() -> Ask<'static> {
    from("192.0.2.200:4711")
}

fn picked(snapshot: &Snapshot, ask: &Ask<'_>) -> Option<Name> {
    let position = snapshot.pick(WEB, ask).picked()?.position;
    let service = snapshot.model.vserver(WEB).members[position as usize].service;
    Some(Name::clone(&snapshot.model.service(service).name))
}

fn shares(snapshot: &Snapshot, choices: u32, ask: &Ask<'_>) -> HashMap<Name, u32> {
    let mut shares = HashMap::new();
    for _ in 0..choices {
        *shares.entry(picked(snapshot, ask).unwrap()).or_default() += 1;
    }
    shares
}

fn share(shares: &HashMap<Name, u32>, name: &str) -> u32 {
    shares.get(name).copied().unwrap_or(0)
}

#[test]
fn round_robin_gives_exactly_the_weights() {
    let mut world = World::new(&[("a", 5, 1), ("b", 3, 1), ("c", 0, 1)]).method(Method::RoundRobin);
    let got = shares(world.snapshot(), 800, &ask());
    assert_eq!((share(&got, "a"), share(&got, "b"), share(&got, "c")), (500, 300, 0));
}

#[test]
fn the_turns_of_a_full_member_go_to_the_others_by_weight() {
    let mut world = World::new(&[("a", 1, 1), ("b", 3, 1), ("c", 1, 1), ("d", 1, 1)]).method(Method::RoundRobin);
    let full = |service: ServiceId| (service.index() == 0).then_some(Out::Full);
    let got = shares(world.snapshot(), 60_000, &Ask { out: &full, ..ask() });
    assert_eq!(share(&got, "a"), 0);
    for (name, weight) in [("b", 3), ("c", 1), ("d", 1)] {
        assert!(share(&got, name).abs_diff(12_000 * weight) < 500, "{name}: {}", share(&got, name));
    }
}

#[test]
fn new_clients_go_to_the_lowest_order_that_is_up() {
    let mut world = World::new(&[("a", 1, 1), ("b", 1, 1), ("c", 1, 2), ("d", 1, 7)]).method(Method::RoundRobin);
    assert_eq!(shares(world.snapshot(), 10, &ask()).len(), 2);
    let mut world = world.state("a", ServiceState::Down, at(1)).state("b", ServiceState::Trofs, at(1));
    assert_eq!(share(&shares(world.snapshot(), 10, &ask()), "c"), 10);
    let mut world = world.state("c", ServiceState::OutOfService, at(1));
    assert_eq!(share(&shares(world.snapshot(), 10, &ask()), "d"), 10);
    let mut world = world.state("b", ServiceState::Up, at(1));
    assert_eq!(share(&shares(world.snapshot(), 10, &ask()), "b"), 10);
}

#[test]
fn a_full_order_keeps_its_clients_waiting_and_one_that_cannot_be_reached_does_not() {
    let mut world = World::new(&[("a", 1, 1), ("b", 1, 1), ("c", 1, 2)]);
    let snapshot = world.snapshot();
    let out = |out| move |service: ServiceId| (service.index() < 2).then_some(out);
    assert_eq!(snapshot.pick(WEB, &Ask { out: &out(Out::Full), ..ask() }), Found::Full);
    assert_eq!(picked(snapshot, &Ask { out: &out(Out::Tried), ..ask() }).as_deref(), Some("c"));
    assert_eq!(picked(snapshot, &Ask { out: &out(Out::NotWanted), ..ask() }).as_deref(), Some("c"));
}

#[test]
fn a_key_that_loses_its_member_comes_back_to_it_and_no_other_key_moves() {
    let members = [("a", 1, 1), ("b", 2, 1), ("c", 3, 1), ("d", 1, 1)];
    let clients: Vec<String> = (0..2_000).map(|n| format!("10.1.{}.{}:9", n / 250, n % 250)).collect();
    let mut world = World::new(&members).method(Method::SourceIpHash);
    let of = |snapshot: &Snapshot| -> Vec<Name> {
        clients.iter().map(|client| picked(snapshot, &from(client)).unwrap()).collect()
    };
    let before = of(world.snapshot());
    let mut world = world.state("c", ServiceState::Down, at(1));
    let without = of(world.snapshot());
    for (was, is) in before.iter().zip(&without) {
        assert!(was == is || (&**was == "c" && &**is != "c"));
    }
    assert!(before.iter().collect::<HashSet<_>>().len() == 4);
    let mut world = world.state("c", ServiceState::Up, at(2));
    assert_eq!(of(world.snapshot()), before, "as if nothing had been");
    // Another place, another address, another name with the same hash id: the same keys.
    world.model.services[2].hash_id = Some(77);
    let before = of(world.snapshot());
    world.model.services[2].name = "renamed".into();
    world.model.services[2].port = 8080;
    let renamed = of(world.snapshot());
    let same = |(was, is): (&Name, &Name)| was == is || (&**was == "c" && &**is == "renamed");
    assert!(before.iter().zip(&renamed).all(same));
}

#[test]
fn every_hash_method_hashes_what_it_says() {
    let members: Vec<(String, u32, u32)> = (0..64).map(|n| (format!("m{n:02}"), 1, 1)).collect();
    let members: Vec<(&str, u32, u32)> = members.iter().map(|(n, w, o)| (&**n, *w, *o)).collect();
    let url = |extract: &Extract| match extract {
        Extract::Url => Some(format!("/{}{}", "x".repeat(79), "beyond")),
        Extract::Host => Some("WWW.example.test.:8080".to_owned()),
        Extract::Header(_) => Some("call-1".to_owned()),
        _ => None,
    };
    let other = |extract: &Extract| match extract {
        Extract::Url => Some(format!("/{}{}", "x".repeat(79), "cut off")),
        Extract::Host => Some("www.example.test".to_owned()),
        Extract::Header(_) => Some("call-1".to_owned()),
        _ => None,
    };
    let base = Ask { value: &url, ..from("10.0.0.1:1000") };
    let port = Ask { client: "10.0.0.1:1001".parse().unwrap(), ..base };
    let ip = Ask { client: "10.0.0.2:1000".parse().unwrap(), ..base };
    let local = Ask { local: "198.51.100.2:80".parse().unwrap(), ..base };
    let text = Ask { value: &other, ..base };
    // Which of them the method does not tell from the first.
    for (method, same) in [
        (Method::SourceIpHash, [true, false, true, true]),
        (Method::DestinationIpHash, [true, true, false, true]),
        (Method::SrcIpDestIpHash, [true, false, false, true]),
        (Method::SrcIpSrcPortHash, [false, false, true, true]),
        (Method::UrlHash, [true, true, true, true]),
        (Method::DomainHash, [true, true, true, true]),
        (Method::Token, [true, true, true, true]),
        (Method::CallIdHash, [true, true, true, true]),
    ] {
        let mut world =
            World::new(&members).method(method).with(|v| v.balancing.token = Some(Extract::Header("x-token".into())));
        let snapshot = world.snapshot();
        let first = picked(snapshot, &base);
        for (ask, same) in [port, ip, local, text].iter().zip(same) {
            assert_eq!(picked(snapshot, ask) == first, same, "{method:?}");
            let by = snapshot.pick(WEB, ask).picked().unwrap().method;
            assert_eq!(by, method);
        }
        let mut longer = world.with(|v| v.balancing.hash_length = 4096);
        let told_apart = picked(longer.snapshot(), &text) != first;
        assert_eq!(told_apart, method == Method::UrlHash, "{method:?}: only URLs differ beyond the 80th byte");
    }
}

#[test]
fn a_client_without_the_key_is_balanced_by_the_backup_method() {
    let mut world = World::new(&[("a", 1, 1), ("b", 1, 1)]).method(Method::UrlHash);
    let snapshot = world.snapshot();
    assert_eq!(snapshot.pick(WEB, &ask()).picked().unwrap().method, Method::RoundRobin);
    assert_eq!(shares(snapshot, 10, &ask()).len(), 2);
    let mut world = world.with(|v| v.balancing.backup_method = Method::SourceIpHash);
    let snapshot = world.snapshot();
    assert_eq!(snapshot.pick(WEB, &ask()).picked().unwrap().method, Method::SourceIpHash);
    assert_eq!(shares(snapshot, 10, &ask()).len(), 1);
    // Nobody has told a load: turns.
    let mut world =
        world.with(|v| (v.balancing.method, v.balancing.backup_method) = (Method::CustomLoad, Method::CustomLoad));
    let snapshot = world.snapshot();
    assert_eq!(snapshot.pick(WEB, &ask()).picked().unwrap().method, Method::RoundRobin);
    snapshot.services[0].live.set_load(Some(10));
    snapshot.services[1].live.set_load(Some(9));
    assert_eq!(share(&shares(snapshot, 10, &ask()), "b"), 10);
}

#[test]
fn the_least_methods_read_their_own_figure() {
    for method in [
        Method::LeastConnection,
        Method::LeastRequest,
        Method::LeastResponseTime,
        Method::LeastBandwidth,
        Method::LeastPackets,
        Method::CustomLoad,
    ] {
        let mut world = World::new(&[("a", 1, 1), ("b", 1, 1), ("c", 2, 1)]).method(method);
        let snapshot = world.snapshot();
        for service in &snapshot.services {
            service.live.bits_per_second(at(0));
            service.live.packets_per_second(at(0));
        }
        // Worse for a, better for b, and c at double weight with what a has: half of it counts.
        for (entry, burden) in snapshot.services.iter().zip([10_u32, 3, 10]) {
            let live = &entry.live;
            live.active.store(if method == Method::LeastResponseTime { 2 } else { burden }, Ordering::SeqCst);
            live.first_byte.take(Duration::from_millis(u64::from(burden)));
            for _ in 0..burden * 100 {
                live.count_out(1000);
            }
            live.set_load(Some(burden));
        }
        let ask = Ask { now: at(10), ..ask() };
        assert_eq!(share(&shares(snapshot, 8, &ask), "b"), 8, "{method:?}");
        let b = &snapshot.services[1].live;
        b.active.store(6, Ordering::SeqCst);
        b.first_byte.take(Duration::from_secs(1));
        (0..300).for_each(|_| b.count_in(1000));
        b.set_load(Some(6));
        assert_eq!(share(&shares(snapshot, 8, &ask), "c"), 8, "{method:?}");
    }
}

#[test]
fn a_member_that_came_up_is_given_a_growing_part_of_its_share() {
    let slow = |v: &mut Vserver| v.balancing.slow_start = Duration::from_secs(100);
    let mut world = World::new(&[("old", 1, 1), ("new", 1, 1)]).method(Method::RoundRobin).with(slow).state(
        "new",
        ServiceState::Up,
        at(1000),
    );
    let snapshot = world.snapshot();
    for (after, percent) in [(0, 10), (50, 50), (99, 99), (100, 100), (5000, 100)] {
        let got = shares(snapshot, 19_900, &Ask { now: at(1000 + after), ..ask() });
        let wanted = 19_900 * percent / (100 + percent);
        assert!(share(&got, "new").abs_diff(wanted) <= 200, "{} after {after} s, not {wanted}", share(&got, "new"));
    }
    // Work counts against what the member is to carry at the moment.
    let mut world = world.method(Method::LeastConnection);
    let snapshot = world.snapshot();
    snapshot.services[0].live.active.store(10, Ordering::SeqCst);
    snapshot.services[1].live.active.store(2, Ordering::SeqCst);
    let old = |now| picked(snapshot, &Ask { now, ..ask() }).as_deref() == Some("old");
    assert!(old(at(1010)) && !old(at(1050)));
}

#[test]
fn a_slow_start_moves_no_key() {
    let mut world = World::new(&[("a", 1, 1), ("b", 1, 1)]).method(Method::SourceIpHash);
    let clients: Vec<String> = (0..200).map(|n| format!("10.1.1.{n}:9")).collect();
    let of = |snapshot: &Snapshot| -> Vec<_> { clients.iter().map(|c| picked(snapshot, &from(c))).collect() };
    let before = of(world.snapshot());
    let mut world =
        world.with(|v| v.balancing.slow_start = Duration::from_secs(100)).state("b", ServiceState::Up, at(999));
    assert_eq!(of(world.snapshot()), before);
}

#[test]
fn the_nearest_member_takes_a_client_and_the_next_nearest_where_it_cannot() {
    let near = |net: &str, at| (net.parse().unwrap(), ServiceId::from_index(at));
    let mut world = World::new(&[("a", 1, 1), ("b", 1, 1), ("c", 1, 1)]).method(Method::StaticProximity).with(|v| {
        v.balancing.proximity = vec![near("10.0.0.0/8", 0), near("10.1.0.0/16", 1), near("2001:db8::/32", 2)];
    });
    let snapshot = world.snapshot();
    let of = |snapshot: &Snapshot, client: &str| share(&shares(snapshot, 4, &from(client)), "b");
    assert_eq!(of(snapshot, "10.1.2.3:9"), 4);
    assert_eq!(share(&shares(snapshot, 4, &from("10.2.2.3:9")), "a"), 4);
    assert_eq!(share(&shares(snapshot, 4, &from("[2001:db8::9]:9")), "c"), 4);
    assert_eq!(share(&shares(snapshot, 4, &from("[::ffff:10.2.2.3]:9")), "a"), 4);
    assert_eq!(shares(snapshot, 6, &from("172.16.0.1:9")).len(), 3, "nobody is near: the backup method");
    assert_eq!(snapshot.pick(WEB, &from("172.16.0.1:9")).picked().unwrap().method, Method::RoundRobin);
    assert_eq!(snapshot.pick(WEB, &from("10.1.2.3:9")).picked().unwrap().method, Method::StaticProximity);
    let mut world = world.state("b", ServiceState::Down, at(1));
    assert_eq!(share(&shares(world.snapshot(), 4, &from("10.1.2.3:9")), "a"), 4);
}
