//! The body of a trigger, with places for what a commit or an alert says: `${scenario}`. `$${` is `${` itself.

use serde_json::Value;

/// What may stand between `${` and `}`. `payload` is the whole, as JSON; the others are members of it, as text.
pub const PLACES: [&str; 24] = [
    "type",
    "id",
    "key",
    "scenario",
    "about",
    "seq",
    "direction",
    "evaluated_at",
    "committed_at",
    "cause",
    "actor",
    "reason",
    "drill",
    "drill_id",
    "test",
    "appliance",
    "alert",
    "kind",
    "object_kind",
    "object",
    "severity",
    "text",
    "dedup_key",
    "payload",
];

/// The first place that is none; `None`: the template is good.
pub fn unknown_place(template: &str) -> Option<String> {
    let mut unknown = None;
    walk(template, |part| {
        if let Part::Place(name) = part
            && !PLACES.contains(&name)
        {
            unknown.get_or_insert_with(|| name.to_owned());
        }
    });
    unknown
}

/// The body for `payload`. `json`: values are escaped for the inside of a JSON text, so that a quote in a name cannot
/// break the body; `${payload}` stands as it is.
pub fn fill(template: &str, payload: &str, json: bool) -> String {
    let members: Value = serde_json::from_str(payload).unwrap_or_default();
    let mut body = String::new();
    walk(template, |part| match part {
        Part::Text(text) => body.push_str(text),
        Part::Place("payload") => body.push_str(payload),
        Part::Place(name) => {
            let text = match &members[if name == "key" { "id" } else { name }] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            if json {
                let quoted = Value::String(text).to_string();
                body.push_str(&quoted[1..quoted.len() - 1]);
            } else {
                body.push_str(&text);
            }
        }
    });
    body
}

enum Part<'a> {
    Text(&'a str),
    Place(&'a str),
}

fn walk<'a>(template: &'a str, mut visit: impl FnMut(Part<'a>)) {
    let mut rest = template;
    while let Some(at) = rest.find("${") {
        let escaped = rest[..at].ends_with('$');
        match rest[at + 2..].find('}') {
            _ if escaped => {
                visit(Part::Text(&rest[..at - 1]));
                visit(Part::Text("${"));
                rest = &rest[at + 2..];
            }
            Some(end) => {
                visit(Part::Text(&rest[..at]));
                visit(Part::Place(&rest[at + 2..at + 2 + end]));
                rest = &rest[at + 2 + end + 1..];
            }
            // Without an end it is a place without a name, and refused at load.
            None => {
                visit(Part::Text(&rest[..at]));
                visit(Part::Place(&rest[at + 2..]));
                rest = "";
            }
        }
    }
    visit(Part::Text(rest));
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYLOAD: &str = r#"{"scenario":"dr","about":"say \"RB-17\"","seq":3,"drill":false,"reason":null}"#;

    #[test]
    fn places_are_filled_and_no_value_breaks_a_json_body() {
        let template = r#"{"text": "${scenario} #${seq}: ${about}${reason}", "all": ${payload}}"#;
        let body = fill(template, PAYLOAD, true);
        let value: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(value["text"], "dr #3: say \"RB-17\"");
        assert_eq!(value["all"]["drill"], false);
        assert_eq!(fill("${about}", PAYLOAD, false), "say \"RB-17\"");
    }

    #[test]
    fn a_dollar_before_a_place_makes_it_text() {
        assert_eq!(fill("$${seq} costs $5 ${seq}", PAYLOAD, false), "${seq} costs $5 3");
    }

    #[test]
    fn a_place_that_is_none_is_found() {
        assert_eq!(unknown_place("${scenario} $${nonsense}"), None);
        assert_eq!(unknown_place("${scenario} ${secnario}").as_deref(), Some("secnario"));
        assert_eq!(unknown_place("${scenario").as_deref(), None);
        assert_eq!(unknown_place("${x").as_deref(), Some("x"));
    }
}
