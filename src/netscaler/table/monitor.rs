//! Monitors.

use super::{
    Form, Joint, Kind, NO, Place, double, enabled, integer, name, only, refused, row, text, with, word, yes_no,
};
use crate::netscaler::resource::{Attribute, Resource, Shape};

const CITRIX: &str = "monitors of Citrix types are stored and not probed";
const STORED: &str = "monitors of this type are stored and not probed";
const SENT: &str = "such attributes are not sent";

const fn time(nitro: &'static str, cli: &'static str, kind: Kind, default: &'static str) -> Attribute {
    with(nitro, cli, kind, Joint::Time, default)
}

const fn lines(nitro: &'static str, cli: &'static str, path: &'static [&'static str]) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::Bytes), "")
}

const fn secret(nitro: &'static str, cli: &'static str, path: &'static [&'static str]) -> Attribute {
    row(nitro, cli, Kind::Text, Place::At(path, Form::Secret), "")
}

static SCHEDULE: &[Attribute] = &[
    name("monitorname", "monitorName"),
    word("type", "type", &["type"], ""),
    time("interval", "interval", Kind::Integer, "5"),
    time("units3", "units3", Kind::Text, "SEC"),
    time("resptimeout", "resptimeout", Kind::Integer, "2"),
    time("units4", "units4", Kind::Text, "SEC"),
    time("downtime", "downTime", Kind::Integer, "30"),
    time("units2", "units2", Kind::Text, "SEC"),
    time("deviation", "deviation", Kind::Double, "0"),
    time("units1", "units1", Kind::Text, "SEC"),
    double("resptimeoutthresh", "resptimeoutThresh", &["response_timeout_threshold"], Form::Number, "0"),
    integer("retries", "retries", &["retries"], "3"),
    integer("failureretries", "failureRetries", &["failure_retries"], "0"),
    integer("alertretries", "alertRetries", &["alert_retries"], "0"),
    integer("successretries", "successRetries", &["success_retries"], "1"),
    enabled("lrtm", "LRTM", &["lrtm"], "DISABLED"),
    yes_no("reverse", "reverse", &["reverse"], "NO"),
    word("state", "state", &["state"], "ENABLED"),
    text("destip", "destIP", &["dest_ip"]),
    integer("destport", "destPort", &["dest_port"], ""),
    // NetScaler's monitors have none; the TOML's do.
    text("comment", "comment", &["comment"]),
    only("transparent", "transparent", Kind::Text, NO),
    only("iptunnel", "ipTunnel", Kind::Text, NO),
    only("tos", "tos", Kind::Text, NO),
    refused("tosid", "tosId", "probes carry no type of service"),
    refused("netprofile", "netProfile", "probes leave from the address that the routing table chooses"),
    refused("servicename", "serviceName", "`enable lb monitor` and `disable lb monitor` take it"),
    refused("servicegroupname", "serviceGroupName", "`enable lb monitor` and `disable lb monitor` take it"),
];

static PROBE: &[Attribute] = &[
    yes_no("secure", "secure", &["secure"], "NO"),
    text("commonname", "commonName", &["server_name"]),
    with("respcode", "respCode", Kind::List, Joint::Codes, ""),
    text("httprequest", "httpRequest", &["request"]),
    row("customheaders", "customHeaders", Kind::Text, Place::At(&["custom_headers"], Form::Headers), ""),
    word("action", "action", &["action"], "DOWN"),
    double("trofscode", "trofsCode", &["trofs_code"], Form::Number, ""),
    lines("trofsstring", "trofsString", &["trofs_string"]),
    lines("send", "send", &["send"]),
    lines("recv", "recv", &["receive"]),
    text("query", "query", &["query"]),
    word("querytype", "queryType", &["query_type"], ""),
    row("ipaddress", "IPAddress", Kind::List, Place::At(&["ip_address"], Form::Items), ""),
    text("scriptname", "scriptName", &["script_name"]),
    text("scriptargs", "scriptArgs", &["script_args"]),
    text("username", "userName", &["user_name"]),
    secret("password", "password", &["password"]),
    text("database", "database", &["database"]),
    text("sqlquery", "sqlQuery", &["sql_query"]),
    text("basedn", "baseDN", &["base_dn"]),
    text("binddn", "bindDN", &["bind_dn"]),
    text("filter", "filter", &["filter"]),
    text("attribute", "attribute", &["attribute"]),
    secret("radkey", "radKey", &["rad_key"]),
    text("radnasip", "radNASip", &["rad_nas_ip"]),
    text("filename", "fileName", &["file_name"]),
    text("group", "group", &["group"]),
    text("mqttclientidentifier", "mqttClientIdentifier", &["mqtt_client_identifier"]),
    text("grpcservicename", "grpcServiceName", &["grpc_service_name"]),
    double("metricthreshold", "metricThreshold", &["load_threshold"], Form::Number, ""),
];

static ABSENT: &[Attribute] = &[
    only("storefrontcheckbackendservices", "storefrontcheckbackendservices", Kind::Text, NO),
    only("validatecred", "validateCred", Kind::Text, NO),
    only("storedb", "storedb", Kind::Text, &["DISABLED"]),
    only("mqttversion", "mqttVersion", Kind::Double, &["4"]),
    only("radaccounttype", "radAccountType", Kind::Double, &["1"]),
    only("maxforwards", "maxForwards", Kind::Double, &["1"]),
    only("storefrontacctservice", "storefrontacctservice", Kind::Text, &["YES"]),
    only("mssqlprotocolversion", "mssqlProtocolVersion", Kind::Text, &["70"]),
    only("grpchealthcheck", "grpcHealthCheck", Kind::Text, &["YES"]),
    refused("sslprofile", "sslProfile", "`secure` and `commonName` say how TLS is spoken"),
    refused("dispatcherip", "dispatcherIP", "there is no dispatcher between the monitor and its script"),
    refused("dispatcherport", "dispatcherPort", "there is no dispatcher between the monitor and its script"),
    refused("secureargs", "secureargs", "secrets reach a script through its environment"),
    refused("evalrule", "evalRule", "`sql_expect` in the TOML compares the first value"),
    refused("domain", "domain", CITRIX),
    refused("secondarypassword", "secondaryPassword", CITRIX),
    refused("logonpointname", "logonpointName", CITRIX),
    refused("lasversion", "lasVersion", CITRIX),
    refused("application", "application", CITRIX),
    refused("sitepath", "sitePath", CITRIX),
    refused("storename", "storename", CITRIX),
    refused("hostname", "hostName", CITRIX),
    refused("kcdaccount", "kcdAccount", CITRIX),
    refused("oraclesid", "oracleSid", STORED),
    refused("snmpoid", "Snmpoid", STORED),
    refused("snmpcommunity", "snmpCommunity", STORED),
    refused("snmpthreshold", "snmpThreshold", STORED),
    refused("snmpversion", "snmpVersion", STORED),
    refused("metrictable", "metricTable", "LOAD asks over HTTP"),
    refused("metric", "metric", "LOAD asks over HTTP"),
    refused("metricweight", "metricWeight", "LOAD asks over HTTP"),
    refused("rtsprequest", "rtspRequest", STORED),
    refused("sipmethod", "sipMethod", STORED),
    refused("sipuri", "sipURI", STORED),
    refused("sipreguri", "sipregURI", STORED),
    refused("radnasid", "radNASid", "without `radNASip` it is `bascule`"),
    refused("radframedip", "radFramedIP", SENT),
    refused("radapn", "radAPN", SENT),
    refused("radmsisdn", "radMSISDN", SENT),
    refused("radaccountsession", "radAccountSession", "every sample has its own"),
    refused("grpcstatuscode", "grpcStatusCode", "SERVING with status 0 passes"),
    refused("originhost", "originHost", STORED),
    refused("originrealm", "originRealm", STORED),
    refused("hostipaddress", "hostIPAddress", STORED),
    refused("vendorid", "vendorId", STORED),
    refused("productname", "productName", STORED),
    refused("firmwarerevision", "firmwareRevision", STORED),
    refused("authapplicationid", "authApplicationId", STORED),
    refused("acctapplicationid", "acctApplicationId", STORED),
    refused("inbandsecurityid", "inbandSecurityId", STORED),
    refused("supportedvendorids", "supportedVendorIds", STORED),
    refused("vendorspecificvendorid", "vendorSpecificVendorId", STORED),
    refused("vendorspecificauthapplicationids", "vendorSpecificAuthApplicationIds", STORED),
    refused("vendorspecificacctapplicationids", "vendorSpecificAcctApplicationIds", STORED),
];

pub static MONITOR: Resource = Resource {
    nitro: "lbmonitor",
    words: &["lb", "monitor"],
    shape: Shape::Object { section: "monitor" },
    key: "monitorname",
    lists: &[SCHEDULE, PROBE, ABSENT],
    positional: &["monitorname", "type"],
    required: &["type"],
};
