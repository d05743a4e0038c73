mod authority;
mod edges;
mod laws;
mod oracle;
mod steering;
pub(in crate::dataplane::dns) mod world;
