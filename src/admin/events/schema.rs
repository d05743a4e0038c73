//! What a stream holds, for the OpenAPI document: one message, with its `event` and what its `data` says.

use serde_json::{Map, Value, json};

use super::TOPICS;
use crate::admin::dto::{
    AlertDto, CheckDto, ConfigDto, PairDto, PeerDto, ScenarioDto, Schema, ServerDto, ServiceDto, ServiceGroupDto,
    StatsDto, SwitchDto, VserverDto, ZoneDto,
};

/// Any of them.
pub(super) fn message(components: &mut Map<String, Value>) -> Value {
    let changes: Vec<Value> = TOPICS.into_iter().map(|kind| change(kind, components)).collect();
    let text = |about: &str| json!({ "type": "string", "description": about });
    let now = || text("The appliance's clock.");
    let number = || json!({ "type": "integer", "minimum": 0 });
    let counted = json!({ "type": "array", "items": { "allOf": [StatsDto::schema(components), {
        "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string", "enum": ["vserver", "service"] } },
    }] } });
    let others = [
        said(
            "hello",
            json!({
                "now": now(), "name": text("The appliance."), "version": text("Of the program."),
                "generation": number(), "snapshot": number(),
            }),
        ),
        said("heartbeat", json!({ "now": now() })),
        said("rates", json!({ "now": now(), "items": counted })),
        said("reset", json!({ "why": text("Events were missed: fetch anew.") })),
        said("ended", json!({ "why": text("The stream ends; come back after `retry`.") })),
    ];
    let all: Vec<Value> = changes.into_iter().chain(others).collect();
    components.insert("EventMessage".into(), json!({
        "description": "One message of the stream: `event` and `id` are its fields, `data` is that field read as JSON.",
        "oneOf": all,
    }));
    json!({ "$ref": "#/components/schemas/EventMessage" })
}

/// Something happened to an object of this kind.
fn change(kind: &'static str, components: &mut Map<String, Value>) -> Value {
    let object = object(kind, components);
    let text = |about: &str| json!({ "type": "string", "description": about });
    if kind == "config" {
        return said(
            kind,
            json!({ "now": text("The appliance's clock."), "name": text("`config`."), "object": object }),
        );
    }
    let what = json!({
        "type": "object",
        "description": "What happened: `type` is `transition`, `act`, `ended`, `state`, `board`, `attempt`, `ejected`, \
                        `delivery`, `alert`, `drill` or `warning`, of a zone what became of its transfer; its members \
                        are those of the entry of the journal.",
        "required": ["type"],
        "properties": { "type": { "type": "string" } },
    });
    let mut message = said(
        kind,
        json!({
            "now": text("The appliance's clock, when the object was looked at."),
            "at": text("When it happened."),
            "name": text("Of the object; of `board` the row."),
            "object": { "description": "As it stands now; null where it is gone, or has no form of its own.",
                        "anyOf": [object, { "type": "null" }] },
            "what": what,
        }),
    );
    message["required"] = json!(["event", "id", "data"]);
    message["properties"]["id"] = text("For `Last-Event-ID`.");
    message
}

fn object(kind: &str, components: &mut Map<String, Value>) -> Value {
    match kind {
        "check" => CheckDto::schema(components),
        "server" => ServerDto::schema(components),
        "service" => ServiceDto::schema(components),
        "service_group" => ServiceGroupDto::schema(components),
        "vserver" => VserverDto::schema(components),
        "scenario" => ScenarioDto::schema(components),
        "switch" => SwitchDto::schema(components),
        "alert" => AlertDto::schema(components),
        "peer" => PeerDto::schema(components),
        "datacenter_pair" => PairDto::schema(components),
        "zone" => ZoneDto::schema(components),
        "config" => ConfigDto::schema(components),
        _ => json!({ "type": "null" }),
    }
}

/// All members of its data are there.
fn said(event: &str, data: Value) -> Value {
    let required: Vec<&String> = data.as_object().into_iter().flat_map(Map::keys).collect();
    json!({
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": { "type": "string", "enum": [event] },
            "data": { "type": "object", "required": required, "properties": data },
        },
    })
}
