//! A report as JUnit XML: a suite for each script, a case for each expectation.

use std::fmt::Write as _;

use super::test::{Tested, difference};

pub fn report(tested: &[Tested]) -> String {
    let suites: Vec<Suite> = tested.iter().map(suite).collect();
    let count = |of: fn(&Suite) -> usize| suites.iter().map(of).sum::<usize>();
    let (tests, failures, errors) = (count(|s| s.tests), count(|s| s.failures), count(|s| s.errors));
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuites name=\"bascule test\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">"
    );
    for suite in &suites {
        let Suite { name, tests, failures, errors, cases } = suite;
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">\n{cases}  \
             </testsuite>"
        );
    }
    xml += "</testsuites>\n";
    xml
}

struct Suite {
    name: String,
    tests: usize,
    failures: usize,
    errors: usize,
    cases: String,
}

fn suite(tested: &Tested) -> Suite {
    let path = tested.path.display().to_string();
    let name = escaped(&path);
    let mut suite = Suite { name: name.clone(), tests: 0, failures: 0, errors: 0, cases: String::new() };
    let mut case = |title: &str, inside: Option<(&str, &str, String)>| {
        suite.tests += 1;
        let head = format!("    <testcase classname=\"{name}\" name=\"{}\"", escaped(title));
        let _ = match inside {
            None => writeln!(suite.cases, "{head}/>"),
            Some((kind, message, text)) => {
                let (message, text) = (escaped(message), escaped(&text));
                writeln!(suite.cases, "{head}>\n      <{kind} message=\"{message}\">{text}</{kind}>\n    </testcase>")
            }
        };
    };
    match &tested.result {
        Err(problems) => {
            let first = problems.first().map_or("cannot be walked", String::as_str);
            case("script", Some(("error", first, problems.join("\n"))));
            suite.errors += 1;
        }
        Ok(walk) => {
            for judged in &walk.verdicts {
                let title = format!("line {}: {}", judged.line, judged.text);
                let failure = judged.failure.as_ref().map(|f| ("failure", &*f.got, difference(&path, f)));
                case(&title, failure);
            }
            if let Some(broken) = &walk.broken {
                let title = format!("line {}: {}", broken.line, broken.expected);
                case(&title, Some(("error", &broken.got, difference(&path, broken))));
            }
            suite.failures = walk.verdicts.iter().filter(|judged| judged.failure.is_some()).count();
            suite.errors = usize::from(walk.broken.is_some());
        }
    }
    suite
}

/// For text and for attributes; characters that XML cannot hold are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(c),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_escaped_or_replaced() {
        assert_eq!(escaped("a<b & \"c\"\u{1b}"), "a&lt;b &amp; &quot;c&quot;\u{fffd}");
    }

    #[test]
    fn a_script_that_cannot_be_read_is_an_error_of_its_suite() {
        let problems = vec!["x.events:3: unknown step `fial`; did you mean `fail`?".to_owned()];
        let xml = report(&[Tested { path: "x.events".into(), result: Err(problems) }]);
        assert!(xml.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{xml}");
        assert!(xml.contains("<error message=\"x.events:3: unknown step `fial`; did you mean `fail`?\">"), "{xml}");
    }
}
