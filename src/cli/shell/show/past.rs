//! What the counters of one object said at a moment.

use serde_json::Value;

use super::statistics::table;

/// One line, or a sentence where nothing is known.
pub(in super::super) fn past(answer: &Value) -> String {
    let value = |name: &str| answer["series"][name][0].as_f64();
    let (Some(at), Some(requests)) = (answer["t"][0].as_str(), value("requests")) else {
        return format!("\tNothing is known of {} at that time\n", answer["object"].as_str().unwrap_or("it"));
    };
    let shown = |name: &str| value(name).map_or_else(|| "-".to_owned(), |value| value.to_string());
    let row = vec![
        at.to_owned(),
        answer["step"].to_string(),
        requests.to_string(),
        shown("errors"),
        shown("connections"),
        shown("bytes_in"),
        shown("bytes_out"),
        shown("p50"),
        shown("p99"),
    ];
    let head =
        ["From", "Seconds", "Requests/s", "Errors/s", "Connections", "BytesIn/s", "BytesOut/s", "p50 ms", "p99 ms"];
    table(&head, std::iter::once(row))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::past;

    #[test]
    fn a_moment_is_one_line_and_one_that_nobody_saw_says_so() {
        let answer = json!({
            "object": "vserver:web", "step": 60, "t": ["2026-11-29T03:10:00.000Z"],
            "series": {"requests": [12.5], "errors": [0.0], "p99": [9.0]},
        });
        let told = past(&answer);
        assert!(told.lines().nth(1).unwrap().starts_with("2026-11-29T03:10:00.000Z  60"), "{told}");
        assert!(told.contains("12.5") && told.contains('-'), "{told}");
        assert!(past(&json!({"object": "vserver:web", "t": [], "series": {}})).contains("Nothing is known"));
    }
}
