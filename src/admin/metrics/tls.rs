//! Certificates and handshakes.

use std::sync::atomic::Ordering::Relaxed;

use super::Page;
use crate::control::World;
use crate::snapshot::live::TLS_FAILURES;

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let help = "Time until the certificate expires; negative once it has.";
    let mut family = page.gauge("bascule_certificate_expires_seconds", help);
    for certificate in &look.model.certificates {
        if let Some(facts) = certificate.facts() {
            let left = super::super::dto::certificate_left(facts.not_after, look.now.wall);
            family.sample(&[("certificate", &certificate.name)], left as f64);
        }
    }
    let all = || {
        let vservers = look.model.vservers.iter().zip(&look.snapshot.vservers);
        vservers.filter(|(vserver, _)| vserver.protocol.is_tls() || vserver.protocol.word() == "SSL_BRIDGE")
    };
    let mut family = page.counter("bascule_vserver_tls_handshakes_total", "Handshakes with clients.");
    for (vserver, entry) in all() {
        let tls = &entry.live.tls;
        for (kind, total) in [("full", &tls.full_total), ("resumed", &tls.resumed_total)] {
            family.sample(&[("vserver", &vserver.name), ("kind", kind)], total.load(Relaxed) as f64);
        }
    }
    let mut family = page.counter("bascule_vserver_tls_failures_total", "Handshakes with clients that failed.");
    for (vserver, entry) in all() {
        for (reason, total) in TLS_FAILURES.into_iter().zip(&entry.live.tls.failed_total) {
            family.sample(&[("vserver", &vserver.name), ("reason", reason)], total.load(Relaxed) as f64);
        }
    }
    let help = "Connections closed because their PROXY protocol header was missing, malformed or late.";
    let mut family = page.counter("bascule_vserver_bad_proxy_headers_total", help);
    let asking = look.model.vservers.iter().zip(&look.snapshot.vservers).filter(|(vserver, _)| vserver.proxy_protocol);
    for (vserver, entry) in asking {
        family.sample(&[("vserver", &vserver.name)], entry.live.bad_proxy_headers_total.load(Relaxed) as f64);
    }
    let help = "Times that a connection could not be accepted for want of a file descriptor.";
    let mut family = page.counter("bascule_vserver_no_descriptor_total", help);
    for (vserver, entry) in look.model.vservers.iter().zip(&look.snapshot.vservers) {
        family.sample(&[("vserver", &vserver.name)], entry.live.no_descriptor_total.load(Relaxed) as f64);
    }
}
