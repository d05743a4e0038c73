use super::*;

const SECOND: i64 = 1_000_000;

#[test]
fn serials_compare_by_rfc_1982() {
    assert!(is_newer(1, 0) && !is_newer(0, 1) && !is_newer(5, 5));
    assert!(is_newer(0, u32::MAX) && is_newer(5, u32::MAX - 5) && !is_newer(u32::MAX, 0));
    assert!(is_newer((1 << 31) - 1, 0) && !is_newer(1 << 31, 0));
}

#[test]
fn a_serial_grows_over_flips_and_restarts_whatever_the_clock_does() {
    let next = |configured, before, seconds| next_serial(configured, before, Wall((EPOCH + seconds) * SECOND));
    assert_eq!(next(7, None, 1000), 1007);
    assert_eq!(next(7, Some(1007), 2000), 2007);
    assert_eq!(next(7, Some(2007), 2000), 2008, "a second change in the same second");
    assert_eq!(next(7, Some(2008), 1500), 2009, "the clock was set back");
    assert_eq!(next(7, None, 3000), 3007, "after a restart");
    assert_eq!(next(u32::MAX, None, 3), 2, "it wraps");
    assert_eq!(next(7, None, -5), 7, "before the epoch");
}
