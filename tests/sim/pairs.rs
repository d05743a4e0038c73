//! The four scenarios of a data-centre pair, held to the table of situations: walks from every row to every other change
//! all signals of the row within the loss hold, in random order, and after the holds the answer stands where the table
//! says.
//!
//! Without a peer link A's own word is not heard: A's Internet is its WAN as seen from here. So the table has two
//! changes against the one with a peer link: what would be *disputed* (A says that it is well) moves traffic to B, and
//! "B lost Internet and WAN path" keeps traffic on B, with an alarm. The row "A dark while B in maintenance" is entered
//! from and left to "A dark" and "B in maintenance" only, since a switch is an act of a person and not a signal.

use std::collections::{BTreeMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bascule::model::zone::{DnsName, RecordType};
use bascule::rehearse::script::{Act, DEFAULT_START, Sample, SampleKind, checks_of};
use bascule::rehearse::world::World;

use crate::rig;

const RETURN_HOLD: Duration = Duration::from_secs(60);
const LOSS_HOLD: Duration = Duration::from_secs(20);

/// One target a list, and one sample decides: the walk itself says how far signals lie apart.
fn config(extra: &str) -> String {
    let list = |address: &str| {
        format!("{{ targets = [\"tcp:{address}\"], interval = \"2s\", timeout = \"1s\", rise = 1, fall = 1 }}")
    };
    format!(
        r#"
        [appliance]
        name = "b"
        site = "dc-b"
        [datacenter.dc-a]
        wan = {}
        lan = {}
        [datacenter.dc-b]
        internet = {}
        [datacenter_pair.main]
        active = "dc-a"
        backup = "dc-b"
        return_hold = "60s"
        loss_hold = "20s"
        {extra}
        [zone."example.test"]
        soa = {{ mname = "ns1.example.test.", rname = "hostmaster.example.test." }}
        static = "@ NS ns1.example.test.\n"
        [zone."example.test".rrset."www A"]
        records = [
          {{ data = "192.0.2.10", cond = "main/from-active" }},
          {{ data = "198.51.100.10", drCond = "main/to-backup", cond = "main/from-backup" }},
        ]
        "#,
        list("192.0.2.1:443"),
        list("10.0.0.1:443"),
        list("203.0.113.1:53"),
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Site {
    A,
    B,
}

/// Where traffic is, and whether only because `on_empty` must answer something.
type Answer = (Site, bool);

struct Row {
    name: &'static str,
    internet: bool,
    wan: bool,
    lan: bool,
    a_maintenance: bool,
    b_maintenance: bool,
    /// By where traffic was.
    expected: [Answer; 2],
}

const A: Answer = (Site::A, false);
const B: Answer = (Site::B, false);
const A_ALARM: Answer = (Site::A, true);
const B_ALARM: Answer = (Site::B, true);

const fn row(name: &'static str, signals: [bool; 3], maintenance: [bool; 2], expected: [Answer; 2]) -> Row {
    let ([internet, wan, lan], [a_maintenance, b_maintenance]) = (signals, maintenance);
    Row { name, internet, wan, lan, a_maintenance, b_maintenance, expected }
}

/// Signals: B.internet, A.wan, A.lan. Maintenance: of A, of B. Expected: traffic was on A, on B.
const TABLE: [Row; 11] = [
    row("all good", [true, true, true], [false, false], [A, A]),
    row("replication link down", [true, true, false], [false, false], [A, B]),
    row("A's WAN gone, seen from B", [true, false, true], [false, false], [B, B]),
    row("A dark to B", [true, false, false], [false, false], [B, B]),
    row("B lost the Internet, sees A", [false, true, true], [false, false], [A, A]),
    row("B lost Internet and LAN, WAN path fine", [false, true, false], [false, false], [A, A]),
    row("B lost Internet and WAN path, LAN fine", [false, false, true], [false, false], [A, B_ALARM]),
    row("B isolated", [false, false, false], [false, false], [A, B_ALARM]),
    row("A in maintenance", [true, true, true], [true, false], [B, B]),
    row("B in maintenance", [true, true, true], [false, true], [A, A]),
    row(DARK_IN_MAINTENANCE, [true, false, false], [false, true], [A_ALARM, B_ALARM]),
];

const DARK_IN_MAINTENANCE: &str = "A dark while B in maintenance";

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

fn signal(world: &mut World, name: &str, up: bool) {
    let kind = if up { SampleKind::Pass } else { SampleKind::Fail };
    let model = world.model().clone();
    for check in checks_of(&model, name).expect("a signal") {
        world.set_manner(check, Sample { kind, latency: None }, None);
    }
}

fn maintenance(world: &mut World, datacenter: &str, value: bool) {
    let name = format!("{datacenter}.maintenance").into();
    world.act(&Act::Switch { name, value }, None, None).expect("a switch");
}

/// One signal or switch, changed.
type Change = Box<dyn Fn(&mut World)>;

/// Takes the world from one row to another: every signal that differs, in random order, within the loss hold.
fn change(world: &mut World, from: &Row, to: &Row, random: &mut Random) {
    let mut changes: Vec<Change> = Vec::new();
    for (name, before, after) in [
        ("dc:dc-b.internet", from.internet, to.internet),
        ("dc:dc-a.wan", from.wan, to.wan),
        ("dc:dc-a.lan", from.lan, to.lan),
    ] {
        if before != after {
            changes.push(Box::new(move |world| signal(world, name, after)));
        }
    }
    for (name, before, after) in
        [("dc-a", from.a_maintenance, to.a_maintenance), ("dc-b", from.b_maintenance, to.b_maintenance)]
    {
        if before != after {
            changes.push(Box::new(move |world| maintenance(world, name, after)));
        }
    }
    let mut moments: Vec<u64> = changes.iter().map(|_| random.below(LOSS_HOLD.as_millis() as u64)).collect();
    moments.sort_unstable();
    let began = world.elapsed();
    for moment in moments {
        let next = changes.swap_remove(random.below(changes.len() as u64) as usize);
        world.advance(began + Duration::from_millis(moment));
        next(world);
    }
}

/// Lets every hold run out, one after the other.
fn settle(world: &mut World) {
    world.advance(world.elapsed() + 2 * RETURN_HOLD + 3 * LOSS_HOLD);
    world.catch_up();
}

fn answer(world: &World) -> Answer {
    let name = DnsName::parse("www.example.test.", &DnsName::root()).expect("a name");
    let reply = world.ask(&name, RecordType::A, IpAddr::V4(Ipv4Addr::LOCALHOST));
    let site = match reply.records.as_slice() {
        [address] if address == "192.0.2.10" => Site::A,
        [address] if address == "198.51.100.10" => Site::B,
        other => panic!("{other:?}"),
    };
    (site, world.snapshot().steered(0, 0).fallback.is_some())
}

/// `None`: this walk is no walk of the table.
fn allowed(from: &Row, to: &Row) -> bool {
    let special = |row: &Row| row.name == DARK_IN_MAINTENANCE;
    let neighbour = |row: &Row| matches!(row.name, "A dark to B" | "B in maintenance");
    from.name != to.name && (!special(to) || neighbour(from)) && (!special(from) || neighbour(to))
}

#[test]
fn the_table_holds_after_every_walk_from_any_row_to_any_other_in_any_order_of_signals() {
    let model = rig::model(&config(""));
    let mut random = Random(7);
    let mut seen: HashSet<(usize, Site, usize)> = HashSet::new();
    let mut differences: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..16 {
        let mut world = World::start(&model, DEFAULT_START, false);
        settle(&mut world);
        let mut at = 0;
        let mut traffic = answer(&world).0;
        for _ in 0..300 {
            let next = random.below(TABLE.len() as u64) as usize;
            if !allowed(&TABLE[at], &TABLE[next]) {
                continue;
            }
            change(&mut world, &TABLE[at], &TABLE[next], &mut random);
            settle(&mut world);
            let expected = TABLE[next].expected[traffic as usize];
            let got = answer(&world);
            if got != expected {
                let text = format!(
                    "{} -> {}, traffic was on {traffic:?}: expected {expected:?}, got {got:?}",
                    TABLE[at].name, TABLE[next].name
                );
                *differences.entry(text).or_default() += 1;
            }
            seen.insert((at, traffic, next));
            (at, traffic) = (next, got.0);
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    // 13 places among the ten rows that lead anywhere, nine ways out of each; two ways into the eleventh row, and two out
    // of it for either site that traffic can be on there.
    assert_eq!(seen.len(), 13 * 9 + 2 + 4, "not every kind of walk was walked");
}

#[test]
fn a_witness_that_cannot_be_heard_keeps_traffic_where_it_is() {
    let mut random = Random(1);
    let mut world = World::start(&rig::model(&config("witness = \"dc-w\"")), DEFAULT_START, false);
    settle(&mut world);
    let dark = TABLE.iter().find(|row| row.name == "A dark to B").expect("a row");
    change(&mut world, &TABLE[0], dark, &mut random);
    settle(&mut world);
    assert_eq!(answer(&world), A, "nobody agrees that A is gone");
}

#[test]
fn traffic_leaves_after_the_loss_hold_and_returns_after_the_return_hold() {
    let mut world = World::start(&rig::model(&config("")), DEFAULT_START, false);
    settle(&mut world);
    signal(&mut world, "dc:dc-a.wan", false);
    let lost = world.elapsed();
    world.advance(lost + LOSS_HOLD - Duration::from_millis(1));
    assert_eq!(answer(&world), A);
    world.advance(lost + LOSS_HOLD);
    world.catch_up();
    assert_eq!(answer(&world), B);
    signal(&mut world, "dc:dc-a.wan", true);
    let back = world.elapsed();
    world.advance(back + RETURN_HOLD - Duration::from_millis(1));
    assert_eq!(answer(&world), B);
    world.advance(back + RETURN_HOLD);
    world.catch_up();
    assert_eq!(answer(&world), A);
}
