//! The names above a name, in wire form.

/// `name` and the names above it, longest first, from the one with `most` labels on.
pub(super) fn suffixes(name: &[u8], most: usize) -> impl Iterator<Item = &[u8]> {
    let mut count = 0;
    let mut at = 0;
    while let Some(&length) = name.get(at).filter(|l| **l != 0) {
        count += 1;
        at += 1 + usize::from(length);
    }
    let mut rest = Some(name);
    for _ in most..count {
        rest = rest.and_then(above);
    }
    std::iter::successors(rest, |name| above(name))
}

fn above(name: &[u8]) -> Option<&[u8]> {
    let length = usize::from(*name.first()?);
    if length == 0 { None } else { name.get(1 + length..) }
}
