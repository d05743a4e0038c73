//! `<= 60`, `= 'YES'`: an operator and one value, against the value that a database gave.

use std::cmp::Ordering;

#[derive(Clone, Debug, PartialEq)]
pub struct Expectation<'a> {
    /// As it was written.
    pub text: &'a str,
    operator: &'a str,
    value: Value,
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    /// Compared as a number of 64 bits: 15 digits are exact.
    Number(f64),
    /// Compared byte by byte.
    Text(String),
}

const OPERATORS: [&str; 7] = ["<=", ">=", "!=", "<>", "=", "<", ">"];

/// Whether `text` begins as a comparison does.
pub fn is_comparison(text: &str) -> bool {
    OPERATORS.iter().any(|operator| text.trim_start().starts_with(operator))
}

// === impl Expectation ===

impl<'a> Expectation<'a> {
    /// Errors: it is none.
    pub fn parse(text: &'a str) -> Result<Expectation<'a>, String> {
        let wrong = || format!("`{text}` is not a comparison such as `<= 60` or `= 'YES'`");
        let trimmed = text.trim();
        let operator = OPERATORS.into_iter().find(|operator| trimmed.starts_with(operator)).ok_or_else(wrong)?;
        let value = trimmed[operator.len()..].trim();
        let quoted = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        let value = match quoted {
            Some(inside) => Value::Text(inside.replace("''", "'")),
            None => Value::Number(value.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(wrong)?),
        };
        Ok(Expectation { text: trimmed, operator, value })
    }

    /// `None`: the value is no number, and one is expected.
    pub fn holds(&self, value: &str) -> Option<bool> {
        let order = match &self.value {
            Value::Number(expected) => {
                let number: f64 = value.trim().parse().ok()?;
                number.partial_cmp(expected)?
            }
            Value::Text(expected) => value.cmp(expected),
        };
        Some(match self.operator {
            "<=" => order != Ordering::Greater,
            ">=" => order != Ordering::Less,
            "!=" | "<>" => order != Ordering::Equal,
            "=" => order == Ordering::Equal,
            "<" => order == Ordering::Less,
            _ => order == Ordering::Greater,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_compared_as_a_number_or_as_a_text() {
        for (expect, value, expected) in [
            ("<= 30", "30", Some(true)),
            ("<= 30", "30.5", Some(false)),
            ("<=30", "-7", Some(true)),
            ("< 9", "10", Some(false)),
            ("= 'YES'", "YES", Some(true)),
            ("= 'YES'", "yes", Some(false)),
            ("= 'it''s'", "it's", Some(true)),
            ("<> 'x'", "y", Some(true)),
            ("!= 3", "3.0", Some(false)),
            (">= 3", " 3 ", Some(true)),
            ("<= 30", "thirty", None),
            ("<= 30", "", None),
            ("<= 30", "NaN", None),
        ] {
            assert_eq!(Expectation::parse(expect).unwrap().holds(value), expected, "{expect} {value}");
        }
    }

    #[test]
    fn what_is_no_comparison_is_said() {
        for wrong in ["", "30", "=", "= YES", "= 'YES", "<= inf", "=> 3", "= '"] {
            assert!(Expectation::parse(wrong).unwrap_err().contains("is not a comparison"), "{wrong}");
        }
    }
}
