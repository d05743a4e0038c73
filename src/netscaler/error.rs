//! NetScaler's errors: number, text, and what HTTP makes of them.
//!
//! Texts are those of the NITRO reference, with what was meant in brackets behind them, `[argument, value]`, as NetScaler
//! appends it. What NetScaler would take and this build refuses carries NetScaler's number and says why behind a colon.

use std::fmt;

/// An error as NetScaler tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NsError {
    /// NSERR number.
    pub code: u32,
    pub message: String,
}

/// Something to know about what was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// NSERR number; 0 where NetScaler has none.
    pub code: u32,
    pub message: String,
}

/// How bad, as NITRO says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NsSeverity {
    None,
    Warning,
    Error,
}

/// Number, text.
const TEXTS: &[(u32, &str)] = &[
    (257, "Operation not permitted"),
    (258, "No such resource"),
    (273, "Resource already exists"),
    (278, "Invalid argument"),
    (304, "Address already in use"),
    (315, "Resource in use"),
    (350, "Invalid backup vserver"),
    (351, "No such server"),
    (354, "Invalid username or password"),
    (430, "No such backup vserver"),
    (431, "No arguments to set"),
    (444, "Session expired or killed. Please login again"),
    (461, "No such Vserver"),
    (462, "No such service"),
    (470, "No backupVserver bound"),
    (478, "Vserver type mismatch."),
    (741, "Content-Switching or Cache-Redirection vservers cannot be used as a backupvserver."),
    (1027, "Not logged in or connection timed out"),
    (1067, "Feature(s) not enabled"),
    (
        1075,
        "Invalid name; names must begin with an alphanumeric character or underscore and must contain only \
         alphanumerics, _, #, ., space, :, @, = or -",
    ),
    (1088, "No such command"),
    (1089, "Ambiguous command name"),
    (1090, "No such argument"),
    (1091, "Required argument value missing"),
    (1092, "Arguments cannot both be specified"),
    (1093, "Argument pre-requisite missing"),
    (1095, "Required argument missing"),
    (1097, "Invalid argument value"),
    (1099, "Ambiguous argument name"),
    (1243, "Bulk operation failed"),
    (1288, "Spill-over threshold should be a non-zero value"),
    (1291, "Spill-over threshold cannot be set for dynamic connection spill-over method"),
    (1303, "Service not bound to Vserver"),
    (1304, "Service type mismatch between the vserver and service"),
    (1313, "No spillover on the vserver due to max client setting 0 on a bound service"),
    (1335, "Server already exists"),
    (1381, "Persistence type is not COOKIEINSERT."),
    (1540, "Certificate does not exist"),
    (1541, "Certificate is referenced"),
    (1911, "Set a backup Vserver, to enable it."),
    (2128, "Monitor interval must be greater than response timeout"),
    (2131, "Monitor must be unbound before it can be deleted"),
    (2133, "The monitor is already bound to the service"),
    (2138, "Not authorized to execute this command"),
    (2139, "No operations allowed with the default monitor"),
    (2144, "The VIP is already a backup in the chain"),
    (2155, "Existing monitor is of different type than given"),
    (2164, "Default monitor cannot be unbound from a service"),
    (2165, "Default monitor cannot be bound explicitly to a service"),
    (2170, "Monitor not bound to service"),
    (2171, "Monitor does not exist"),
    (2196, "Monitor retries must be greater than monitor failureRetries"),
    (
        2306,
        "vserver is bound to a group. Set persistence parameters on group to change them for all vservers in group or \
            unbind vserver from group and set on individual vserver.",
    ),
    (2307, "This backup/primary persistence combination is not supported"),
];

/// Number and text of every error that can be told.
pub fn texts() -> impl Iterator<Item = (u32, &'static str)> {
    TEXTS.iter().copied()
}

// === impl NsError ===

impl NsError {
    /// The error of this number; its text is empty for a number that is not in the table.
    pub fn new(code: u32) -> NsError {
        let text = TEXTS.iter().find(|(known, _)| *known == code).map_or("", |(_, text)| text);
        NsError { code, message: text.to_owned() }
    }

    /// With what was meant in brackets: `No such resource [name, web1]`.
    pub fn with(code: u32, meant: &[&str]) -> NsError {
        let mut error = NsError::new(code);
        error.message = format!("{} [{}]", error.message, meant.join(", "));
        error
    }

    /// With a reason behind a colon.
    #[must_use]
    pub fn because(mut self, why: &str) -> NsError {
        self.message = format!("{}: {why}", self.message);
        self
    }

    /// 258
    pub fn no_such_resource(argument: &str, value: &str) -> NsError {
        NsError::with(258, &[argument, value])
    }

    /// 273
    pub fn exists(argument: &str, value: &str) -> NsError {
        NsError::with(273, &[argument, value])
    }

    /// 278
    pub fn invalid(argument: &str) -> NsError {
        NsError::with(278, &[argument])
    }

    /// 1088
    pub fn no_such_command(line: &str) -> NsError {
        NsError::with(1088, &[line])
    }

    /// 1090
    pub fn no_such_argument(argument: &str) -> NsError {
        NsError::with(1090, &[argument])
    }

    /// 1091
    pub fn value_missing(argument: &str) -> NsError {
        NsError::with(1091, &[argument])
    }

    /// 1092
    pub fn both(one: &str, other: &str) -> NsError {
        NsError::with(1092, &[one, other])
    }

    /// 1093: `needed` must be said as well.
    pub fn prerequisite(needed: &str, argument: &str) -> NsError {
        NsError::with(1093, &[needed, argument])
    }

    /// 1095
    pub fn missing(argument: &str) -> NsError {
        NsError::with(1095, &[argument])
    }

    /// 1097
    pub fn bad_value(argument: &str, value: &str) -> NsError {
        NsError::with(1097, &[argument, value])
    }

    /// 1097: NetScaler takes this value and this build does not.
    pub fn unsupported(argument: &str, value: &str, why: &str) -> NsError {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        NsError::with(1097, &[argument, value]).because(&format!("not available in this build{why}"))
    }

    /// 315: `by` names what uses it, such as `lb vserver web`.
    pub fn in_use(argument: &str, value: &str, by: &str) -> NsError {
        NsError::with(315, &[argument, value]).because(&format!("used by {by}"))
    }

    /// Of an edited configuration that does not load: 278 with what the configuration says of it.
    pub fn of_problems(problems: &[crate::config::Problem]) -> NsError {
        let errors = problems.iter().filter(|problem| problem.severity == crate::config::Severity::Error);
        let what: Vec<&str> = errors.map(|problem| &problem.what[..]).collect();
        NsError::new(278).because(&what.join("; "))
    }

    /// The status that NITRO answers with: 404, 409, 400, 401, 403, else 599.
    pub fn http_status(&self) -> u16 {
        match self.code {
            258 => 404,
            273 => 409,
            354 | 355 | 444 | 1027 => 401,
            257 | 2138 => 403,
            278 | 1088..=1099 => 400,
            1243 => 207,
            _ => 599,
        }
    }

    /// The words of the status line, which clients compare.
    pub fn reason(&self) -> &'static str {
        match self.http_status() {
            404 => "Not Found",
            409 => "Conflict",
            401 => "Unauthorized",
            403 => "Forbidden",
            400 => "Bad Request",
            207 => "Multi Status",
            _ => "Netscaler specific error",
        }
    }

    pub fn severity(&self) -> NsSeverity {
        NsSeverity::Error
    }
}

impl fmt::Display for NsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for NsError {}

// === impl NsSeverity ===

impl NsSeverity {
    /// `NONE`, `WARNING`, `ERROR`
    pub fn word(self) -> &'static str {
        match self {
            NsSeverity::None => "NONE",
            NsSeverity::Warning => "WARNING",
            NsSeverity::Error => "ERROR",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_meant_in_brackets() {
        let error = NsError::no_such_resource("name", "t3");
        assert_eq!((error.code, &error.message[..]), (258, "No such resource [name, t3]"));
        assert_eq!((error.http_status(), error.reason()), (404, "Not Found"));
        assert_eq!(NsError::new(2144).reason(), "Netscaler specific error");
    }

    #[test]
    fn every_number_stands_once_and_in_order() {
        let numbers: Vec<u32> = texts().map(|(number, _)| number).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    }
}
