//! `[log]` and `[trace]`.

use super::check::headers;
use super::dns::networks;
use super::text::{Text, Value};
use crate::model::{AccessTo, Model};

pub(super) fn log(out: &mut Text, model: &Model) {
    out.table(&["log"]);
    out.key(
        "access",
        match &model.log.access {
            AccessTo::Off => Value::Str("off".into()),
            AccessTo::Stdout => Value::Str("stdout".into()),
            AccessTo::File(file) => Value::str(file),
        },
    );
    out.key("format", Value::str(model.log.format.word()));
    if let Some(syslog) = &model.log.syslog {
        let entries = [
            ("address", Value::show(&syslog.to)),
            ("facility", Value::str(syslog.facility.word())),
            ("app_name", Value::str(&syslog.app_name)),
        ];
        out.key("syslog", Value::Inline(entries.map(|(key, value)| (key.to_owned(), value)).into()));
    }
}

pub(super) fn trace(out: &mut Text, model: &Model) {
    let Some(trace) = &model.trace else { return };
    out.table(&["trace"]);
    out.key("endpoint", Value::str(&trace.endpoint));
    out.maybe("headers", headers(&trace.headers));
    out.key("one_in", Value::Int(trace.one_in.into()));
    out.key("accept", networks(&trace.accept));
    out.key("service_name", Value::str(&trace.service_name));
    out.key("timeout", Value::duration(trace.timeout));
}
