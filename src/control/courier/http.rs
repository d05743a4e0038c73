//! One attempt of a trigger over HTTP.

use super::failure;
use super::sign::sign;
use crate::model::delivery::{Delivery, Failure};
use crate::model::id::Name;
use crate::model::scenario::{Trigger, TriggerKind};
use crate::model::template;
use crate::model::time::Wall;
use crate::probe::call::{Called, Caller, HttpCall};

pub(super) async fn deliver(caller: &Caller, at: Wall, delivery: &Delivery, trigger: &Trigger) -> Result<(), Failure> {
    let TriggerKind::Http { uri, method, headers, body, expect, secret } = &trigger.kind else {
        return Err(failure("not a trigger of HTTP", false));
    };
    let secret = match secret {
        None => None,
        Some(secret) => {
            let value = caller.secret(secret).await;
            Some(value.map_err(|why| failure(&format!("the secret cannot be had: {why}"), false))?)
        }
    };
    let mut headers = headers.clone();
    let body = body_of(delivery, body.as_ref(), &mut headers);
    let timestamp = at.0.div_euclid(1_000_000);
    set(&mut headers, "webhook-id", &delivery.key);
    set(&mut headers, "webhook-timestamp", &timestamp.to_string());
    if let Some(secret) = secret {
        let signature = sign(&secret, &delivery.key, timestamp, &body);
        set(&mut headers, "webhook-signature", &signature.map_err(|why| failure(&why, false))?);
    }
    let call = HttpCall {
        uri: Name::clone(uri),
        method: Name::clone(method),
        headers,
        body: Some(body),
        expect: expect.clone(),
        timeout: trigger.timeout,
    };
    match caller.call(&call).await {
        Called::Expected(_) => Ok(()),
        Called::Other { status, why, retry_after, .. } => {
            let endpoint = status == 429 || status >= 500;
            Err(Failure { why: why.into(), retry_after, endpoint })
        }
        Called::Silent(why) => Err(failure(&why, true)),
    }
}

/// The payload, or the template filled from it. A body without a Content-Type of its own is JSON.
fn body_of(delivery: &Delivery, template: Option<&Name>, headers: &mut Vec<(Name, Name)>) -> String {
    let own = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type")).map(|(_, value)| &**value);
    let json = own.is_none_or(|own| own.to_ascii_lowercase().contains("json"));
    if own.is_none() {
        headers.push(("Content-Type".into(), "application/json".into()));
    }
    match template {
        Some(template) => template::fill(template, &delivery.payload, json),
        None => delivery.payload.to_string(),
    }
}

/// Ours come last and alone: whoever verifies must not find two.
fn set(headers: &mut Vec<(Name, Name)>, name: &str, value: &str) {
    headers.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
    headers.push((name.into(), value.into()));
}
