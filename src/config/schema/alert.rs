//! Keys of alerts.

use super::{Kind, MINUTE, NAMES, Schema, YEAR, key, required, schema};

pub(super) static ALERT: Schema = schema(&[
    key("about", Kind::Text),
    required("on", Kind::OneOf(&[NAMES, Kind::Name])),
    key("for", Kind::Duration(0, YEAR)),
    key("services", Kind::OneOf(&[NAMES, Kind::Name])),
    key("vservers", Kind::OneOf(&[NAMES, Kind::Name])),
    key("scenarios", Kind::OneOf(&[NAMES, Kind::Name])),
    key("triggers", NAMES),
    key("repeat", Kind::Duration(MINUTE, YEAR)),
]);
