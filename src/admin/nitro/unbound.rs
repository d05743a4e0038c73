//! Bindings that NetScaler knows and that nothing here has. Clients read them of every object that they manage: of one
//! that is there the list is empty, of one that is not there is no such resource.

use super::answer::Fault;
use super::stat::Found;
use super::suites;
use super::target::Named;
use crate::netscaler::document::Document;
use crate::netscaler::resource::Resource;

/// Owners, and what can be bound to theirs on a NetScaler.
const UNBOUND: &[(&[&str], &[&str])] = &[
    (
        &["lbvserver", "csvserver"],
        &[
            "analyticsprofile",
            "appflowpolicy",
            "appfwpolicy",
            "appqoepolicy",
            "auditnslogpolicy",
            "auditsyslogpolicy",
            "authorizationpolicy",
            "botpolicy",
            "cachepolicy",
            "cmppolicy",
            "contentinspectionpolicy",
            "feopolicy",
            "responderpolicy",
            "rewritepolicy",
            "spilloverpolicy",
            "tmtrafficpolicy",
            "transformpolicy",
        ],
    ),
    (
        &["lbvserver"],
        &[
            "csvserver",
            "dnspolicy64",
            "lbpolicy",
            "videooptimizationdetectionpolicy",
            "videooptimizationpacingpolicy",
            "videooptimizationpolicy",
        ],
    ),
    (&["csvserver"], &["domain", "gslbvserver", "vpnvserver"]),
    (&["lbmonitor"], &["metric", "sslcertkey"]),
    (&["sslcertkey"], &["crldistribution", "service", "sslocspresponder", "sslprofile", "sslvserver"]),
    (
        &["sslvserver", "sslservice", "sslservicegroup"],
        &["ecccurve", "sslcacertbundle", "sslcertkey", "sslcertkeybundle", "sslcipher", "sslciphersuite", "sslpolicy"],
    ),
    (&["gslbvserver"], &["domain", "gslbservice", "gslbservicegroup", "lbpolicy", "spilloverpolicy"]),
    (&["gslbservice"], &["dnsview", "lbmonitor"]),
    (&["gslbservicegroup"], &["gslbservicegroupmember", "lbmonitor"]),
    (&["gslbsite"], &["gslbservice", "gslbservicegroup"]),
];

/// The owner, where `resource` (in lower case) is one of them.
pub(super) fn owner(resource: &str) -> Option<&'static str> {
    let (owner, other) = resource.strip_suffix("_binding")?.split_once('_')?;
    UNBOUND.iter().find_map(|(owners, others)| {
        let owner = owners.iter().find(|known| **known == owner)?;
        others.contains(&other).then_some(*owner)
    })
}

/// The list of an object of `owner`, and of all of them; `kind`: the binding, in lower case.
pub(super) fn read(document: &Document, owner: &'static str, kind: &str, name: Option<&Named>) -> Result<Found, Fault> {
    let found = |objects| Found { objects, single: false };
    let Some(name) = name else { return Ok(found(Vec::new())) };
    let resource = Resource::find(owner);
    let is_there = |name: &str| {
        resource.is_some_and(|resource| document.has(resource, name)) || (owner == "lbmonitor" && is_built_in(name))
    };
    let wanted = name.find(is_there);
    let key = resource.map_or("name", |resource| resource.key);
    if !is_there(wanted) {
        return Err(Fault::no_such(key, wanted));
    }
    Ok(found(suites::read(document, owner, kind, wanted).unwrap_or_default()))
}

fn is_built_in(monitor: &str) -> bool {
    crate::config::builtin_monitors().any(|name| name == monitor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bound_to_nothing_is_known_by_its_owner() {
        assert_eq!(owner("lbvserver_responderpolicy_binding"), Some("lbvserver"));
        assert_eq!(owner("sslvserver_ecccurve_binding"), Some("sslvserver"));
        assert_eq!([owner("lbvserver_nonsense_binding"), owner("lbvserver_binding"), owner("lbvserver")], [None; 3]);
    }

    #[test]
    fn an_object_that_is_there_has_an_empty_list_and_another_none() {
        let text = "[vserver.web]\ntype = \"HTTP\"\n[cs_vserver.front]\ntype = \"SSL\"\n";
        let document = Document::from_toml(text).unwrap();
        let read = |owner, name: &str| {
            let name = Named::parse(name).unwrap();
            read(&document, owner, "x", Some(&name)).map(|found| found.objects.len()).map_err(|fault| fault.code)
        };
        for (owner, name) in
            [("lbvserver", "web"), ("csvserver", "front"), ("sslvserver", "front"), ("lbmonitor", "tcp")]
        {
            assert_eq!(read(owner, name), Ok(0), "{owner} {name}");
        }
        for (owner, name) in [("lbvserver", "front"), ("csvserver", "web"), ("sslvserver", "x"), ("gslbvserver", "web")]
        {
            assert_eq!(read(owner, name), Err(258), "{owner} {name}");
        }
    }
}
