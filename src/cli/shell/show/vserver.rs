//! Virtual servers as NetScaler shows them, and what NetScaler does not have below.

use super::facts::Facts;
use super::{long_word, note_line, since_lines};
use crate::admin::dto::VserverDto;

/// `facts`: its settings, `bound`: what is bound to it; both as NITRO says.
pub(in super::super) fn vserver(vserver: &VserverDto, now: &str, whole: bool, facts: &Facts, bound: &Facts) -> String {
    let address = vserver.address.as_deref().unwrap_or("0.0.0.0:0");
    let switches = vserver.role == "cs";
    let kind = if switches { "CONTENT" } else { "ADDRESS" };
    let mut out = format!("{} ({address}) - {}\tType: {kind}\n", vserver.name, vserver.r#type);
    out += &format!("\tState: {}\n", long_word(&vserver.state));
    out += &since_lines(&vserver.since, now);
    out += &format!("\tEffective State: {}\tHealth: {}%\n", long_word(&vserver.effective_state), vserver.health);
    if let Some(error) = &vserver.listen_error {
        out += &format!("\tNot listening: {error}\n");
    }
    if vserver.address_local == Some(false) {
        out += "\tThe address is not on this machine\n";
    }
    out += &format!(
        "\tClient Idle Timeout: {} sec\n\tDown state flush: {}\n\tDisable Primary Vserver On Down : {}\n\
         \tAppflow logging: {}\n\tPort Rewrite : {}\n",
        facts.said("clttimeout", "none"),
        facts.said("downstateflush", "none"),
        facts.said("disableprimaryondown", "DISABLED"),
        facts.said("appflowlog", "DISABLED"),
        facts.said("redirectportrewrite", "DISABLED"),
    );
    if switches {
        out + &switching(vserver, whole, facts, bound)
    } else {
        out + &balancing(vserver, whole, facts, bound)
    }
}

fn balancing(vserver: &VserverDto, whole: bool, facts: &Facts, bound: &Facts) -> String {
    let active = vserver.members.iter().filter(|m| m.eligible).count();
    let mut out = format!("\tNo. of Bound Services : {} (Total) {active} (Active)\n", vserver.members.len());
    let backup_method = facts.said("backuplbmethod", "ROUNDROBIN");
    out += &format!("\tConfigured Method: {}\tBackupMethod: {backup_method}\n\tMode: IP\n", vserver.lb_method);
    out += &match &vserver.persistence_timeout {
        Some(timeout) => {
            let timeout = minutes(timeout);
            format!("\tPersistence: {}\tPersistence Timeout: {timeout}\n", vserver.persistence)
        }
        None => format!("\tPersistence: {}\n", vserver.persistence),
    };
    if let Some(backup) = &vserver.backup {
        out += &format!("\tBackup: {backup}\n");
    }
    out += &format!(
        "\tVserver IP and Port insertion: {}\n\tPush: {}\tPush VServer: \n\tPush Multi Clients: {}\n\
         \tPush Label Rule: {}\n\tL2Conn: {}\n\tSkip Persistency: {}\n\tListen Policy: {}\n\tIcmpResponse: {}\n\
         \tRHIstate: {}\n\tNew Service Startup Request Rate: {} {}, Increment Interval: {}\n\
         \tMac mode Retain Vlan: {}\n\tDBS_LB: {}\n\tProcess Local: {}\n\tTraffic Domain: {}\n\
         \tTROFS Persistence honored: {}\n\tRetain Connections on Cluster: {}\n",
        facts.said("insertvserveripport", "OFF"),
        facts.said("push", "DISABLED"),
        facts.said("pushmulticlients", "NO"),
        facts.said("pushlabel", "none"),
        facts.said("l2conn", "OFF"),
        facts.said("skippersistency", "None"),
        facts.said("listenpolicy", "NONE"),
        facts.said("icmpvsrresponse", "PASSIVE"),
        facts.said("rhistate", "PASSIVE"),
        facts.count("newservicerequest"),
        facts.said("newservicerequestunit", "PER_SECOND"),
        facts.count("newservicerequestincrementinterval"),
        facts.said("macmoderetainvlan", "DISABLED"),
        facts.said("dbslb", "DISABLED"),
        facts.said("processlocal", "DISABLED"),
        facts.count("td"),
        facts.said("trofspersistence", "ENABLED"),
        facts.said("retainconnectionsoncluster", "NO"),
    );
    out += &comment(facts);
    out += &beside(vserver);
    if whole {
        out += &members(vserver, bound);
        out += &policies(bound, "lbvserver").0;
    }
    out
}

/// What NetScaler does not show, or does not have.
fn beside(vserver: &VserverDto) -> String {
    let mut out = String::new();
    if vserver.persistence_sessions > 0 {
        out += &format!("\tPersistence Sessions: {}\n", vserver.persistence_sessions);
    }
    if let Some(group) = &vserver.lb_group {
        out += &format!("\tLB Group: {group}\n");
    }
    if let Some(method) = &vserver.spillover_method {
        let threshold = vserver.spillover_threshold.map(|t| format!("\tThreshold: {t}")).unwrap_or_default();
        out += &format!("\tSpillover Method: {method}{threshold}\n");
    }
    if let Some(url) = &vserver.redirect_url {
        out += &format!("\tRedirect URL: {url}\n");
    }
    for share in &vserver.split {
        let configured = match share.share == share.configured {
            true => String::new(),
            false => format!("\tConfigured: {}%", share.configured),
        };
        out += &format!("\tSplit: {} {}%{configured}\n", share.group, share.share);
    }
    if let Some(note) = &vserver.split_by {
        out += &note_line("Split", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    if vserver.surge_max > 0 {
        let (now, waited, refused) = (vserver.surge_count, vserver.surge_waited_total, vserver.surge_refused_total);
        out += &format!("\tSurge Queue: {now} (Highest {})\tWaited: {waited}\tRefused: {refused}\n", vserver.surge_max);
    }
    if vserver.limited_total > 0 {
        out += &format!("\tOver Client Limits: {}\n", vserver.limited_total);
    }
    out += &match vserver.active_backup.as_ref() {
        None if vserver.new_clients == "redirected" => "\tNew Clients: redirected to the Redirect URL\n".to_owned(),
        Some(backup) => format!("\tNew Clients: {backup}\n"),
        None => format!("\tNew Clients: {}\n", vserver.new_clients),
    };
    out + &disabled(vserver)
}

fn disabled(vserver: &VserverDto) -> String {
    let note = vserver.disabled_by.as_ref();
    note.map(|note| note_line("Disabled", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref()))
        .unwrap_or_default()
}

fn comment(facts: &Facts) -> String {
    match &facts.said("comment", "")[..] {
        "" => String::new(),
        comment => format!("\tComment: \"{comment}\"\n"),
    }
}

/// Services, then groups with their members.
fn members(vserver: &VserverDto, bound: &Facts) -> String {
    let services = bound.inner("lbvserver_service_binding");
    let of_groups = bound.inner("lbvserver_servicegroupmember_binding");
    let mut out = String::new();
    for (at, service) in services.iter().enumerate() {
        let apart = if at == 0 { "\n" } else { "" };
        out += &format!("{apart}{})\t{}", at + 1, member(service, "servicename"));
    }
    let mut groups: Vec<String> = Vec::new();
    for member in &of_groups {
        let group = member.said("servicegroupname", "");
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    if !groups.is_empty() {
        out += "\nBound Service Groups:\n";
    }
    for (at, group) in groups.iter().enumerate() {
        out += &format!("{})\tGroup Name: {group}\n\n", at + 1);
        let own = of_groups.iter().filter(|member| member.said("servicegroupname", "") == *group);
        for (at, one) in own.enumerate() {
            out += &format!("\t{})\t{}", at + 1, member(one, "servicegroupname"));
        }
    }
    if services.is_empty() && groups.is_empty() {
        for (at, member) in vserver.members.iter().enumerate() {
            let state = long_word(&member.state);
            out += &format!("\n{})\t{}\tState: {state}\tWeight: {}\n", at + 1, member.service, member.weight);
        }
    }
    out
}

/// `s1 (192.0.2.1: 80) - HTTP State: UP    Weight: 1`
fn member(bound: &Facts, name: &str) -> String {
    format!(
        "{} ({}: {}) - {} State: {}\tWeight: {}\n",
        bound.said(name, ""),
        bound.said("ipv46", "0.0.0.0"),
        bound.count("port"),
        bound.said("servicetype", ""),
        bound.said("curstate", ""),
        bound.said("weight", "1"),
    )
}

/// What is particular to content switching.
fn switching(vserver: &VserverDto, whole: bool, facts: &Facts, bound: &Facts) -> String {
    let default = vserver.default.as_deref().unwrap_or("none");
    let mut out = format!(
        "\tState Update: {}\n\tDefault: {default}\tContent Precedence: {}\n\tVserver IP and Port insertion: {}\n\
         \tL2Conn: {}\tCase Sensitivity: {}\n\tListen Policy: {}\n\tIcmpResponse: {}\n\tRHIstate: {}\n\
         \tTraffic Domain: {}\n",
        facts.said("stateupdate", "DISABLED"),
        facts.said("precedence", "RULE"),
        facts.said("insertvserveripport", "OFF"),
        facts.said("l2conn", "OFF"),
        facts.said("casesensitive", "ON"),
        facts.said("listenpolicy", "NONE"),
        facts.said("icmpvsrresponse", "PASSIVE"),
        facts.said("rhistate", "PASSIVE"),
        facts.count("td"),
    );
    if let Some(backup) = &vserver.backup {
        out += &format!("\tBackup: {backup}\n");
    }
    out += &comment(facts);
    out += &disabled(vserver);
    if !whole {
        return out;
    }
    let (told, count) = policies(bound, "csvserver");
    out += &told;
    for (at, target) in vserver.targets.iter().enumerate() {
        let state = long_word(&target.effective_state);
        out += &format!("\n{})\t{}\tEffective State: {state}\n", count + at + 1, target.vserver);
        if !target.rules.is_empty() {
            out += &format!("\tRules: {}\n", target.rules.join(", "));
        }
    }
    out
}

/// The policies that are bound to a vserver, each bank in the order in which it is asked, and how many they are.
fn policies(bound: &Facts, owner: &str) -> (String, usize) {
    let banks = [
        ("responderpolicy", "Responder Policy"),
        ("rewritepolicy", "Rewrite Policy"),
        ("cspolicy", "Content-Switching Policy"),
    ];
    let (mut out, mut count) = (String::new(), 0);
    for (bank, called) in banks {
        for policy in bound.inner(&format!("{owner}_{bank}_binding")) {
            count += 1;
            out += &format!(
                "\n{count})\t{called}: {}\tPriority: {}\tHits: {}",
                policy.said("policyname", ""),
                policy.said("priority", ""),
                policy.count("hits"),
            );
            out += &match (bank, &policy.said("targetlbvserver", "")[..]) {
                ("cspolicy", "") => "\n".to_owned(),
                ("cspolicy", target) => format!("\tTarget: {target}\n"),
                _ => format!(
                    "\n\tGotoPriority Expression: {}\tFlowtype: {}\n",
                    policy.said("gotopriorityexpression", "END"),
                    policy.said("bindpoint", "REQUEST"),
                ),
            };
        }
    }
    (out, count)
}

/// `10 min`, as NetScaler counts; what is no whole number of minutes stays as it is.
fn minutes(duration: &str) -> String {
    match super::seconds(duration) {
        Some(seconds) if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        _ => duration.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_are_shown_with_address_and_type_as_netscaler_does() {
        let bound = json!({"lbvserver_binding": [{
            "lbvserver_service_binding": [
                {"servicename": "s1", "ipv46": "127.0.0.1", "port": 18101, "servicetype": "HTTP", "curstate": "UP", "weight": "5"},
            ],
            "lbvserver_servicegroupmember_binding": [
                {"servicegroupname": "g", "ipv46": "127.0.0.2", "port": 80, "servicetype": "HTTP", "curstate": "DOWN", "weight": "1"},
                {"servicegroupname": "g", "ipv46": "127.0.0.3", "port": 80, "servicetype": "HTTP", "curstate": "UP", "weight": "2"},
            ],
        }]});
        let bound = Facts::list(&bound, "lbvserver_binding").remove(0);
        let services = bound.inner("lbvserver_service_binding");
        assert_eq!(member(&services[0], "servicename"), "s1 (127.0.0.1: 18101) - HTTP State: UP\tWeight: 5\n");
        let groups = bound.inner("lbvserver_servicegroupmember_binding");
        assert_eq!(member(&groups[1], "servicegroupname"), "g (127.0.0.3: 80) - HTTP State: UP\tWeight: 2\n");
    }

    #[test]
    fn policies_of_every_bank_are_shown_with_priority_and_hits() {
        let bound = json!({"csvserver_binding": [{
            "csvserver_cspolicy_binding": [
                {"policyname": "api", "priority": "10", "hits": "7", "targetlbvserver": "lb"},
            ],
            "csvserver_responderpolicy_binding": [{"policyname": "tls", "priority": "5", "hits": "2"}],
            "csvserver_rewritepolicy_binding": [
                {"policyname": "head", "priority": "1", "hits": "0", "bindpoint": "RESPONSE"},
            ],
        }]});
        let (told, count) = policies(&Facts::list(&bound, "csvserver_binding").remove(0), "csvserver");
        assert_eq!(
            told,
            "\n1)\tResponder Policy: tls\tPriority: 5\tHits: 2\n\tGotoPriority Expression: END\tFlowtype: REQUEST\n\
             \n2)\tRewrite Policy: head\tPriority: 1\tHits: 0\n\tGotoPriority Expression: END\tFlowtype: RESPONSE\n\
             \n3)\tContent-Switching Policy: api\tPriority: 10\tHits: 7\tTarget: lb\n"
        );
        assert_eq!(count, 3);
    }

    #[test]
    fn a_timeout_is_told_in_minutes() {
        assert_eq!(minutes("2m"), "2 min");
        assert_eq!(minutes("0s"), "0 min");
        assert_eq!(minutes("90s"), "90s");
    }
}
