//! Real sockets on loopback, one module for each edge of the appliance.

#[path = "wire/dns.rs"]
mod dns;
#[path = "wire/probe.rs"]
mod probe;

#[path = "wire/l4.rs"]
mod l4;
#[path = "wire/l7.rs"]
mod l7;
#[path = "wire/world.rs"]
mod world;
