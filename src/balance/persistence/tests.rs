use proptest::prelude::*;

use super::*;

const TIMEOUT: Duration = Duration::from_secs(120);

fn at(seconds: u64) -> Tick {
    Tick::from_millis(seconds * 1000)
}

fn ip(n: u32) -> Key {
    Key::Client(IpAddr::V4(n.into()))
}

fn insert(table: &mut Table, client: u32, service: &str, now: u64) {
    table.insert(ip(client), service.into(), at(now), TIMEOUT, ENTRIES_MAX);
}

#[test]
fn an_entry_lives_as_long_as_its_client_comes_back_in_time() {
    let mut table = Table::default();
    insert(&mut table, 1, "web1", 0);
    assert_eq!(table.touch(&ip(1), at(100), TIMEOUT).as_deref(), Some("web1"));
    // 219 s after it was made, 119 s after it was last used.
    assert_eq!(table.touch(&ip(1), at(219), TIMEOUT).as_deref(), Some("web1"));
    assert_eq!(table.touch(&ip(1), at(339), TIMEOUT), None);
    assert!(table.is_empty());
}

#[test]
fn a_rewritten_entry_names_the_new_member() {
    let mut table = Table::default();
    insert(&mut table, 1, "web1", 0);
    insert(&mut table, 1, "web2", 1);
    assert_eq!(table.peek(&ip(1), at(2)).map(|n| &**n), Some("web2"));
    assert_eq!(table.len(), 1);
    assert!(table.remove(&ip(1)) && !table.remove(&ip(1)));
}

#[test]
fn a_full_table_makes_room_and_never_grows_beyond_its_bound() {
    let mut table = Table::default();
    for n in 0..1000 {
        table.insert(ip(n), "web1".into(), at(u64::from(n)), Duration::from_secs(10_000), 100);
        assert!(table.len() <= 100);
        assert!(table.peek(&ip(n), at(u64::from(n))).is_some(), "the newest entry is always there");
    }
}

#[test]
fn only_up_and_by_choice_trofs_are_honoured() {
    use ServiceState::{Down, OutOfService, Trofs, TrofsDown, Unknown, Up};
    assert!(honours(Up, true) && honours(Up, false));
    assert!(honours(Trofs, true) && !honours(Trofs, false));
    for state in [Down, OutOfService, TrofsDown, Unknown] {
        assert!(!honours(state, true) && !honours(state, false), "{state:?}");
    }
}

#[test]
fn a_client_is_known_by_what_its_kind_looks_at() {
    let (client, local) = ("192.0.2.77".parse().unwrap(), "198.51.100.9".parse().unwrap());
    let of = |kind, session| {
        let persistence = Persistence { prefix_v4: 24, ..Persistence::new(kind) };
        key(&persistence, client, local, session).map(|key| key.to_string())
    };
    assert_eq!(of(PersistenceKind::SourceIp, None).as_deref(), Some("192.0.2.0"));
    assert_eq!(of(PersistenceKind::DestIp, None).as_deref(), Some("198.51.100.0"));
    assert_eq!(of(PersistenceKind::SrcIpDestIp, None).as_deref(), Some("192.0.2.0 198.51.100.0"));
    assert_eq!(of(PersistenceKind::SslSession, Some(&[1, 0xab])).as_deref(), Some("01ab"));
    assert_eq!(of(PersistenceKind::SslSession, None), None);
    assert_eq!(of(PersistenceKind::SslSession, Some(&[])), None);
}

#[test]
fn no_client_decides_how_large_an_entry_is() {
    assert_eq!(Key::value(""), None);
    assert_eq!(Key::value("abc").unwrap().to_string(), "abc");
    let (long, other) = ("x".repeat(100_000), "x".repeat(100_001));
    assert!(Key::value(&long).unwrap().to_string().len() <= VALUE_MAX_BYTES);
    assert_ne!(Key::value(&long), Key::value(&other));
    let Key::Session(id) = Key::session(&[7; 1000]) else { panic!() };
    assert_eq!(id.len(), 32);
}

proptest! {
    #[test]
    fn the_index_always_finds_what_the_slots_hold(
        acts in prop::collection::vec((0u32..40, 0u64..300, 0u8..4), 0..200),
    ) {
        let mut table = Table::default();
        let mut now = 0;
        for (client, later, act) in acts {
            now += later;
            match act {
                0 => drop(table.touch(&ip(client), at(now), TIMEOUT)),
                1 => drop(table.remove(&ip(client))),
                _ => {
                    table.insert(ip(client), "s".into(), at(now), TIMEOUT, 16);
                    prop_assert!(table.peek(&ip(client), at(now)).is_some());
                }
            }
            prop_assert!(table.len() <= 16);
            prop_assert_eq!(table.index.len(), table.slots.len());
            for (i, slot) in table.slots.iter().enumerate() {
                prop_assert_eq!(table.index[&slot.client] as usize, i);
            }
        }
    }
}
