//! What several monitors of one service say together.

use crate::model::condition::Truth;

/// One monitor of a service: weight, state, TROFS answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorState {
    pub weight: u32,
    pub state: Truth,
    pub trofs: bool,
}

/// What the monitors say together. Threshold 0: all must be up; otherwise the weights of those that are up must reach
/// it. A TROFS answer counts as up. Unknown where the unknown ones could still decide. The second value: one that is up
/// asks for a drain. Without monitors: up under threshold 0.
pub fn aggregate(monitors: &[MonitorState], threshold: u32) -> (Truth, bool) {
    let trofs = monitors.iter().any(|monitor| monitor.trofs && monitor.state.is_true());
    if threshold == 0 {
        return (monitors.iter().fold(Truth::True, |all, monitor| all.and(monitor.state)), trofs);
    }
    let weights = |state: Truth| -> u64 {
        monitors.iter().filter(|monitor| monitor.state == state).map(|monitor| u64::from(monitor.weight)).sum()
    };
    let (up, unknown) = (weights(Truth::True), weights(Truth::Unknown));
    let probe = if up >= u64::from(threshold) {
        Truth::True
    } else if up + unknown < u64::from(threshold) {
        Truth::False
    } else {
        Truth::Unknown
    };
    (probe, trofs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monitor(weight: u32, state: Truth) -> MonitorState {
        MonitorState { weight, state, trofs: false }
    }

    #[test]
    fn without_a_threshold_every_monitor_must_be_up() {
        let (up, down, unknown) = (monitor(1, Truth::True), monitor(1, Truth::False), monitor(1, Truth::Unknown));
        assert_eq!(aggregate(&[up, up], 0), (Truth::True, false));
        assert_eq!(aggregate(&[up, down], 0), (Truth::False, false));
        assert_eq!(aggregate(&[up, unknown], 0), (Truth::Unknown, false));
        assert_eq!(aggregate(&[down, unknown], 0), (Truth::False, false));
    }

    #[test]
    fn with_a_threshold_the_weights_of_the_monitors_that_are_up_decide() {
        let heavy_down = [monitor(3, Truth::False), monitor(1, Truth::True), monitor(1, Truth::True)];
        assert_eq!(aggregate(&heavy_down, 2).0, Truth::True);
        assert_eq!(aggregate(&heavy_down, 3).0, Truth::False);
        let heavy_unknown = [monitor(3, Truth::Unknown), monitor(1, Truth::True), monitor(1, Truth::False)];
        assert_eq!(aggregate(&heavy_unknown, 1).0, Truth::True);
        assert_eq!(aggregate(&heavy_unknown, 4).0, Truth::Unknown);
        assert_eq!(aggregate(&heavy_unknown, 5).0, Truth::False, "it cannot be reached any more");
    }

    /// Every list of up to three monitors with weights 1 to 3, against every way the unknown ones can turn out.
    #[test]
    fn monitors_together_are_unknown_exactly_while_the_unknown_ones_can_decide() {
        let states = [Truth::False, Truth::Unknown, Truth::True];
        for length in 0..=3_u32 {
            for code in 0..9_usize.pow(length) {
                let digit = |i: u32| code / 9_usize.pow(i) % 9;
                let monitors: Vec<MonitorState> =
                    (0..length).map(|i| monitor(digit(i) as u32 % 3 + 1, states[digit(i) / 3])).collect();
                for threshold in 0..=10_u32 {
                    let outcomes: Vec<bool> = (0..1_u32 << length)
                        .map(|guess| {
                            let is_up = |i: usize| match monitors[i].state {
                                Truth::Unknown => guess >> i & 1 == 1,
                                known => known.is_true(),
                            };
                            let up: u32 = (0..monitors.len()).filter(|&i| is_up(i)).map(|i| monitors[i].weight).sum();
                            if threshold == 0 { (0..monitors.len()).all(is_up) } else { up >= threshold }
                        })
                        .collect();
                    let expected = match (outcomes.contains(&true), outcomes.contains(&false)) {
                        (true, true) => Truth::Unknown,
                        (up, _) => up.into(),
                    };
                    assert_eq!(aggregate(&monitors, threshold).0, expected, "{monitors:?} threshold {threshold}");
                }
            }
        }
    }

    #[test]
    fn a_trofs_answer_counts_as_up_for_the_threshold_and_asks_for_a_drain() {
        let trofs = MonitorState { trofs: true, ..monitor(2, Truth::True) };
        assert_eq!(aggregate(&[trofs, monitor(1, Truth::False)], 2), (Truth::True, true));
        assert_eq!(aggregate(&[trofs, monitor(1, Truth::True)], 0), (Truth::True, true));
        let lost = MonitorState { trofs: true, ..monitor(2, Truth::False) };
        assert_eq!(aggregate(&[lost, monitor(2, Truth::True)], 2), (Truth::True, false));
    }
}
