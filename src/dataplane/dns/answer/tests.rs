mod alias;
mod authority;
mod edges;
mod geo;
mod laws;
mod oracle;
mod signed;
mod steering;
pub(in crate::dataplane::dns) mod world;
