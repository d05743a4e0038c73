//! What runs, as one text that can be edited.

use crate::config::{Source, render};
use crate::model::Model;
use crate::model::zone::ZoneText;

/// What runs, as one text, and whether it was given so; what came in several is printed anew. `sources` are those that
/// `model` was loaded from, the root first.
pub fn running(sources: &[Source], model: &Model) -> (String, bool) {
    let folder = sources.first().map_or("", |root| &root.path[..root.path.rfind('/').map_or(0, |at| at + 1)]);
    let named = |path: &str| {
        let zone = |text: &Option<ZoneText>| matches!(text, Some(ZoneText::File { path: file, .. }) if **file == *path);
        let ends = model.peers.iter().filter_map(|peer| peer.tls.as_ref()).chain(&model.peer_link.tls);
        model.zones.iter().any(|z| zone(&z.text))
            || model.certificates.iter().any(|c| *c.chain.file == *path)
            || ends.flat_map(|tls| [&tls.certificate, &tls.ca]).any(|pem| *pem.file == *path)
    };
    // Paths in the model are relative to the root file, or whole as they were written.
    let is_named_text =
        |source: &Source| named(&source.path) || named(source.path.strip_prefix(folder).unwrap_or(&source.path));
    match sources.split_first() {
        Some((root, rest)) if rest.iter().all(is_named_text) => (root.text.to_string(), true),
        _ => (render::render(model), false),
    }
}
