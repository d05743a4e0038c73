//! `[gslb]` and `[dns]`.

use super::text::{Text, Value};
use crate::model::Model;
use crate::model::dns::{ClientSubnet, Cookies, RateLimit, TcpLimits};
use crate::model::geo::Database;
use crate::model::net::Network;
use crate::model::transfer::TsigSecret;

/// Nothing where no line is kept.
pub(super) fn gslb(out: &mut Text, model: &Model) {
    if !model.gslb_lines.is_empty() {
        out.table(&["gslb"]);
        out.key("lines", Value::strs(&model.gslb_lines));
    }
}

pub(super) fn dns(out: &mut Text, model: &Model) {
    let dns = &model.dns;
    out.table(&["dns"]);
    out.key("listen", Value::List(dns.listen.iter().map(Value::show).collect()));
    out.maybe("nsid", dns.nsid.as_ref().map(Value::str));
    out.key("extended_errors", Value::Bool(dns.extended_errors));
    out.key("cookies", cookies(&dns.cookies));
    out.maybe("rate_limit", dns.rate_limit.as_ref().map(rate_limit));
    out.maybe("ecs", dns.ecs.as_ref().map(ecs));
    let geo = |database: &Database| Value::Inline(vec![("database".into(), Value::str(&database.file))]);
    out.maybe("geo", dns.geo.as_ref().map(geo));
    tcp(out, &dns.tcp);
    for (key, encrypted) in [("tls", &dns.tls), ("https", &dns.https)] {
        let Some(encrypted) = encrypted else { continue };
        out.table(&["dns", key]);
        out.key("listen", Value::List(encrypted.listen.iter().map(Value::show).collect()));
        if key == "https" {
            out.key("path", Value::str(&encrypted.path));
        }
        super::tls::clients(out, model, &encrypted.tls);
    }
    for key in &dns.tsig {
        out.table(&["dns", "tsig", &key.name]);
        out.key("algorithm", Value::str("hmac-sha256"));
        let (word, value) = match &key.secret {
            TsigSecret::Env(name) => ("env", name),
            TsigSecret::File(pem) => ("file", &pem.file),
        };
        out.key("secret", Value::Inline(vec![(word.into(), Value::str(value))]));
    }
}

fn tcp(out: &mut Text, tcp: &TcpLimits) {
    if *tcp == TcpLimits::default() {
        return;
    }
    out.table(&["dns", "tcp"]);
    out.key("connections", Value::Int(tcp.connections.into()));
    out.key("connections_per_client", Value::Int(tcp.connections_per_client.into()));
    out.key("idle_timeout", Value::duration(tcp.idle_timeout));
    out.key("queries_per_connection", Value::Int(tcp.queries_per_connection.into()));
    out.key("pipeline", Value::Int(tcp.pipeline.into()));
}

fn cookies(cookies: &Cookies) -> Value {
    match cookies {
        Cookies::Off => Value::Bool(false),
        Cookies::Generated => Value::Bool(true),
        Cookies::Keys(keys) => Value::Inline(vec![("keys".into(), Value::strs(keys.iter().map(|key| &key.file)))]),
    }
}

fn rate_limit(limit: &RateLimit) -> Value {
    Value::Inline(vec![
        ("per_second".into(), Value::Int(limit.per_second.into())),
        ("slip".into(), Value::Int(limit.slip.into())),
        ("ipv4_prefix".into(), Value::Int(limit.ipv4_prefix.into())),
        ("ipv6_prefix".into(), Value::Int(limit.ipv6_prefix.into())),
        ("table".into(), Value::Int(limit.table.into())),
        ("exempt".into(), networks(&limit.exempt)),
    ])
}

fn ecs(ecs: &ClientSubnet) -> Value {
    Value::Inline(vec![
        ("ipv4_prefix".into(), Value::Int(ecs.ipv4_prefix.into())),
        ("ipv6_prefix".into(), Value::Int(ecs.ipv6_prefix.into())),
        ("from".into(), networks(&ecs.from)),
    ])
}

pub(super) fn networks(networks: &[Network]) -> Value {
    Value::List(networks.iter().map(Value::show).collect())
}
