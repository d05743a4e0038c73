//! Real sockets on loopback, one module for each edge of the appliance.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "peers of a test may block")]

#[path = "wire/clients.rs"]
mod clients;
#[path = "wire/dns.rs"]
mod dns;
#[path = "wire/dns_zones.rs"]
mod dns_zones;
#[path = "wire/probe.rs"]
mod probe;

#[path = "wire/endings.rs"]
mod endings;
#[path = "wire/figures.rs"]
mod figures;
#[path = "wire/knot.rs"]
mod knot;
#[path = "wire/l4.rs"]
mod l4;
#[path = "wire/l7.rs"]
mod l7;
#[path = "wire/limits.rs"]
mod limits;
#[path = "support/ports.rs"]
mod ports;
#[path = "wire/servers.rs"]
mod servers;
#[path = "wire/sql.rs"]
mod sql;
#[path = "wire/tls.rs"]
mod tls;
#[path = "support/tns.rs"]
mod tns;
#[path = "wire/udp.rs"]
mod udp;
#[path = "wire/whole.rs"]
mod whole;
#[path = "wire/world.rs"]
mod world;
