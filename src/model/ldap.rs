//! Search filters of LDAP (RFC 4515), without extensible matches.

/// A parsed filter. Values as bytes: `\2a` stands for a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Equal(String, Vec<u8>),
    /// `start*middle*end`: first, those between, last.
    Substrings(String, Option<Vec<u8>>, Vec<Vec<u8>>, Option<Vec<u8>>),
    GreaterOrEqual(String, Vec<u8>),
    LessOrEqual(String, Vec<u8>),
    Present(String),
    Approximate(String, Vec<u8>),
}

/// How deep filters may lie in one another.
const DEPTH_MOST: usize = 16;

// === impl Filter ===

impl Filter {
    /// Errors say what is wrong with the text, in words.
    pub fn parse(text: &str) -> Result<Filter, String> {
        let mut rest = text.trim();
        // `uid=x` without parentheses is what many write.
        if !rest.starts_with('(') {
            return item(rest);
        }
        let filter = parenthesised(&mut rest, 0)?;
        if rest.is_empty() { Ok(filter) } else { Err(format!("`{rest}` stands behind the end of the filter")) }
    }
}

fn parenthesised(rest: &mut &str, depth: usize) -> Result<Filter, String> {
    if depth == DEPTH_MOST {
        return Err(format!("more than {DEPTH_MOST} filters lie in one another"));
    }
    let inside = rest.strip_prefix('(').ok_or("a filter begins with `(`")?;
    *rest = inside;
    let filter = match inside.chars().next() {
        Some('&') => Filter::And(list(rest, depth)?),
        Some('|') => Filter::Or(list(rest, depth)?),
        Some('!') => {
            *rest = &inside[1..];
            Filter::Not(Box::new(parenthesised(rest, depth + 1)?))
        }
        _ => {
            let end = inside.find(')').ok_or("a `)` is missing")?;
            *rest = &inside[end..];
            item(&inside[..end])?
        }
    };
    *rest = rest.strip_prefix(')').ok_or("a `)` is missing")?;
    Ok(filter)
}

fn list(rest: &mut &str, depth: usize) -> Result<Vec<Filter>, String> {
    *rest = &rest[1..];
    let mut filters = Vec::new();
    while rest.starts_with('(') {
        filters.push(parenthesised(rest, depth + 1)?);
    }
    if filters.is_empty() { Err("`&` and `|` need filters behind them".into()) } else { Ok(filters) }
}

fn item(text: &str) -> Result<Filter, String> {
    let at = text.find('=').ok_or_else(|| format!("`{text}` has no `=`"))?;
    let (before, value) = (&text[..at], &text[at + 1..]);
    let (attribute, operator) = match before.chars().last() {
        Some(sign @ ('>' | '<' | '~')) => (&before[..before.len() - 1], Some(sign)),
        _ => (before, None),
    };
    if attribute.contains(':') {
        return Err(format!("`{text}` is an extensible match, which is not available in this build"));
    }
    let is_attribute = |b: u8| b.is_ascii_alphanumeric() || b"-.;".contains(&b);
    if attribute.is_empty() || !attribute.bytes().all(is_attribute) {
        return Err(format!("`{attribute}` is not the name of an attribute"));
    }
    if value.contains(['(', ')']) {
        return Err(format!("`{value}` has a bare parenthesis; write \\28 or \\29"));
    }
    let attribute = attribute.to_owned();
    Ok(match operator {
        Some('>') => Filter::GreaterOrEqual(attribute, unescaped(value)?),
        Some('<') => Filter::LessOrEqual(attribute, unescaped(value)?),
        Some(_) => Filter::Approximate(attribute, unescaped(value)?),
        None if value == "*" => Filter::Present(attribute),
        None if value.contains('*') => {
            let parts = value.split('*').map(unescaped).collect::<Result<Vec<_>, _>>()?;
            let (first, last) = (parts.first().cloned(), parts.last().cloned());
            let some = |part: Option<Vec<u8>>| part.filter(|part| !part.is_empty());
            let middle = parts[1..parts.len() - 1].iter().filter(|part| !part.is_empty()).cloned().collect();
            Filter::Substrings(attribute, some(first), middle, some(last))
        }
        None => Filter::Equal(attribute, unescaped(value)?),
    })
}

/// `\HH` is a byte.
fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let hex = rest.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let hex = hex.filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()));
        let value = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(value.ok_or_else(|| format!("in `{text}` a backslash needs two hexadecimal digits behind it"))?);
        rest = &rest[2..];
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_with_everything_that_lies_in_them() {
        let equal = |a: &str, v: &[u8]| Filter::Equal(a.into(), v.to_vec());
        assert_eq!(Filter::parse("uid=x"), Ok(equal("uid", b"x")));
        assert_eq!(
            Filter::parse("(&(uid=a\\2ab)(!(cn=*))(|(n>=1)(n<=9)(sn~=y)))"),
            Ok(Filter::And(vec![
                equal("uid", b"a*b"),
                Filter::Not(Box::new(Filter::Present("cn".into()))),
                Filter::Or(vec![
                    Filter::GreaterOrEqual("n".into(), b"1".to_vec()),
                    Filter::LessOrEqual("n".into(), b"9".to_vec()),
                    Filter::Approximate("sn".into(), b"y".to_vec()),
                ]),
            ]))
        );
        assert_eq!(
            Filter::parse("(cn=a*b*c)"),
            Ok(Filter::Substrings("cn".into(), Some(b"a".to_vec()), vec![b"b".to_vec()], Some(b"c".to_vec())))
        );
    }

    #[test]
    fn what_is_no_filter_says_why() {
        for (text, why) in [
            ("(uid=x", "`)` is missing"),
            ("(uid=x))", "behind the end"),
            ("(&)", "need filters"),
            ("uid", "no `=`"),
            ("(uid:dn:=x)", "extensible"),
            ("(uid=\\2)", "two hexadecimal"),
            ("(uid=\\+1)", "two hexadecimal"),
            ("(u d=x)", "attribute"),
        ] {
            let said = Filter::parse(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
        let deep = format!("{}(a=b){}", "(!".repeat(40), ")".repeat(40));
        assert!(Filter::parse(&deep).unwrap_err().contains("lie in one another"));
    }
}
