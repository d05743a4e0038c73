//! `/api/v1/openapi.json`, made of the table of routes.

mod tables;

use axum::Json;
use axum::http::Method;
use serde_json::{Map, Value, json};

use super::auth::Access;
use super::body::{Field, FieldKind};
use super::dto::{PreviewDto, Schema};
use super::idempotency;
use super::rest;
use super::route::{Answer, Reads, Route, table};
use tables::Form;

pub(crate) fn route() -> Route {
    Route::get("/api/v1/openapi.json", "This document", || async { Json(document()) }).answers::<Value>()
}

/// The whole document (OpenAPI 3.1).
pub(crate) fn document() -> Value {
    let mut components = Map::new();
    components.insert("ProblemDocument".into(), problem_schema());
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
    if let Some(body) = request_body(route, components) {
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
    match route.access {
        Access::Public => "Needs no credentials.",
        Access::Read => "For every role.",
        Access::Operate => "For operators and superusers.",
        Access::Configure => "For superusers.",
    }
}

fn parameters(route: &Route) -> Vec<Value> {
    let in_path = route.path.split('/').filter_map(|segment| {
        let name = segment.strip_prefix('{')?.strip_suffix('}')?.trim_start_matches('*');
        Some(json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
    });
    let in_query = route.query.iter().filter(|f| !f.name.is_empty()).map(|field| {
        let mut parameter =
            json!({ "name": field.name, "in": "query", "description": field.about, "schema": field_schema(field) });
        if let FieldKind::Words(_) = field.kind {
            // Separated by commas.
            parameter["style"] = "form".into();
            parameter["explode"] = false.into();
        }
        parameter
    });
    in_path.chain(in_query).chain(in_header(route)).collect()
}

fn in_header(route: &Route) -> Vec<Value> {
    let header = |name: &str, about: &str| json!({ "name": name, "in": "header", "description": about, "schema": { "type": "string", "minLength": 1 } });
    let is_post = route.method == Method::POST;
    let mut headers = Vec::new();
    if is_post && idempotency::keeps(route.access) {
        let about = "Sent again with the same key, it is done once; at most 255 bytes.";
        headers.push(header("Idempotency-Key", about));
    }
    let changes = matches!(route.answer, Answer::ObjectChanged { .. }) && !is_post;
    if changes || matches!((route.body, &route.method), (Reads::Config, &Method::PUT)) {
        let about =
            "ETags of what was looked at, or the hash of the whole configuration; 412 where it is another by now.";
        headers.push(header("If-Match", about));
    }
    if matches!(route.answer, Answer::Events(_)) {
        headers.push(header("Last-Event-ID", "Go on behind this event; `reset` where that is too far back."));
    }
    headers
}

fn request_body(route: &Route, components: &mut Map<String, Value>) -> Option<Value> {
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
        Reads::Object { schema, named } => {
            let form = if named { Form::New } else { Form::Whole };
            let schema = tables::reference(schema, form, components);
            Some(json!({ "required": true, "content": { "application/json": { "schema": schema } } }))
        }
        Reads::Certificate => Some(json!({ "required": true, "content": {
            "application/json": { "schema": certificate_schema() },
            "application/x-pem-file": { "schema": { "type": "string" } },
        } })),
        Reads::Patch(schema) => {
            let mut schema = tables::reference(schema, Form::Patch, components);
            // Under two media types, so by name: generators make a type of each schema that has none.
            if schema.get("$ref").is_none() {
                components.insert("AnyPatch".into(), schema);
                schema = json!({ "$ref": "#/components/schemas/AnyPatch" });
            }
            let content = json!({ "schema": schema });
            Some(json!({ "required": true, "content": {
                "application/merge-patch+json": content, "application/json": content,
            } }))
        }
    }
}

fn field_schema(field: &Field) -> Value {
    match field.kind {
        FieldKind::Duration => json!({ "type": ["string", "number"], "minimum": 0, "examples": ["30s", 30] }),
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
        FieldKind::Integer => json!({ "type": "integer", "format": "int64", "minimum": 0, "maximum": i64::MAX }),
        FieldKind::Within(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        FieldKind::Time => json!({ "type": "string", "examples": ["2026-11-29T22:00:00Z", "2h"] }),
        FieldKind::Word(words) => json!({ "type": "string", "enum": words }),
        FieldKind::Words(words) => json!({ "type": "array", "items": { "type": "string", "enum": words } }),
    }
}

fn responses(route: &Route, components: &mut Map<String, Value>) -> Value {
    let problem = json!({
        "description": "A problem document.",
        "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/ProblemDocument" } } },
    });
    let content = match route.answer {
        Answer::Unsaid => json!({}),
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
        Answer::Object(schema) => {
            json!({ "application/json": { "schema": tables::reference(schema, Form::Whole, components) } })
        }
        Answer::Objects(schema) => {
            let item = tables::reference(schema, Form::New, components);
            json!({ "application/json": { "schema": rest::pages::described(item) } })
        }
        Answer::ObjectChanged { schema, .. } => json!({ "application/json": { "schema": {
            "allOf": [tables::reference(schema, Form::Whole, components), object_changed_schema()],
        } } }),
        Answer::Config => json!({
            "application/toml": { "schema": { "type": "string" } },
            "application/json": { "schema": { "type": "object" } },
        }),
        Answer::Text(media_type) => json!({ media_type: { "schema": { "type": "string" } } }),
        Answer::Events(schema) => json!({ "text/event-stream": { "schema": schema(components) } }),
    };
    let mut responses = json!({ "200": { "description": "Done.", "content": content }, "default": problem });
    if let Answer::ObjectChanged { created: true, .. } = route.answer {
        responses["201"] = json!({
            "description": "It is new.", "content": content,
            "headers": { "Location": { "description": "Where it is.", "schema": { "type": "string" } } },
        });
    }
    responses
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

fn certificate_schema() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    json!({
        "type": "object",
        "required": ["certificate"],
        "properties": {
            "certificate": text("PEM, or the name of a file relative to the configuration's."),
            "chain": text("PEM of what follows the certificate."),
            "key": text("PEM, or the name of a file. It never comes back."),
        },
    })
}

fn object_changed_schema() -> Value {
    let mut schema = changed_schema();
    schema["required"] = json!(["generation", "changes"]);
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let properties = &mut schema["properties"];
    properties["changes"] =
        super::dto::described(texts, "A line for each difference, of a dry run also what would follow.");
    properties["dry_run"] = json!({ "type": "boolean", "description": "Nothing was changed." });
    properties["deleted"] = json!({ "type": "boolean", "description": "It is gone." });
    properties["object"] = json!({ "description": "Its state, where it has one." });
    schema
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
            "noun": { "type": "string", "description": "With `unknown_object`: what was asked for, such as `service`." },
            "name": { "type": "string", "description": "With `unknown_object`: the name that nothing has." },
            "problems": {
                "type": "array",
                "description": "With 422: everything that is wrong with a configuration.",
                "items": {
                    "type": "object",
                    "required": ["what"],
                    "properties": {
                        "what": { "type": "string" },
                        "path": { "type": "string", "description": "Dotted path of the key." },
                        "pointer": { "type": "string", "description": "Where in the body (RFC 6901)." },
                        "did_you_mean": { "type": ["string", "null"] },
                        "file": { "type": "string" },
                        "line": { "type": "integer" },
                        "column": { "type": "integer" },
                        "severity": { "type": "string" },
                    },
                },
            },
            "used_by": {
                "type": "array", "items": { "type": "string" },
                "description": "With 409 `in_use`: who names the object.",
            },
        },
    })
}

#[cfg(test)]
mod tests;
