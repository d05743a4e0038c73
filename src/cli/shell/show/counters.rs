//! What `stat` prints: NetScaler's summaries and statistics, from what NITRO counts.

use super::facts::Facts;

/// What has counters under NetScaler's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Counted {
    LbVserver,
    CsVserver,
    Service,
    Group,
    Monitor,
    Ns,
    Ssl,
}

/// A line: what it says, the rate and the total under their names; a gauge has no rate.
pub(super) type Line = (&'static str, Option<&'static str>, &'static str);

const OF_VSERVER: &[Line] = &[
    ("Vserver hits", Some("hitsrate"), "tothits"),
    ("Requests", Some("requestsrate"), "totalrequests"),
    ("Responses", Some("responsesrate"), "totalresponses"),
    ("Request bytes", Some("requestbytesrate"), "totalrequestbytes"),
    ("Response bytes", Some("responsebytesrate"), "totalresponsebytes"),
    ("Total Packets rcvd", Some("pktsrecvdrate"), "totalpktsrecvd"),
    ("Total Packets sent", Some("pktssentrate"), "totalpktssent"),
    ("Current client connections", None, "curclntconnections"),
    ("Current Client Est connections", None, "establishedconn"),
    ("Current server connections", None, "cursrvrconnections"),
    ("Current Persistence Sessions", None, "curpersistencesessions"),
    ("Current Backup Persistence Sessi...", None, "curbackuppersistencesessions"),
    ("Requests in surge queue", None, "surgecount"),
    ("Requests in vserver's surgeQ", None, "vsvrsurgecount"),
    ("Requests in service's surgeQs", None, "svcsurgecount"),
    ("Spill Over Threshold", None, "sothreshold"),
    ("Spill Over Hits", None, "totspillovers"),
    ("Vserver Down Backup Hits", None, "totvserverdownbackuphits"),
    ("Labeled Connection", None, "labelledconn"),
    ("Push Labeled Connection", None, "pushlabel"),
    ("Deferred Request", Some("deferredreqrate"), "deferredreq"),
    ("Invalid Request/Response", None, "invalidrequestresponse"),
    ("Invalid Request/Response Dropped", None, "invalidrequestresponsedropped"),
    ("Average client TTLB (millisec)", None, "avgcltttlb"),
];

const OF_SERVICE: &[Line] = &[
    ("Throughput (Mbps)", Some("throughputrate"), "throughput"),
    ("Avg Server TTFB (millisec)", None, "avgsvrttfb"),
    ("Requests", Some("requestsrate"), "totalrequests"),
    ("Responses", Some("responsesrate"), "totalresponses"),
    ("Request bytes", Some("requestbytesrate"), "totalrequestbytes"),
    ("Response bytes", Some("responsebytesrate"), "totalresponsebytes"),
    ("Total Packets rcvd", Some("pktsrecvdrate"), "totalpktsrecvd"),
    ("Total Packets sent", Some("pktssentrate"), "totalpktssent"),
    ("Current client connections", None, "curclntconnections"),
    ("Requests in surge queue", None, "surgecount"),
    ("Current server connections", None, "cursrvrconnections"),
    ("Current Server Est connections", None, "svrestablishedconn"),
    ("Connections in reuse pool", None, "curreusepool"),
    ("Maximum server connections", None, "maxclients"),
    ("Current load on the service", None, "curload"),
    ("Current flags", None, "curtflags"),
    ("Service hits", Some("vsvrservicehitsrate"), "vsvrservicehits"),
    ("Active transactions", None, "activetransactions"),
    ("Server Busy Errors", Some("svrbusyerrrate"), "totsvrbusyerr"),
];

const OF_NS: &[Line] = &[
    ("Megabits received", Some("rxmbitsrate"), "totrxmbits"),
    ("Megabits transmitted", Some("txmbitsrate"), "tottxmbits"),
    ("HTTP requests", Some("httprequestsrate"), "httptotrequests"),
    ("HTTP responses", Some("httpresponsesrate"), "httptotresponses"),
    ("HTTP request bytes received", Some("httprxrequestbytesrate"), "httptotrxrequestbytes"),
    ("HTTP response bytes received", Some("httprxresponsebytesrate"), "httptotrxresponsebytes"),
    ("All client connections", None, "tcpcurclientconn"),
    ("Established client connections", None, "tcpcurclientconnestablished"),
    ("All server connections", None, "tcpcurserverconn"),
    ("Established server connections", None, "tcpcurserverconnestablished"),
];

const OF_SSL: &[Line] = &[
    ("SSL engine status", None, "sslenginestatus"),
    ("SSL sessions", Some("sslsessionsrate"), "ssltotsessions"),
    ("SSL transactions", Some("ssltransactionsrate"), "ssltottransactions"),
    ("Bytes encrypted", Some("sslencbytesrate"), "ssltotencbytes"),
    ("Bytes decrypted", Some("ssldecbytesrate"), "ssltotdecbytes"),
];

// === impl Counted ===

impl Counted {
    /// Its resource below `/nitro/v1/stat`.
    pub fn resource(self) -> &'static str {
        match self {
            Counted::LbVserver => "lbvserver",
            Counted::CsVserver => "csvserver",
            Counted::Service => "service",
            Counted::Group => "servicegroup",
            Counted::Monitor => "lbmonitor",
            Counted::Ns => "ns",
            Counted::Ssl => "ssl",
        }
    }

    /// All of a kind, a line each.
    pub fn list(self, all: &[Facts]) -> String {
        let rate = |facts: &Facts, key: &str| facts.count(key) + "/s";
        match self {
            Counted::LbVserver | Counted::CsVserver => {
                let rows = all.iter().map(|one| {
                    let mut row = place(one, "name", "type");
                    row.extend([rate(one, "requestsrate"), rate(one, "hitsrate")]);
                    row
                });
                let head = ["vsvrIP", "port", "Protocol", "State", "Req/s", "Hits/s"];
                "Virtual Server(s) Summary\n".to_owned() + &columns(&head, rows)
            }
            Counted::Service => "Service(s) Summary\n".to_owned() + &services(all, "name"),
            Counted::Group => {
                let rows = all.iter().map(|one| {
                    vec![one.said("servicegroupname", ""), one.said("servicetype", ""), one.said("state", "")]
                });
                "Service Group(s) Summary\n".to_owned() + &columns(&["Type", "State"], rows)
            }
            Counted::Monitor => "Monitor(s) Summary\n".to_owned() + &monitors(all),
            Counted::Ns | Counted::Ssl => all.iter().map(|one| self.one(one, &[])).collect(),
        }
    }

    /// One object with what is bound to it: the services of a vserver, the members of a group.
    pub fn one(self, facts: &Facts, bound: &[Facts]) -> String {
        match self {
            Counted::LbVserver | Counted::CsVserver => {
                let mut out = "Virtual Server Summary\n".to_owned();
                let place = place(facts, "name", "type");
                let name = place[0].clone();
                if self == Counted::CsVserver {
                    out += &columns(&["vsvrIP", "port", "Protocol", "State"], std::iter::once(place));
                } else {
                    let mut row = place;
                    row.extend([facts.count("vslbhealth"), facts.count("actsvcs")]);
                    let head = ["vsvrIP", "port", "Protocol", "State", "Health", "actSvcs"];
                    out += &columns(&head, std::iter::once(row));
                    out.push('\n');
                    out += &columns(&["inactSvcs"], std::iter::once(vec![name, facts.count("inactsvcs")]));
                }
                out += &statistics("Virtual Server Statistics", OF_VSERVER, facts);
                if !bound.is_empty() {
                    out += "\nBound Service(s) Summary\n";
                    out += &bound_services(bound);
                }
                out
            }
            Counted::Service => {
                let head = ["IP", "port", "Type", "State"];
                let row = std::iter::once(place(facts, "name", "servicetype"));
                "Service Summary\n".to_owned()
                    + &columns(&head, row)
                    + &statistics("Service Statistics", OF_SERVICE, facts)
            }
            Counted::Group => {
                let mut out = Counted::Group.list(std::slice::from_ref(facts)).replacen("Group(s)", "Group", 1);
                if !bound.is_empty() {
                    out += "\nService Group Member(s) Summary\n";
                    out += &bound_services(bound);
                }
                out
            }
            Counted::Monitor => "Monitor Summary\n".to_owned() + &monitors(std::slice::from_ref(facts)),
            Counted::Ns => {
                let mut out = "System overview\n".to_owned();
                for (title, key) in [
                    ("Up since", "starttime"),
                    ("Last Transition time", "transtime"),
                    ("Number of CPUs", "numcpus"),
                    ("CPU usage (%)", "cpuusagepcnt"),
                    ("Memory usage (%)", "memusagepcnt"),
                    ("Memory usage (MB)", "memuseinmb"),
                    ("Disk usage (%)", "disk0perusage"),
                    ("System state", "hacurstate"),
                    ("Master state", "hacurmasterstate"),
                ] {
                    out += &format!("{title:<34}{:>25}\n", facts.count(key));
                }
                out + &statistics("Traffic Statistics", OF_NS, facts)
            }
            Counted::Ssl => statistics("SSL Statistics", OF_SSL, facts).trim_start().to_owned(),
        }
    }
}

/// Name, address, port, type, state.
fn place(facts: &Facts, name: &str, kind: &str) -> Vec<String> {
    vec![
        facts.said(name, ""),
        facts.said("primaryipaddress", "0.0.0.0"),
        facts.count("primaryport"),
        facts.said(kind, ""),
        facts.said("state", ""),
    ]
}

fn services(all: &[Facts], name: &str) -> String {
    let rows = all.iter().map(|one| {
        let mut row = place(one, name, "servicetype");
        row.extend([one.count("vsvrservicehits"), one.count("vsvrservicehitsrate") + "/s"]);
        row
    });
    columns(&["IP", "port", "Type", "State", "Hits", "Hits/s"], rows)
}

/// In three blocks, as narrow as NetScaler's.
fn bound_services(bound: &[Facts]) -> String {
    let name = |one: &Facts| one.said("name", &one.said("servicegroupname", ""));
    let rows = |keys: &'static [(&'static str, &'static str)]| {
        let row = move |one: &Facts| {
            let cells = keys.iter().map(|(key, unit)| one.count(key) + unit);
            std::iter::once(name(one)).chain(cells).collect()
        };
        bound.iter().map(row)
    };
    let requests = &[
        ("totalrequests", ""),
        ("requestsrate", "/s"),
        ("totalresponses", ""),
        ("responsesrate", "/s"),
        ("throughput", ""),
        ("curclntconnections", ""),
        ("surgecount", ""),
    ];
    let connections = &[
        ("cursrvrconnections", ""),
        ("curreusepool", ""),
        ("maxclients", ""),
        ("activetransactions", ""),
        ("avgsvrttfb", ""),
        ("curload", ""),
    ];
    let first = bound.iter().map(|one| {
        let mut row = place(one, "name", "servicetype");
        row[0] = name(one);
        row.extend([one.count("vsvrservicehits"), one.count("vsvrservicehitsrate") + "/s"]);
        row
    });
    columns(&["IP", "port", "Type", "State", "Hits", "Hits/s"], first)
        + "\n"
        + &columns(&["Req", "Req/s", "Rsp", "Rsp/s", "Throughp", "ClntConn", "SurgeQ"], rows(requests))
        + "\n"
        + &columns(&["SvrConn", "ReuseP", "MaxConn", "ActvTran", "SvrTTFB", "Load"], rows(connections))
}

fn monitors(all: &[Facts]) -> String {
    let rows = all.iter().map(|one| {
        vec![
            one.said("monitorname", ""),
            one.said("type", ""),
            one.count("totalprobes"),
            one.count("totalfailedprobes"),
        ]
    });
    columns(&["Type", "Probes", "Failed"], rows)
}

pub(super) fn statistics(title: &str, lines: &[Line], facts: &Facts) -> String {
    let mut out = format!("\n{title}\n{:<34}{:>17}{:>21} \n", "", "Rate (/s)", "Total");
    for (what, rate, total) in lines {
        let rate = rate.map_or_else(|| "--".to_owned(), |rate| facts.count(rate));
        out += &format!("{what:<35}{rate:>16}{:>21}\n", facts.count(total));
    }
    out
}

/// Names to the left, the rest to the right, two spaces apart.
pub(super) fn columns(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut lines: Vec<Vec<String>> =
        vec![std::iter::once(String::new()).chain(head.iter().map(|&cell| cell.to_owned())).collect()];
    lines.extend(rows);
    let width = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=head.len()).map(width).collect();
    let mut out = String::new();
    for line in &lines {
        out += &format!("{:<width$}", line[0], width = widths[0]);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            out += &format!("  {cell:>width$}", width = width.max(&5));
        }
        out += "\n";
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(value: serde_json::Value) -> Facts {
        Facts::list(&json!({ "x": [value] }), "x").remove(0)
    }

    #[test]
    fn a_vserver_has_a_summary_statistics_and_its_services() {
        let vserver = facts(json!({
            "name": "web", "primaryipaddress": "192.0.2.1", "primaryport": 80, "type": "HTTP", "state": "UP",
            "vslbhealth": "100", "actsvcs": "1", "inactsvcs": "0", "tothits": "7", "hitsrate": 2,
        }));
        let service = facts(json!({
            "name": "s1", "primaryipaddress": "192.0.2.9", "primaryport": 8080, "servicetype": "HTTP", "state": "UP",
            "vsvrservicehits": "7", "vsvrservicehitsrate": 2,
        }));
        let told = Counted::LbVserver.one(&vserver, &[service]);
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(
            lines[..3],
            [
                "Virtual Server Summary",
                "        vsvrIP   port  Protocol  State  Health  actSvcs",
                "web  192.0.2.1     80      HTTP     UP     100        1",
            ]
        );
        let head = format!("\nVirtual Server Statistics\n{:>51}", "Rate (/s)");
        assert!(told.contains(&head), "{told}");
        for (what, rate, total) in [("Vserver hits", "2", 7), ("Spill Over Hits", "--", 0)] {
            assert!(told.contains(&format!("\n{what:<35}{rate:>16}{total:>21}\n")), "{told}");
        }
        assert!(
            told.contains("\nBound Service(s) Summary\n           IP   port   Type  State   Hits  Hits/s\n"),
            "{told}"
        );
        assert!(told.contains("\ns1  192.0.2.9   8080   HTTP     UP      7     2/s\n"), "{told}");
        let list = Counted::LbVserver.list(&[vserver]);
        assert!(
            list.starts_with("Virtual Server(s) Summary\n        vsvrIP   port  Protocol  State  Req/s  Hits/s\n"),
            "{list}"
        );
    }
}
