//! What a line asks for.

use serde_json::Value;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::cli::shell) enum Request {
    Show {
        view: View,
        name: Option<String>,
        /// `stat` instead of `show`.
        statistics: bool,
    },
    /// An act on one object: `path` below `/api/v1`.
    Act {
        put: bool,
        path: String,
        body: Value,
    },
    /// `show ns connectiontable`, with the parameters of the query.
    Connections(Vec<(&'static str, String)>),
    /// `show` and `clear lb persistentSessions`, with the parameters of the query.
    Persistence {
        clear: bool,
        query: Vec<(&'static str, String)>,
    },
    /// Why a service gets new clients, or none.
    ExplainService(String),
    /// DELETE below `/api/v1`.
    Delete(String),
    /// `disable serviceGroup G SERVER PORT`: the member is looked up first.
    Member {
        group: String,
        server: String,
        port: String,
        act: &'static str,
        body: Value,
    },
    /// `disable lb monitor SERVICE [MONITOR]`, or of all members of a group: the checks are looked up first.
    Monitors {
        owner: String,
        monitor: Option<String>,
        act: &'static str,
        body: Value,
    },
    /// Both modes at once, so that the scenario leaves its state.
    ReturnScenario {
        name: String,
        reason: Option<String>,
    },
    RunningConfig,
    Version,
    Status,
    /// The commands that begin with these words.
    Help {
        words: Vec<String>,
    },
    Quit,
}

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli::shell) enum View {
    Service,
    Group,
    Server,
    /// Of both roles.
    Vserver,
    LbVserver,
    CsVserver,
    Scenario,
    Check,
    /// Definitions of monitors.
    Monitor,
    Switch,
    Datacenter,
    Zone,
}
