//! What a line asks for.

use std::time::Duration;

use serde_json::Value;

use crate::cli::shell::gslb::Shown;
use crate::cli::shell::objects::Shown as Told;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::cli::shell) enum Request {
    Show {
        view: View,
        name: Option<String>,
        /// `stat` instead of `show`.
        statistics: bool,
    },
    /// Sites, services and vservers of GSLB, records of DNS: as NITRO tells them.
    /// The machine's network.
    Network {
        shown: super::super::network::Shown,
        name: Option<String>,
    },
    Gslb {
        shown: Shown,
        name: Option<String>,
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
    /// Why something is as it is, or came to be so, in words.
    Explain {
        what: Explained,
        path: String,
        /// Of a POST.
        body: Option<Value>,
    },
    /// POST below `/api/v1` that answers a delivery, which is shown.
    Send(String),
    StartDrill {
        dry_run: bool,
        body: Value,
    },
    /// `drill`: an id or a scenario; the one that runs where it is not said.
    StopDrill {
        drill: Option<String>,
        body: Value,
    },
    /// POST below `/api/v1` that answers a zone, which is shown.
    Transfer {
        path: String,
        body: Value,
    },
    /// DELETE below `/api/v1`.
    Delete(String),
    /// A change below `/nitro/v1/config`.
    Nitro {
        method: &'static str,
        path: String,
        body: Option<Value>,
    },
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
    /// `toml`: as it is written, instead of in NetScaler's words.
    RunningConfig {
        toml: bool,
    },
    /// A line that changes the configuration, as it is.
    Line(String),
    /// `save config`
    Save,
    /// `config ns`
    Setup,
    /// `show techsupport`
    Techsupport,
    /// `show nstrace`
    Traces,
    /// `start nstrace`: the body for REST.
    StartTrace(Value),
    /// `stop nstrace`
    StopTrace,
    /// `show ns feature`
    Features,
    /// What NITRO tells of.
    Told {
        shown: Told,
        names: Vec<String>,
    },
    /// `show … -summary`
    Summary {
        view: View,
        name: Option<String>,
    },
    /// Of NITRO's resource for policies, their actions or what they name.
    Policies {
        nitro: &'static str,
        name: Option<String>,
    },
    /// `stat cs policy` and its like; `detail`: each as if it were asked for alone.
    PolicyStatistics {
        nitro: &'static str,
        name: Option<String>,
        detail: bool,
    },
    /// `enable` and `disable ns mode`
    Modes {
        enable: bool,
        modes: Vec<String>,
    },
    /// `stat`; `detail`: each object as if it were asked for alone.
    Stat {
        view: View,
        name: Option<String>,
        detail: bool,
    },
    /// `stat … -clearstats`: what is shown once more, and what of NITRO is read to clear it.
    StatAndClear {
        request: Box<Request>,
        path: String,
    },
    /// `clear ns stats`
    ClearStatistics {
        level: String,
    },
    /// `stat … NAME -at WHEN`
    Moment {
        view: View,
        name: String,
        at: String,
    },
    /// Again and again: `times`, without end where it is 0.
    Repeat {
        request: Box<Request>,
        times: u32,
        every: Duration,
    },
    /// One after the other, as one command.
    Many(Vec<Request>),
    /// The appliance as NetScaler shows one.
    Boxed(Boxed),
    /// Lines of a file, whose answers go to another where one is named.
    Batch {
        file: String,
        out: Option<String>,
    },
    Status,
    /// `stat ns`.
    Appliance,
    /// The commands that begin with these words.
    Help {
        words: Vec<String>,
    },
    /// A shell of the machine, or one command of it.
    Leave {
        command: Vec<String>,
    },
    Quit,
}

/// What `show ns …` shows of the appliance itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli::shell) enum Boxed {
    Version,
    Info,
    License,
    Hardware,
    Config,
    Modes,
    HaNode,
    HostName,
    SavedConfig,
    /// What is not saved.
    Unsaved,
    /// `stat ssl`
    SslStatistics,
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
    /// Of data centres.
    Pair,
    /// Other boxes.
    Peer,
    Zone,
    Rule,
    Certificate,
    Trigger,
    Query,
    /// Deliveries of triggers.
    Outbox,
    /// Alerts that stand.
    Alerts,
    /// Drills and their reports.
    Drill,
}

/// What can be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli::shell) enum Explained {
    /// Why a query is answered as it is.
    Dns,
    /// Why a request goes where it goes.
    Request,
    /// Why a service gets new clients, or none.
    Service,
    /// What happened.
    /// The last entries.
    Journal { most: u32 },
    /// Where that is shipped to.
    Shipping,
}

// === impl Request ===

impl Request {
    /// What a range makes: the one request, or all of them. What is repeated is repeated with all.
    pub fn together(mut requests: Vec<Request>) -> Request {
        if requests.len() == 1
            && let Some(one) = requests.pop()
        {
            return one;
        }
        let mut again = None;
        let once = requests.into_iter().map(|request| match request {
            Request::Repeat { request, times, every } => {
                again = Some((times, every));
                *request
            }
            other => other,
        });
        let all = Request::Many(once.collect());
        match again {
            Some((times, every)) => Request::Repeat { request: Box::new(all), times, every },
            None => all,
        }
    }
}

// === impl View ===

impl View {
    /// Its collection below `/api/v1`.
    pub fn collection(self) -> &'static str {
        match self {
            View::Service => "services",
            View::Group => "service-groups",
            View::Server => "servers",
            View::Vserver | View::LbVserver | View::CsVserver => "vservers",
            View::Scenario => "scenarios",
            View::Check => "checks",
            View::Monitor => "monitors",
            View::Switch => "switches",
            View::Datacenter => "datacenters",
            View::Pair => "datacenter-pairs",
            View::Peer => "peers",
            View::Zone => "zones",
            View::Rule => "rules",
            View::Certificate => "certificates",
            View::Trigger => "triggers",
            View::Query => "queries",
            View::Outbox => "outbox",
            View::Alerts => "alerts",
            View::Drill => "drills",
        }
    }
}
