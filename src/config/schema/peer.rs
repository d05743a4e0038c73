//! Keys of the link to other boxes.

use super::{Kind, MINUTE, Schema, key, schema};

/// This box's end. Files are PEM, relative to the configuration.
pub(super) static PEER_LINK: Schema = schema(&[
    key("listen", Kind::Socket),
    key("cluster", Kind::Name),
    key("interval", Kind::Duration(100, MINUTE)),
    key("timeout", Kind::Duration(50, MINUTE)),
    key("certificate", Kind::Name),
    key("key", Kind::Name),
    key("ca", Kind::Name),
]);

/// Another box. Files as in `peer_link` where they are not said.
pub(super) static PEER: Schema = schema(&[
    key("url", Kind::Name),
    key("site", Kind::Name),
    key("certificate", Kind::Name),
    key("key", Kind::Name),
    key("ca", Kind::Name),
]);
