//! Where the journal is shipped to.

use super::check::headers;
use super::secret_value;
use super::text::{Text, Value};
use crate::model::Model;
use crate::model::ship::ShipTo;

pub(super) fn ships(out: &mut Text, model: &Model) {
    for ship in &model.ships {
        out.table(&["journal", "ship", &ship.name]);
        match &ship.to {
            ShipTo::Syslog { tls, .. } => {
                out.key("type", Value::str("SYSLOG"));
                out.key("address", Value::Str(ship.address()));
                if let Some(tls) = tls {
                    let authority = tls.authority.map(|id| &model.certificates[id.index()].name);
                    let mut entries = Vec::new();
                    entries.extend(authority.map(|name| ("ca".to_owned(), Value::str(name))));
                    entries.extend(tls.server_name.as_ref().map(|name| ("server_name".to_owned(), Value::str(name))));
                    out.maybe("tls", (!entries.is_empty()).then_some(Value::Inline(entries)));
                }
            }
            ShipTo::Http { uri, headers: fields, secret } => {
                out.key("type", Value::str("HTTP"));
                out.key("uri", Value::str(uri));
                out.maybe("headers", headers(fields));
                out.maybe("secret", secret.as_ref().map(secret_value));
            }
        }
        let kinds: Vec<Value> = ship.kinds.iter().map(Value::str).collect();
        out.maybe("kinds", (!kinds.is_empty()).then_some(Value::List(kinds)));
    }
}
