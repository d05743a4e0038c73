use serde_json::json;

use super::*;

fn entry(number: u64, ms: i64, kind: &str, object: &str, actor: &str, body: Value) -> JournalEntry {
    JournalEntry {
        number,
        at: Wall(1_800_000_000_000_000 + ms * 1_000),
        kind: kind.into(),
        object: object.into(),
        actor: actor.into(),
        body,
        hash: format!("{number:064x}").into(),
    }
}

fn timeline(entries: &[JournalEntry]) -> TimelineDto {
    TimelineDto::of("box-a", (Wall(1_800_000_000_000_000), Wall(1_800_000_060_000_000)), entries, false)
}

fn outage() -> Vec<JournalEntry> {
    vec![
        entry(7, 0, "board", "", "system", json!({ "row": "api-a{fails:1}", "value": "true", "clean_for_us": null })),
        entry(
            8,
            1,
            "transition",
            "scenario dr",
            "auto",
            json!({
                "scenario": "dr", "seq": 3, "direction": "activate", "cause": "condition", "group": "API of A fails",
                "reason": null, "gate": "true", "guard": { "attempt": 1, "outcome": "pass", "detail": "3 <= 60" },
                "groups": [{ "direction": "activate", "name": "API of A fails", "value": "true", "armed": true,
                    "terms": [{ "text": "api-a!{fails:1}", "value": "true", "since": "2027-01-15T08:00:00.000000Z" }] }],
                "triggers": [{ "name": "page-sre", "status": "pending" }],
            }),
        ),
        entry(
            9,
            2,
            "caches",
            "scenario dr",
            "system",
            json!({
                "scenario": "dr", "seq": 3, "published_at": "2027-01-15T08:00:00.002000Z",
                "caches_over_at": "2027-01-15T08:00:31.000000Z", "rrsets": ["www.example.test. A"],
            }),
        ),
        entry(
            10,
            40,
            "act",
            "switch drill",
            "admin:ops",
            json!({
                "object": { "kind": "switch", "name": "drill" },
                "act": { "actor": "admin:ops", "reason": "test | <b>bold</b>", "expires": null },
                "change": { "type": "switch", "value": true },
            }),
        ),
    ]
}

#[test]
fn a_timeline_tells_from_the_first_sign_to_the_last_cache_what_happened_and_why() {
    let timeline = timeline(&outage());
    assert_eq!(timeline.summary, ["dr: activated at 2027-01-15T08:00:00.001Z"]);
    let texts: Vec<&str> = timeline.events.iter().map(|event| &event.text[..]).collect();
    assert_eq!(texts[0], "api-a{fails:1} is true");
    assert_eq!(texts[1], "scenario dr activated (seq 3), condition by group \"API of A fails\"");
    assert!(texts[2].ends_with("caches may hold the former ones until 2027-01-15T08:00:31.000000Z"));
    let details = &timeline.events[1].details;
    assert_eq!(
        details[0],
        "to activate, group \"API of A fails\" is true: api-a!{fails:1} is true since 2027-01-15T08:00:00.000000Z"
    );
    assert_eq!(details[1..], ["gate: true", "guard: pass 3 <= 60", "trigger page-sre: pending"]);
    assert_eq!(timeline.events[1].offset, "+0.001s");
    assert_eq!(timeline.events[1].actor, None, "nobody in person");
}

#[test]
fn names_and_reasons_stay_text_in_markdown_and_in_html() {
    let evil = "<script>alert(1)</script> | [x](javascript:1) `a` https://evil.test \u{202e}\n# h";
    let entries = [entry(
        1,
        0,
        "warning",
        "scenario a",
        "admin:<i>",
        json!({
            "object": { "kind": "scenario", "name": evil }, "text": evil,
        }),
    )];
    let timeline = timeline(&entries);
    let html = html(&timeline);
    assert!(!html.contains("<script>alert") && html.contains("&lt;script&gt;alert(1)"), "{html}");
    assert!(!html.contains("<i>") && !html.contains('\u{202e}'));
    let markdown = markdown(&timeline);
    let row = markdown.lines().last().unwrap();
    assert!(
        row.contains("&lt;script&gt;") && row.contains("\\[x\\]\\(javascript:1\\)") && row.contains("\\|"),
        "{row}"
    );
    assert!(!row.contains("https://") && !row.contains('\u{202e}'), "{row}");
    let unescaped = row.replace("\\|", "").matches('|').count();
    assert_eq!(unescaped, 6, "five columns, whatever the text holds: {row}");
}

#[test]
fn what_this_version_does_not_know_is_named_and_not_left_out() {
    let timeline = timeline(&[entry(1, 0, "novelty", "zone x", "system", json!({}))]);
    assert_eq!(timeline.events[0].text, "novelty zone x");
}
