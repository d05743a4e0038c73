mod authority;
mod edges;
mod laws;
mod steering;
pub(in crate::dataplane::dns) mod world;
