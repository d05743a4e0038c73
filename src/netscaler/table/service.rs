//! Servers, services, groups, their members and monitors.

use super::{
    DISABLED, Form, HTTP_PROFILE, Joint, Kind, NO, OFF, Place, STATE, TCP_PROFILE, ZERO, double, enabled, name, only,
    other, refused, row, text, with, word, yes_no,
};
use crate::netscaler::resource::{Attribute, Resource, Shape};

const RECORDS: &str = "records and scenarios do that";
const CLIENT_ADDRESS: &str =
    "servers see the appliance's address; the PROXY protocol, `cip` and X-Forwarded-For tell the client's";

pub static SERVER: Resource = Resource {
    nitro: "server",
    words: &["server"],
    shape: Shape::Object { section: "server" },
    key: "name",
    lists: &[&[
        name("name", "name"),
        with("ipaddress", "IPAddress", Kind::Text, Joint::ServerAddress, ""),
        with("domain", "domain", Kind::Text, Joint::ServerAddress, ""),
        word("querytype", "queryType", &["query_type"], ""),
        row(
            "domainresolveretry",
            "domainResolveRetry",
            Kind::Integer,
            Place::At(&["domain_resolve_retry"], Form::Seconds),
            "",
        ),
        STATE,
        only("ipv6address", "ipv6Address", Kind::Text, NO),
        only("td", "td", Kind::Double, ZERO),
        text("comment", "comment", &["comment"]),
        refused("translationip", "translationIp", "the address in DNS is the one that is used"),
        refused("translationmask", "translationMask", "the address in DNS is the one that is used"),
        refused("domainresolvenow", "domainResolveNow", "a reload asks for names that are new"),
    ]],
    positional: &["name", "ipaddress|domain"],
    required: &["ipaddress|domain"],
};

/// Of services and groups.
static SETTINGS: &[Attribute] = &[
    word("servicetype", "serviceType", &["type"], ""),
    double("maxclient", "maxClient", &["max_client"], Form::Number, "0"),
    double("maxreq", "maxReq", &["max_req"], Form::Number, "0"),
    double("maxbandwidth", "maxBandwidth", &["max_bandwidth"], Form::Kilobits, "0"),
    yes_no("healthmonitor", "healthMonitor", &["health_monitor"], "YES"),
    double("monthreshold", "monThreshold", &["mon_threshold"], Form::Number, "0"),
    enabled("cip", "cip", &["cip"], "DISABLED"),
    text("cipheader", "cipHeader", &["cip_header"]),
    double("svrtimeout", "svrTimeout", &["svr_timeout"], Form::Seconds, "360"),
    enabled("downstateflush", "downStateFlush", &["down_state_flush"], "ENABLED"),
    STATE,
    text("comment", "comment", &["comment"]),
    only("td", "td", Kind::Double, ZERO),
    only("cacheable", "cacheable", Kind::Text, NO),
    enabled("appflowlog", "appflowLog", &["app_flow_log"], "ENABLED"),
    only("sp", "sp", Kind::Text, OFF),
    only("sc", "sc", Kind::Text, OFF),
    only("rtspsessionidremap", "rtspSessionidRemap", Kind::Text, OFF),
    only("usip", "usip", Kind::Text, NO),
    only("useproxyport", "useproxyport", Kind::Text, &["YES"]),
    only("cka", "CKA", Kind::Text, NO),
    only("tcpb", "TCPB", Kind::Text, NO),
    only("cmp", "CMP", Kind::Text, NO),
    only("accessdown", "accessDown", Kind::Text, NO),
    only("pathmonitor", "pathMonitor", Kind::Text, NO),
    only("pathmonitorindv", "pathMonitorIndv", Kind::Text, NO),
    only("monconnectionclose", "monConnectionClose", Kind::Text, &["NONE"]),
    only("gslb", "gslb", Kind::Text, &["NONE"]),
    // Idle clients are the vserver's: NetScaler's own defaults are taken, for every saved file says them.
    only("clttimeout", "cltTimeout", Kind::Double, &["180", "9000", "120"]),
    refused("cachetype", "cacheType", "no caches are redirected to"),
    refused("cleartextport", "clearTextPort", "make a service of type HTTP"),
    only("tcpprofilename", "tcpProfileName", Kind::Text, TCP_PROFILE),
    only("httpprofilename", "httpProfileName", Kind::Text, HTTP_PROFILE),
    refused("quicprofilename", "quicProfileName", "no QUIC"),
    refused("netprofile", "netProfile", "connections leave from the address that the routing table chooses"),
    refused("dnsprofilename", "dnsProfileName", "settings stand in the service"),
    refused("contentinspectionprofilename", "contentInspectionProfileName", CLIENT_ADDRESS),
    refused("riseapbrstatsmsgcode", "riseApbrStatsMsgCode", RECORDS),
    with("weight", "weight", Kind::Double, Joint::Rebind, ""),
    with("monitor_name_svc", "monitorName", Kind::Text, Joint::Rebind, ""),
];

static ENDPOINT: &[Attribute] = &[
    name("name", "name"),
    with("ip", "IP", Kind::Text, Joint::Host, ""),
    with("ipaddress", "IPAddress", Kind::Text, Joint::Host, ""),
    with("servername", "serverName", Kind::Text, Joint::Host, ""),
    with("port", "port", Kind::Integer, Joint::Host, ""),
    text("customserverid", "CustomServerID", &["custom_server_id"]),
    double("hashid", "hashId", &["hash_id"], Form::Number, ""),
    only("processlocal", "processLocal", Kind::Text, DISABLED),
    refused("serverid", "serverID", "`CustomServerID` names a server in persistence"),
    refused("autoscale", "autoScale", "of service groups"),
    refused("memberport", "memberPort", "of service groups"),
];

pub static SERVICE: Resource = Resource {
    nitro: "service",
    words: &["service"],
    shape: Shape::Object { section: "service" },
    key: "name",
    lists: &[ENDPOINT, SETTINGS],
    positional: &["name", "ip|servername", "servicetype", "port"],
    required: &["ip|ipaddress|servername", "servicetype", "port"],
};

static GROUP: &[Attribute] = &[
    name("servicegroupname", "serviceGroupName"),
    word("autoscale", "autoScale", &["auto_scale"], "DISABLED"),
    double("autodisabledelay", "autoDisabledelay", &["auto_disable_delay"], Form::Seconds, ""),
    yes_no("autodisablegraceful", "autoDisablegraceful", &["auto_disable_graceful"], "NO"),
    yes_no("autodelayedtrofs", "autoDelayedTrofs", &["auto_delayed_trofs"], "NO"),
    refused("memberport", "memberPort", "`port` of the member, or the SRV record"),
    refused("bootstrap", "bootstrap", RECORDS),
    refused("topicname", "topicName", RECORDS),
];

pub static SERVICE_GROUP: Resource = Resource {
    nitro: "servicegroup",
    words: &["serviceGroup"],
    shape: Shape::Object { section: "service_group" },
    key: "servicegroupname",
    lists: &[GROUP, SETTINGS],
    positional: &["servicegroupname", "servicetype"],
    required: &["servicetype"],
};

pub static MEMBER: Resource = Resource {
    nitro: "servicegroup_servicegroupmember_binding",
    words: &["serviceGroup"],
    shape: Shape::Binding { owner: "servicegroup", to: "" },
    key: "servicegroupname",
    lists: &[&[
        name("servicegroupname", "serviceGroupName"),
        with("ip", "IP", Kind::Text, Joint::Host, ""),
        with("servername", "serverName", Kind::Text, Joint::Host, ""),
        with("port", "port", Kind::Integer, Joint::Host, ""),
        double("weight", "weight", &["weight"], Form::Number, "1"),
        double("order", "order", &["order"], Form::Number, "1"),
        text("customserverid", "CustomServerID", &["custom_server_id"]),
        double("hashid", "hashId", &["hash_id"], Form::Number, ""),
        STATE,
        refused("serverid", "serverID", "`CustomServerID` names a server in persistence"),
        refused("dbsttl", "dbsTTL", "the TTL of the answer counts"),
        refused("nameserver", "nameServer", "`[resolver]` says who is asked"),
    ]],
    positional: &["servicegroupname", "ip|servername", "port"],
    required: &["ip|servername"],
};

pub static SERVICE_MONITOR: Resource = Resource {
    nitro: "service_lbmonitor_binding",
    words: &["service"],
    shape: Shape::Binding { owner: "service", to: "lbmonitor" },
    key: "name",
    lists: &[&[name("name", "name")], BOUND_MONITOR],
    positional: &["name"],
    required: &["monitor_name"],
};

pub static GROUP_MONITOR: Resource = Resource {
    nitro: "servicegroup_lbmonitor_binding",
    words: &["serviceGroup"],
    shape: Shape::Binding { owner: "servicegroup", to: "lbmonitor" },
    key: "servicegroupname",
    lists: &[&[name("servicegroupname", "serviceGroupName")], BOUND_MONITOR],
    positional: &["servicegroupname"],
    required: &["monitor_name"],
};

static BOUND_MONITOR: &[Attribute] = &[
    other("monitor_name", "monitorName"),
    double("weight", "weight", &["weight"], Form::Number, "1"),
    word("monstate", "monState", &["state"], "ENABLED"),
    row("passive", "passive", Kind::Boolean, Place::At(&["passive"], Form::YesNo), "false"),
];
