//! The rows of the tables.

mod lb;
mod monitor;
mod other;
mod policy;
mod service;
mod ssl;

use super::resource::{Attribute, Form, Joint, Kind, Place, Resource};

pub(super) static RESOURCES: &[&Resource] = &[
    &service::SERVER,
    &service::SERVICE,
    &service::SERVICE_GROUP,
    &service::MEMBER,
    &service::SERVICE_MONITOR,
    &service::GROUP_MONITOR,
    &monitor::MONITOR,
    &lb::LB_VSERVER,
    &lb::LB_VSERVER_SERVICE,
    &lb::LB_VSERVER_GROUP,
    &lb::CS_VSERVER,
    &lb::CS_DEFAULT,
    &lb::LB_GROUP,
    &lb::LB_GROUP_VSERVER,
    &ssl::CERT_KEY,
    &ssl::SSL_VSERVER,
    &ssl::SSL_VSERVER_CERT,
    &ssl::SSL_SERVICE,
    &ssl::SSL_SERVICE_GROUP,
    &policy::PATTERN_SET,
    &policy::PATTERN,
    &policy::EXPRESSION,
    &policy::CS_ACTION,
    &policy::CS_POLICY,
    &policy::RESPONDER_ACTION,
    &policy::RESPONDER_POLICY,
    &policy::REWRITE_ACTION,
    &policy::REWRITE_POLICY,
    &policy::CS_VSERVER_CS_POLICY,
    &policy::CS_VSERVER_RESPONDER,
    &policy::CS_VSERVER_REWRITE,
    &policy::LB_VSERVER_RESPONDER,
    &policy::LB_VSERVER_REWRITE,
    &other::FEATURE,
    &other::HOST_NAME,
    &other::LB_PARAMETER,
    &other::CONFIG,
];

/// Taken in whatever case and shape, and nothing here follows from it.
const OFF: &[&str] = &["OFF"];
const NO: &[&str] = &["NO"];
const DISABLED: &[&str] = &["DISABLED"];
const ZERO: &[&str] = &["0"];

const fn row(nitro: &'static str, cli: &'static str, kind: Kind, place: Place, default: &'static str) -> Attribute {
    Attribute { nitro, cli, kind, place, default }
}

const fn name(nitro: &'static str, cli: &'static str) -> Attribute {
    row(nitro, cli, Kind::Text, Place::Name, "")
}

const fn other(nitro: &'static str, cli: &'static str) -> Attribute {
    row(nitro, cli, Kind::Text, Place::Other, "")
}

const fn text(nitro: &'static str, cli: &'static str, path: &'static [&'static str]) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::Text), "")
}

const fn word(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::Word), default)
}

const fn enabled(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::Enabled), default)
}

const fn yes_no(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::YesNo), default)
}

/// NITRO's `<Double>`.
const fn double(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    form: Form,
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Double, Place::At(path, form), default)
}

/// NITRO's `<Integer>`.
const fn integer(
    nitro: &'static str,
    cli: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> Attribute {
    row(nitro, cli, Kind::Integer, Place::At(path, Form::Number), default)
}

const fn with(nitro: &'static str, cli: &'static str, kind: Kind, joint: Joint, default: &'static str) -> Attribute {
    row(nitro, cli, kind, Place::With(joint), default)
}

const fn only(nitro: &'static str, cli: &'static str, kind: Kind, values: &'static [&'static str]) -> Attribute {
    row(nitro, cli, kind, Place::Only(values), "")
}

const fn refused(nitro: &'static str, cli: &'static str, why: &'static str) -> Attribute {
    row(nitro, cli, Kind::Text, Place::Refused(why), "")
}

const STATE: Attribute = row("state", "state", Kind::Text, Place::State, "");
