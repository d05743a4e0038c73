//! Data-centre signals: quorums over access lists.

use crate::model::condition::Truth;

/// True with at least `quorum` targets up; false once that cannot be reached; unknown between.
pub fn quorum(targets: impl Iterator<Item = Truth>, quorum: u32) -> Truth {
    let (mut up, mut unknown) = (0_u32, 0_u32);
    for target in targets {
        match target {
            Truth::True => up += 1,
            Truth::Unknown => unknown += 1,
            Truth::False => {}
        }
    }
    if up >= quorum {
        Truth::True
    } else if up + unknown < quorum {
        Truth::False
    } else {
        Truth::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every list of up to five targets and every quorum: whatever the unknown ones turn out to be, a known answer
    /// stands, and an unknown one could go either way.
    #[test]
    fn a_quorum_is_unknown_exactly_while_the_unknown_targets_can_decide_it() {
        const VALUES: [Truth; 3] = [Truth::False, Truth::Unknown, Truth::True];
        for length in 0..=5_u32 {
            for code in 0..3_usize.pow(length) {
                let targets: Vec<Truth> = (0..length).map(|i| VALUES[code / 3_usize.pow(i) % 3]).collect();
                let with = |v: Truth| {
                    targets.iter().filter(|&&t| t == Truth::True || (t == Truth::Unknown && v == Truth::True)).count()
                };
                for wanted in 1..=length.max(1) {
                    let best = with(Truth::True) >= wanted as usize;
                    let worst = with(Truth::False) >= wanted as usize;
                    let expected = if best == worst { best.into() } else { Truth::Unknown };
                    assert_eq!(quorum(targets.iter().copied(), wanted), expected, "{targets:?} quorum {wanted}");
                }
            }
        }
    }
}
