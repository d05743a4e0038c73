//! `Idempotency-Key`: a POST that is sent again is done once.
//!
//! Whoever does not know whether a POST came through sends it again with the same key and gets the answer of the first
//! one. Only what was done is kept, for a day and within bounds; what was refused changed nothing and may be tried anew, and
//! what only reads is simply done again. Keys belong to who sent them and take the place of nobody else's; they do not
//! outlive the process.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::App;
use super::auth::{Access, Caller};
use super::body::{self, CONFIG_MAX};
use super::problem::Problem;
use crate::model::id::Name;

pub(super) const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// How long an answer is kept, and how many of them in all and of one caller.
const KEPT: Duration = Duration::from_secs(24 * 3_600);
const MOST: usize = 1_000;
const MOST_OF_ONE: usize = 200;
/// Of the bodies of all answers that are kept, and of those of one caller.
const BYTES_MOST: usize = 16 << 20;
const BYTES_MOST_OF_ONE: usize = 4 << 20;
const KEY_BYTES_MOST: usize = 255;

/// Fields of an answer that are part of it.
const FIELDS: [HeaderName; 4] = [header::CONTENT_TYPE, header::LOCATION, header::ETAG, header::LINK];

/// Whose key it is.
type Owned = (Name, String);

/// Answers by key.
#[derive(Default)]
pub(super) struct Answers(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: HashMap<Owned, Entry>,
    /// The oldest first.
    order: VecDeque<Owned>,
}

/// What somebody has here.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    entries: usize,
    bytes: usize,
}

struct Entry {
    /// Of method, path, query and body.
    request: [u8; 32],
    since: Instant,
    /// `None`: under way.
    answer: Option<Answer>,
}

#[derive(Clone, Debug, PartialEq)]
struct Answer {
    status: StatusCode,
    fields: HeaderMap,
    body: Bytes,
}

/// What to do with a request that carries a key.
#[derive(Debug, PartialEq)]
enum Begin {
    /// It is the first one.
    Go,
    Again(Answer),
    /// The first one is under way.
    UnderWay,
    /// The key was used for something else.
    Another,
    /// As many are under way as may be.
    Full,
}

/// Whether answers of a POST are kept: what only reads is done again.
pub(super) fn keeps(access: Access) -> bool {
    matches!(access, Access::Operate | Access::Configure)
}

/// Carries a request out, unless it was carried out before.
pub(super) async fn once(app: &App, caller: &Caller, request: Request, next: Next) -> Result<Response, Problem> {
    let key = key_of(request.headers())?;
    let (parts, body) = request.into_parts();
    let body = body::read(body, CONFIG_MAX).await?;
    let mut hasher = Sha256::new();
    for part in [parts.method.as_str(), &parts.uri.to_string()] {
        hasher.update(part);
        hasher.update([0]);
    }
    hasher.update(&body);
    let owned = (Name::clone(&caller.actor), key);
    match app.0.answers.begin(owned.clone(), hasher.finalize().into(), Instant::now()) {
        Begin::Go => {}
        Begin::Again(answer) => return Ok(answer.again()),
        Begin::UnderWay => {
            let problem = Problem::new(StatusCode::CONFLICT, "under_way", "the first request of this key is under way");
            return Err(problem.header(header::RETRY_AFTER, HeaderValue::from_static("1")));
        }
        Begin::Full => return Err(Problem::busy("as many requests with a key are under way as may be; try again")),
        Begin::Another => {
            let detail = "this Idempotency-Key came with another request before; a new request needs a new key";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "key_used", detail));
        }
    }
    // On a task of its own, so that it is carried out and kept even where the caller goes away.
    let app = app.clone();
    let done = tokio::spawn(async move {
        let mut underway = UnderWay { app: &app, owned: Some(owned) };
        let response = next.run(Request::from_parts(parts, Body::from(body))).await;
        let (head, body) = response.into_parts();
        let Ok(body) = axum::body::to_bytes(body, BYTES_MOST).await else {
            return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the answer is too long")
                .into_response();
        };
        if head.status.is_success()
            && let Some(owned) = underway.owned.take()
        {
            let fields = head.headers.iter().filter(|(name, _)| FIELDS.contains(name));
            let fields = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
            app.0.answers.finish(&owned, Answer { status: head.status, fields, body: body.clone() });
        }
        Response::from_parts(head, Body::from(body))
    });
    done.await.map_err(|_| Problem::busy("the request came to no end; look whether it was done"))
}

/// Errors: 400, the key is empty, too long, or said twice.
fn key_of(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all(KEY).iter();
    let key = values.next().and_then(|value| value.to_str().ok()).map(str::trim).unwrap_or_default();
    if values.next().is_some() || key.is_empty() || key.len() > KEY_BYTES_MOST {
        let detail = format!("`Idempotency-Key` is one text of 1 to {KEY_BYTES_MOST} bytes");
        return Err(Problem::bad_request(detail));
    }
    Ok(key.to_owned())
}

/// Forgets the key of a request that did nothing, or that fell over.
struct UnderWay<'a> {
    app: &'a App,
    owned: Option<Owned>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(owned) = self.owned.take() {
            self.app.0.answers.forget(&owned);
        }
    }
}

// === impl Answers ===

impl Answers {
    fn begin(&self, owned: Owned, request: [u8; 32], now: Instant) -> Begin {
        let mut kept = self.0.lock();
        kept.drop_old(now);
        if let Some(entry) = kept.entries.get(&owned) {
            return match &entry.answer {
                _ if entry.request != request => Begin::Another,
                Some(answer) => Begin::Again(answer.clone()),
                None => Begin::UnderWay,
            };
        }
        if !kept.make_room(&owned.0) {
            return Begin::Full;
        }
        kept.order.push_back(owned.clone());
        kept.entries.insert(owned, Entry { request, since: now, answer: None });
        Begin::Go
    }

    fn finish(&self, owned: &Owned, answer: Answer) {
        let mut kept = self.0.lock();
        if let Some(entry) = kept.entries.get_mut(owned) {
            entry.answer = Some(answer);
        }
        while kept.share(Some(&owned.0)).bytes > BYTES_MOST_OF_ONE && kept.drop_first(&owned.0) {}
        while kept.share(None).bytes > BYTES_MOST {
            let Some(most) = kept.who_has_most(|share| share.bytes) else { break };
            if !kept.drop_first(&most) {
                break;
            }
        }
    }

    fn forget(&self, owned: &Owned) {
        let mut kept = self.0.lock();
        kept.entries.remove(owned);
        kept.order.retain(|other| other != owned);
    }
}

// === impl Kept ===

impl Kept {
    fn drop_old(&mut self, now: Instant) {
        let Kept { entries, order } = self;
        entries.retain(|_, entry| entry.answer.is_none() || now.saturating_duration_since(entry.since) < KEPT);
        order.retain(|owned| entries.contains_key(owned));
    }

    /// Whether `owner` may have one more; what they have, and then who has most, makes room. What is under way stays: its
    /// key would do the same once more meanwhile.
    fn make_room(&mut self, owner: &Name) -> bool {
        if self.share(Some(owner)).entries >= MOST_OF_ONE && !self.drop_first(owner) {
            return false;
        }
        self.entries.len() < MOST || self.who_has_most(|share| share.entries).is_some_and(|most| self.drop_first(&most))
    }

    /// What `owner` has; `None`: everybody.
    fn share(&self, owner: Option<&Name>) -> Share {
        let entries = self.entries.iter().filter(|((of, _), _)| owner.is_none_or(|owner| of == owner));
        entries.fold(Share::default(), |share, (_, entry)| share.with(entry))
    }

    /// Of answers that may go.
    fn who_has_most(&self, what: impl Fn(&Share) -> usize) -> Option<Name> {
        let mut shares: HashMap<&Name, Share> = HashMap::new();
        for ((owner, _), entry) in self.entries.iter().filter(|(_, entry)| entry.answer.is_some()) {
            let share = shares.entry(owner).or_default();
            *share = share.with(entry);
        }
        shares.into_iter().max_by_key(|(_, share)| what(share)).map(|(owner, _)| Name::clone(owner))
    }

    /// Drops the oldest answer of `owner`; false: they have none.
    fn drop_first(&mut self, owner: &Name) -> bool {
        let is_answer = |owned: &Owned| self.entries.get(owned).is_some_and(|entry| entry.answer.is_some());
        let Some(at) = self.order.iter().position(|owned| owned.0 == *owner && is_answer(owned)) else { return false };
        if let Some(owned) = self.order.remove(at) {
            self.entries.remove(&owned);
        }
        true
    }
}

// === impl Share ===

impl Share {
    fn with(self, entry: &Entry) -> Share {
        let bytes = entry.answer.as_ref().map_or(0, |answer| answer.body.len());
        Share { entries: self.entries + 1, bytes: self.bytes + bytes }
    }
}

// === impl Answer ===

impl Answer {
    fn again(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        *response.headers_mut() = self.fields;
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: &str) -> Owned {
        ("admin:a".into(), key.into())
    }

    fn answer(bytes: usize) -> Answer {
        Answer { status: StatusCode::CREATED, fields: HeaderMap::new(), body: vec![0; bytes].into() }
    }

    #[test]
    fn what_was_done_is_answered_again_and_another_request_is_told_so() {
        let (answers, now) = (Answers::default(), Instant::now());
        assert_eq!(answers.begin(key("a"), [1; 32], now), Begin::Go);
        assert_eq!(answers.begin(key("a"), [1; 32], now), Begin::UnderWay);
        answers.finish(&key("a"), answer(3));
        assert_eq!(answers.begin(key("a"), [1; 32], now), Begin::Again(answer(3)));
        assert_eq!(answers.begin(key("a"), [2; 32], now), Begin::Another);
        assert_eq!(answers.begin(("admin:b".into(), "a".into()), [2; 32], now), Begin::Go, "keys have owners");
        assert_eq!(answers.begin(key("a"), [2; 32], now + KEPT), Begin::Go, "a day is over");
    }

    #[test]
    fn what_did_nothing_may_be_tried_again() {
        let (answers, now) = (Answers::default(), Instant::now());
        answers.begin(key("a"), [1; 32], now);
        answers.forget(&key("a"));
        assert_eq!(answers.begin(key("a"), [2; 32], now), Begin::Go);
    }

    #[test]
    fn neither_many_keys_nor_long_answers_fill_the_memory() {
        let (answers, now) = (Answers::default(), Instant::now());
        for n in 0..MOST * 2 {
            let owned = (format!("admin:{}", n % 20).into(), n.to_string());
            answers.begin(owned.clone(), [0; 32], now);
            answers.finish(&owned, answer(64 << 10));
        }
        let kept = answers.0.lock();
        assert!(kept.entries.len() <= MOST && kept.entries.len() == kept.order.len());
        assert!(kept.share(None).bytes <= BYTES_MOST, "{:?}", kept.share(None));
        let newest = ("admin:19".into(), (MOST * 2 - 1).to_string());
        assert!(kept.entries.contains_key(&newest), "the newest stays");
    }

    #[test]
    fn who_sends_many_keys_loses_their_own_and_nobody_elses() {
        let (answers, now) = (Answers::default(), Instant::now());
        let other: Owned = ("admin:b".into(), "k".into());
        answers.begin(other.clone(), [1; 32], now);
        answers.finish(&other, answer(3));
        for n in 0..MOST * 2 {
            answers.begin(key(&n.to_string()), [0; 32], now);
            answers.finish(&key(&n.to_string()), answer(1 << 20));
        }
        assert_eq!(answers.begin(other, [1; 32], now), Begin::Again(answer(3)));
        assert!(answers.0.lock().share(Some(&"admin:a".into())).bytes <= BYTES_MOST_OF_ONE);
    }

    #[test]
    fn what_is_under_way_is_never_forgotten_for_another() {
        let (answers, now) = (Answers::default(), Instant::now());
        let begun = (0..MOST).filter(|n| answers.begin(key(&n.to_string()), [0; 32], now) == Begin::Go).count();
        assert_eq!((begun, answers.begin(key("one more"), [0; 32], now)), (MOST_OF_ONE, Begin::Full));
        assert_eq!(answers.begin(key("0"), [0; 32], now + KEPT), Begin::UnderWay);
    }
}
