use super::*;

#[test]
fn every_route_is_documented_once_and_every_reference_leads_somewhere() {
    let document = document();
    let mut operations = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        assert!(path.starts_with('/'), "{path}");
        operations += item.as_object().unwrap().len();
    }
    assert_eq!(operations, table().len(), "two routes share a method and a path");
    let text = document.to_string();
    for reference in text.split("\"#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(document["components"]["schemas"][name].is_object(), "{name} is not described");
    }
}

#[test]
fn every_route_says_what_it_answers() {
    let unsaid: Vec<String> = table().iter().filter(|r| matches!(r.answer, Answer::Unsaid)).map(operation_id).collect();
    assert_eq!(unsaid, [""; 0]);
}

/// The manual's page on limits names them.
#[test]
fn these_acts_have_no_dry_run_and_all_others_have() {
    let without = |route: &&Route| {
        let in_body = matches!(route.body, Reads::Fields(fields) if fields.iter().any(|f| f.name == "dry_run"));
        let is_act = route.method != Method::GET && idempotency::keeps(route.access);
        is_act && !in_body && !route.query.iter().any(|f| f.name == "dry_run")
    };
    let mut acts: Vec<String> = table().iter().filter(without).map(|r| format!("{} {}", r.method, r.path)).collect();
    acts.sort_unstable();
    let known = [
        "DELETE /api/v1/connections/{id}",
        "DELETE /api/v1/outbox/{id}",
        "DELETE /api/v1/persistence",
        "DELETE /api/v1/users/{name}/lock",
        "POST /api/v1/config/diff",
        "POST /api/v1/config/reload",
        "POST /api/v1/config/save",
        "POST /api/v1/drills/{id}/stop",
        "POST /api/v1/logins/check",
        "POST /api/v1/outbox/{id}/replay",
        "POST /api/v1/support",
        "POST /api/v1/traces",
        "POST /api/v1/traces/stop",
        "POST /api/v1/triggers/{name}/test",
        "POST /api/v1/zones/{name}/transfer",
    ];
    assert_eq!(acts, known);
}

#[test]
fn operation_ids_are_unique() {
    let mut ids: Vec<String> = table().iter().map(operation_id).collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn the_contract_is_in_the_table() {
    let table: Vec<String> = table().iter().map(|r| format!("{} {}", r.method, r.path)).collect();
    for wanted in [
        "GET /api/v1/status",
        "GET /api/v1/vservers/{name}",
        "POST /api/v1/services/{name}/disable",
        "POST /api/v1/service-groups/{name}/members/{member}/enable",
        "POST /api/v1/vservers/{name}/enable",
        "PUT /api/v1/scenarios/{name}/modes",
        "PUT /api/v1/switches/{name}",
        "PUT /api/v1/checks/{name}/force",
        "PUT /api/v1/services/{name}/force",
        "GET /api/v1/scenarios/{name}/transitions",
        "GET /api/v1/journal",
        "GET /api/v1/explain/dns",
        "POST /api/v1/explain/request",
        "POST /api/v1/config/diff",
        "PUT /api/v1/config",
        "POST /api/v1/config/save",
        "GET /api/v1/events",
        "GET /api/v1/connections",
        "DELETE /api/v1/connections/{id}",
        "POST /api/v1/services/{name}/kick",
        "POST /api/v1/scenarios/{name}/guard",
        "GET /api/v1/outbox",
        "POST /api/v1/outbox/{id}/replay",
        "POST /api/v1/triggers/{name}/test",
        "POST /api/v1/services",
        "PATCH /api/v1/services/{name}",
        "DELETE /api/v1/zones/{name}",
        "GET /metrics",
        "GET /healthz",
        "GET /readyz",
    ] {
        assert!(table.iter().any(|route| route == wanted), "{wanted} is missing");
    }
}

/// What OpenAPI 3.1 and JSON Schema ask of a document, as far as this one goes: generators of clients stumble over it.
#[test]
fn the_document_is_one_that_generators_take() {
    let document = document();
    assert_eq!(document["openapi"], "3.1.0");
    for (path, item) in document["paths"].as_object().unwrap() {
        let mut in_path: Vec<&str> = path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        in_path.sort_unstable();
        for (method, operation) in item.as_object().unwrap() {
            let at = format!("{method} {path}");
            let parameters = operation["parameters"].as_array().unwrap();
            let place = |p: &Value| (p["in"].as_str().unwrap().to_owned(), p["name"].as_str().unwrap().to_owned());
            let mut places: Vec<_> = parameters.iter().map(place).collect();
            let mut declared: Vec<&str> =
                parameters.iter().filter(|p| p["in"] == "path").map(|p| p["name"].as_str().unwrap()).collect();
            declared.sort_unstable();
            assert_eq!(declared, in_path, "{at}: every parameter of the path is declared");
            assert!(parameters.iter().all(|p| p["in"] != "path" || p["required"] == true), "{at}");
            places.sort();
            let all = places.len();
            places.dedup();
            assert_eq!(places.len(), all, "{at}: a parameter is declared twice");
            assert!(method != "get" || operation.get("requestBody").is_none(), "{at}: GET has no body");
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.values().all(|response| response["description"].is_string()), "{at}");
            assert!(responses.keys().all(|code| code == "default" || code.parse::<u16>().is_ok()), "{at}");
            parameters.iter().for_each(|parameter| schema(&parameter["schema"], &at));
            let bodies = responses.values().chain(operation.get("requestBody"));
            for content in bodies.filter_map(|body| body["content"].as_object()).flat_map(|content| content.values()) {
                schema(&content["schema"], &at);
            }
        }
    }
    for (name, component) in document["components"]["schemas"].as_object().unwrap() {
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{name} names a type in every language");
        schema(component, name);
    }
}

fn schema(schema_: &Value, at: &str) {
    let Some(map) = schema_.as_object() else { panic!("{at}: {schema_} is no schema") };
    const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "string", "integer"];
    let types: Vec<&Value> = match &schema_["type"] {
        Value::Array(types) => types.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    };
    assert!(types.iter().all(|t| t.as_str().is_some_and(|t| TYPES.contains(&t))), "{at}: {schema_}");
    for key in ["anyOf", "oneOf", "allOf", "enum"] {
        assert!(map.get(key).is_none_or(|of| of.as_array().is_some_and(|of| !of.is_empty())), "{at}: {schema_}");
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        schema_[key].as_array().into_iter().flatten().for_each(|inner| schema(inner, at));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = map.get(key).filter(|inner| !inner.is_boolean()) {
            schema(inner, at);
        }
    }
    let properties = schema_["properties"].as_object();
    properties.into_iter().flatten().for_each(|(_, inner)| schema(inner, at));
    for name in schema_["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        assert!(properties.is_some_and(|p| p.contains_key(name)), "{at}: `{name}` is required and not described");
    }
}
