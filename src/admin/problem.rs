//! Errors as problem documents (RFC 9457): whose fault, whether to retry, what to do. Every error that leaves is one,
//! also for paths that do not exist and methods that are not allowed.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::dto::ConfigProblemDto;
use crate::config::{self, Severity};
use crate::control::Refusal;

/// Problems of a configuration that the sentence names; `problems` has all.
const TOLD_MOST: usize = 50;

/// A problem document. `code` is stable and for programs, `detail` is for people.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem {
    pub status: StatusCode,
    pub code: &'static str,
    pub detail: String,
    /// Further members of the document.
    pub members: Box<Map<String, Value>>,
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

// === impl Problem ===

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Problem {
        Problem { status, code, detail: detail.into(), members: Box::default(), headers: Vec::new() }
    }

    pub fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_request", detail)
    }

    pub fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// No such object; `known` are the names that exist.
    pub fn unknown_object<'a>(noun: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Problem {
        let problem = Problem::new(StatusCode::NOT_FOUND, "unknown_object", format!("no {noun} is named `{name}`"));
        let problem = problem.member("noun", noun.into()).member("name", name.into());
        problem.meaning(super::nearest(name, known))
    }

    pub fn not_in_this_build(what: &str) -> Problem {
        Problem::new(StatusCode::NOT_IMPLEMENTED, "not_in_this_build", format!("not available in this build: {what}"))
    }

    /// Nothing is wrong with the request: try again.
    pub fn busy(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
            .header(header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    /// The nearest known spelling, in the sentence and as the member `did_you_mean`.
    pub fn meaning(mut self, meant: Option<&str>) -> Problem {
        if let Some(meant) = meant {
            self.detail += &format!("; did you mean `{meant}`?");
            self.members.insert("did_you_mean".into(), meant.into());
        }
        self
    }

    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Problem {
        self.headers.push((name, value));
        self
    }

    pub fn member(mut self, name: &str, value: Value) -> Problem {
        self.members.insert(name.into(), value);
        self
    }

    pub fn document(&self) -> Value {
        let mut document = json!({
            "type": format!("urn:bascule:problem:{}", self.code),
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "code": self.code,
            "detail": self.detail,
        });
        let object = document.as_object_mut().expect("it is written as an object");
        object.extend((*self.members).clone());
        document
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = self.document().to_string();
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        response.headers_mut().extend(self.headers);
        response
    }
}

/// The map from refusals to status codes; total, so that a new refusal must choose.
impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let detail = refusal.to_string();
        match refusal {
            Refusal::Unknown(object) => Problem::unknown_object(&spoken(object.kind.word()), &object.name, []),
            Refusal::WouldBeStuck(_) => Problem::new(StatusCode::CONFLICT, "would_be_stuck", detail),
            Refusal::Stale(_) => Problem::new(StatusCode::PRECONDITION_FAILED, "changed_meanwhile", detail),
            Refusal::Conflict(_) => Problem::new(StatusCode::CONFLICT, "conflict", detail),
            Refusal::Invalid(_) => Problem::bad_request(detail),
            Refusal::Unconfirmed(_) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "confirm_needed", detail),
            Refusal::BadConfig(problems) => bad_config(&problems),
            Refusal::Disk(_) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "disk", detail),
            Refusal::Stopping | Refusal::Handing(_) => {
                let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", detail);
                problem.header(header::RETRY_AFTER, HeaderValue::from_static("5"))
            }
        }
    }
}

/// `service_group` as people say it.
pub(crate) fn spoken(word: &str) -> String {
    word.replace('_', " ")
}

/// `problems` are what must be mended; warnings stand beside them as in every other answer.
fn bad_config(found: &[config::Problem]) -> Problem {
    let (errors, warnings): (Vec<_>, Vec<_>) = found.iter().partition(|p| p.severity == Severity::Error);
    let list: Vec<ConfigProblemDto> = errors.iter().map(|p| ConfigProblemDto::of(p)).collect();
    let count = match errors.len() {
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    };
    let detail = format!("the configuration has {count} and changes nothing{}", told(&errors));
    let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_config", detail).member("problems", json!(list));
    if warnings.is_empty() {
        return problem;
    }
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    problem.member("warnings", json!(warnings))
}

/// `: b.toml:3: wrong`; of several each in a line of its own.
fn told(errors: &[&config::Problem]) -> String {
    let more = match errors.len().saturating_sub(TOLD_MOST) {
        0 => String::new(),
        more => format!("\n… and {more} more, in `problems`"),
    };
    match errors {
        [] => String::new(),
        [one] => format!(": {one}"),
        many => many.iter().take(TOLD_MOST).map(|p| format!("\n{p}")).collect::<String>() + &more,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{Kind, ObjectRef};

    #[test]
    fn every_refusal_has_a_status_and_a_code() {
        let cases = [
            (Refusal::Unknown(ObjectRef::new(Kind::ServiceGroup, "x")), 404, "unknown_object"),
            (Refusal::WouldBeStuck("send x".into()), 409, "would_be_stuck"),
            (Refusal::Conflict("c".into()), 409, "conflict"),
            (Refusal::Stale("s".into()), 412, "changed_meanwhile"),
            (Refusal::Invalid("i".into()), 400, "invalid_request"),
            (Refusal::Unconfirmed("u".into()), 422, "confirm_needed"),
            (Refusal::BadConfig(Vec::new()), 422, "bad_config"),
            (Refusal::Disk("d".into()), 500, "disk"),
            (Refusal::Stopping, 503, "stopping"),
            (Refusal::Handing("h"), 503, "stopping"),
        ];
        for (refusal, status, code) in cases {
            let document = Problem::from(refusal).document();
            assert_eq!((document["status"].as_u64(), document["code"].as_str()), (Some(status), Some(code)));
        }
    }

    #[test]
    fn an_unknown_name_comes_with_the_nearest_one() {
        let document = Problem::unknown_object("service", "wbe1", ["web1", "pg1"]).document();
        assert_eq!(document["did_you_mean"], "web1");
        assert_eq!(document["detail"], "no service is named `wbe1`; did you mean `web1`?");
    }

    #[test]
    fn the_list_of_a_bad_configuration_holds_what_must_be_mended_and_warnings_stand_beside_it() {
        let found = |severity, what: &str| config::Problem {
            file: "b.toml".into(),
            line: 3,
            column: 1,
            severity,
            path: "a".into(),
            what: what.into(),
            did_you_mean: None,
        };
        let mixed = vec![found(Severity::Error, "wrong"), found(Severity::Warning, "odd")];
        let document = Problem::from(Refusal::BadConfig(mixed)).document();
        assert_eq!(document["problems"].as_array().map(Vec::len), Some(1));
        assert_eq!(document["warnings"], json!(["b.toml:3: warning: odd"]));
        assert!(document["detail"].as_str().unwrap().starts_with("the configuration has 1 problem and"));
        let document = Problem::from(Refusal::BadConfig(vec![found(Severity::Error, "wrong")])).document();
        assert_eq!(document.get("warnings"), None);
        assert_eq!(document["detail"], "the configuration has 1 problem and changes nothing: b.toml:3: wrong");
    }

    #[test]
    fn of_a_bad_configuration_every_problem_is_told_as_check_does() {
        let found = |line| config::Problem {
            file: "b.toml".into(),
            line,
            column: 1,
            severity: Severity::Error,
            path: "a".into(),
            what: "wrong".into(),
            did_you_mean: None,
        };
        let detail = |count| {
            let document = Problem::from(Refusal::BadConfig((1..=count).map(found).collect())).document();
            document["detail"].as_str().unwrap().to_owned()
        };
        let two = "the configuration has 2 problems and changes nothing\nb.toml:1: wrong\nb.toml:2: wrong";
        assert_eq!(detail(2), two);
        let many = detail(70);
        assert!(many.contains("\nb.toml:50: wrong\n… and 20 more"), "{many}");
    }
}
