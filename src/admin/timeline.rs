//! `GET /timeline`: what happened between two moments, as one document for a review after an incident: Markdown, HTML or
//! JSON. It is made from the journal alone, so it can be made again a year later. Everything that people or
//! configurations named is escaped: it is read elsewhere.

mod html;
mod markdown;
mod words;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::control::JournalEntry;
use crate::model::time::Wall;

pub(super) use html::html;
pub(super) use markdown::markdown;

dto! {
    /// What happened between two moments.
    pub struct TimelineDto {
        pub appliance: String,
        pub since: String,
        pub until: String,
        /// True: there is more than was read; narrow the span.
        pub truncated: bool,
        /// One line for each scenario that moved.
        pub summary: Vec<String>,
        /// Oldest first.
        pub events: Vec<TimelineEventDto>,
    }

    /// One entry of the journal, in words.
    pub struct TimelineEventDto {
        pub at: String,
        /// Since the first event: `+12.345s`.
        pub offset: String,
        /// The same, in seconds.
        pub delta: f64,
        /// Kind of entry: `transition`, `act`, `board` …
        pub kind: String,
        /// `scenario dr`; empty where none.
        pub object: String,
        /// One sentence without a final stop.
        pub text: String,
        /// Who; null: nobody in person.
        pub actor: Option<String>,
        /// More on it: groups and terms, gate, guard, triggers.
        pub details: Vec<String>,
        /// Number of the entry, for `/journal`.
        pub entry: u64,
        /// Its hash: proof that it stands there.
        pub hash: String,
    }
}

// === impl TimelineDto ===

impl TimelineDto {
    /// `entries`: oldest first.
    pub(super) fn of(
        appliance: &str,
        (since, until): (Wall, Wall),
        entries: &[JournalEntry],
        truncated: bool,
    ) -> TimelineDto {
        let first = entries.first().map_or(since, |entry| entry.at);
        let events = entries.iter().filter_map(|entry| TimelineEventDto::of(entry, first)).collect();
        TimelineDto {
            appliance: appliance.to_owned(),
            since: since.to_string(),
            until: until.to_string(),
            truncated,
            summary: summary(entries),
            events,
        }
    }
}

/// For each scenario how often and when it moved.
fn summary(entries: &[JournalEntry]) -> Vec<String> {
    let mut moves: BTreeMap<&str, Vec<&JournalEntry>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| &*entry.kind == "transition") {
        if let Some(scenario) = entry.body["scenario"].as_str() {
            moves.entry(scenario).or_default().push(entry);
        }
    }
    let line = |(scenario, entries): (&str, Vec<&JournalEntry>)| {
        let each: Vec<String> = entries
            .iter()
            .map(|entry| format!("{} at {}", words::participle(&entry.body["direction"]), entry.at))
            .collect();
        format!("{scenario}: {}", each.join(", "))
    };
    moves.into_iter().map(line).collect()
}

// === impl TimelineEventDto ===

impl TimelineEventDto {
    /// `None`: nothing that a reader needs to see.
    fn of(entry: &JournalEntry, first: Wall) -> Option<TimelineEventDto> {
        let (text, details) = words::of(entry)?;
        let offset = entry.at.since(first);
        Some(TimelineEventDto {
            at: entry.at.to_string(),
            delta: (offset.as_secs_f64() * 1e3).round() / 1e3,
            offset: format!("+{}.{:03}s", offset.as_secs(), offset.subsec_millis()),
            kind: entry.kind.to_string(),
            object: entry.object.to_string(),
            text,
            actor: Some(entry.actor.to_string()).filter(|actor| actor != "system" && actor != "auto"),
            details,
            entry: entry.number,
            hash: entry.hash.to_string(),
        })
    }
}

/// The sentence of one entry, and more on it; `None`: nothing that a reader needs to see.
pub(super) fn in_words(entry: &JournalEntry) -> Option<(String, Vec<String>)> {
    words::of(entry)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
