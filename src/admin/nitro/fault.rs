//! What REST, the writer and the tables of statements say, in NetScaler's numbers.

use axum::http::{StatusCode, header};

use super::answer::{Fault, Warning};
use crate::admin::edit::Unedited;
use crate::admin::problem::Problem;
use crate::config::Severity;
use crate::control::Refusal;
use crate::netscaler::error::{self, NsError};

// === impl Fault ===

impl From<NsError> for Fault {
    fn from(error: NsError) -> Fault {
        Fault::saying(error.code, error.message)
    }
}

impl From<error::Warning> for Warning {
    fn from(warning: error::Warning) -> Warning {
        Warning { code: warning.code, text: warning.message }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Fault {
        let detail = &problem.detail;
        let fault = match problem.status {
            StatusCode::UNAUTHORIZED => Fault::new(1027, ""),
            StatusCode::FORBIDDEN => Fault::new(257, detail),
            StatusCode::NOT_FOUND => Fault::new(258, detail),
            StatusCode::PAYLOAD_TOO_LARGE => Fault::new(296, detail),
            StatusCode::REQUEST_TIMEOUT => Fault::new(316, detail),
            StatusCode::NOT_IMPLEMENTED => Fault::new(301, detail),
            StatusCode::SERVICE_UNAVAILABLE => Fault::new(291, detail),
            status if status.is_server_error() => Fault::new(1043, detail),
            _ => Fault::new(278, detail),
        };
        let after = problem.headers.iter().find(|(name, _)| name == header::RETRY_AFTER);
        match after.and_then(|(_, value)| value.to_str().ok()?.parse().ok()) {
            Some(seconds) => fault.retry_after(seconds),
            None => fault,
        }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        let detail = refusal.to_string();
        match refusal {
            Refusal::Unknown(object) => Fault::no_such("name", &object.name),
            Refusal::BadConfig(problems) => {
                let first = problems.iter().find(|problem| problem.severity == Severity::Error);
                Fault::new(278, first.map_or(detail, |first| format!("{}: {}", first.path, first.what)))
            }
            Refusal::Stale(_) => Fault::new(291, detail),
            Refusal::Disk(_) => Fault::new(345, detail),
            Refusal::Stopping | Refusal::Handing(_) => Fault::new(291, detail).retry_after(5),
            Refusal::WouldBeStuck(_) | Refusal::Conflict(_) | Refusal::Unconfirmed(_) => {
                Fault::new(257, detail).status(599)
            }
            Refusal::Invalid(_) => Fault::new(278, detail),
        }
    }
}

impl From<Unedited<Fault>> for Fault {
    fn from(unedited: Unedited<Fault>) -> Fault {
        match unedited {
            Unedited::Declined(fault) => fault,
            Unedited::Refused(refusal) => refusal.into(),
            Unedited::Busy(problem) => problem.into(),
        }
    }
}
