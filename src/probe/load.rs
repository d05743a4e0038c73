//! LOAD: a request over HTTP whose answer is a number, or holds one: how busy the server says it is.

use super::http::judge::in_words;
use super::http::{Fetched, fetch};
use super::{Answer, Found, Miss, To, quoted};
use crate::model::dialogue::LoadQuery;

pub(super) async fn probe(to: To<'_>, query: &LoadQuery, considered: usize) -> Found {
    let (fetched, address) = fetch(to, &query.request, considered, |_| None).await?;
    let Fetched::Whole(response) = fetched else {
        return Err(Miss::Fail(format!("{address}: no answer")));
    };
    let head = response.head().ok_or_else(|| Miss::Fail(format!("{address}: no answer")))?;
    if !query.status.iter().any(|range| range.contains(head.status)) {
        return Err(Miss::Fail(format!("{address}: {}, expected {}", head.line(), in_words(&query.status))));
    }
    if response.is_cut() {
        return Err(Miss::Fail(format!("{address}: the answer is longer than {considered} bytes")));
    }
    let load = number(response.body(), query.pointer.as_deref());
    let load = load.map_err(|why| Miss::Fail(format!("{address}: {why}")))?;
    match query.threshold {
        Some(most) if load > most => Err(Miss::Fail(format!("{address}: load {load} is more than {most}"))),
        _ => Ok(Answer { load: Some(load), ..Answer::pass(format!("{address}: load {load}")) }),
    }
}

/// A number that is not negative, rounded; what is larger than 32 bits is as busy as can be.
fn number(body: &[u8], pointer: Option<&str>) -> Result<u32, String> {
    let number = match pointer {
        None => std::str::from_utf8(body.trim_ascii()).ok().and_then(|text| text.parse::<f64>().ok()),
        Some(pointer) => {
            let json: serde_json::Value =
                serde_json::from_slice(body).map_err(|error| format!("the body is not JSON: {error}"))?;
            let value = json.pointer(pointer).ok_or_else(|| format!("the body has nothing at {pointer}"))?;
            value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
        }
    };
    match number {
        // Above its range a cast gives the largest value.
        Some(number) if number.is_finite() && number >= 0.0 => Ok(number.round() as u32),
        _ => Err(format!("{} is no load: a number from 0 on", quoted(body))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_a_number_alone_or_at_a_place_in_json() {
        assert_eq!(number(b" 17\r\n", None), Ok(17));
        assert_eq!(number(b"0.6", None), Ok(1));
        assert_eq!(number(b"1e99", None), Ok(u32::MAX));
        assert_eq!(number(br#"{"cpu":{"load":"42"}}"#, Some("/cpu/load")), Ok(42));
        assert_eq!(number(br#"{"load":7.4}"#, Some("/load")), Ok(7));
        for (body, pointer) in
            [(&b"busy"[..], None), (b"-1", None), (b"NaN", None), (b"", None), (b"[]", Some("/a")), (b"{", Some("/a"))]
        {
            assert!(number(body, pointer).is_err(), "{body:?}");
        }
    }
}
