//! The link to other boxes. The files are named, never printed.

use super::text::{Text, Value};
use crate::model::Model;
use crate::model::peer::{PeerLink, PeerTls};

pub(super) fn peers(out: &mut Text, model: &Model) {
    let link = &model.peer_link;
    if *link != PeerLink::default() || !model.peers.is_empty() {
        out.table(&["peer_link"]);
        out.maybe("listen", link.listen.map(Value::show));
        out.maybe("cluster", Some(&link.cluster).filter(|name| !name.is_empty()).map(Value::str));
        out.key("interval", Value::duration(link.interval));
        out.key("timeout", Value::duration(link.timeout));
        if let Some(tls) = &link.tls {
            files(out, tls);
        }
    }
    for peer in &model.peers {
        out.table(&["peer", &peer.name]);
        out.maybe("url", peer.url.as_ref().map(|url| Value::str(&url.text)));
        out.key("site", Value::str(&peer.site));
        if let Some(tls) = &peer.tls
            && link.tls.as_ref() != Some(tls)
        {
            files(out, tls);
        }
    }
}

fn files(out: &mut Text, tls: &PeerTls) {
    out.key("certificate", Value::str(&tls.certificate.file));
    out.key("key", Value::str(&tls.key.file));
    out.key("ca", Value::str(&tls.ca.file));
}
