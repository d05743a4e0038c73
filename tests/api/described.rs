//! Answers held against the document that describes them, `/api/v1/openapi.json`.

use serde_json::{Map, Value, json};

use super::appliance::Appliance;
use super::events::Stream;

/// What must hold of a value; each fault with its place.
struct Schemas<'a> {
    components: &'a Map<String, Value>,
    faults: Vec<String>,
}

impl Schemas<'_> {
    fn hold(&mut self, schema: &Value, value: &Value, at: &str) {
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap();
            let schema = self.components[name].clone();
            return self.hold(&schema, value, at);
        }
        for inner in schema["allOf"].as_array().into_iter().flatten() {
            self.hold(inner, value, at);
        }
        let either = schema["anyOf"].as_array().or(schema["oneOf"].as_array());
        if let Some(either) = either {
            let holds = |inner: &Value| {
                let mut tried = Schemas { components: self.components, faults: Vec::new() };
                tried.hold(inner, value, at);
                tried.faults.is_empty()
            };
            if !either.iter().any(holds) {
                self.faults.push(format!("{at}: {value} is none of {schema}"));
            }
        }
        self.hold_type(schema, value, at);
        if let Some(words) = schema["enum"].as_array()
            && !words.contains(value)
        {
            self.faults.push(format!("{at}: {value} is none of the words {words:?}"));
        }
        if let Some(map) = value.as_object() {
            self.hold_members(schema, map, at);
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.hold(&schema["items"], item, &format!("{at}/{index}"));
        }
    }

    fn hold_type(&mut self, schema: &Value, value: &Value, at: &str) {
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        let is = |name: &str| match name {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            other => panic!("{at}: no type is called {other}"),
        };
        if !types.is_empty() && !types.iter().any(|name| is(name)) {
            self.faults.push(format!("{at}: {value} is not of {types:?}"));
        }
    }

    fn hold_members(&mut self, schema: &Value, map: &Map<String, Value>, at: &str) {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !map.contains_key(name.as_str().unwrap()) {
                self.faults.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, member) in map {
            let place = format!("{at}/{name}");
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (Value::Null, Value::Bool(false)) => self.faults.push(format!("{place} is not described")),
                (Value::Null, others) => self.hold(others, member, &place),
                (property, _) => self.hold(property, member, &place),
            }
        }
    }
}

/// The paths that stand for `template`: with the first names of its collection, and of what lies below.
async fn filled(appliance: &Appliance, template: &str) -> Vec<String> {
    let Some((collection, _)) = template.split_once("/{") else { return vec![template.to_owned()] };
    let (status, listed) = appliance.call(reqwest::Method::GET, collection, None).await;
    let key = |item: &Value| item["name"].as_str().map(str::to_owned);
    let names: Vec<String> = match (status, listed["items"].as_array()) {
        (200, Some(items)) => items.iter().filter_map(key).take(3).collect(),
        _ => Vec::new(),
    };
    let fill = |name: &String| {
        let (before, rest) = template.split_once('{').unwrap();
        let after = rest.split_once('}').unwrap().1;
        format!("{before}{}{after}", name.replace('/', "%2F"))
    };
    names.iter().map(fill).filter(|path| !path.contains('{')).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_answer_is_what_the_document_says() {
    let appliance = Appliance::of(include_str!("../../profiles/example.toml"));
    let document = appliance.get("/api/v1/openapi.json").await;
    let mut schemas =
        Schemas { components: document["components"]["schemas"].as_object().unwrap(), faults: Vec::new() };
    let mut asked = 0;
    for (template, item) in document["paths"].as_object().unwrap() {
        let content = &item["get"]["responses"]["200"]["content"];
        let schema = &content["application/json"]["schema"];
        // The configuration comes as TOML unless it is asked for as JSON.
        if schema.is_null() || content.get("application/toml").is_some() || template.ends_with("openapi.json") {
            continue;
        }
        for path in filled(&appliance, template).await {
            let (status, answer) = appliance.call(reqwest::Method::GET, &path, None).await;
            match status {
                200 => schemas.hold(schema, &answer, &path),
                _ => schemas.hold(
                    &item["get"]["responses"]["default"]["content"]["application/problem+json"]["schema"],
                    &answer,
                    &path,
                ),
            }
            asked += 1;
        }
    }
    assert_eq!(schemas.faults, Vec::<String>::new());
    assert!(asked > 100, "only {asked} paths were asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_of_the_stream_of_events_is_what_the_document_says() {
    let appliance = Appliance::start();
    let document = appliance.get("/api/v1/openapi.json").await;
    let schema =
        &document["paths"]["/api/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]["schema"];
    let mut schemas =
        Schemas { components: document["components"]["schemas"].as_object().unwrap(), faults: Vec::new() };
    let mut stream = Stream::asking(&appliance, "?rates=vserver/web,service/web1", None).await;
    appliance.post("/api/v1/services/web1/disable", json!({"delay": 30})).await;
    appliance.put("/api/v1/switches/drill", json!({"value": true})).await;
    appliance.post("/api/v1/config/save", json!({})).await;
    let mut left = vec!["hello", "service", "switch", "scenario", "board", "heartbeat", "rates"];
    while !left.is_empty() {
        let message = stream.next(|_| true).await;
        left.retain(|kind| *kind != message.kind);
        let mut told = json!({ "event": message.kind, "data": message.data });
        if !message.id.is_empty() {
            told["id"] = message.id.into();
        }
        schemas.hold(schema, &told, &message.kind);
    }
    assert_eq!(schemas.faults, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_document_does_not_allow_in_a_query_is_refused() {
    let appliance = Appliance::start();
    for query in [
        "services?limit=50001",
        "services?state=dwon",
        "services?state=UP,sideways",
        "journal?limit=0",
        "journal?kind=transitoin",
        "connections?limit=50001",
        "outbox?limit=1000000",
        "outbox?status=lost",
        "timeline?since=1h&format=pdf",
        "events?topics=servics",
    ] {
        let (status, problem) = appliance.call(reqwest::Method::GET, &format!("/api/v1/{query}"), None).await;
        assert_eq!((status, &problem["code"]), (400, &json!("invalid_request")), "{query}: {problem}");
    }
    let (_, problem) = appliance.call(reqwest::Method::GET, "/api/v1/services?state=dwon", None).await;
    assert_eq!(problem["did_you_mean"], "DOWN");
    for query in
        ["services?state=up,trofs", "checks?state=", "journal?kind=Transition", "timeline?since=1h&format=JSON"]
    {
        assert_eq!(appliance.call(reqwest::Method::GET, &format!("/api/v1/{query}"), None).await.0, 200, "{query}");
    }
}
