//! Data-centre signals: quorums over access lists.

use crate::model::condition::Truth;

/// True with at least `quorum` targets up; false once that cannot be reached; unknown between.
pub fn quorum(targets: impl Iterator<Item = Truth>, quorum: u32) -> Truth {
    let _ = (targets.count(), quorum);
    todo!()
}
