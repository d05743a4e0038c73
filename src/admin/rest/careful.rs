//! What every act can be asked beside what it does: to say only what it would do, to be refused where the state has
//! moved on, and to be refused where it asks for more care than was taken.
//!
//! A program that sends an act means it: nothing more is asked of it. A page that people click on sends `confirm` with
//! whatever was typed, and then an act of level 3 is carried out only where that is the name of the object.

use axum::http::{HeaderMap, header};
use serde_json::{Map, Value, json};

use super::super::App;
use super::super::body::{Field, FieldKind, Fields, Params, field};
use super::super::dto::PreviewDto;
use super::super::problem::Problem;
use crate::control::Command;
use crate::control::preview::Preview;

/// Of the query.
pub(super) const DRY_RUN: &[Field] =
    &[field("dry_run", FieldKind::Flag, "Answer what would change and how much care that asks for, and do nothing.")];

/// Of the body.
pub(super) const IF_SEQ: Field = field(
    "if_seq",
    FieldKind::Integer,
    "Refuse with 409 where `seq` is another by now than a dry run said (of a scenario: its seq). If-Match: with 412.",
);
pub(super) const CONFIRM: Field = field(
    "confirm",
    FieldKind::Text,
    "What a person typed. Where it is sent, also empty, an act of level 3 is refused with 422 unless it is the name \
     of the object (`confirm_word` of the dry run).",
);

/// The care of one request.
pub(super) struct Care {
    dry_run: bool,
    if_seq: Option<u64>,
    if_match: Option<u64>,
    confirm: Option<String>,
}

// === impl Care ===

impl Care {
    pub fn read(params: &Params, headers: &HeaderMap, fields: &Fields) -> Result<Care, Problem> {
        Ok(Care {
            dry_run: params.flag("dry_run")?,
            if_seq: fields.integer("if_seq")?,
            if_match: if_match(headers)?,
            confirm: fields.text("confirm")?.map(|word| word.trim().to_owned()),
        })
    }

    /// `command` with this care.
    pub fn of(self, command: Command) -> Command {
        if self.dry_run {
            return Command::DryRun(Box::new(command));
        }
        if self.if_seq.is_none() && self.if_match.is_none() && self.confirm.is_none() {
            return command;
        }
        Command::Careful {
            command: Box::new(command),
            if_seq: self.if_seq,
            if_match: self.if_match,
            confirm: self.confirm.map(Into::into),
        }
    }
}

/// `"18"`, `18`, or `*`: whatever it is.
fn if_match(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let tag = value.to_str().unwrap_or_default().trim();
    if tag == "*" {
        return Ok(None);
    }
    let seq = tag.trim_matches('"').parse();
    seq.map(Some).map_err(|_| Problem::bad_request(format!("If-Match of an act is a seq such as \"18\", not {tag}")))
}

/// Puts a preview into an answer.
pub(super) fn show(app: &App, answer: &mut Map<String, Value>, preview: Option<&Preview>) {
    answer.insert("dry_run".into(), true.into());
    let shown = |preview: &Preview| {
        let peak = |service: &str| app.history().peak(&format!("service:{service}"), preview.computed_at);
        json!(PreviewDto::of(preview, &peak))
    };
    if let Some(Value::Object(members)) = preview.map(shown) {
        answer.extend(members);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_names_a_seq_or_anything() {
        let read = |tag: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::IF_MATCH, tag.parse().unwrap());
            if_match(&headers).map_err(|problem| problem.status.as_u16())
        };
        assert_eq!(
            [read("\"18\""), read("18"), read("*"), read("W/x")],
            [Ok(Some(18)), Ok(Some(18)), Ok(None), Err(400)]
        );
        assert_eq!(if_match(&HeaderMap::new()).ok(), Some(None));
    }
}
