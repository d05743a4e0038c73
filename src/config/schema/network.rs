//! Keys of `[network]` and `[time]`.

use super::{Kind, NAMES, Schema, Words, key, required, schema, words};
use crate::model::network::{Dhcp, Manager};

pub(super) static NETWORK: Schema = schema(&[
    key("vips", Kind::Bool),
    key("manager", Kind::Word(&MANAGERS)),
    key("source_addresses", NAMES),
    key("name_servers", Kind::List(&Kind::Ip)),
    key("routes", Kind::List(&Kind::Table(&ROUTE))),
    key("interface", Kind::Map(&Kind::Table(&INTERFACE))),
]);
/// `[time]`
pub(super) static TIME: Schema = schema(&[key("servers", Kind::List(&Kind::Host))]);
static MANAGERS: Words = words(&Manager::WORDS);
static INTERFACE: Schema = schema(&[
    key("addresses", NAMES),
    key("dhcp", Kind::Word(&DHCP)),
    key("accept_ra", Kind::Bool),
    key("vlan", Kind::Table(&VLAN)),
]);
static DHCP: Words = words(&Dhcp::WORDS);
static VLAN: Schema = schema(&[required("id", Kind::Int(1, 4094)), key("on", Kind::Name)]);
static ROUTE: Schema = schema(&[
    required("to", Kind::Network),
    required("via", Kind::Ip),
    key("interface", Kind::Name),
    key("metric", Kind::Int(0, 4_294_967_295)),
]);
