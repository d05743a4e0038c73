//! Times and counts of the lock.

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn who(name: &str, from: &str) -> Who {
    Who::new(name, from.parse().unwrap(), [0; 32])
}

/// So many wrong passwords at once.
fn wrong(lockout: &mut Lockout, now: Instant, times: u32, name: &str, from: &str) -> Option<Locked> {
    (0..times).map(|_| lockout.wrong(now, &who(name, from))).last().flatten()
}

#[tokio::test(start_paused = true)]
async fn ten_wrong_passwords_close_the_door_for_one_name_from_one_network() {
    let (mut lockout, now) = (Lockout::default(), Instant::now());
    assert_eq!(wrong(&mut lockout, now, 9, "ops", "192.0.2.1"), None);
    let locked = lockout.wrong(now, &who("ops", "192.0.2.1")).unwrap();
    assert_eq!(locked.to_string(), "Locked for 5 min after 10 wrong passwords");
    let later = now + 48 * SECOND;
    let locked = lockout.check(later, &who("ops", "192.0.2.1")).unwrap_err();
    assert_eq!((locked.to_string(), locked.seconds()), ("Locked for 4 min 12 s after 10 wrong passwords".into(), 252));
    for (name, from) in [("ops", "192.0.2.2"), ("ops", "::1"), ("eve", "192.0.2.1")] {
        assert_eq!(lockout.check(later, &who(name, from)), Ok(()), "{name} {from}");
    }
    assert_eq!(lockout.check(now + LOCKED, &who("ops", "192.0.2.1")), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn every_further_wrong_password_locks_for_twice_as_long_up_to_an_hour() {
    let (mut lockout, mut now) = (Lockout::default(), Instant::now());
    wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
    for minutes in [5, 10, 20, 40, 60, 60] {
        let left = lockout.check(now, &who("ops", "192.0.2.1")).unwrap_err().left;
        assert_eq!(left, minutes * 60 * SECOND);
        now += left;
        assert_eq!(lockout.check(now, &who("ops", "192.0.2.1")), Ok(()), "one try each time");
        lockout.wrong(now, &who("ops", "192.0.2.1"));
    }
    now += REMEMBER;
    assert_eq!(lockout.wrong(now, &who("ops", "192.0.2.1")), None, "forgotten after a day of peace");
}

#[tokio::test(start_paused = true)]
async fn a_right_password_forgives_and_few_wrong_ones_are_forgotten() {
    let (mut lockout, now) = (Lockout::default(), Instant::now());
    wrong(&mut lockout, now, 9, "ops", "192.0.2.1");
    lockout.right(now, &who("ops", "192.0.2.1"));
    assert_eq!(wrong(&mut lockout, now, 9, "ops", "192.0.2.1"), None);
    wrong(&mut lockout, now, 9, "eve", "192.0.2.1");
    assert_eq!(wrong(&mut lockout, now + FORGET, 9, "eve", "192.0.2.1"), None);
}

#[tokio::test(start_paused = true)]
async fn a_network_of_ipv6_addresses_guesses_as_one() {
    let (mut lockout, now) = (Lockout::default(), Instant::now());
    for host in 1..=10 {
        lockout.wrong(now, &who("ops", &format!("2001:db8::{host}")));
    }
    assert!(lockout.check(now, &who("ops", "2001:db8::ffff")).is_err());
    assert!(lockout.check(now, &who("ops", "2001:db8:0:1::1")).is_ok());
    wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
    assert!(lockout.check(now, &who("ops", "::ffff:192.0.2.1")).is_err(), "mapped addresses are the same ones");
}

#[tokio::test(start_paused = true)]
async fn guessing_at_many_names_closes_a_network_but_for_who_is_known_there() {
    let (mut lockout, now) = (Lockout::default(), Instant::now());
    lockout.right(now, &who("ops", "192.0.2.1"));
    for name in 0..100 {
        lockout.wrong(now, &who(&format!("name{name}"), "192.0.2.1"));
    }
    assert!(lockout.check(now, &who("another", "192.0.2.1")).is_err());
    assert_eq!(lockout.check(now, &who("ops", "192.0.2.1")), Ok(()));
    assert_eq!(lockout.check(now, &who("another", "192.0.2.2")), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn tables_stay_bounded_and_a_lock_is_not_washed_out() {
    let (mut lockout, now) = (Lockout::default(), Instant::now());
    wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
    for host in 0..10_000_u32 {
        let name = "x".repeat(1_000) + &host.to_string();
        lockout.wrong(now + SECOND, &who(&name, &std::net::Ipv4Addr::from(host).to_string()));
    }
    assert!(lockout.pairs.tries.len() <= PAIRS_MAX && lockout.networks.tries.len() <= NETWORKS_MAX);
    assert!(lockout.pairs.tries.keys().all(|(name, _)| name.len() <= NAME_MAX));
    assert!(lockout.check(now + SECOND, &who("ops", "192.0.2.1")).is_err());
}

#[tokio::test(start_paused = true)]
async fn no_more_guesses_are_under_way_at_once_than_would_close_the_door() {
    let (mut lockout, now, ops) = (Lockout::default(), Instant::now(), who("ops", "192.0.2.1"));
    let begun = (0..80).filter(|_| lockout.begin(now, &ops).is_ok()).count();
    assert_eq!((begun, lockout.begin(now, &ops)), (10, Err(Held::UnderWay)));
    assert_eq!(lockout.begin(now, &who("eve", "192.0.2.1")), Ok(()), "another name");
    for _ in 0..10 {
        lockout.wrong(now, &ops);
        lockout.end(&ops);
    }
    let locked = Locked { left: LOCKED, wrong: 10 };
    assert_eq!(lockout.begin(now, &ops), Err(Held::Locked(locked)));
    let again = now + LOCKED;
    assert_eq!([lockout.begin(again, &ops), lockout.begin(again, &ops)], [Ok(()), Err(Held::UnderWay)]);
    lockout.end(&ops);
    lockout.end(&who("eve", "192.0.2.1"));
    assert!(lockout.pairs.under_way.is_empty() && lockout.networks.under_way.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_guess_in_flight_when_the_door_closed_does_not_keep_it_closed_for_longer() {
    let (mut lockout, now) = (Lockout::default(), Instant::now());
    let locked = wrong(&mut lockout, now, 80, "ops", "192.0.2.1").unwrap();
    assert_eq!((locked.left, locked.wrong), (LOCKED, 10));
}

#[tokio::test(start_paused = true)]
async fn another_password_of_the_same_name_and_a_lifted_lock_begin_anew() {
    let (mut lockout, now, ops) = (Lockout::default(), Instant::now(), who("ops", "192.0.2.1"));
    wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
    let changed = Who { stamp: [1; 32], ..ops.clone() };
    assert_eq!(lockout.check(now, &changed), Ok(()));
    wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
    wrong(&mut lockout, now, 10, "ops", "192.0.2.2");
    wrong(&mut lockout, now, 9, "ops", "192.0.2.3");
    assert_eq!((lockout.lift(now, "ops"), lockout.lift(now, "ops")), (2, 0));
    assert_eq!(lockout.check(now, &ops), Ok(()));
    assert_eq!(wrong(&mut lockout, now, 9, "ops", "192.0.2.1"), None);
}

#[tokio::test(start_paused = true)]
async fn one_account_of_a_guesser_forgives_nothing_but_its_own() {
    let (mut lockout, now) = (Lockout::default(), Instant::now());
    for name in 0..100 {
        lockout.wrong(now, &who(&format!("name{name}"), "192.0.2.1"));
        lockout.right(now, &who("own", "192.0.2.1"));
    }
    assert!(lockout.check(now, &who("another", "192.0.2.1")).is_err());
}

#[tokio::test(start_paused = true)]
async fn what_counts_is_told_by_name_and_what_is_forgotten_is_not() {
    let (mut lockout, now) = (Lockout::default(), Instant::now());
    lockout.right(now, &who("eve", "192.0.2.1"));
    wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
    wrong(&mut lockout, now, 2, "ops", "192.0.2.2");
    wrong(&mut lockout, now, 1, "eve", "192.0.2.1");
    let ops = Counted { name: "ops".into(), known: false, wrong: 12, locked: vec![LOCKED] };
    let eve = Counted { name: "eve".into(), known: true, wrong: 1, locked: Vec::new() };
    assert_eq!(lockout.counted(now), [eve.clone(), ops.clone()]);
    let later = now + FORGET;
    assert_eq!(lockout.counted(later), [eve, Counted { wrong: 10, locked: Vec::new(), ..ops }]);
    lockout.lift(later, "ops");
    lockout.right(later, &who("eve", "192.0.2.1"));
    assert_eq!(lockout.counted(later), []);
}
