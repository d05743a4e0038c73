//! What belongs to HTTP in vservers and services.

use super::text::{Text, Value};
use crate::model::service::ServiceSettings;
use crate::model::vserver::Vserver;

pub(super) fn of_vserver(out: &mut Text, vserver: &Vserver) {
    if vserver.protocol.is_http() {
        out.key("forwarded_for", Value::Bool(vserver.forwarded.x_forwarded_for));
        out.key("x_forwarded", Value::Bool(vserver.forwarded.x_forwarded));
        out.key("forwarded", Value::Bool(vserver.forwarded.forwarded));
        out.key("http2", Value::Bool(vserver.http2));
        out.key("abort_on_close", Value::Bool(vserver.abort_on_close));
        let retry = vec![
            ("max".to_owned(), Value::Int(vserver.retry.max.into())),
            ("budget_percent".to_owned(), Value::Int(vserver.retry.budget_percent.into())),
        ];
        out.key("retry", Value::Inline(retry));
    }
    out.maybe("comment", vserver.comment.as_ref().map(Value::str));
    out.maybe("app_flow_log", (!vserver.app_flow_log).then_some(Value::Bool(false)));
}

pub(super) fn of_service(out: &mut Text, settings: &ServiceSettings) {
    if settings.protocol.is_http() {
        out.key("http2", Value::Bool(settings.http2));
        out.key("max_req", Value::Int(settings.max_requests.into()));
    }
}
