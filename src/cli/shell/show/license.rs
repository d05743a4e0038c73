//! `show ns license`, `show ns hardware`, `show ns info`, `show system user`.

use super::facts::Facts;
use crate::admin::dto::MachineDto;

/// What `show ns license` calls a feature, and its flag in `nslicense`.
const LICENSED: [(&str, &str); 21] = [
    ("Web Logging", "wl"),
    ("Surge Protection", "sp"),
    ("Load Balancing", "lb"),
    ("Content Switching", "cs"),
    ("Cache Redirection", "cr"),
    ("Compression Control", "cmp"),
    ("SSL Offloading", "ssl"),
    ("Global Server Load Balancing", "gslb"),
    ("Http DoS Protection", "hdosp"),
    ("Content Filtering", "cf"),
    ("Integrated Caching", "ic"),
    ("SSL VPN", "sslvpn"),
    ("AAA", "aaa"),
    ("OSPF Routing", "ospf"),
    ("RIP Routing", "rip"),
    ("BGP Routing", "bgp"),
    ("Rewrite", "rewrite"),
    ("IPv6 protocol translation", "ipv6pt"),
    ("Application Firewall", "appfw"),
    ("Responder", "responder"),
    ("AppFlow", "appflow"),
];

/// `facts`: `nslicense`
pub(in super::super) fn license(facts: &Facts) -> String {
    let mut out = "\tLicense status:\n".to_owned();
    for (name, key) in LICENSED {
        let there = if facts.said(key, "false") == "true" { "YES" } else { "NO" };
        out += &format!("\t{name:>40}: {there}\n");
    }
    out += &format!("\t{:>40}: {}\n", "Model Number ID", facts.said("modelid", "0"));
    out + &format!("\t{:>40}: {}\n", "License Type", "none is needed: what is there may be used, for ever")
}

/// `hardware`: `nshardware`; the machine stands in the status.
pub(in super::super) fn hardware(hardware: &Facts, machine: Option<&MachineDto>) -> String {
    let told = machine.map(machine_told).unwrap_or_default();
    format!(
        "\tPlatform: {}\n{told}\tHost Id: {}\n\tSerial no: {}\n\tEncoded serial no: {}\n",
        hardware.said("hwdescription", ""),
        hardware.count("hostid"),
        hardware.said("serialno", ""),
        hardware.said("encodedserialno", ""),
    )
}

fn machine_told(machine: &MachineDto) -> String {
    let clock = machine.clock_mhz.map_or_else(|| "unknown".to_owned(), |clock| format!("{clock}MHZ"));
    let used = machine.memory_used as f64 * 100.0 / machine.memory_total.max(1) as f64;
    let mut out = format!(
        "\tCPU: {clock}\n\tNumber of CPUs: {}, {:.1} % in use\n\tMemory: {} MB, {used:.1} % in use\n",
        machine.processors,
        machine.busy_percent,
        machine.memory_total >> 20,
    );
    for (what, disk) in [("system", &machine.system_disk), ("data", &machine.data_disk)] {
        let (total, free) = (disk.total >> 20, disk.free >> 20);
        out += &format!("\tDisk ({what}): {total} MB, {free} MB free, {} % in use\n", disk.percent);
    }
    for link in &machine.interfaces {
        let state = if link.up { "UP" } else { "DOWN" };
        let speed = link.speed.map_or_else(|| "speed unknown".to_owned(), |speed| format!("{speed} Mbit/s"));
        out += &format!("\tInterface {}: {state}, {speed}, MTU {}\n", link.name, link.mtu);
    }
    out
}

/// `features` and `modes`: as `show ns feature` and `show ns mode` print them.
pub(in super::super) fn info(version: &Facts, config: &Facts, features: &str, modes: &str) -> String {
    let state = |key: &str| config.said(key, "");
    format!(
        "\t{}\n\tNetScaler IP: {}  (mask: {})\n\tNode: Standalone\n\tSystem Time: {}\n\tLast Config Changed Time: {}\n\
         \n\tGlobal configuration settings:\n\t{:>40}: {}\n\t{:>40}: {}\n\t{:>40}: {}\n\nFeature status\n{features}\n\
         Mode status\n{modes}",
        version.said("version", ""),
        state("ipaddress"),
        state("netmask"),
        state("currentsytemtime"),
        state("lastconfigchangedtime"),
        "HTTP port(s)",
        ports(config),
        "Cookie version",
        config.said("cookieversion", "0"),
        "Persistence Cookie Secure Flag",
        config.said("securecookie", "ENABLED"),
    )
}

fn ports(config: &Facts) -> String {
    let ports = config.0.get("httpport").and_then(|ports| ports.as_array()).into_iter().flatten();
    let ports: Vec<String> = ports.map(ToString::to_string).collect();
    if ports.is_empty() { "(none)".to_owned() } else { ports.join(" ") }
}

/// `policies`: `systemuser_systemcmdpolicy_binding`
pub(in super::super) fn system_user(user: &Facts, policies: &[Facts]) -> String {
    let mut out = format!(
        "\tUser name: {}\tTimeout: {}\tExternal Authentication: {}\tLogging: {}\tMaximum Client Sessions: {}\n",
        user.said("username", ""),
        user.count("timeout"),
        user.said("externalauth", "DISABLED"),
        user.said("logging", "DISABLED"),
        user.count("maxsession"),
    );
    for (at, policy) in policies.iter().enumerate() {
        let name = policy.said("policyname", "");
        out += &format!("\n{})\tCommand Policy: {name}\tPriority: {}\n", at + 1, policy.count("priority"));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::admin::dto::{LinkDto, RoomDto};

    fn facts(value: Value) -> Facts {
        Facts::list(&json!({ "x": value }), "x").into_iter().next().unwrap_or_default()
    }

    #[test]
    fn features_stand_to_the_right_with_yes_or_no() {
        let shown = license(&facts(json!({"lb": true, "aaa": false, "modelid": "0"})));
        assert!(
            shown.contains(&format!("\t{:>40}: YES\n\t{:>40}: NO\n", "Load Balancing", "Content Switching")),
            "{shown}"
        );
        assert!(shown.contains("Model Number ID: 0\n"), "{shown}");
    }

    #[test]
    fn the_machine_is_told_with_its_memory_its_disks_and_its_links() {
        let room = |total: u64, free: u64, percent| RoomDto { total: total << 20, free: free << 20, percent };
        let machine = MachineDto {
            processors: 2,
            busy_percent: 3.25,
            clock_mhz: Some(2_400),
            memory_total: 3_900 << 20,
            memory_used: 1_950 << 20,
            system_disk: room(1_000, 700, 30),
            data_disk: room(20_000, 5_000, 75),
            interfaces: vec![LinkDto { name: "eth0".into(), up: true, mtu: 1_500, speed: Some(10_000) }],
        };
        let shown = hardware(&facts(json!({"hwdescription": "Bascule (x86_64)"})), Some(&machine));
        assert!(
            shown.contains("\tCPU: 2400MHZ\n\tNumber of CPUs: 2, 3.2 % in use\n\tMemory: 3900 MB, 50.0 % in use\n"),
            "{shown}"
        );
        assert!(shown.contains("\tDisk (data): 20000 MB, 5000 MB free, 75 % in use\n"), "{shown}");
        assert!(shown.contains("\tInterface eth0: UP, 10000 Mbit/s, MTU 1500\n"), "{shown}");
        let silent = MachineDto { clock_mhz: None, ..machine };
        assert!(hardware(&Facts::default(), Some(&silent)).contains("\tCPU: unknown\n"));
    }

    #[test]
    fn a_user_is_told_with_the_policy_that_is_its_role() {
        let user = facts(json!({"username": "eve", "timeout": "900", "maxsession": "20"}));
        let policy = facts(json!({"policyname": "operator", "priority": "100"}));
        let shown = system_user(&user, &[policy]);
        assert!(shown.starts_with("\tUser name: eve\tTimeout: 900\tExternal Authentication: DISABLED\t"), "{shown}");
        assert!(shown.ends_with("\n1)\tCommand Policy: operator\tPriority: 100\n"), "{shown}");
    }
}
