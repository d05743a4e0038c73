use proptest::prelude::*;

use super::*;

fn of(times: &[u64]) -> Histogram {
    let histogram = Histogram::default();
    times.iter().for_each(|&ns| histogram.record(Duration::from_nanos(ns)));
    histogram
}

/// From a microsecond to an hour, every order of magnitude as likely as the next.
fn times() -> impl Strategy<Value = u64> {
    (1_000_f64.ln()..3.6e12_f64.ln()).prop_map(|exponent| exponent.exp() as u64)
}

proptest! {
    #[test]
    fn any_quantile_is_at_most_two_percent_off(mut all in prop::collection::vec(times(), 1..400), share in 0.0..=1.0_f64) {
        let told = of(&all).counts().quantile(share).unwrap().as_nanos() as f64;
        all.sort_unstable();
        let rank = ((share * all.len() as f64).ceil() as usize).clamp(1, all.len());
        let truth = all[rank - 1] as f64;
        prop_assert!((told - truth).abs() <= 0.02 * truth, "told {told}, is {truth}");
    }

    #[test]
    fn two_histograms_merged_are_one_that_saw_both(a in prop::collection::vec(times(), 0..200), b in prop::collection::vec(times(), 0..200)) {
        let mut merged = of(&a).counts();
        merged.merge(&of(&b).counts());
        let both: Vec<u64> = a.iter().chain(&b).copied().collect();
        prop_assert_eq!(merged, of(&both).counts());
    }

    #[test]
    fn count_sum_and_maximum_are_exact(all in prop::collection::vec(times(), 1..200)) {
        let counts = of(&all).counts();
        prop_assert_eq!(counts.count, all.len() as u64);
        prop_assert_eq!(counts.sum, Duration::from_nanos(all.iter().sum()));
        prop_assert_eq!(counts.max, Duration::from_nanos(*all.iter().max().unwrap()));
        prop_assert_eq!(counts.at_most(Duration::from_secs(7200)), counts.count);
        prop_assert_eq!(counts.at_most(Duration::ZERO), 0);
    }
}

#[test]
fn what_is_out_of_range_is_counted_at_the_ends() {
    let counts = of(&[0, 1, u64::MAX / 4]).counts();
    assert_eq!(counts.count, 3);
    assert!(counts.quantile(0.5).unwrap() < Duration::from_micros(1));
    assert!(counts.quantile(1.0).unwrap() > Duration::from_secs(3600));
    assert_eq!(Histogram::default().counts().quantile(0.5), None);
}

#[test]
fn a_histogram_at_rest_is_small() {
    assert!(size_of::<Histogram>() <= 560, "{}", size_of::<Histogram>());
    assert!(OCTAVES * STEPS * size_of::<u64>() <= 8 * 1024 + 256);
}
