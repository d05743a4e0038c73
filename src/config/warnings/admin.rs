//! The doors of the management.

use super::Warnings;
use crate::config::document::{Node, Place};

pub(super) fn doors(cx: &mut Warnings<'_>) {
    let admin = &cx.model.admin;
    let table = cx.document.get("admin").and_then(Node::table);
    let place = |key: &str| table.and_then(|t| t.get(key)).map_or_else(Place::default, |node| node.place);
    if admin.listen.ip().is_loopback() {
        return;
    }
    if admin.users.is_empty() && admin.tokens.is_empty() {
        let what =
            "admin.listen: without users only callers on this machine are let in; make one with `bascule passwd`";
        cx.report.warning(place("listen"), "admin.listen", what);
    } else if admin.tls.is_none() && admin.plain_text {
        let what = "admin.plain_text: passwords and tokens of other machines cross the network in the clear";
        cx.report.warning(place("plain_text"), "admin.plain_text", what);
    } else if admin.tls.is_none() {
        let what = "admin.listen: without TLS only callers on this machine are let in; set [admin.tls] generated = true, \
                    or name a certificate there (or say plain_text = true)";
        cx.report.warning(place("listen"), "admin.listen", what);
    }
}
