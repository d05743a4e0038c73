//! Certificates, and how TLS is spoken. The files are named, never printed.

use super::text::{Text, Value};
use crate::model::Model;
use crate::model::id::CertificateId;
use crate::model::service::ProxyProtocol;
use crate::model::tls::{ClientAuth, ClientTls, ServerTls};
use crate::model::vserver::Vserver;

pub(super) fn certificates(out: &mut Text, model: &Model) {
    for certificate in &model.certificates {
        out.table(&["certificate", &certificate.name]);
        out.key("certificate", Value::str(&certificate.chain.file));
        out.maybe("key", certificate.key.as_ref().map(|key| Value::str(&key.file)));
    }
}

fn name(model: &Model, id: CertificateId) -> Value {
    Value::str(&model.certificates[id.index()].name)
}

/// The keys of a vserver.
pub(super) fn of_vserver(out: &mut Text, model: &Model, vserver: &Vserver) {
    if let Some(tls) = &vserver.tls {
        clients(out, model, tls);
    }
    if !vserver.protocol.is_datagram() {
        out.key("proxy_protocol", Value::Bool(vserver.proxy_protocol));
    }
}

pub(super) fn clients(out: &mut Text, model: &Model, tls: &ClientTls) {
    out.key("certificates", Value::List(tls.certificates.iter().map(|id| name(model, *id)).collect()));
    let mut entries = vec![
        ("min_version".into(), Value::str(tls.min_version.word())),
        ("max_version".into(), Value::str(tls.max_version.word())),
    ];
    let (word, authority) = match tls.client_auth {
        ClientAuth::None => ("none", None),
        ClientAuth::Optional { authority } => ("optional", Some(authority)),
        ClientAuth::Required { authority } => ("required", Some(authority)),
    };
    entries.push(("client_auth".into(), Value::str(word)));
    entries.extend(authority.map(|id| ("client_ca".into(), name(model, id))));
    entries.push(("strict_sni".into(), Value::Bool(tls.strict_sni)));
    entries.push(("resumption".into(), Value::Bool(tls.resumption)));
    if let Some(hsts) = &tls.hsts {
        let entries_of_hsts = vec![
            ("max_age".into(), Value::duration(hsts.max_age)),
            ("include_subdomains".into(), Value::Bool(hsts.include_subdomains)),
            ("preload".into(), Value::Bool(hsts.preload)),
        ];
        entries.push(("hsts".into(), Value::Inline(entries_of_hsts)));
    }
    out.key("tls", Value::Inline(entries));
}

/// The key of a service.
pub(super) fn servers(model: &Model, tls: &ServerTls) -> Value {
    let mut entries = vec![("verify".into(), Value::Bool(tls.verify))];
    entries.extend(tls.authority.map(|id| ("ca".into(), name(model, id))));
    entries.extend(tls.server_name.as_ref().map(|text| ("server_name".into(), Value::str(text))));
    entries.extend(tls.certificate.map(|id| ("certificate".into(), name(model, id))));
    entries.push(("min_version".into(), Value::str(tls.min_version.word())));
    Value::Inline(entries)
}

pub(super) fn proxy(version: ProxyProtocol) -> Value {
    Value::str(match version {
        ProxyProtocol::V1 => "v1",
        ProxyProtocol::V2 => "v2",
    })
}
