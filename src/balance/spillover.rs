//! Whether new clients go to the backup although the vserver is UP (NetScaler facts §1.9). Spillover by health is the
//! engine's, because it is a matter of states; the others are a matter of the moment.

use crate::model::condition::Truth;
use crate::model::limit::SpilloverMethod;

/// How a vserver stands at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// What its own members have to do for it: open connections, or requests in flight (HTTP).
    pub serving: u32,
    /// The sum of `max_client` of its members that are UP.
    pub places: u64,
    /// Of both directions together.
    pub bits_per_s: u64,
    /// The value of the condition of [`SpilloverMethod::Condition`]; unknown is not true.
    pub condition: Truth,
}

/// Whether one more client goes to the backup.
pub fn spills(method: &SpilloverMethod, load: &Load) -> bool {
    match method {
        SpilloverMethod::Health { .. } => false,
        SpilloverMethod::Connection { threshold } => load.serving >= *threshold,
        SpilloverMethod::DynamicConnection => u64::from(load.serving) >= load.places,
        SpilloverMethod::Bandwidth { threshold } => load.bits_per_s > *threshold,
        SpilloverMethod::Condition { .. } => load.condition.is_true(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::condition::Condition;

    const IDLE: Load = Load { serving: 0, places: 10, bits_per_s: 0, condition: Truth::Unknown };

    #[test]
    fn connections_spill_from_the_threshold_on() {
        let method = SpilloverMethod::Connection { threshold: 2 };
        assert!(!spills(&method, &Load { serving: 1, ..IDLE }));
        assert!(spills(&method, &Load { serving: 2, ..IDLE }));
    }

    #[test]
    fn the_dynamic_threshold_is_what_the_members_take() {
        let method = SpilloverMethod::DynamicConnection;
        assert!(!spills(&method, &Load { serving: 9, ..IDLE }));
        assert!(spills(&method, &Load { serving: 10, ..IDLE }));
        assert!(!spills(&method, &Load { serving: 10, places: 20, ..IDLE }));
    }

    #[test]
    fn bandwidth_spills_above_the_threshold() {
        let method = SpilloverMethod::Bandwidth { threshold: 1000 };
        assert!(!spills(&method, &Load { bits_per_s: 1000, ..IDLE }));
        assert!(spills(&method, &Load { bits_per_s: 1001, ..IDLE }));
    }

    #[test]
    fn a_condition_spills_only_while_it_is_true() {
        let method = SpilloverMethod::Condition { when: Condition { groups: Vec::new() }, watched: Vec::new() };
        for (condition, expected) in [(Truth::True, true), (Truth::False, false), (Truth::Unknown, false)] {
            assert_eq!(spills(&method, &Load { condition, ..IDLE }), expected);
        }
    }

    #[test]
    fn health_is_the_engines() {
        let busy = Load { serving: u32::MAX, places: 0, bits_per_s: u64::MAX, condition: Truth::True };
        assert!(!spills(&SpilloverMethod::Health { threshold: 100 }, &busy));
    }
}
