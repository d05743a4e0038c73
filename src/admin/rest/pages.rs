//! Collections a page at a time, filtered, and with only the fields that were asked for.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::body::{Field, FieldKind, Params, field};
use super::super::dto::{Schema, path_segment};
use super::super::problem::Problem;

/// Items of one answer where nobody says how many.
pub(super) const DEFAULT: u64 = 10_000;
/// Items of one answer at most.
pub(super) const MOST: u64 = 50_000;

/// States that objects of some collection can be in.
const STATES: [&str; 13] = [
    "UP",
    "DOWN",
    "UNKNOWN",
    "TROFS",
    "TROFS_DOWN",
    "OFS",
    "ENABLED",
    "DISABLED",
    "inactive",
    "activating",
    "active",
    "deactivating",
    "heard",
];

pub(super) const PAGE: &[Field] = &[
    field("limit", FieldKind::Within(0, MOST), "At most this many items; default 10000, at most 50000."),
    field("offset", FieldKind::Integer, "Skip this many items."),
    field("cursor", FieldKind::Text, "Go on where another page ended: `next` of its answer has it."),
    field("q", FieldKind::Text, "Only those whose name holds this, in any case."),
    field("state", FieldKind::Words(&STATES), "Only those in one of these states, separated by commas, in any case."),
    field("fields", FieldKind::Text, "Only these members of each item, separated by commas; the name is always there."),
];

/// What of a collection is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Page {
    limit: usize,
    offset: usize,
    /// The name after which it goes on.
    after: Option<String>,
    /// In lower case.
    q: Option<String>,
    states: Option<Vec<String>>,
    fields: Option<Vec<String>>,
}

/// A page, and where the next one begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cut {
    /// Positions in the collection.
    pub shown: Vec<usize>,
    pub total: usize,
    /// The name of the last one, where more follow.
    pub last: Option<usize>,
}

/// `{"items": [...], "total": n, "next": "…"}`.
pub(super) struct Paged<T>(std::marker::PhantomData<T>);

// === impl Page ===

impl Page {
    /// Errors: no numbers, a cursor that no answer had, a limit that is too large.
    pub fn of(params: &Params) -> Result<Page, Problem> {
        let limit = params.integer("limit")?.unwrap_or(DEFAULT);
        if limit > MOST {
            return Err(Problem::bad_request(format!("`limit` is at most {MOST}, not {limit}; follow `next`")));
        }
        let after = match params.get("cursor") {
            None => None,
            Some(cursor) => {
                let name = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|name| String::from_utf8(name).ok());
                let unknown = || Problem::bad_request("`cursor` is none of ours; take that of `next`, or leave it out");
                Some(name.ok_or_else(unknown)?)
            }
        };
        let list = |name: &str, case: fn(&str) -> String| {
            params.get(name).map(|text| text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(case).collect())
        };
        Ok(Page {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            offset: usize::try_from(params.integer("offset")?.unwrap_or(0)).unwrap_or(usize::MAX),
            after,
            q: params.get("q").map(str::to_lowercase).filter(|q| !q.is_empty()),
            states: list("state", str::to_ascii_lowercase),
            fields: list("fields", str::to_owned),
        })
    }

    /// Whether objects must be shown to know which are wanted.
    pub fn asks_for_states(&self) -> bool {
        self.states.is_some()
    }

    pub fn is_named(&self, name: &str) -> bool {
        self.q.as_ref().is_none_or(|q| name.to_lowercase().contains(q.as_str()))
    }

    pub fn has_state(&self, shown: &Value) -> bool {
        self.states.is_none() || shown.get("state").and_then(Value::as_str).is_some_and(|state| self.is_state(state))
    }

    pub fn is_state(&self, state: &str) -> bool {
        self.states.as_ref().is_none_or(|states| states.iter().any(|wanted| wanted.eq_ignore_ascii_case(state)))
    }

    /// The page of those that are wanted, given as their positions in ascending order.
    pub fn cut(&self, wanted: Vec<usize>, names: &[&str]) -> Cut {
        let total = wanted.len();
        let begins = self.after.as_deref().map_or(0, |after| match names.iter().position(|name| *name == after) {
            Some(at) => wanted.partition_point(|wanted| *wanted <= at),
            // It is gone since; tables are in the order of their names.
            None => wanted.iter().position(|at| names[*at] > after).unwrap_or(total),
        });
        let first = begins.saturating_add(self.offset).min(total);
        let end = first.saturating_add(self.limit).min(total);
        let last = (end < total && end > first).then(|| wanted[end - 1]);
        Cut { shown: wanted[first..end].to_vec(), total, last }
    }

    /// An item as JSON text, with only the fields that were asked for.
    pub fn text(&self, item: &impl Serialize) -> Vec<u8> {
        if self.fields.is_none() {
            return serde_json::to_vec(item).unwrap_or_default();
        }
        let item = serde_json::to_value(item).unwrap_or_default();
        self.trimmed(item).to_string().into_bytes()
    }

    fn trimmed(&self, mut item: Value) -> Value {
        if let (Some(fields), Some(map)) = (&self.fields, item.as_object_mut()) {
            map.retain(|key, _| matches!(key.as_str(), "name" | "id") || fields.iter().any(|field| field == key));
        }
        item
    }

    /// The answer of these items; `path` is the collection's.
    pub fn answer(
        &self,
        path: &str,
        params: &Params,
        items: impl IntoIterator<Item = Vec<u8>>,
        cut: &Cut,
        last: Option<&str>,
    ) -> Response {
        // Written piece by piece: of ten thousand items a tree would cost more than all the rest.
        let mut body = b"{\"items\":[".to_vec();
        for (at, item) in items.into_iter().enumerate() {
            body.extend_from_slice(if at > 0 { b"," } else { b"" });
            body.extend_from_slice(&item);
        }
        body.extend_from_slice(format!("],\"total\":{}", cut.total).as_bytes());
        let next = last.map(|last| {
            let kept = params.pairs().filter(|(name, _)| !matches!(*name, "cursor" | "offset"));
            let kept: Vec<String> = kept.map(|(name, value)| format!("{name}={}", path_segment(value))).collect();
            let cursor = format!("cursor={}", URL_SAFE_NO_PAD.encode(last));
            format!("{path}?{}", kept.into_iter().chain([cursor]).collect::<Vec<_>>().join("&"))
        });
        if let Some(next) = &next {
            body.extend_from_slice(format!(",\"next\":{}", Value::from(next.as_str())).as_bytes());
        }
        body.push(b'}');
        let mut response = ([(header::CONTENT_TYPE, "application/json")], body).into_response();
        if let Some(link) = next.and_then(|next| HeaderValue::try_from(format!("<{next}>; rel=\"next\"")).ok()) {
            response.headers_mut().insert(header::LINK, link);
        }
        response
    }
}

/// The answer of a collection that is all there already.
pub(super) fn answer(params: &Params, path: &str, items: Vec<Value>) -> Result<Response, Problem> {
    let page = Page::of(params)?;
    let names: Vec<&str> = items.iter().map(|item| item["name"].as_str().unwrap_or_default()).collect();
    let wanted = (0..items.len()).filter(|at| page.is_named(names[*at]) && page.has_state(&items[*at])).collect();
    let cut = page.cut(wanted, &names);
    let shown = cut.shown.iter().map(|at| page.text(&items[*at]));
    let last = cut.last.map(|at| names[at]);
    Ok(page.answer(path, params, shown, &cut, last))
}

// === impl Schema for Paged ===

impl<T: Schema> Schema for Paged<T> {
    fn schema(components: &mut Map<String, Value>) -> Value {
        described(T::schema(components))
    }
}

/// The schema of a page of items, which `fields` may have cut down to some of their members.
pub(crate) fn described(item: Value) -> Value {
    let part = json!({ "type": "object", "description": "With `fields`: some members." });
    let items = json!({ "type": "array", "items": { "anyOf": [item, part] } });
    json!({
        "type": "object",
        "required": ["items", "total"],
        "properties": {
            "items": items,
            "total": { "type": "integer", "description": "Items on all pages." },
            "next": { "type": "string", "description": "The next page; absent on the last one." },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["a1", "a2", "B1", "b2", "c"];

    fn page(query: &str) -> Page {
        Page::of(&Params::parse(query).unwrap()).unwrap()
    }

    fn cut(query: &str) -> (Vec<usize>, Option<usize>) {
        let page = page(query);
        let wanted = (0..NAMES.len()).filter(|at| page.is_named(NAMES[*at])).collect();
        let cut = page.cut(wanted, &NAMES);
        (cut.shown, cut.last)
    }

    #[test]
    fn pages_follow_one_another_and_end() {
        assert_eq!(cut(""), (vec![0, 1, 2, 3, 4], None));
        assert_eq!(cut("limit=2"), (vec![0, 1], Some(1)));
        let after = |name: &str| format!("limit=2&cursor={}", URL_SAFE_NO_PAD.encode(name));
        assert_eq!(cut(&after("a2")), (vec![2, 3], Some(3)));
        assert_eq!(cut(&after("b2")), (vec![4], None));
        assert_eq!(cut(&after("c")), (vec![], None));
        assert_eq!(cut(&after("b")), (vec![3, 4], None), "the one that it ended with is gone");
        assert_eq!(cut("limit=0"), (vec![], None));
        assert_eq!(cut("offset=9"), (vec![], None));
        assert_eq!(cut("q=B"), (vec![2, 3], None));
    }

    #[test]
    fn what_is_no_page_is_refused() {
        for query in ["limit=50001", "limit=x", "cursor=%20", "cursor=_w"] {
            assert!(Page::of(&Params::parse(query).unwrap()).is_err(), "{query}");
        }
    }

    #[test]
    fn a_state_is_one_of_those_asked_for_in_any_case() {
        let page = page("state=up,TROFS");
        assert!(page.has_state(&json!({"state": "UP"})) && page.has_state(&json!({"state": "TROFS"})));
        assert!(!page.has_state(&json!({"state": "DOWN"})) && !page.has_state(&json!({})));
    }

    #[test]
    fn an_item_is_trimmed_to_its_name_and_the_fields_asked_for() {
        let item = json!({"name": "a", "state": "UP", "active": 3});
        assert_eq!(page("fields=active,%20nothing").trimmed(item.clone()), json!({"name": "a", "active": 3}));
        assert_eq!(page("").trimmed(item.clone()), item);
    }
}
