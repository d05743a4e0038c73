//! How vservers and services speak TLS, and the PROXY protocol of both.

use std::time::Duration;

use super::object::Object;
use super::{Context, certificate};
use crate::config::document::{Node, Path};
use crate::model::id::{CertificateId, Name};
use crate::model::service::{Protocol, ProxyProtocol};
use crate::model::tls::{Certificate, ClientAuth, ClientTls, Hsts, ServerTls, TlsVersion};

/// Of a vserver; `Some` exactly where its type speaks TLS.
pub fn clients(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    protocol: Protocol,
    certificates: &[Certificate],
) -> Option<ClientTls> {
    if !protocol.is_tls() {
        for key in ["certificates", "tls"] {
            if object.own(key).is_some() {
                let why = format!("needs a vserver of type SSL or SSL_TCP, this one is of type {}", protocol.word());
                object.wrong(cx.report, key, why);
            }
        }
        return None;
    }
    // One without an address shows none to anybody; one with an address is often bound to its certificate afterwards.
    if object.own("address").is_some() && shows_none(object) {
        let what = "shows no certificate: every handshake fails until `certificates` names one";
        object.warn_whole(cx.report, what);
    }
    let tls = client_tls(cx, object, certificates);
    if tls.hsts.is_some() && !protocol.is_http() {
        let why = format!(
            "`hsts` is a field of answers: it needs a vserver of type SSL, this one is of type {}",
            protocol.word()
        );
        object.wrong(cx.report, "tls", why);
    }
    Some(tls)
}

/// Whether no certificate is named.
pub fn shows_none(object: &Object<'_>) -> bool {
    object.get("certificates").is_none_or(|node| node.list().is_some_and(<[Node]>::is_empty))
}

/// `certificates` and `tls` of whatever speaks TLS to clients.
pub fn client_tls(cx: &mut Context<'_>, object: &Object<'_>, certificates: &[Certificate]) -> ClientTls {
    let path = object.path.key("certificates");
    let mut bound: Vec<CertificateId> = Vec::new();
    for node in object.items("certificates") {
        let Some(id) = certificate::find(cx, certificates, node, path, true) else { continue };
        if bound.contains(&id) {
            cx.report.error(node.place, path, format!("{path}: `{}` stands twice", node.text().unwrap_or("")));
        } else {
            bound.push(id);
        }
    }
    let defaults = ClientTls { certificates: bound, ..ClientTls::default() };
    let Some((table, place)) = object.inner("tls") else { return defaults };
    let inner = Object::new(table, None, object.path.key("tls"), place);
    let tls = ClientTls {
        min_version: version(&inner, "min_version").unwrap_or(TlsVersion::V1_2),
        max_version: version(&inner, "max_version").unwrap_or(TlsVersion::V1_3),
        client_auth: client_auth(cx, &inner, certificates),
        strict_sni: inner.bool("strict_sni").unwrap_or(false),
        resumption: inner.bool("resumption").unwrap_or(true),
        hsts: hsts(&inner),
        ..defaults
    };
    if tls.min_version > tls.max_version {
        let (min, max) = (tls.min_version.word(), tls.max_version.word());
        inner.wrong(cx.report, "min_version", format!("{min} is above `max_version`, which is {max}"));
    }
    tls
}

fn hsts(tls: &Object<'_>) -> Option<Hsts> {
    let (table, place) = tls.inner("hsts")?;
    let inner = Object::new(table, None, tls.path.key("hsts"), place);
    let max_age = inner.duration("max_age").unwrap_or_default();
    Some(Hsts {
        max_age: Duration::from_secs(max_age.as_secs()),
        include_subdomains: inner.bool("include_subdomains").unwrap_or(false),
        preload: inner.bool("preload").unwrap_or(false),
    })
}

fn client_auth(cx: &mut Context<'_>, inner: &Object<'_>, certificates: &[Certificate]) -> ClientAuth {
    let wanted = inner.text("client_auth").unwrap_or("none");
    if wanted == "none" {
        if inner.own("client_ca").is_some() {
            inner.warn_whole(cx.report, "`client_ca` waits for `client_auth`: clients are asked for no certificate");
        }
        return ClientAuth::None;
    }
    inner.require(cx.report, "client_ca");
    let path = inner.path.key("client_ca");
    let authority = inner.own("client_ca").and_then(|node| certificate::find(cx, certificates, node, path, false));
    match (wanted, authority) {
        (_, None) => ClientAuth::None,
        ("optional", Some(authority)) => ClientAuth::Optional { authority },
        (_, Some(authority)) => ClientAuth::Required { authority },
    }
}

/// Of a service or a group; `Some` exactly where its type speaks TLS.
pub fn servers(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    protocol: Protocol,
    certificates: &[Certificate],
) -> Option<ServerTls> {
    if !protocol.is_tls() {
        if object.own("tls").is_some() {
            let why = format!("needs a service of type SSL or SSL_TCP, this one is of type {}", protocol.word());
            object.wrong(cx.report, "tls", why);
        }
        return None;
    }
    let Some((table, place)) = object.inner("tls") else { return Some(ServerTls::default()) };
    let inner = Object::new(table, None, object.path.key("tls"), place);
    let verify = inner.bool("verify").unwrap_or(false);
    if !verify {
        inner.only(cx.report, &["ca"], "without `verify = true`");
    }
    let mut named = |key: &'static str, with_key: bool| {
        let path: Path<'_> = inner.path.key(key);
        certificate::find(cx, certificates, inner.own(key)?, path, with_key)
    };
    let (authority, certificate) = (named("ca", false), named("certificate", true));
    Some(ServerTls {
        verify,
        authority: authority.filter(|_| verify),
        server_name: server_name(cx, &inner),
        certificate,
        min_version: version(&inner, "min_version").unwrap_or(TlsVersion::V1_2),
    })
}

pub(super) fn server_name(cx: &mut Context<'_>, inner: &Object<'_>) -> Option<Name> {
    let text = inner.text("server_name")?;
    if rustls_pki_types::DnsName::try_from(text).is_err() {
        inner.wrong(cx.report, "server_name", format!("`{text}` is not a host name"));
    }
    Some(text.to_ascii_lowercase().into())
}

fn version(object: &Object<'_>, key: &str) -> Option<TlsVersion> {
    Some(if object.text(key)? == "1.3" { TlsVersion::V1_3 } else { TlsVersion::V1_2 })
}

/// Whether clients must begin with a PROXY protocol header.
pub fn proxy_in(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> bool {
    let wanted = object.bool("proxy_protocol").unwrap_or(false);
    if wanted && protocol.is_datagram() {
        let why = format!("begins a connection; a vserver of type {} takes datagrams", protocol.word());
        object.wrong(cx.report, "proxy_protocol", why);
    }
    wanted
}

/// Which PROXY protocol header servers get.
pub fn proxy_out(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> Option<ProxyProtocol> {
    let wanted = match object.text("proxy_protocol")? {
        "v1" => ProxyProtocol::V1,
        _ => ProxyProtocol::V2,
    };
    if protocol.is_datagram() {
        let why = format!("begins a connection; a service of type {} gets datagrams", protocol.word());
        object.wrong(cx.report, "proxy_protocol", why);
    }
    Some(wanted)
}
