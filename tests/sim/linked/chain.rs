//! A chain of three sites, where each later one serves only while all before it are out.

use super::*;

/// Sites A, B, C in this order, seen by C's box, which hears the two others.
fn chain() -> Arc<Model> {
    let text = two_sites('b', &[("box-a", "dc-a"), ("box-b", "dc-b")], "");
    let text = text.replace("name = \"box-b\"\n        site = \"dc-b\"", "name = \"box-c\"\n        site = \"dc-c\"");
    let pairs = format!(
        "[datacenter.dc-c]\nwan = {}\nlan = {}\ninternet = {}\n\
         [datacenter_pair.second]\nactive = \"dc-b\"\nbackup = \"dc-c\"\nreturn_hold = \"60s\"\nloss_hold = \"20s\"\n\
         [datacenter_pair.last]\nactive = \"dc-a\"\nbackup = \"dc-c\"\nafter = [\"second\"]\nreturn_hold = \"60s\"\nloss_hold = \"20s\"\n\
         [zone.",
        list("203.0.113.8:443"),
        list("10.0.2.1:443"),
        list("203.0.113.3:53"),
    );
    let text = text.replacen("[zone.", &pairs, 1).replace(
        "drCond = \"main/to-backup\", cond = \"main/from-backup\" },",
        "drCond = \"main/to-backup\", cond = \"second/from-active\" },\n\
           { data = \"203.0.113.80\", drCond = \"last/to-backup\", cond = \"last/from-backup\" },",
    );
    // C's own eyes take A out: B's may be closed.
    let text = text.replace("cond = \"main/from-active\"", "cond = \"last/from-active\"");
    model(&text.replacen("records = [", "on_empty = \"other_set\"\nrecords = [", 1))
}

#[test]
fn the_third_of_a_chain_serves_only_while_both_before_it_are_out() {
    let model = chain();
    let mut random = Random(5);
    let mut world = World::start(&model, DEFAULT_START, false);
    settle(&mut world);
    let mut seen = HashSet::new();
    let (mut a, mut b) = (true, true);
    for _ in 0..120 {
        let (to_a, to_b) = (random.coin(), random.coin());
        let mut changes: Vec<Change> = Vec::new();
        for signal_name in ["dc:dc-a.wan", "dc:dc-a.lan"] {
            changes.push(Box::new(move |w| signal(w, signal_name, to_a)));
        }
        for signal_name in ["dc:dc-b.wan", "dc:dc-b.lan"] {
            changes.push(Box::new(move |w| signal(w, signal_name, to_b)));
        }
        for (site, up) in [("dc-a", to_a), ("dc-b", to_b)] {
            changes.push(Box::new(move |w| w.peer_silent(&Name::from(site), !up).expect("a peer")));
        }
        for (of, value) in [(Signal::Wan, to_a), (Signal::Lan, to_a)] {
            changes.push(Box::new(move |w| {
                says(w, "dc-b", "dc-a", of, value.into());
                w.peer_silent(&"dc-b".into(), !to_b).expect("a peer");
            }));
        }
        while !changes.is_empty() {
            let next = changes.swap_remove(random.below(changes.len() as u64) as usize);
            next(&mut world);
            world.advance(world.elapsed() + Duration::from_millis(random.below(2_000)));
        }
        settle(&mut world);
        settle(&mut world);
        let (records, _) = asked(&world);
        let expected = match (to_a, to_b) {
            (true, _) => "192.0.2.10",
            (false, true) => "198.51.100.10",
            (false, false) => "203.0.113.80",
        };
        assert_eq!(records, [expected], "A up {a}, B up {b} -> A up {to_a}, B up {to_b}");
        seen.insert((a, b, to_a, to_b));
        (a, b) = (to_a, to_b);
    }
    assert_eq!(seen.len(), 16);
}
