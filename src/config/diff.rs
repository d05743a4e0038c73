//! What differs between two models, by name.

use crate::model::Model;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// `vserver web`
    pub object: String,
    pub kind: DifferenceKind,
    /// `backup: none → web-spare`
    pub details: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    Added,
    Removed,
    Changed,
}

pub fn diff(old: &Model, new: &Model) -> Vec<Difference> {
    let _ = (old, new);
    todo!()
}
