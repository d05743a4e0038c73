//! The first value that a check's query gave, against what it is to be: a comparison (`<= 60`, `= 'YES'`), or the very
//! text.

use crate::model::sql::{Expectation, is_comparison};
use crate::probe::{Miss, quoted};

/// Whether the first value of the first row is as expected. `None` is NULL, which is
/// nothing that can be expected.
pub(super) fn judge(value: Option<&[u8]>, expect: Option<&str>) -> Result<String, Miss> {
    let shown = value.map_or_else(|| "NULL".to_owned(), quoted);
    let Some(expect) = expect else { return Ok(format!("answered the query with {shown}")) };
    let holds = match (value, is_comparison(expect)) {
        (None, _) => false,
        (Some(value), false) => value == expect.as_bytes(),
        (Some(value), true) => {
            let comparison = Expectation::parse(expect).map_err(Miss::Void)?;
            let text = std::str::from_utf8(value).ok();
            text.and_then(|text| comparison.holds(text)).ok_or_else(|| {
                Miss::Fail(format!("the query gave {shown}, which `{expect}` cannot be compared with"))
            })?
        }
    };
    match holds {
        true => Ok(format!("answered the query with {shown}")),
        false if is_comparison(expect) => Err(Miss::Fail(format!("the query gave {shown}, expected `{expect}`"))),
        false => Err(Miss::Fail(format!("the query gave {shown}, expected {}", quoted(expect.as_bytes())))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_compared_where_an_operator_begins_and_is_the_very_text_otherwise() {
        let holds = |value: Option<&str>, expect| judge(value.map(str::as_bytes), Some(expect)).is_ok();
        for (value, expect) in
            [("42", "<= 60"), ("60.0", "= 60"), ("YES", "= 'YES'"), ("a", "!= 'b'"), ("ok", "ok"), ("", "")]
        {
            assert!(holds(Some(value), expect), "{value} {expect}");
        }
        for (value, expect) in [("61", "<= 60"), ("yes", "= 'YES'"), ("ok ", "ok"), ("many", "<= 60"), ("", "> 0")] {
            assert!(!holds(Some(value), expect), "{value} {expect}");
        }
        for expect in ["= ''", "!= 'x'", "", "ok"] {
            assert!(!holds(None, expect), "NULL is nothing that can be expected: {expect}");
        }
        assert!(judge(None, None).is_ok());
        assert!(
            matches!(judge(Some(b"many"), Some("<= 60")), Err(Miss::Fail(why)) if why.contains("cannot be compared"))
        );
    }
}
