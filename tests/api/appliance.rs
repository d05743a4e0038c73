//! An appliance without a data plane: two services that are always UP, a group, a vserver, a switch, a scenario.

use std::sync::Arc;
use std::time::Duration;

use bascule::config::{Loaded, Source, load};
use bascule::control::clock::Clock;
use bascule::control::reactor::{Begin, Reactor};
use bascule::control::store::{Found, Memory};
use bascule::files::DiskFiles;
use bascule::model::Model;
use bascule::model::check::Host;
use bascule::model::condition::{Condition, Group, Subject, Term};
use bascule::model::id::{GroupId, ScenarioId, ServerId, ServiceId, SwitchId};
use bascule::model::scenario::{DirectionRules, Mode, Oscillation, Scenario, Switch};
use bascule::model::service::{GroupMember, Protocol, Server, Service, ServiceGroup};
use bascule::model::vserver::{Member, Vserver};
use reqwest::Method;
use serde_json::Value;
use tokio::sync::watch;

pub struct Appliance {
    pub base: String,
    pub http: reqwest::Client,
    /// Where the socket is.
    pub state: tempfile::TempDir,
    _stop: watch::Sender<bool>,
    _reactor: Reactor,
}

/// An answer.
pub struct Answered {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
}

/// The tables are in the order of the names.
pub fn model() -> Model {
    let mut model = Model::empty();
    let at = |port: u16| ([127, 0, 0, 1], port).into();
    let up = |mut service: Service| {
        service.settings.health_monitor = false;
        service
    };
    model.servers = vec![Server {
        name: "app1".into(),
        address: Host::Ip([127, 0, 0, 1].into()),
        lookup: Default::default(),
        comment: None,
    }];
    let mut member = up(Service::new("spare/spare1", Protocol::Http, at(8003)));
    member.group = Some(GroupId(0));
    member.server = Some(ServerId(0));
    let mut web1 = up(Service::new("web1", Protocol::Http, at(8001)));
    web1.server = Some(ServerId(0));
    model.groups = vec![ServiceGroup {
        name: "spare".into(),
        settings: member.settings.clone(),
        auto_scale: None,
        members: vec![GroupMember { name: "spare1".into(), service: ServiceId(0), weight: 2, order: 1 }],
    }];
    model.services = vec![member, web1, up(Service::new("web2", Protocol::Http, at(8002)))];
    let mut web = Vserver::new("web", Protocol::Http);
    web.services = vec![Member { weight: 3, ..Member::new(ServiceId(1)) }, Member::new(ServiceId(2))];
    web.members = vec![Member { weight: 3, ..Member::new(ServiceId(1)) }, Member::new(ServiceId(2))];
    model.vservers = vec![web];
    model.switches = vec![Switch { name: "drill".into(), initial: false, maintenance_of: None }];
    model.scenarios = vec![scenario()];
    model.scenario_order = vec![ScenarioId(0)];
    model
}

/// `dr`: active while the switch is on.
fn scenario() -> Scenario {
    let rules = |text: &str, negated| DirectionRules {
        base_mode: Mode::Auto,
        when: Condition {
            groups: vec![Group {
                name: text.into(),
                named: false,
                terms: vec![Term {
                    text: text.into(),
                    subject: Subject::Switch(SwitchId(0)),
                    negated,
                    measure: None,
                    hold: None,
                }],
            }],
        },
        gate: None,
        guard: None,
        triggers: Vec::new(),
    };
    Scenario {
        name: "dr".into(),
        about: "Site A does not serve".into(),
        initially_active: false,
        directions: [rules("sw:drill", false), rules("sw:drill!", true)],
        oscillation: Oscillation { commits: 10, within: Duration::from_secs(600) },
        min_dwell: Duration::ZERO,
        renamed_from: None,
        pair: None,
    }
}

// === impl Appliance ===

impl Appliance {
    pub fn start() -> Appliance {
        Appliance::with(model())
    }

    pub fn with(model: Model) -> Appliance {
        let loaded = Loaded { model: Arc::new(model), warnings: Vec::new(), sources: Vec::new(), hash: "h".into() };
        Appliance::loaded(loaded, tempfile::tempdir().unwrap())
    }

    /// Requests of this vserver met what is made of a policy's binding, this often. `global`: of the one to all vservers.
    pub fn meet(&self, (vserver, policy, global): (&str, &str, bool), times: u64) {
        let snapshot = self._reactor.cell.load_full();
        let model = &snapshot.model;
        let rules = model.rules.iter().zip(&snapshot.rules);
        let mut of = rules.filter(|(rule, _)| {
            model.policies.rules.get(&rule.name).is_some_and(|(_, name)| **name == *policy)
                && *model.vserver(rule.vserver).name == *vserver
                && model.policies.global_rules.contains(&rule.name) == global
        });
        let (_, live) = of.next().expect("a rule");
        live.hits_total.fetch_add(times, std::sync::atomic::Ordering::Relaxed);
    }

    /// With a configuration that must load.
    pub fn of(text: &str) -> Appliance {
        Appliance::beside(text, &[])
    }

    /// With a configuration and the files that it names.
    pub fn beside(text: &str, files: &[(&str, &str)]) -> Appliance {
        let state = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(state.path().join(name), text).unwrap();
        }
        let root = Source { path: "test.toml".into(), text: text.into() };
        let disk = DiskFiles::beside(&state.path().join("test.toml"));
        Appliance::loaded(load(root, &[], &disk).unwrap_or_else(|problems| panic!("{problems:#?}")), state)
    }

    fn loaded(loaded: Loaded, state: tempfile::TempDir) -> Appliance {
        bascule::app::install_crypto();
        let reactor = Reactor::start(Begin {
            loaded,
            store: Box::new(Memory::new()),
            found: Found::default(),
            path: None,
            state: Some(state.path().to_owned()),
            overrides: Vec::new(),
            files: Arc::new(DiskFiles::beside(&state.path().join("box.toml"))),
            clock: Clock::start(),
            probes: 8,
        })
        .unwrap();
        // Nobody binds anything, so that no change waits for listeners.
        reactor.cell.set_reconciled(u64::MAX);
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let unix = std::os::unix::net::UnixListener::bind(state.path().join("bascule.sock")).unwrap();
        let base = format!("http://{}", tcp.local_addr().unwrap());
        let (stop, stopping) = watch::channel(false);
        bascule::admin::serve(reactor.handle.clone(), Some(tcp), Some(unix), stopping);
        // A connection that is kept may end on the heels of a request.
        let http = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        Appliance { base, http, state, _stop: stop, _reactor: reactor }
    }

    /// An answer with its header fields.
    pub async fn send(&self, method: Method, path: &str, body: Option<Value>, headers: &[(&str, &str)]) -> Answered {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Answered { status, headers, body: response.json().await.unwrap_or_default() }
    }

    pub async fn text(&self, path: &str) -> String {
        self.http.get(format!("{}{path}", self.base)).send().await.unwrap().text().await.unwrap()
    }

    /// Status and body of a call; `body` is sent as JSON. An act that a disk that is busy with something else refuses, for
    /// which nothing was done, is asked for again.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        for _ in 0..20 {
            let (status, answer) = self.call_once(method.clone(), path, body.clone()).await;
            if !answer["detail"].as_str().is_some_and(|why| why.contains("because the disk does not answer")) {
                return (status, answer);
            }
        }
        panic!("{path}: the disk does not answer");
    }

    async fn call_once(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        let expected = if status < 400 { "application/json" } else { "application/problem+json" };
        assert_eq!(kind, expected, "{path}");
        (status, response.json().await.unwrap())
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, body) = self.call(Method::GET, path, None).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.call(Method::POST, path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: Value) -> (u16, Value) {
        self.call(Method::PUT, path, Some(body)).await
    }
}

// === impl Answered ===

impl Answered {
    /// Empty where it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}
