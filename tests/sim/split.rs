//! Shares of groups, moved while the appliance runs.

use bascule::model::event::{Act, AdminIntent, Change, Record};
use bascule::model::state::Slot;
use bascule::model::time::Wall;

use crate::rig::{Rig, secs};

const SHOP: &str = r#"
[service_group]
blue  = { type = "HTTP", member.one = { address = "127.0.0.1:1" } }
green = { type = "HTTP", member.one = { address = "127.0.0.1:2" } }
red   = { type = "HTTP", member.one = { address = "127.0.0.1:3" } }
[vserver.shop]
type   = "HTTP"
groups = ["blue", "green"]
split  = { blue = 95, green = 5 }
"#;

fn split(rig: &Rig) -> Option<Vec<u8>> {
    let id = rig.engine.model().vserver_id("shop").expect("a vserver");
    rig.engine.view().vservers[id.index()].split.as_ref().map(|split| split.to_vec())
}

fn set(rig: &mut Rig, shares: Option<[u8; 2]>, expires: Option<Wall>) {
    let vserver = rig.engine.model().vserver_id("shop").expect("a vserver");
    let shares = shares.map(|split| rig.engine.model().shares(vserver, &split));
    let act = Act { actor: "admin:nsroot".into(), reason: Some("canary".into()), expires };
    rig.step(bascule::machine::Input::Admin { act, intent: AdminIntent::SetSplit { vserver, shares } });
}

#[test]
fn a_split_is_moved_by_an_act_and_given_back_to_the_configuration() {
    let mut rig = Rig::new(SHOP);
    assert_eq!(split(&rig), None);
    let before = rig.engine.view().generation;
    set(&mut rig, Some([60, 40]), None);
    assert_eq!(split(&rig), Some(vec![60, 40]));
    assert!(rig.engine.view().generation > before, "traffic is told");
    let moved = |r: &Record| match r {
        Record::Act { act, change: Change::Split(Some(_)), .. } => Some(format!("{}: {r:?}", act.actor)),
        _ => None,
    };
    assert_eq!(rig.records().iter().filter_map(moved).count(), 1, "with its actor in the journal");
    set(&mut rig, None, None);
    assert_eq!((split(&rig), rig.engine.view().overrides.len()), (None, 0));
    set(&mut rig, Some([60, 40]), None);
    set(&mut rig, Some([95, 5]), None);
    assert_eq!((split(&rig), rig.engine.view().overrides.len()), (None, 0), "what is configured is no override");
}

#[test]
fn a_moved_split_outlives_a_kill_and_a_reload_and_ends_at_its_expiry() {
    let mut rig = Rig::new(SHOP);
    let end = rig.now.wall + secs(600);
    set(&mut rig, Some([60, 40]), Some(end));
    let mut rig = rig.kill_and_restart(SHOP, secs(60));
    assert_eq!(split(&rig), Some(vec![60, 40]));
    rig.reload(&SHOP.replace("blue = 95, green = 5", "blue = 90, green = 10"));
    assert_eq!(split(&rig), Some(vec![60, 40]), "what a person has set is state");
    // The order of the groups is the configuration's; the shares go by name.
    rig.reload(&SHOP.replace(r#"["blue", "green"]"#, r#"["green", "blue"]"#));
    assert_eq!(split(&rig), Some(vec![40, 60]));
    rig.wait(secs(540));
    assert_eq!((split(&rig), rig.engine.view().overrides.len()), (None, 0));
}

#[test]
fn a_moved_split_ends_where_the_configuration_binds_other_groups_or_has_no_split() {
    for other in [
        SHOP.replace(r#"["blue", "green"]"#, r#"["blue", "red"]"#).replace("green = 5", "red = 5"),
        SHOP.replace("split ", "#split "),
    ] {
        let mut rig = Rig::new(SHOP);
        set(&mut rig, Some([60, 40]), None);
        rig.records();
        rig.reload(&other);
        assert_eq!((split(&rig), rig.engine.view().overrides.len(), rig.saved.overrides.len()), (None, 0, 0));
        let ended = |r: &&Record| matches!(r, Record::Ended { what, .. } if **what == *Slot::Split.word());
        assert_eq!(rig.records().iter().filter(ended).count(), 1, "and the journal says so");
    }
}
