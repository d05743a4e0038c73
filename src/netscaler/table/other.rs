//! What there is once.

use super::{DISABLED, Kind, OFF, Place, only, row, text};
use crate::netscaler::resource::{Form, Resource, Shape};

/// `enable ns feature` and `disable ns feature` say them: a list of names.
pub static FEATURE: Resource = Resource {
    nitro: "nsfeature",
    words: &["ns", "feature"],
    shape: Shape::Single { section: "features" },
    key: "",
    lists: &[&[row("feature", "feature", Kind::List, Place::At(&["feature"], Form::Items), "")]],
    positional: &["feature"],
    required: &[],
};

pub static LB_PARAMETER: Resource = Resource {
    nitro: "lbparameter",
    words: &["lb", "parameter"],
    shape: Shape::Single { section: "" },
    key: "",
    lists: &[&[
        only("httponlycookieflag", "httpOnlyCookieFlag", Kind::Text, &["ENABLED"]),
        only("usesecuredpersistencecookie", "useSecuredPersistenceCookie", Kind::Text, DISABLED),
        only("useencryptedpersistencecookie", "useEncryptedPersistenceCookie", Kind::Text, DISABLED),
        only("consolidatedlconn", "consolidatedLConn", Kind::Text, &["YES"]),
        only("useportforhashlb", "usePortForHashLb", Kind::Text, &["YES"]),
        only("preferdirectroute", "preferDirectRoute", Kind::Text, &["YES"]),
        only("startuprrfactor", "startupRRFactor", Kind::Double, &["0"]),
        only("monitorskipmaxclient", "monitorSkipMaxClient", Kind::Text, DISABLED),
        only("monitorconnectionclose", "monitorConnectionClose", Kind::Text, &["FIN"]),
        only("vserverspecificmac", "vServerSpecificMac", Kind::Text, DISABLED),
        only("allowboundsvcremoval", "allowBoundSvcRemoval", Kind::Text, &["ENABLED"]),
        only("retainservicestate", "retainservicestate", Kind::Text, &["OFF", "ON"]),
        only("dbsttl", "dbsttl", Kind::Double, &["0"]),
        only("maxpipelinenat", "maxPipelineNat", Kind::Double, &["255"]),
        only("literaladccookieattribute", "LiteralADCCookieAttribute", Kind::Text, &[""]),
        only("storemqttclientidandusername", "storeMqttClientIdAndUsername", Kind::Text, &["NO"]),
        only("dropmqttjumbomessage", "dropMqttJumboMessage", Kind::Text, &["YES"]),
        only("undefaction", "undefAction", Kind::Text, &["NOLBACTION"]),
        only("sessionless", "sessionless", Kind::Text, OFF),
    ]],
    positional: &[],
    required: &[],
};

pub static HOST_NAME: Resource = Resource {
    nitro: "nshostname",
    words: &["ns", "hostName"],
    shape: Shape::Single { section: "appliance" },
    key: "",
    lists: &[&[text("hostname", "hostName", &["name"]), only("ownernode", "ownerNode", Kind::Double, &["255"])]],
    positional: &["hostname"],
    required: &[],
};

/// What `set ns config` says of the box itself is the machine's.
pub static CONFIG: Resource = Resource {
    nitro: "nsconfig",
    words: &["ns", "config"],
    shape: Shape::Single { section: "" },
    key: "",
    lists: &[&[]],
    positional: &[],
    required: &[],
};
