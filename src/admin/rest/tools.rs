//! Captures of packets, and archives for whoever is to help: made by the appliance, kept in its state directory, and
//! fetched from here.

use std::net::IpAddr;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;

use super::super::App;
use super::super::auth::{Access, Caller};
use super::super::body::{self, ACT_MAX, Field, FieldKind, Fields, field};
use super::super::dto::Items;
use super::super::problem::Problem;
use super::super::route::{Reads, Route, Segments};
use super::super::tools::{Made, Running, Wanted};
use crate::config::units::format_duration;

/// Of a capture, where nothing is said.
pub(crate) const TIME: Duration = Duration::from_secs(60);
const TIME_LEAST: Duration = Duration::from_millis(1);
pub(crate) const TIME_MOST: Duration = Duration::from_secs(3_600);
/// Of its file, in MiB.
pub(crate) const SIZE: u64 = 100;
pub(crate) const SIZE_MOST: u64 = 1_000;
/// Of a packet, in bytes.
pub(crate) const SNAP_MOST: u64 = 256 << 10;
/// Names, addresses or ports of one capture.
const NAMED_MOST: usize = 64;
/// Of a file that is read to be sent.
const PIECE: usize = 64 << 10;

const START: &[Field] = &[
    field("vservers", FieldKind::Texts, "Packets of these, and of their services. Default: of everything."),
    field("services", FieldKind::Texts, "Packets of these, or of members GROUP/MEMBER."),
    field("addresses", FieldKind::Texts, "Of these only what has one of these addresses at either end."),
    field("ports", FieldKind::Texts, "Of these only what has one of these ports at either end."),
    field("time", FieldKind::Duration, "How long at most, 1ms to 1h; default 60s."),
    field("size", FieldKind::Within(1, SIZE_MOST), "Of the file at most, in MiB; default 100."),
    field("snap", FieldKind::Within(0, SNAP_MOST), "So many bytes of each packet; default 0: all of it."),
];

dto! {
    /// A capture of packets.
    pub struct TraceDto {
        /// Of its file.
        pub name: String,
        /// It is being written.
        pub running: bool,
        /// When it was begun; null of one from before the appliance's start.
        pub started_at: Option<String>,
        /// When it ends by itself.
        pub ends_at: Option<String>,
        /// When its file was last written to.
        pub written_at: String,
        pub bytes: u64,
        /// Who began it.
        pub actor: Option<String>,
        /// How it ended: packets, bytes, why.
        pub ended: Option<String>,
        /// On the appliance's disk.
        pub path: String,
        /// Where the file is fetched: pcapng.
        pub href: String,
    }

    /// An archive for whoever is to help.
    pub struct ArchiveDto {
        /// Of its file.
        pub name: String,
        pub at: String,
        pub bytes: u64,
        /// On the appliance's disk.
        pub path: String,
        /// Where the file is fetched: tar.gz.
        pub href: String,
        /// What could not be had for it; null where it is not known any more.
        pub left_out: Option<Vec<String>>,
    }

    /// What became of the capture that was running.
    pub struct StoppedDto {
        /// None was running: null.
        pub trace: Option<TraceDto>,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    const OCTETS: &str = "application/octet-stream";
    vec![
        Route::get("/api/v1/traces", "Captures of packets that are kept, newest first", list)
            .answers::<Items<TraceDto>>(),
        Route::post("/api/v1/traces", Access::Operate, "Begin a capture of packets; one at a time", start)
            .reads(Reads::Fields(START))
            .answers::<TraceDto>(),
        Route::post("/api/v1/traces/stop", Access::Operate, "End the capture that runs", stop)
            .reads(Reads::Fields(&[]))
            .answers::<StoppedDto>(),
        Route::get("/api/v1/traces/{name}", "The file of a capture: pcapng", fetch)
            .for_operators()
            .answers_text(OCTETS),
        Route::get("/api/v1/support", "Archives for whoever is to help that are kept, newest first", archives)
            .answers::<Items<ArchiveDto>>(),
        Route::post("/api/v1/support", Access::Operate, "Make an archive for whoever is to help", archive)
            .reads(Reads::Fields(&[]))
            .answers::<ArchiveDto>(),
        Route::get("/api/v1/support/{name}", "The file of an archive: tar, packed with gzip", fetch_archive)
            .for_operators()
            .answers_text(OCTETS),
    ]
}

async fn list(State(app): State<App>) -> Json<Items<TraceDto>> {
    Json(Items { items: app.traces() })
}

async fn start(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<TraceDto>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, ACT_MAX).await?, START)?;
    let names = |key: &str| -> Result<Vec<String>, Problem> {
        let all: Vec<String> = fields.texts(key)?.into_iter().map(Into::into).collect();
        if all.len() > NAMED_MOST {
            return Err(Problem::bad_request(format!("`{key}` names more than {NAMED_MOST}")));
        }
        Ok(all)
    };
    let read = |key: &str, what: &str, text: &str| Problem::bad_request(format!("`{key}`: `{text}` is no {what}"));
    let address = |text: &String| text.parse::<IpAddr>().map_err(|_| read("addresses", "address", text));
    let port = |text: &String| text.parse::<u16>().map_err(|_| read("ports", "port", text));
    let wanted = Wanted {
        vservers: names("vservers")?,
        services: names("services")?,
        addresses: names("addresses")?.iter().map(address).collect::<Result<_, _>>()?,
        ports: names("ports")?.iter().map(port).collect::<Result<_, _>>()?,
        time: fields.duration("time")?.unwrap_or(TIME),
        size: fields.integer("size")?.unwrap_or(SIZE),
        snap: fields.integer("snap")?.unwrap_or(0),
    };
    app.start_trace(&caller, wanted).await.map(Json)
}

async fn stop(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<StoppedDto>, Problem> {
    Fields::parse(&headers, &body::read(body, ACT_MAX).await?, &[])?;
    Ok(Json(StoppedDto { trace: app.stop_trace(&caller).await? }))
}

async fn fetch(State(app): State<App>, names: Segments) -> Result<Response, Problem> {
    file(app.0.tools.traces(), "trace", names.first()).await
}

async fn archives(State(app): State<App>) -> Json<Items<ArchiveDto>> {
    Json(Items { items: app.0.tools.archives().iter().map(|made| ArchiveDto::of(made, None)).collect() })
}

async fn archive(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ArchiveDto>, Problem> {
    Fields::parse(&headers, &body::read(body, ACT_MAX).await?, &[])?;
    let (made, left_out) = app.0.tools.archive().await?;
    app.note(&caller, json!({ "what": "techsupport", "file": made.name })).await?;
    Ok(Json(ArchiveDto::of(&made, Some(left_out))))
}

async fn fetch_archive(State(app): State<App>, names: Segments) -> Result<Response, Problem> {
    file(app.0.tools.archives(), "archive", names.first()).await
}

/// A file, piece by piece: of one that is still written what is there.
async fn file(all: Vec<Made>, noun: &str, name: &str) -> Result<Response, Problem> {
    let Some(made) = all.iter().find(|made| made.name == name) else {
        return Err(Problem::unknown_object(noun, name, all.iter().map(|made| &made.name[..])));
    };
    let opened = tokio::fs::File::open(&made.path).await;
    let opened = opened.map_err(|error| Problem::busy(format!("{}: {error}", made.path.display())))?;
    let pieces = futures_util::stream::unfold(opened.take(made.bytes), |mut file| async move {
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece).await {
            Ok(0) => None,
            Ok(read) => {
                piece.truncate(read);
                Some((Ok(Bytes::from(piece)), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    });
    let mut response = Body::from_stream(pieces).into_response();
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", made.name)) {
        fields.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

// === impl App ===

impl App {
    pub(crate) fn traces(&self) -> Vec<TraceDto> {
        let tools = &self.0.tools;
        let one =
            |made: &Made| tools.last(|last| TraceDto::of(made, Some(last))).unwrap_or_else(|| TraceDto::of(made, None));
        tools.traces().iter().map(one).collect()
    }

    /// Begins a capture, which the journal has before it is told of.
    pub(crate) async fn start_trace(&self, caller: &Caller, wanted: Wanted) -> Result<TraceDto, Problem> {
        if !(TIME_LEAST..=TIME_MOST).contains(&wanted.time) {
            return Err(Problem::bad_request(format!("`time` is 1ms to 1h, not {}", format_duration(wanted.time))));
        }
        let body = wanted.document();
        let name = self.0.tools.start(&wanted, &caller.actor).await?;
        if let Err(problem) = self.note(caller, json!({ "what": "nstrace_start", "file": name, "of": body })).await {
            self.0.tools.stop().await;
            return Err(problem);
        }
        self.trace(&name)
    }

    /// Ends the one that runs. `None`: none does.
    pub(crate) async fn stop_trace(&self, caller: &Caller) -> Result<Option<TraceDto>, Problem> {
        let Some(name) = self.0.tools.stop().await else { return Ok(None) };
        self.note(caller, json!({ "what": "nstrace_stop", "file": name })).await?;
        self.trace(&name).map(Some)
    }

    fn trace(&self, name: &str) -> Result<TraceDto, Problem> {
        let found = self.traces().into_iter().find(|trace| trace.name == name);
        found.ok_or_else(|| Problem::busy(format!("{name} is not there any more")))
    }

    /// Writes an act into the journal that changes nothing of the engine.
    async fn note(&self, caller: &Caller, body: Value) -> Result<(), Problem> {
        let (actor, door) = (caller.actor.clone(), caller.door.clone());
        self.handle().journal_act(actor, door, body).await.map_err(Problem::from)
    }
}

// === impl TraceDto ===

impl TraceDto {
    /// `last`: the capture that was begun last, which may be another one.
    fn of(made: &Made, last: Option<&Running>) -> TraceDto {
        let own = last.filter(|last| last.name == made.name);
        let running = own.filter(|own| own.ended.is_none());
        TraceDto {
            name: made.name.clone(),
            running: running.is_some(),
            started_at: own.map(|own| own.started.to_string()),
            ends_at: running.map(|running| (running.started + running.wanted.time).to_string()),
            written_at: made.at.to_string(),
            bytes: made.bytes,
            actor: own.map(|own| own.actor.to_string()),
            ended: own.and_then(|own| own.ended.clone()),
            path: made.path.display().to_string(),
            href: made.href("traces"),
        }
    }
}

// === impl ArchiveDto ===

impl ArchiveDto {
    fn of(made: &Made, left_out: Option<Vec<String>>) -> ArchiveDto {
        ArchiveDto {
            name: made.name.clone(),
            at: made.at.to_string(),
            bytes: made.bytes,
            path: made.path.display().to_string(),
            href: made.href("support"),
            left_out,
        }
    }
}
