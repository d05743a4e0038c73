//! What is wrong with a configuration: the operator's text, so every problem says where, what, and what was meant.

use std::fmt;

use crate::model::id::Name;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    pub file: Name,
    /// 1-based; 0 where the problem has no place (a `--set`, a missing file).
    pub line: u32,
    pub column: u32,
    pub severity: Severity,
    /// Dotted path of the key: `vserver.web.services`.
    pub path: String,
    pub what: String,
    /// The nearest known spelling.
    pub did_you_mean: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    Error,
    Warning,
}

// === impl Problem ===

impl Problem {
    /// Without the word `warning`, for lists and log lines that say already what they hold.
    pub fn plain(&self) -> String {
        Problem { severity: Severity::Error, ..self.clone() }.to_string()
    }
}

/// `example.toml:12: unknown key `prot` in service.a; did you mean `port`?`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:", self.line)?;
        }
        if self.severity == Severity::Warning {
            f.write_str(" warning:")?;
        }
        write!(f, " {}", self.what)?;
        if let Some(meant) = &self.did_you_mean {
            write!(f, "; did you mean `{meant}`?")?;
        }
        Ok(())
    }
}
