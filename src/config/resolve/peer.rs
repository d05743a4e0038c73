//! Other boxes, and this box's end of the link to them.

use super::object::Object;
use super::{Context, certificate};
use crate::config::document::{Path, Place, Table};
use crate::config::values;
use crate::model::Appliance;
use crate::model::id::Name;
use crate::model::peer::{NAME_MOST, Peer, PeerLink, PeerTls, PeerUrl};
use crate::model::tls::Facts;

/// Peers of a box.
const PEERS_MOST: usize = 64;

/// Sites with a box that this one asks; `collect` before pairs are made.
pub fn asked_sites(cx: &Context<'_>) -> Vec<Name> {
    let asked = cx.section("peer").into_iter().filter(|(_, _, table)| table.get("url").is_some());
    asked.map(|(name, _, table)| site(table, name)).collect()
}

/// The site of every peer, for names that may stand after `@`.
pub fn sites(document: &Table) -> Vec<(Name, Place)> {
    super::section(document, "peer").into_iter().map(|(name, place, table)| (site(table, name), place)).collect()
}

fn site(table: &Table, name: &str) -> Name {
    table.get("site").and_then(|node| node.text()).unwrap_or(name).into()
}

pub fn link(cx: &mut Context<'_>, appliance: &Appliance) -> PeerLink {
    let defaults = PeerLink::default();
    let Some(entry) = cx.document.entry("peer_link") else { return defaults };
    let Some(table) = entry.node.table() else { return defaults };
    let root = Path::Root;
    let object = Object::new(table, None, root.key("peer_link"), entry.place);
    let interval = object.duration("interval").unwrap_or(defaults.interval);
    let link = PeerLink {
        listen: object.socket("listen"),
        // As the field of HTTP that it goes in: blanks around it do not count.
        cluster: object.name("cluster").map_or(defaults.cluster, |cluster| cluster.trim().into()),
        interval,
        timeout: object.duration("timeout").unwrap_or(PeerLink::patience(interval)),
        tls: None,
    };
    if !link.outlives_a_loss() {
        let [timeout, interval, stale] =
            [link.timeout, interval, link.stale_after()].map(crate::config::units::format_duration);
        let what = format!(
            "{timeout} is not less than `interval` ({interval}): a peer is unknown after three intervals ({stale}), and \
             one answer that is lost would be enough for that"
        );
        object.wrong(cx.report, "timeout", what);
    }
    if link.cluster.len() > NAME_MOST {
        object.wrong(cx.report, "cluster", format!("longer than {NAME_MOST} bytes"));
    }
    if object.get("cluster").is_some() && link.cluster.is_empty() || link.cluster.contains(char::is_control) {
        object.wrong(cx.report, "cluster", "is nothing but blanks, or has a control character");
    }
    let files = ["certificate", "key", "ca"].iter().any(|key| object.get(key).is_some());
    let tls = (files || link.listen.is_some()).then(|| certificate::of_peer(cx, &object)).flatten();
    if let Some(tls) = &tls {
        names_itself(cx, &object, tls, appliance);
    }
    PeerLink { tls, ..link }
}

/// Peers look for this box's name in its certificate.
fn names_itself(cx: &mut Context<'_>, object: &Object<'_>, tls: &PeerTls, appliance: &Appliance) {
    let facts = tls.certificate.certificates().ok().and_then(|all| Facts::of(all.first()?).ok());
    let own = appliance.name.to_ascii_lowercase();
    if facts.is_some_and(|facts| !facts.names.iter().any(|name| **name == *own)) {
        let path = object.path.key("certificate");
        let what = format!(
            "{path}: does not name `{own}` (`appliance.name`) as a DNS name (subjectAltName), so peers will refuse this box"
        );
        cx.report.warning(object.place_of("certificate"), path, what);
    }
}

pub fn all(cx: &mut Context<'_>, link: &PeerLink, appliance: &Appliance) -> Vec<Peer> {
    let root = Path::Root;
    let section = root.key("peer");
    let defaults = cx.section_table("peer_link");
    let mut peers: Vec<Peer> = Vec::new();
    for (name, place, table) in cx.section("peer") {
        let object = Object::new(table, defaults, section.key(name), place);
        peers.extend(peer(cx, &object, name, link, appliance));
    }
    peers.sort_by(|a, b| a.name.cmp(&b.name));
    if peers.len() > PEERS_MOST {
        let place = cx.document.entry("peer").map(|entry| entry.place).unwrap_or_default();
        cx.report.error(place, "peer", format!("peer: at most {PEERS_MOST} peers"));
    }
    if let (Some(first), None) = (peers.first(), link.listen) {
        let place = cx.section("peer").first().map(|(_, place, _)| *place).unwrap_or_default();
        let what =
            "peer: nobody can ask this box, since `peer_link.listen` is not set; what it sees is unknown to its peers";
        cx.report.warning(place, format!("peer.{}", first.name), what);
    }
    peers
}

fn peer(cx: &mut Context<'_>, object: &Object<'_>, name: &str, link: &PeerLink, appliance: &Appliance) -> Option<Peer> {
    if rustls_pki_types::DnsName::try_from(name).is_err() {
        let why = "a peer's name is its `appliance.name`, and stands in its certificate as a DNS name: letters, digits, `-`, `.`";
        object.wrong_whole(cx.report, why);
    }
    if name.eq_ignore_ascii_case(&appliance.name) {
        object.wrong_whole(cx.report, "is this box itself (`appliance.name`); name the other one");
    }
    let url = object.own("url").and_then(|node| match url(node.text()?) {
        Ok(url) => Some(url),
        Err(why) => {
            object.wrong(cx.report, "url", why);
            None
        }
    });
    let files = ["certificate", "key", "ca"];
    let own_files = files.iter().any(|key| object.own(key).is_some());
    let common = files.iter().any(|key| object.get(key).is_some());
    if object.own("url").is_none() {
        object.only(cx.report, &["certificate", "key", "ca"], "without `url`: this peer is not asked, it only asks");
    }
    let tls = match (&url, own_files) {
        (None, _) => None,
        // What is wrong with the common ones was said there.
        (Some(_), false) if common => link.tls.clone(),
        (Some(_), _) => certificate::of_peer(cx, object),
    };
    Some(Peer { name: name.into(), site: site(object.table, name), url, tls })
}

/// `https://192.0.2.1:9443`
fn url(text: &str) -> Result<PeerUrl, String> {
    let url = values::url(text)?;
    if !url.tls {
        return Err(format!("`{text}` is not a URL that begins with https://: peers speak TLS"));
    }
    if url.path != "/" {
        return Err(format!("`{text}` has a path; host and port are enough"));
    }
    Ok(PeerUrl { text: text.into(), host: url.host, port: url.port })
}

#[cfg(test)]
mod tests {
    use crate::config::tests::loaded;

    #[test]
    fn blanks_around_the_name_of_a_cluster_do_not_count() {
        let cluster = |text: &str| {
            let loaded = loaded(&format!("[appliance]\nname = \"box\"\n[peer_link]\n{text}\n"));
            loaded.model.peer_link.cluster.to_string()
        };
        for text in ["cluster = \"my prod\"", "cluster = \" my prod\"", "cluster = \"\\tmy prod  \""] {
            assert_eq!(cluster(text), "my prod");
        }
        assert_eq!(cluster(""), "");
    }
}
