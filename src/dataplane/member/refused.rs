//! Why a client gets no member, and what it is told.

use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::Name;

/// A request or connection that gets no member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub ending: Ending,
    pub answer: Answer,
}

/// What the client is told. Without HTTP everything is a reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 503.
    Unavailable,
    /// 302 to [`Refused::location`]; the value of `redirect_url`.
    Redirect(Name),
    /// 429.
    TooManyRequests {
        /// For Retry-After; at least 1.
        retry_after_s: u64,
    },
    /// The connection is reset without an answer.
    Reset,
}

// === impl Refused ===

impl Refused {
    /// While a member was looked or waited for; 503.
    pub fn unavailable(reason: Reason) -> Refused {
        Refused { ending: Ending::new(Who::Appliance, Phase::Queue, reason), answer: Answer::Unavailable }
    }

    /// The client left while it waited: there is nobody to be told.
    pub fn left() -> Refused {
        Refused { ending: Ending::new(Who::Client, Phase::Queue, Reason::ClientGone), answer: Answer::Unavailable }
    }

    /// 302 to the vserver's `redirect_url`.
    pub(super) fn redirect(url: &Name) -> Refused {
        let ending = Ending::new(Who::Appliance, Phase::Queue, Reason::Redirected);
        Refused { ending, answer: Answer::Redirect(Name::clone(url)) }
    }

    /// `backup_action = DROP`.
    pub(super) fn spilled() -> Refused {
        Refused { ending: Ending::new(Who::Appliance, Phase::Queue, Reason::Spilled), answer: Answer::Reset }
    }

    /// Over a limit of this client.
    pub(super) fn limited(retry_after_s: u64) -> Refused {
        let ending = Ending::new(Who::Appliance, Phase::Rule, Reason::ClientLimit);
        Refused { ending, answer: Answer::TooManyRequests { retry_after_s } }
    }

    /// The status of the answer; `None`: a reset.
    pub fn status(&self) -> Option<u16> {
        match self.answer {
            Answer::Unavailable => Some(503),
            Answer::Redirect(_) => Some(302),
            Answer::TooManyRequests { .. } => Some(429),
            Answer::Reset => None,
        }
    }

    /// Where `redirect_url` sends a request with this target (`/a?b`): as NetScaler does, to the URL as it stands where
    /// it has a path of its own, else with the target appended. `None` where this is no redirect.
    pub fn location(&self, target: &str) -> Option<String> {
        let Answer::Redirect(url) = &self.answer else { return None };
        let after_scheme = url.split_once("://").map_or(&**url, |(_, rest)| rest);
        if after_scheme.trim_end_matches('/').contains('/') || after_scheme.contains('?') {
            return Some(url.to_string());
        }
        Some(format!("{}{target}", url.trim_end_matches('/')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_url_without_a_path_is_given_the_target() {
        let to = |url: &str| Refused {
            ending: Ending::new(Who::Appliance, Phase::Queue, Reason::Redirected),
            answer: Answer::Redirect(url.into()),
        };
        assert_eq!(to("http://sorry.test").location("/a?b=1").as_deref(), Some("http://sorry.test/a?b=1"));
        assert_eq!(to("http://sorry.test/").location("/a").as_deref(), Some("http://sorry.test/a"));
        assert_eq!(to("http://sorry.test/page").location("/a").as_deref(), Some("http://sorry.test/page"));
        assert_eq!(to("/sorry.html").location("/a").as_deref(), Some("/sorry.html"));
        assert_eq!(to("http://sorry.test?x").location("/a").as_deref(), Some("http://sorry.test?x"));
        assert_eq!(Refused::unavailable(Reason::NoMemberUp).location("/a"), None);
    }
}
