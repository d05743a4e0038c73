//! `/api/v1/openapi.json`, made of the table of routes.

use axum::Json;
use serde_json::{Map, Value, json};

use super::auth::Access;
use super::body::{Field, FieldKind};
use super::dto::{PreviewDto, Schema};
use super::route::{Answer, Reads, Route, table};

pub(crate) fn route() -> Route {
    Route::get("/api/v1/openapi.json", "This document", || async { Json(document()) }).answers::<Value>()
}

/// The whole document (OpenAPI 3.1).
pub(crate) fn document() -> Value {
    let mut components = Map::new();
    components.insert("Problem".into(), problem_schema());
    let mut paths: Map<String, Value> = Map::new();
    for route in table() {
        let operation = operation(&route, &mut components);
        let path = route.path.replace("{*", "{");
        let item = paths.entry(path).or_insert_with(|| json!({}));
        let methods = item.as_object_mut().expect("a path item is an object");
        methods.insert(route.method.as_str().to_ascii_lowercase(), operation);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Bascule",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "State, administration and configuration of the appliance. Errors are problem documents \
                            (RFC 9457). Names in paths are percent-encoded, `/` too.",
        },
        "security": [{ "basic": [] }, { "token": [] }, { "session": [], "csrf": [] }, {}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "basic": { "type": "http", "scheme": "basic" },
                "token": { "type": "http", "scheme": "bearer" },
                "session": { "type": "apiKey", "in": "cookie", "name": "bascule_session" },
                "csrf": { "type": "apiKey", "in": "header", "name": "X-CSRF-Token" },
            },
        },
    })
}

fn operation(route: &Route, components: &mut Map<String, Value>) -> Value {
    let mut operation = json!({
        "summary": route.summary,
        "operationId": operation_id(route),
        "description": access_sentence(route),
        "parameters": parameters(route),
        "responses": responses(route, components),
    });
    if let Some(body) = request_body(route) {
        operation["requestBody"] = body;
    }
    if route.access == Access::Public {
        operation["security"] = json!([]);
    }
    operation
}

/// `post_services_name_disable`
fn operation_id(route: &Route) -> String {
    let path = route.path.trim_start_matches("/api/v1");
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    std::iter::once(route.method.as_str().to_ascii_lowercase())
        .chain(words.map(str::to_owned))
        .collect::<Vec<_>>()
        .join("_")
}

fn access_sentence(route: &Route) -> &'static str {
    match (route.answer, route.access) {
        (Answer::NotInThisBuild, _) => "Not available in this build: always 501.",
        (_, Access::Public) => "Needs no credentials.",
        (_, Access::Read) => "For every role.",
        (_, Access::Operate) => "For operators and superusers.",
        (_, Access::Configure) => "For superusers.",
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path = route.path.split('/').filter_map(|segment| {
        let name = segment.strip_prefix('{')?.strip_suffix('}')?.trim_start_matches('*');
        Some(json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
    });
    let in_query = route.query.iter().filter(|f| !f.name.is_empty()).map(
        |field| json!({ "name": field.name, "in": "query", "description": field.about, "schema": field_schema(field) }),
    );
    in_path.chain(in_query).collect()
}

fn request_body(route: &Route) -> Option<Value> {
    match route.body {
        Reads::Nothing => None,
        Reads::Fields(fields) => {
            let properties: Map<String, Value> =
                fields.iter().map(|f| (f.name.into(), super::dto::described(field_schema(f), f.about))).collect();
            let schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
            Some(json!({ "required": false, "content": { "application/json": { "schema": schema } } }))
        }
        Reads::Config => Some(json!({ "required": true, "content": {
            "application/toml": { "schema": { "type": "string" } },
            "application/json": { "schema": { "type": "object" } },
        } })),
    }
}

fn field_schema(field: &Field) -> Value {
    match field.kind {
        FieldKind::Duration => json!({ "type": ["string", "number"], "examples": ["30s", 30] }),
        FieldKind::Flag => json!({ "type": ["boolean", "string"], "examples": [true, "YES"] }),
        FieldKind::Text => json!({ "type": "string" }),
        FieldKind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        FieldKind::Shares => json!({
            "oneOf": [
                { "type": "object", "additionalProperties": { "type": "integer", "minimum": 0, "maximum": 100 } },
                { "type": "string", "enum": ["none"] },
            ],
            "examples": [{ "blue": 90, "green": 10 }],
        }),
        FieldKind::Expiry => json!({ "type": ["string", "number"], "examples": ["2h", "2026-11-29T22:00:00Z"] }),
        FieldKind::Wait => json!({ "type": ["boolean", "string", "number"], "examples": [true, "60s"] }),
        FieldKind::Integer => json!({ "type": "integer", "minimum": 0 }),
        FieldKind::Time => json!({ "type": "string", "examples": ["2026-11-29T22:00:00Z", "2h"] }),
        FieldKind::Word(words) => json!({ "type": "string", "enum": words }),
    }
}

fn responses(route: &Route, components: &mut Map<String, Value>) -> Value {
    let problem = json!({
        "description": "A problem document.",
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
    });
    let content = match route.answer {
        Answer::NotInThisBuild => return json!({ "501": problem }),
        Answer::Json(schema) => json!({ "application/json": { "schema": schema(components) } }),
        Answer::Changed(schema) => {
            let done = json!({ "allOf": [schema(components), changed_schema()] });
            // Of an act: with dry_run the members of the preview stand over those of the object.
            let rehearsed =
                route.query.iter().any(|field| field.name == "dry_run") && matches!(route.body, Reads::Fields(_));
            let schema = match rehearsed {
                true => json!({ "anyOf": [done, PreviewDto::schema(components)] }),
                false => done,
            };
            json!({ "application/json": { "schema": schema } })
        }
        Answer::Text(media_type) => json!({ media_type: { "schema": { "type": "string" } } }),
    };
    json!({ "200": { "description": "Done.", "content": content }, "default": problem })
}

fn changed_schema() -> Value {
    json!({
        "type": "object",
        "required": ["generation"],
        "properties": {
            "generation": { "type": "integer", "description": "The published generation that shows the act." },
            "warnings": {
                "type": "array", "items": { "type": "string" },
                "description": "What the operator should know; absent where there is nothing.",
            },
            "still_draining": {
                "type": "array", "items": { "type": "string" },
                "description": "Who was left when the wait ended; absent where nobody was.",
            },
        },
    })
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "description": "RFC 9457. `code` is stable; `detail` is for people.",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "code": { "type": "string" },
            "detail": { "type": "string" },
            "did_you_mean": { "type": "string", "description": "The nearest known spelling." },
            "problems": {
                "type": "array",
                "description": "With 422: everything that is wrong with a configuration.",
                "items": { "type": "object" },
            },
        },
    })
}

#[cfg(test)]
mod tests {
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
}
