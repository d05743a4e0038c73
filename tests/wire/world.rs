//! A data plane without the layers above it: the test says what states services have, this builds and publishes the
//! snapshots. And servers to put behind it.

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bascule::dataplane::Dataplane;
use bascule::dataplane::l7::Carrier;
use bascule::model::Model;
use bascule::model::event::Observation;
use bascule::model::id::{Name, ServiceId, VserverId};
use bascule::model::service::{Protocol, Service};
use bascule::model::state::{NewClients, ServiceState, ServiceView, StateView, VserverState, VserverView};
use bascule::model::vserver::{Member, Role, Vserver};
use bascule::snapshot::live::{Listening, Registry};
use bascule::snapshot::{Cell, Snapshot, build};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::ports::free_port;

/// Long enough for anything that comes at all, on a busy machine.
pub const PATIENT: Duration = Duration::from_secs(20);

pub struct World {
    pub model: Model,
    pub states: HashMap<Name, ServiceState>,
    /// Disabled by an administrator.
    pub out: Vec<Name>,
    registry: Registry,
    pub cell: Arc<Cell>,
    pub plane: Option<Dataplane>,
    pub observed: mpsc::Receiver<Observation>,
    generation: u64,
    published: Arc<Model>,
}

/// Builds a model: services and vservers in the order of their names, members by name.
#[derive(Default)]
pub struct Plan {
    services: Vec<Service>,
    vservers: Vec<Planned>,
}

/// A vserver whose members and backup are still names.
struct Planned {
    vserver: Vserver,
    members: Vec<Name>,
    backup: Option<Name>,
}

// === impl Plan ===

impl Plan {
    pub fn service(mut self, name: &str, protocol: Protocol, at: SocketAddr) -> Plan {
        self.services.push(Service::new(name, protocol, at));
        self
    }

    pub fn vserver(mut self, name: &str, protocol: Protocol, members: &[&str]) -> Plan {
        let mut vserver = Vserver::new(name, protocol);
        vserver.address = Some("127.0.0.1:0".parse().unwrap());
        let members = members.iter().map(|&m| m.into()).collect();
        self.vservers.push(Planned { vserver, members, backup: None });
        self
    }

    /// Of the vserver that was named last.
    pub fn backup(mut self, name: &str) -> Plan {
        self.vservers.last_mut().unwrap().backup = Some(name.into());
        self
    }

    pub fn with(mut self, edit: impl FnOnce(&mut Vserver)) -> Plan {
        edit(&mut self.vservers.last_mut().unwrap().vserver);
        self
    }

    pub fn with_service(mut self, edit: impl FnOnce(&mut Service)) -> Plan {
        edit(self.services.last_mut().unwrap());
        self
    }

    pub fn model(mut self) -> Model {
        let mut model = Model::empty();
        self.services.sort_by(|a, b| a.name.cmp(&b.name));
        self.vservers.sort_by(|a, b| a.vserver.name.cmp(&b.vserver.name));
        model.services = self.services;
        let names: Vec<Name> = self.vservers.iter().map(|v| v.vserver.name.clone()).collect();
        for Planned { mut vserver, members, backup } in self.vservers {
            for name in members {
                let service = model.service_id(&name).unwrap();
                vserver.services.push(Member::new(service));
                vserver.members.push(Member::new(service));
            }
            vserver.backup = backup.map(|b| VserverId::from_index(names.iter().position(|n| *n == b).unwrap()));
            model.vservers.push(vserver);
        }
        model
    }
}

// === impl World ===

impl World {
    /// Everything UP, listeners bound.
    pub async fn start(plan: Plan) -> World {
        World::of(plan.model()).await
    }

    pub async fn of(model: Model) -> World {
        World::through(model, carrier()).await
    }

    /// Through one of the two engines.
    pub async fn through(model: Model, carrier: Carrier) -> World {
        let published = Arc::new(model.clone());
        let mut registry = Registry::default();
        let first = snapshot(1, &published, &HashMap::new(), &[], &mut registry, None);
        let cell = Cell::new(first);
        let (observations, observed) = mpsc::channel(64);
        let plane = Some(Dataplane::start_with(Arc::clone(&cell), observations, carrier).await);
        World { model, states: HashMap::new(), out: vec![], registry, cell, plane, observed, generation: 1, published }
    }

    /// Publishes the model and states as they stand now, and waits until the listeners follow.
    pub async fn publish(&mut self) {
        if *self.published != self.model {
            self.published = Arc::new(self.model.clone());
        }
        self.generation += 1;
        let previous = self.cell.load_full();
        let next =
            snapshot(self.generation, &self.published, &self.states, &self.out, &mut self.registry, Some(&previous));
        self.cell.publish(next);
        build::flush(&previous, &self.cell.load_full());
        let generation = self.generation;
        let mut reconciled = self.plane.as_ref().unwrap().reconciled();
        tokio::time::timeout(PATIENT, reconciled.wait_for(|&g| g >= generation)).await.unwrap().unwrap();
    }

    pub async fn state(&mut self, service: &str, state: ServiceState) {
        self.states.insert(service.into(), state);
        self.publish().await;
    }

    /// Where the VIP listens.
    pub fn vip(&self, vserver: &str) -> SocketAddr {
        match self.listening(vserver) {
            Listening::Bound { address, .. } => address,
            other => panic!("{vserver} does not listen: {other:?}"),
        }
    }

    pub fn listening(&self, vserver: &str) -> Listening {
        let snapshot = self.cell.load_full();
        let id = snapshot.model.vserver_id(vserver).unwrap();
        snapshot.vservers[id.index()].live.listen.lock().clone()
    }

    pub fn active(&self, service: &str) -> u32 {
        let snapshot = self.cell.load_full();
        let id = snapshot.model.service_id(service).unwrap();
        snapshot.services[id.index()].live.active.load(std::sync::atomic::Ordering::SeqCst)
    }

    pub fn service_id(&self, service: &str) -> ServiceId {
        self.model.service_id(service).unwrap()
    }

    pub fn vserver(&mut self, name: &str) -> &mut Vserver {
        let id = self.model.vserver_id(name).unwrap();
        &mut self.model.vservers[id.index()]
    }
}

/// The engine that all tests of HTTP go through: as users have it, unless `BASCULE_TEST_CARRIER` says `pingora`.
fn carrier() -> Carrier {
    match std::env::var("BASCULE_TEST_CARRIER").as_deref() {
        Ok("pingora") => Carrier::Pingora,
        Ok(other) => panic!("BASCULE_TEST_CARRIER={other}: only pingora can be asked for"),
        Err(_) => Carrier::Relay,
    }
}

/// States by the plain rules: UP where a member is UP or draining; new clients to own UP members, else along the chain,
/// unless a draining member keeps the vserver UP.
fn snapshot(
    generation: u64,
    model: &Arc<Model>,
    states: &HashMap<Name, ServiceState>,
    out: &[Name],
    registry: &mut Registry,
    previous: Option<&Snapshot>,
) -> Snapshot {
    let state = |service: &Service| states.get(&service.name).copied().unwrap_or(ServiceState::Up);
    let members = |vserver: &Vserver, wanted: ServiceState| {
        vserver.members.iter().any(|m| state(model.service(m.service)) == wanted)
    };
    let of = |vserver: &Vserver, wanted: ServiceState| match &vserver.role {
        Role::Lb => members(vserver, wanted),
        Role::Cs { targets, .. } => targets.iter().any(|&target| members(model.vserver(target), wanted)),
    };
    let own = |vserver: &Vserver| !out.contains(&vserver.name) && of(vserver, ServiceState::Up);
    let up = |vserver: &Vserver| !out.contains(&vserver.name) && (own(vserver) || of(vserver, ServiceState::Trofs));
    let view = StateView {
        services: model.services.iter().map(|s| ServiceView { state: state(s), ..ServiceView::default() }).collect(),
        vservers: (0..model.vservers.len())
            .map(VserverId::from_index)
            .map(|id| {
                let vserver = model.vserver(id);
                let new_clients = if own(vserver) {
                    NewClients::Own
                } else if up(vserver) {
                    NewClients::Refused
                } else {
                    let backup = model.backup_chain(id).find(|&b| own(model.vserver(b)));
                    backup.map_or(NewClients::Refused, NewClients::Backup)
                };
                let state = match (out.contains(&vserver.name), up(vserver)) {
                    (true, _) => VserverState::OutOfService,
                    (false, true) => VserverState::Up,
                    (false, false) => VserverState::Down,
                };
                VserverView { state, effective: state, new_clients, ..VserverView::default() }
            })
            .collect(),
        ..StateView::default()
    };
    build::build(build::Parts {
        generation,
        model,
        view: &view,
        registry,
        zones: &Arc::default(),
        resolved: &Default::default(),
        previous,
        scenario_active: vec![],
        ready: true,
    })
}

/// A server on loopback.
pub struct Server {
    pub at: SocketAddr,
    /// Everything that HTTP servers have read, heads and bodies as they came.
    pub seen: Arc<Mutex<Vec<u8>>>,
    task: tokio::task::JoinHandle<()>,
}

// === impl Server ===

impl Server {
    /// Runs `serve` for each connection.
    pub async fn each<F, T>(serve: F) -> Server
    where
        F: Fn(TcpStream) -> T + Send + 'static,
        T: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream));
            }
        });
        Server { at, seen: Arc::default(), task }
    }

    /// HTTP/1.1 with keep-alive: answers each request with `name` as the body.
    pub async fn http(name: &'static str) -> Server {
        let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let record = Arc::clone(&seen);
        let mut server = Server::each(move |mut stream| {
            let record = Arc::clone(&record);
            async move {
                while let Some(request) = read_request(&mut stream).await {
                    record.lock().extend_from_slice(request.as_bytes());
                    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name}", name.len());
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await;
        server.seen = seen;
        server
    }

    pub fn seen(&self) -> String {
        String::from_utf8_lossy(&self.seen.lock()).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An address where nobody listens, nor will, but who has it from here.
pub async fn nobody() -> SocketAddr {
    ([127, 0, 0, 1], free_port()).into()
}

/// One request, its body (by Content-Length or chunks) included. `None` at the end of the connection.
pub async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    loop {
        if let Some(end) = read.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&read[..end + 4]).to_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|r| r.split("\r\n").next()?.parse().ok());
            let whole = if head.contains("transfer-encoding: chunked") {
                is_whole_chunked(&read[end + 4..])
            } else {
                read.len() >= end + 4 + length.unwrap_or(0)
            };
            if whole {
                return Some(String::from_utf8_lossy(&read).into_owned());
            }
        }
        if stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
}

/// Whether a chunked body is there to its last line, trailers included. What the chunks hold may look like an end.
fn is_whole_chunked(mut body: &[u8]) -> bool {
    let line = |from: &[u8]| from.windows(2).position(|w| w == b"\r\n");
    while let Some(end) = line(body) {
        let size = String::from_utf8_lossy(&body[..end]);
        let size =
            usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16).expect("a chunk's size");
        body = &body[end + 2..];
        if size > 0 {
            let Some(rest) = body.get(size + 2..) else { return false };
            body = rest;
            continue;
        }
        while let Some(end) = line(body) {
            if end == 0 {
                return true;
            }
            body = &body[end + 2..];
        }
        return false;
    }
    false
}

pub async fn connect(to: SocketAddr) -> TcpStream {
    TcpStream::connect(to).await.unwrap()
}

/// Sends `request` on a new connection and reads until the other side closes.
pub async fn exchange(to: SocketAddr, request: &str) -> String {
    let mut stream = connect(to).await;
    let _ = stream.write_all(request.as_bytes()).await;
    read_all(&mut stream).await
}

pub async fn read_all(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(PATIENT, stream.read_to_end(&mut answer)).await.expect("no end of the connection");
    String::from_utf8_lossy(&answer).into_owned()
}

/// One answer with Content-Length on a connection that stays open.
pub async fn read_answer(stream: &mut TcpStream) -> String {
    let read = tokio::time::timeout(PATIENT, read_request(stream)).await.expect("no answer");
    read.expect("the connection ended")
}

/// A GET that closes.
pub async fn get(to: SocketAddr, path: &str, fields: &str) -> String {
    exchange(to, &format!("GET {path} HTTP/1.1\r\nHost: t.test\r\nConnection: close\r\n{fields}\r\n")).await
}

pub fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

/// Waits until `condition` holds.
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let all = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENT, all).await.unwrap_or_else(|_| panic!("never: {what}"));
}
