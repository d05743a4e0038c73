//! From what was found to what is asked for: filters, counts, pages, attributes. A list without entries is not there.

use serde_json::{Value, json};

use super::answer::{Answer, Fault, Object};
use super::stat::Found;
use super::target::Asked;

/// What a summary shows of an object, where it has it.
const SUMMARY: &[&str] = &[
    "name",
    "servicegroupname",
    "monitorname",
    "certkey",
    "servicename",
    "monitor_name",
    "servername",
    "type",
    "servicetype",
    "ip",
    "ipaddress",
    "ipv46",
    "port",
    "domain",
    "state",
    "curstate",
    "effectivestate",
    "svrstate",
    "servicegroupeffectivestate",
    "health",
    "weight",
];

/// The answer under the resource's name as it was asked for.
pub(super) fn shape(resource: &str, found: Found, asked: &Asked) -> Result<Answer, Fault> {
    let Found { mut objects, single } = found;
    if !asked.filters.is_empty() && !single {
        objects.retain(|object| asked.filters.iter().all(|filter| filter.takes(object)));
    }
    if asked.count {
        return Ok(Answer::ok().member(resource, json!([{ "__count": objects.len() }])));
    }
    if let Some((size, number)) = asked.page
        && !single
    {
        objects = objects.into_iter().skip(size.saturating_mul(number - 1)).take(size).collect();
    }
    if !asked.attrs.is_empty() {
        let wanted = |key: &str| asked.attrs.iter().any(|attribute| attribute.eq_ignore_ascii_case(key));
        objects.iter_mut().for_each(|object| object.retain(|key, _| wanted(key)));
    } else if asked.summary {
        objects.iter_mut().for_each(|object| object.retain(|key, _| SUMMARY.contains(&&key[..])));
    }
    Ok(match (single, objects.is_empty()) {
        (_, true) => Answer::ok(),
        (true, false) => Answer::ok().member(resource, Value::Object(objects.swap_remove(0))),
        (false, false) => Answer::ok().member(resource, objects.into_iter().map(Value::Object).collect()),
    })
}

/// What there is, by name.
pub(super) fn names(key: &str, names: &[&str]) -> Answer {
    let mut objects = Object::new();
    objects.insert("objects".into(), names.iter().map(|name| Value::from(*name)).collect());
    Answer::ok().member(key, Value::Object(objects))
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    async fn shaped(query: &str) -> Value {
        let object = |name: &str, state: &str| match json!({"name": name, "state": state, "td": "0"}) {
            Value::Object(object) => object,
            _ => Object::new(),
        };
        let objects = vec![object("a", "UP"), object("b", "DOWN"), object("c", "UP")];
        let asked = Asked::parse(query).unwrap();
        let answer = shape("service", Found { objects, single: false }, &asked).unwrap().into_response();
        let body = axum::body::to_bytes(answer.into_body(), 1 << 16).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    #[tokio::test]
    async fn filters_counts_pages_and_attributes_in_this_order() {
        assert_eq!(shaped("filter=state:up&count=yes").await["service"], json!([{"__count": 2}]));
        assert_eq!(shaped("pagesize=2&pageno=2&attrs=name").await["service"], json!([{"name": "c"}]));
        assert_eq!(shaped("filter=name:b&view=summary").await["service"], json!([{"name": "b", "state": "DOWN"}]));
        let none = shaped("filter=name:x").await;
        assert_eq!(none, json!({"errorcode": 0, "message": "Done", "severity": "NONE"}));
        assert_eq!(shaped("pageno=9").await, none);
    }
}
