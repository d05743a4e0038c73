//! Authoritative name servers with zones given as text.

use super::*;

/// What of a zone a server is to have: its name, and its text.
pub type ZoneText<'a> = (&'a str, &'a str);

/// Knot; whoever is on loopback may have the zones.
pub fn knot_with(zones: &[ZoneText<'_>]) -> Server {
    let (folder, port) = (folder(), free_port());
    let dir = folder.path().display().to_string();
    let mut settings = format!(
        "server:\n    rundir: {dir}\n    listen: 127.0.0.1@{port}\ndatabase:\n    storage: {dir}\nlog:\n  - target: \
         stderr\n    any: info\nacl:\n  - id: here\n    address: 127.0.0.0/8\n    action: transfer\nzone:\n"
    );
    for (at, (zone, text)) in zones.iter().enumerate() {
        fs::write(folder.path().join(format!("zone{at}")), text).unwrap();
        settings += &format!(
            "  - domain: {zone}\n    storage: {dir}\n    file: zone{at}\n    acl: here\n    semantic-checks: off\n"
        );
    }
    let conf = folder.path().join("knot.conf");
    fs::write(&conf, settings).unwrap();
    Server::start(folder, port, Command::new("/usr/sbin/knotd").arg("-c").arg(&conf))
}

/// NSD, which is to answer all of it: without its rate limit.
pub fn nsd_with(zones: &[ZoneText<'_>]) -> Server {
    let (folder, port) = (folder(), free_port());
    let dir = folder.path().display().to_string();
    let mut settings = format!(
        "server:\n  ip-address: 127.0.0.1@{port}\n  username: \"\"\n  chroot: \"\"\n  zonesdir: {dir}\n  database: \"\"\n  \
         zonelistfile: {dir}/zone.list\n  pidfile: {dir}/nsd.pid\n  xfrdfile: {dir}/xfrd.state\n  xfrdir: {dir}\n  \
         minimal-responses: yes\n  rrl-ratelimit: 0\nremote-control:\n  control-enable: no\n"
    );
    for (at, (zone, text)) in zones.iter().enumerate() {
        fs::write(folder.path().join(format!("zone{at}")), text).unwrap();
        settings += &format!("zone:\n  name: {zone}\n  zonefile: zone{at}\n");
    }
    let conf = folder.path().join("nsd.conf");
    fs::write(&conf, settings).unwrap();
    Server::start(folder, port, Command::new("/usr/sbin/nsd").arg("-d").arg("-c").arg(&conf))
}
