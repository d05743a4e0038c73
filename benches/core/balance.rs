//! Choosing a member: on a snapshot, as traffic does it.

use std::net::SocketAddr;
use std::sync::Arc;

use bascule::model::Model;
use bascule::model::balancing::{Extract, Method};
use bascule::model::id::{ServiceId, VserverId};
use bascule::model::service::{Protocol, Service};
use bascule::model::state::{ServiceState, ServiceView, StateView};
use bascule::model::time::Tick;
use bascule::model::vserver::{Member, Vserver};
use bascule::snapshot::Snapshot;
use bascule::snapshot::build::{Parts, build};
use bascule::snapshot::live::Registry;
use bascule::snapshot::pick::Ask;
use bascule::snapshot::zones::ZoneIndex;
use criterion::Criterion;

pub fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("balance");
    for members in [2_u32, 100] {
        for (name, weights) in [("equal", 1), ("mixed", 7)] {
            for method in Method::ALL {
                // One of each kind, and all of what is compared.
                if name == "equal" && !matches!(method, Method::RoundRobin | Method::LeastConnection) {
                    continue;
                }
                let snapshot = snapshot(method, members, weights);
                let mut n = 0_u32;
                let id = VserverId::from_index(0);
                group.bench_function(format!("{}, {members} members, {name} weights", method.word()), |b| {
                    b.iter(|| {
                        n = n.wrapping_add(1);
                        let client = SocketAddr::new(n.to_be_bytes().into(), 40_000);
                        let value = |_: &Extract| Some("/images/2026/11/30/front.jpg?size=large".to_owned());
                        snapshot.pick(
                            id,
                            &Ask {
                                client,
                                local: client,
                                value: &value,
                                out: &|_| None,
                                narrowed: false,
                                now: Tick::from_millis(u64::from(n)),
                                dry: false,
                            },
                        )
                    });
                });
            }
        }
    }
    group.finish();
}

/// All members UP, with some work open on each.
fn snapshot(method: Method, members: u32, weights: u32) -> Snapshot {
    let mut model = Model::empty();
    let mut vserver = Vserver::new("web", Protocol::Http);
    vserver.balancing.method = method;
    vserver.balancing.token = Some(Extract::Host);
    for i in 0..members {
        let address = SocketAddr::from(([10, 0, 0, 1], 1 + i as u16));
        model.services.push(Service::new(format!("web{i:04}"), Protocol::Http, address));
        let member = Member { weight: 1 + i % weights, ..Member::new(ServiceId::from_index(i as usize)) };
        vserver.members.push(member);
        vserver.services.push(member);
        vserver.balancing.proximity.push((format!("10.{i}.0.0/16").parse().expect("a network"), member.service));
    }
    model.vservers.push(vserver);
    let model = Arc::new(model);
    let up = ServiceView { state: ServiceState::Up, ..ServiceView::default() };
    let view = StateView { services: vec![up; members as usize], ..StateView::default() };
    let snapshot = build(Parts {
        generation: 1,
        model: &model,
        view: &view,
        registry: &mut Registry::default(),
        zones: &Arc::new(ZoneIndex::build(&model)),
        resolved: &Default::default(),
        previous: None,
        scenario_active: Vec::new(),
        ready: true,
    });
    for (i, entry) in (0_u32..).zip(&snapshot.services) {
        entry.live.active.store(1 + (i * 31) % 17, std::sync::atomic::Ordering::Relaxed);
        entry.live.first_byte.take(std::time::Duration::from_micros(500 + u64::from(i)));
        entry.live.set_load(Some(10 + i));
    }
    snapshot
}
