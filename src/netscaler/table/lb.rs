//! Vservers that balance or switch content, and groups of them.

use super::{
    DISABLED, Form, Joint, Kind, NO, OFF, Place, STATE, ZERO, double, enabled, name, only, other, refused, row, text,
    with, word,
};
use crate::netscaler::resource::{Attribute, Resource, Shape};

const MAC: &str = "requests go to the server's address; there is no MAC, tunnel or TOS mode";
const ONE_ADDRESS: &str = "one address each";
const NO_USERS: &str = "there is no authentication of users of the traffic";
const DATABASES: &str = "databases are TCP vservers";
const PROFILE: &str = "settings stand in the vserver";
const NO_PUSH: &str = "there is no server push";

/// Of vservers of either kind.
static ANY: &[Attribute] = &[
    name("name", "name"),
    word("servicetype", "serviceType", &["type"], ""),
    with("ipv46", "IPAddress", Kind::Text, Joint::Vip, "0.0.0.0"),
    with("port", "port", Kind::Integer, Joint::Vip, "0"),
    double("clttimeout", "cltTimeout", &["clt_timeout"], Form::Seconds, ""),
    enabled("downstateflush", "downStateFlush", &["down_state_flush"], "ENABLED"),
    text("backupvserver", "backupVServer", &["backup"]),
    enabled("disableprimaryondown", "disablePrimaryOnDown", &["disable_primary_on_down"], "DISABLED"),
    text("comment", "comment", &["comment"]),
    STATE,
    only("td", "td", Kind::Double, ZERO),
    only("range", "range", Kind::Double, &["1"]),
    only("cacheable", "cacheable", Kind::Text, NO),
    only("appflowlog", "appflowLog", Kind::Text, &["ENABLED", "DISABLED"]),
    only("rtspnat", "RTSPNAT", Kind::Text, OFF),
    only("l2conn", "l2Conn", Kind::Text, OFF),
    only("redirectportrewrite", "redirectPortRewrite", Kind::Text, DISABLED),
    only("insertvserveripport", "insertVserverIPPort", Kind::Text, OFF),
    only("icmpvsrresponse", "icmpVsrResponse", Kind::Text, &["PASSIVE"]),
    only("rhistate", "RHIstate", Kind::Text, &["PASSIVE"]),
    only("authentication", "authentication", Kind::Text, OFF),
    only("authn401", "authn401", Kind::Text, OFF),
    only("push", "push", Kind::Text, DISABLED),
    only("pushmulticlients", "pushMultiClients", Kind::Text, NO),
    only("pushlabel", "pushLabel", Kind::Text, &["none"]),
    only("listenpolicy", "Listenpolicy", Kind::Text, &["NONE"]),
    only("listenpriority", "Listenpriority", Kind::Double, &["101"]),
    refused("vipheader", "vipHeader", "servers learn of clients by X-Forwarded-For and the PROXY protocol"),
    refused("authenticationhost", "AuthenticationHost", NO_USERS),
    refused("authnvsname", "authnVsName", NO_USERS),
    refused("authnprofile", "authnProfile", NO_USERS),
    refused("pushvserver", "pushVserver", NO_PUSH),
    refused("ippattern", "IPPattern", ONE_ADDRESS),
    refused("ipmask", "IPMask", ONE_ADDRESS),
    refused("ipset", "ipset", ONE_ADDRESS),
    refused("tcpprofilename", "tcpProfileName", "the kernel's settings are used"),
    refused("httpprofilename", "httpProfileName", PROFILE),
    refused("netprofile", "netProfile", "connections leave from the address that the routing table chooses"),
    refused("dbprofilename", "dbProfileName", DATABASES),
    refused("dnsprofilename", "dnsProfileName", PROFILE),
    refused("oracleserverversion", "oracleServerVersion", DATABASES),
    refused("mssqlserverversion", "mssqlServerVersion", DATABASES),
    refused("mysqlserverversion", "mysqlServerVersion", DATABASES),
    refused("mysqlprotocolversion", "mysqlProtocolVersion", DATABASES),
    refused("mysqlcharacterset", "mysqlCharacterSet", DATABASES),
    refused("mysqlservercapabilities", "mysqlServerCapabilities", DATABASES),
];

/// Of `lb vserver` alone.
static LB: &[Attribute] = &[
    word("lbmethod", "lbMethod", &["lb_method"], "LEASTCONNECTION"),
    word("backuplbmethod", "backupLBMethod", &["backup_lb_method"], "ROUNDROBIN"),
    double("hashlength", "hashLength", &["hash_length"], Form::Number, "80"),
    row("netmask", "netmask", Kind::Text, Place::At(&["netmask"], Form::Mask), ""),
    double("v6netmasklen", "v6netmasklen", &["v6netmasklen"], Form::Number, "128"),
    with("rule", "rule", Kind::Text, Joint::Rule, ""),
    with("persistencetype", "persistenceType", Kind::Text, Joint::Persistence, "NONE"),
    with("timeout", "timeout", Kind::Double, Joint::Persistence, "2"),
    with("persistencebackup", "persistenceBackup", Kind::Text, Joint::Persistence, "NONE"),
    with("backuppersistencetimeout", "backupPersistenceTimeout", Kind::Double, Joint::Persistence, "2"),
    with("persistmask", "persistMask", Kind::Text, Joint::Persistence, ""),
    with("v6persistmasklen", "v6persistmasklen", Kind::Double, Joint::Persistence, "128"),
    with("cookiename", "cookieName", Kind::Text, Joint::Persistence, ""),
    with("resrule", "resRule", Kind::Text, Joint::Persistence, ""),
    enabled("trofspersistence", "trofsPersistence", &["trofs_persistence"], "ENABLED"),
    word("skippersistency", "skippersistency", &["skip_persistency"], "None"),
    text("redirurl", "redirectURL", &["redirect_url"]),
    double("healththreshold", "healthThreshold", &["health_threshold"], Form::Number, "0"),
    with("somethod", "soMethod", Kind::Text, Joint::Spillover, "NONE"),
    with("sothreshold", "soThreshold", Kind::Double, Joint::Spillover, ""),
    with("sopersistence", "soPersistence", Kind::Text, Joint::Spillover, "DISABLED"),
    with("sopersistencetimeout", "soPersistenceTimeOut", Kind::Double, Joint::Spillover, "2"),
    with("sobackupaction", "soBackupAction", Kind::Text, Joint::Spillover, ""),
    with("weight", "weight", Kind::Double, Joint::Rebind, ""),
    with("servicename", "serviceName", Kind::Text, Joint::Rebind, ""),
    only("m", "m", Kind::Text, &["IP"]),
    only("pq", "pq", Kind::Text, OFF),
    only("sc", "sc", Kind::Text, OFF),
    only("sessionless", "sessionless", Kind::Text, DISABLED),
    only("connfailover", "connfailover", Kind::Text, DISABLED),
    only("macmoderetainvlan", "macmodeRetainvlan", Kind::Text, DISABLED),
    only("dbslb", "dbsLb", Kind::Text, DISABLED),
    only("dns64", "dns64", Kind::Text, DISABLED),
    only("bypassaaaa", "bypassAAAA", Kind::Text, NO),
    only("recursionavailable", "RecursionAvailable", Kind::Text, NO),
    only("processlocal", "processLocal", Kind::Text, DISABLED),
    only("retainconnectionsoncluster", "retainConnectionsOnCluster", Kind::Text, NO),
    only("newservicerequest", "newServiceRequest", Kind::Double, ZERO),
    only("newservicerequestunit", "newServiceRequestUnit", Kind::Text, &["PER_SECOND"]),
    only("newservicerequestincrementinterval", "newServiceRequestIncrementInterval", Kind::Double, ZERO),
    only("minautoscalemembers", "minAutoscaleMembers", Kind::Double, ZERO),
    only("maxautoscalemembers", "maxAutoscaleMembers", Kind::Double, ZERO),
    only("trofsmode", "trofsmode", Kind::Text, &["NONE"]),
    refused("order", "order", "belongs to each member"),
    refused("orderthreshold", "orderThreshold", "new clients go to the lowest order with a member UP"),
    refused("toggleorder", "toggleOrder", "new clients go to the lowest order with a member UP"),
    refused("tosid", "tosId", MAC),
    refused("datalength", "dataLength", "the method TOKEN takes a value of the request, not raw bytes"),
    refused("dataoffset", "dataOffset", "the method TOKEN takes a value of the request, not raw bytes"),
    refused("persistavpno", "persistAVPno", "DIAMETER is not balanced here"),
    refused("lbprofilename", "lbprofilename", PROFILE),
    refused("redirectfromport", "redirectFromPort", "a rule redirects"),
    refused("httpsredirecturl", "httpsRedirectUrl", "a rule redirects"),
    refused("quicbridgeprofilename", "quicBridgeProfilename", "no QUIC"),
    refused("probeprotocol", "probeProtocol", "bind a monitor to the services"),
    refused("probeport", "probePort", "bind a monitor to the services"),
    refused("probesuccessresponsecode", "probeSuccessResponseCode", "bind a monitor to the services"),
];

pub static LB_VSERVER: Resource = Resource {
    nitro: "lbvserver",
    words: &["lb", "vserver"],
    shape: Shape::Object { section: "vserver" },
    key: "name",
    lists: &[ANY, LB],
    positional: &["name", "servicetype", "ipv46", "port"],
    required: &["servicetype"],
};

/// Of `cs vserver` alone.
static CS: &[Attribute] = &[
    text("redirecturl", "redirectURL", &["redirect_url"]),
    text("lbvserver", "lbvserver", &["default"]),
    only("stateupdate", "stateUpdate", Kind::Text, DISABLED),
    only("precedence", "precedence", Kind::Text, &["RULE"]),
    only("casesensitive", "caseSensitive", Kind::Text, &["ON"]),
    only("somethod", "soMethod", Kind::Text, &["NONE"]),
    only("sopersistence", "soPersistence", Kind::Text, DISABLED),
    only("sopersistencetimeout", "soPersistenceTimeOut", Kind::Double, &["2"]),
    only("persistencetype", "persistenceType", Kind::Text, &["NONE"]),
    only("timeout", "timeout", Kind::Double, &["2"]),
    refused("sothreshold", "soThreshold", "spillover belongs to a vserver that balances"),
    refused("sobackupaction", "soBackupAction", "spillover belongs to a vserver that balances"),
    refused("targettype", "targetType", "records and scenarios answer names"),
    refused("dnsrecordtype", "dnsRecordType", "records and scenarios answer names"),
    refused("persistenceid", "persistenceId", "records and scenarios answer names"),
    refused("domainname", "domainName", "records and scenarios answer names"),
];

pub static CS_VSERVER: Resource = Resource {
    nitro: "csvserver",
    words: &["cs", "vserver"],
    shape: Shape::Object { section: "cs_vserver" },
    key: "name",
    lists: &[ANY, CS],
    positional: &["name", "servicetype", "ipv46", "port"],
    required: &["servicetype"],
};

pub static CS_DEFAULT: Resource = Resource {
    nitro: "csvserver_lbvserver_binding",
    words: &["cs", "vserver"],
    shape: Shape::Binding { owner: "csvserver", to: "lbvserver" },
    key: "name",
    lists: &[&[
        name("name", "name"),
        other("lbvserver", "lbvserver"),
        refused("targetvserver", "targetVserver", "a rule names its target itself"),
    ]],
    positional: &["name"],
    required: &["lbvserver"],
};

pub static LB_VSERVER_SERVICE: Resource = Resource {
    nitro: "lbvserver_service_binding",
    words: &["lb", "vserver"],
    shape: Shape::Binding { owner: "lbvserver", to: "service" },
    key: "name",
    lists: &[&[
        name("name", "name"),
        other("servicename", "serviceName"),
        double("weight", "weight", &["weight"], Form::Number, "1"),
        double("order", "order", &["order"], Form::Number, "1"),
        // The reference names it beside; a group is bound by it.
        refused("servicegroupname", "serviceGroupName", "a group is bound by lbvserver_servicegroup_binding"),
    ]],
    positional: &["name", "servicename"],
    required: &["servicename"],
};

pub static LB_VSERVER_GROUP: Resource = Resource {
    nitro: "lbvserver_servicegroup_binding",
    words: &["lb", "vserver"],
    shape: Shape::Binding { owner: "lbvserver", to: "servicegroup" },
    key: "name",
    lists: &[&[
        name("name", "name"),
        other("servicegroupname", "serviceGroupName"),
        only("weight", "weight", Kind::Double, &["1"]),
        only("order", "order", Kind::Double, &["1"]),
        refused("servicename", "serviceName", "a service is bound by lbvserver_service_binding"),
    ]],
    positional: &["name", "servicegroupname"],
    required: &["servicegroupname"],
};

pub static LB_GROUP: Resource = Resource {
    nitro: "lbgroup",
    words: &["lb", "group"],
    shape: Shape::Object { section: "lb_group" },
    key: "name",
    lists: &[&[
        name("name", "name"),
        with("persistencetype", "persistenceType", Kind::Text, Joint::Persistence, ""),
        with("timeout", "timeout", Kind::Double, Joint::Persistence, "2"),
        with("persistencebackup", "persistenceBackup", Kind::Text, Joint::Persistence, "NONE"),
        with("backuppersistencetimeout", "backupPersistenceTimeout", Kind::Double, Joint::Persistence, "2"),
        with("persistmask", "persistMask", Kind::Text, Joint::Persistence, ""),
        with("v6persistmasklen", "v6persistmasklen", Kind::Double, Joint::Persistence, "128"),
        with("cookiename", "cookieName", Kind::Text, Joint::Persistence, ""),
        with("rule", "rule", Kind::Text, Joint::Persistence, ""),
        only("usevserverpersistency", "useVserverPersistency", Kind::Text, DISABLED),
        refused("mastervserver", "masterVserver", "every vserver of a group is as good as another"),
        refused("cookiedomain", "cookieDomain", "cookies are for the host that was asked"),
    ]],
    positional: &["name"],
    required: &["persistencetype"],
};

pub static LB_GROUP_VSERVER: Resource = Resource {
    nitro: "lbgroup_lbvserver_binding",
    words: &["lb", "group"],
    shape: Shape::Binding { owner: "lbgroup", to: "lbvserver" },
    key: "name",
    lists: &[&[name("name", "name"), other("vservername", "vServerName")]],
    positional: &["name", "vservername"],
    required: &["vservername"],
};
