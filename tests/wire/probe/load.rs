//! LOAD and HTTP-INLINE.

use bascule::model::dialogue::{InlineAction, LoadQuery};
use bascule::probe::inline::{Answers, Traffic};
use bascule::probe::{Surroundings, sample_in};

use super::*;

fn request(path: &str) -> HttpRequest {
    HttpRequest { method: "GET".into(), path: path.into(), host: None, headers: Vec::new(), body: Vec::new() }
}

async fn load(answer: &'static [u8], pointer: Option<&str>, threshold: Option<u32>) -> Verdict {
    let query = LoadQuery {
        request: request("/load"),
        status: vec![StatusRange::one(200)],
        pointer: pointer.map(Into::into),
        threshold,
    };
    probe(Probe::Load { target: answering(answer).await, tls: None, query }, PATIENT).await
}

#[tokio::test]
async fn a_load_is_told_with_the_verdict_and_fails_above_its_threshold() {
    let verdict = load(b"HTTP/1.1 200 OK\r\n\r\n 42\n", None, Some(42)).await;
    assert_verdict(&verdict, Outcome::Pass, "load 42");
    assert_eq!(verdict.load, Some(42));
    let verdict = load(b"HTTP/1.1 200 OK\r\n\r\n{\"cpu\": {\"load\": 91}}", Some("/cpu/load"), Some(90)).await;
    assert_verdict(&verdict, Outcome::Fail, "load 91 is more than 90");
    assert_eq!(verdict.load, None);
    let verdict = load(b"HTTP/1.1 200 OK\r\n\r\nbusy", None, None).await;
    assert_verdict(&verdict, Outcome::Fail, "\"busy\" is no load");
    assert_verdict(&load(b"HTTP/1.1 503 No\r\n\r\n1", None, None).await, Outcome::Fail, "503 No, expected 200");
}

#[derive(Debug)]
struct Users(Answers);

impl Traffic for Users {
    fn since_last(&self) -> Answers {
        self.0
    }
}

#[tokio::test]
async fn user_traffic_is_the_sample_and_a_request_takes_its_place_where_there_was_none() {
    let target = answering(b"HTTP/1.1 200 OK\r\n\r\n").await;
    let (tls, expect, action) = (None, expect_200(), InlineAction::Down);
    let check = check(Probe::HttpInline { target, tls, request: request("/"), expect, action }, PATIENT);
    let ask = async |accepted, refused| {
        let users = Users(Answers { accepted, refused, last_refused: 502 });
        sample_in(&check, &Surroundings::default(), Some(&users)).await
    };
    assert_verdict(&ask(3, 9).await, Outcome::Fail, "9 of 12 answers to users were not accepted, the last was 502");
    assert_verdict(&ask(9, 3).await, Outcome::Pass, "9 of 12 answers to users were accepted");
    assert_verdict(&ask(0, 0).await, Outcome::Pass, "200 OK");
}
