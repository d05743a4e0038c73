//! The table of situations of a data-centre pair where boxes hear each other: at B, with and without a witness; at A,
//! which reads the same evidence with B's eyes; and at the end of a chain of three. Walks from every row to every other
//! change all signals of the row within the loss hold, in random order; after the holds the answer stands where the
//! table says.
//!
//! What a row does not speak of (whether A still sees B's WAN while the dispute is about A's) is drawn by lot.

use std::collections::{BTreeMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bascule::config::{self, Files, Source};
use bascule::model::Model;
use bascule::model::condition::{Signal, Truth};
use bascule::model::event::Record;
use bascule::model::id::Name;
use bascule::model::zone::{DnsName, RecordType};
use bascule::rehearse::script::{Act, DEFAULT_START, Sample, SampleKind, checks_of};
use bascule::rehearse::world::{Happening, World};

use Truth::Unknown as U;

#[path = "linked/chain.rs"]
mod chain;
#[path = "linked/table.rs"]
mod table;

use table::{A, Answer, B, DARK_IN_MAINTENANCE, Row, Site, TABLE, with_witness};

const RETURN_HOLD: Duration = Duration::from_secs(60);
const LOSS_HOLD: Duration = Duration::from_secs(20);

/// One certificate for every name of a file.
struct Pki;

fn pem() -> &'static (String, String) {
    static PEM: OnceLock<(String, String)> = OnceLock::new();
    PEM.get_or_init(|| {
        let key = rcgen::KeyPair::generate().expect("a key");
        let names = ["box-a", "box-b", "box-c"].map(str::to_owned).to_vec();
        let certificate = rcgen::CertificateParams::new(names).expect("names").self_signed(&key).expect("signed");
        (certificate.pem(), key.serialize_pem())
    })
}

impl Files for Pki {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let (certificate, key) = pem();
        Ok(if path.ends_with(".key") { key.clone() } else { certificate.clone() })
    }
}

fn model(toml: &str) -> Arc<Model> {
    let root = Source { path: "test.toml".into(), text: toml.into() };
    config::load(root, &[], &Pki)
        .unwrap_or_else(|problems| {
            panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        })
        .model
}

/// One target a list, and one sample decides: the walk itself says how far signals lie apart.
fn list(address: &str) -> String {
    format!("{{ targets = [\"tcp:{address}\"], interval = \"2s\", timeout = \"1s\", rise = 1, fall = 1 }}")
}

fn two_sites(here: char, peers: &[(&str, &str)], more: &str) -> String {
    let peers: String = peers
        .iter()
        .map(|(name, site)| format!("[peer.{name}]\nurl = \"https://192.0.2.99:9443\"\nsite = \"{site}\"\n"))
        .collect();
    format!(
        r#"
        [appliance]
        name = "box-{here}"
        site = "dc-{here}"
        [peer_link]
        certificate = "box.pem"
        key = "box.key"
        ca = "ca.pem"
        {peers}
        [datacenter.dc-a]
        wan = {}
        lan = {}
        internet = {}
        [datacenter.dc-b]
        wan = {}
        lan = {}
        internet = {}
        [datacenter_pair.main]
        active = "dc-a"
        backup = "dc-b"
        return_hold = "60s"
        loss_hold = "20s"
        {more}
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
        list("198.51.100.1:443"),
        list("10.0.1.1:443"),
        list("203.0.113.2:53"),
    )
}

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

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }
}

fn signal(world: &mut World, name: &str, up: bool) {
    let kind = if up { SampleKind::Pass } else { SampleKind::Fail };
    let model = world.model().clone();
    for check in checks_of(&model, name).expect("a signal") {
        world.set_manner(check, Sample { kind, latency: None }, None);
    }
}

fn says(world: &mut World, site: &str, datacenter: &str, signal: Signal, value: Truth) {
    world.peer_says(&site.into(), &datacenter.into(), signal, value).expect("a peer");
}

fn maintenance(world: &mut World, datacenter: &str, value: bool) {
    let name = format!("{datacenter}.maintenance").into();
    world.act(&Act::Switch { name, value }, None, None).expect("a switch");
}

/// The box whose world it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// At B: B's signals are its own, A's word is told.
    AtB { witness: bool },
    /// At A: its own word is its own, B's signals are told.
    AtA,
}

type Change = Box<dyn Fn(&mut World)>;

/// Takes the world from one row to another: every signal of it, in random order, within the loss hold.
fn change(world: &mut World, stands: Stands, from: &Row, to: &Row, random: &mut Random) {
    let mut changes: Vec<Change> = Vec::new();
    let to = *to;
    let seen = [("dc-b", Signal::Internet), ("dc-a", Signal::Wan), ("dc-a", Signal::Lan)];
    match stands {
        Stands::AtB { witness } => {
            for ((datacenter, of), value) in seen.into_iter().zip(to.seen) {
                changes.push(Box::new(move |w| signal(w, &format!("dc:{datacenter}.{}", of.word()), value)));
            }
            match to.word {
                None => changes.push(Box::new(|w| w.peer_silent(&"dc-a".into(), true).expect("a peer"))),
                Some(word) => {
                    let (b_wan, b_lan) = (word.b_wan.unwrap_or(random.coin()), word.b_lan.unwrap_or(random.coin()));
                    let told = [
                        ("dc-a", Signal::Internet, word.internet),
                        ("dc-b", Signal::Wan, b_wan),
                        ("dc-b", Signal::Lan, b_lan),
                    ];
                    for (datacenter, of, value) in told {
                        changes.push(Box::new(move |w| says(w, "dc-a", datacenter, of, value.into())));
                    }
                }
            }
            if witness {
                changes.push(Box::new(move |w| match to.witness {
                    U => w.peer_silent(&"dc-w".into(), true).expect("a peer"),
                    value => says(w, "dc-w", "dc-a", Signal::Wan, value),
                }));
            }
        }
        Stands::AtA => {
            let word = to.word.expect("A hears itself");
            let (b_wan, b_lan) = (word.b_wan.unwrap_or(random.coin()), word.b_lan.unwrap_or(random.coin()));
            for (name, value) in [("dc:dc-a.internet", word.internet), ("dc:dc-b.wan", b_wan), ("dc:dc-b.lan", b_lan)] {
                changes.push(Box::new(move |w| signal(w, name, value)));
            }
            for ((datacenter, of), value) in seen.into_iter().zip(to.seen) {
                changes.push(Box::new(move |w| says(w, "dc-b", datacenter, of, value.into())));
            }
        }
    }
    for (at, datacenter) in ["dc-a", "dc-b"].into_iter().enumerate() {
        if from.maintenance[at] != to.maintenance[at] {
            changes.push(Box::new(move |w| maintenance(w, datacenter, to.maintenance[at])));
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

fn asked(world: &World) -> (Vec<String>, bool) {
    let name = DnsName::parse("www.example.test.", &DnsName::root()).expect("a name");
    let reply = world.ask(&name, RecordType::A, IpAddr::V4(Ipv4Addr::LOCALHOST));
    (reply.records, world.snapshot().steered(0, 0).fallback.is_some())
}

fn answer(world: &World) -> Answer {
    let (records, alarm) = asked(world);
    let site = match records.as_slice() {
        [address] if address == "192.0.2.10" => Site::A,
        [address] if address == "198.51.100.10" => Site::B,
        other => panic!("{other:?}"),
    };
    (site, alarm)
}

/// The row of the dark site under maintenance is entered from and left to its two neighbours: a switch is an act of a
/// person, and no signal.
fn allowed(from: &Row, to: &Row) -> bool {
    let special = |row: &Row| row.name == DARK_IN_MAINTENANCE;
    let neighbour = |row: &Row| matches!(row.name, "A dark to B" | "B in maintenance");
    from.name != to.name && (!special(to) || neighbour(from)) && (!special(from) || neighbour(to))
}

/// `kinds`: how many walks there are, told apart by where they begin, where traffic is then, and where they lead.
fn walk(model: &Arc<Model>, stands: Stands, rows: &[Row], seed: u64, kinds: usize) {
    let mut random = Random(seed);
    let mut seen: HashSet<(usize, Site, usize)> = HashSet::new();
    let mut differences: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..12 {
        let mut world = World::start(model, DEFAULT_START, false);
        settle(&mut world);
        let mut at = 0;
        let mut traffic = answer(&world).0;
        for _ in 0..300 {
            let next = random.below(rows.len() as u64) as usize;
            if !allowed(&rows[at], &rows[next]) {
                continue;
            }
            change(&mut world, stands, &rows[at], &rows[next], &mut random);
            settle(&mut world);
            let expected = rows[next].expected[traffic as usize];
            let got = answer(&world);
            if got != expected {
                let text = format!(
                    "{} -> {}, traffic was on {traffic:?}: expected {expected:?}, got {got:?}",
                    rows[at].name, rows[next].name
                );
                *differences.entry(text).or_default() += 1;
            }
            let disputed = world.view().pairs[0].disputed;
            if disputed != (rows[next].name == "disputed") {
                let text = format!("{} -> {}: disputed is {disputed}", rows[at].name, rows[next].name);
                *differences.entry(text).or_default() += 1;
            }
            seen.insert((at, traffic, next));
            (at, traffic) = (next, got.0);
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(seen.len(), kinds, "not every kind of walk was walked");
}

#[test]
fn the_table_holds_at_the_backup_that_hears_the_active_site_after_every_walk_in_any_order_of_signals() {
    let model = model(&two_sites('b', &[("box-a", "dc-a")], ""));
    walk(&model, Stands::AtB { witness: false }, &TABLE, 7, 146);
}

#[test]
fn the_table_holds_with_a_witness_that_is_heard_or_not() {
    let model = model(&two_sites('b', &[("box-a", "dc-a"), ("box-w", "dc-w")], "witness = \"dc-w\""));
    walk(&model, Stands::AtB { witness: true }, &with_witness(), 11, 222);
}

#[test]
fn the_active_site_s_own_box_decides_by_the_same_evidence_as_the_backup() {
    let model = model(&two_sites('a', &[("box-b", "dc-b")], ""));
    let rows: Vec<Row> = TABLE.into_iter().filter(|row| row.word.is_some()).collect();
    walk(&model, Stands::AtA, &rows, 13, 88);
}

#[test]
fn silence_of_every_other_box_moves_nothing() {
    let model = model(&two_sites('b', &[("box-a", "dc-a"), ("box-w", "dc-w")], "witness = \"dc-w\""));
    for on_backup in [false, true] {
        let mut random = Random(3);
        let mut world = World::start(&model, DEFAULT_START, false);
        settle(&mut world);
        let rows = with_witness();
        let row = |name: &str| *rows.iter().find(|row| row.name == name).expect("a row");
        let (good, lost, disputed) = (row("all good"), row("A lost its WAN and says so"), row("disputed"));
        if on_backup {
            change(&mut world, Stands::AtB { witness: true }, &good, &lost, &mut random);
            settle(&mut world);
            change(&mut world, Stands::AtB { witness: true }, &lost, &disputed, &mut random);
            settle(&mut world);
        }
        let before = answer(&world);
        assert_eq!(before, if on_backup { B } else { A });
        for site in ["dc-a", "dc-w"] {
            world.peer_silent(&site.into(), true).expect("a peer");
        }
        settle(&mut world);
        assert_eq!(answer(&world), before);
        assert_eq!(world.engine().seen_from("dc-a", bascule::model::id::DatacenterId(0), Signal::Internet), U);
    }
}

#[test]
fn a_dispute_is_told_once_after_the_loss_hold_and_its_end_too() {
    let model = model(&two_sites('b', &[("box-a", "dc-a")], ""));
    let mut world = World::start(&model, DEFAULT_START, false);
    settle(&mut world);
    let told = |world: &World| -> Vec<String> {
        let of = |moment: &bascule::rehearse::world::Moment| match &moment.what {
            Happening::Record(Record::Warning { object, text }) => Some(format!("{object}: {text}")),
            Happening::Record(Record::Ended { object, what, .. }) => Some(format!("{object}: {what} ended")),
            _ => None,
        };
        world.history().iter().filter_map(of).collect()
    };
    signal(&mut world, "dc:dc-a.wan", false);
    let lost = world.elapsed();
    world.advance(lost + LOSS_HOLD - Duration::from_millis(1));
    assert_eq!(told(&world), [""; 0]);
    world.advance(lost + LOSS_HOLD);
    world.catch_up();
    let disputed =
        "datacenter_pair main: disputed: `dc-a` cannot be reached from here and says that it is well; nothing moves";
    assert_eq!(told(&world), [disputed]);
    settle(&mut world);
    assert_eq!((answer(&world), told(&world).len()), (A, 1));
    signal(&mut world, "dc:dc-a.wan", true);
    settle(&mut world);
    assert_eq!(told(&world)[1..], ["datacenter_pair main: disputed ended"]);
}
