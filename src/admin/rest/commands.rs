//! `POST /api/v1/ns/commands`: lines of NetScaler's command line, carried out on the configuration.
//!
//! Each line is told by itself: one that is refused changes nothing and does not keep the others from being carried out,
//! as `batch` on a NetScaler does not. Lines that only add, set or bind are carried out together where they load
//! together ([`runs`]): one change, one entry of the journal.

mod runs;

use std::collections::HashSet;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use serde_json::{Map, Value};

use super::super::App;
use super::super::auth::{Access, Caller};
use super::super::body::{self, CONFIG_MAX, Field, FieldKind, Fields, field};
use super::super::dto::ConfigDto;
use super::super::edit::{Unedited, same_warning};
use super::super::problem::Problem;
use super::super::route::{Reads, Route};
use crate::control::command::Note;
use crate::control::{Command, Refusal};
use crate::model::id::{Kind, ObjectRef};
use crate::netscaler::document::{Act, Document};
use crate::netscaler::error::NsError;
use crate::netscaler::line::{self, Parsed};
use crate::netscaler::statement::Statement;
use runs::Line;

/// Lines of one call.
const LINES_MAX: usize = 10_000;

const FIELDS: &[Field] = &[
    field("lines", FieldKind::Texts, "Needed: commands such as `add lb vserver web HTTP 192.0.2.1 80`, in order."),
    field("atomic", FieldKind::Flag, "All lines as one change, or none of them."),
    field(
        "dry_run",
        FieldKind::Flag,
        "Say what would change, and change nothing; each line is tried behind those before it that go well.",
    ),
];

dto! {
    /// What became of one line.
    pub struct CommandResultDto {
        /// The line.
        pub line: String,
        /// Whether it was carried out.
        pub ok: bool,
        /// NetScaler's number of the error.
        pub code: Option<u32>,
        /// The error, in NetScaler's words.
        pub message: Option<String>,
    }

    /// What became of lines of commands.
    pub struct CommandResultsDto {
        /// One for each line, in order.
        pub results: Vec<CommandResultDto>,
        /// How many were refused.
        pub failed: u32,
        /// A line for each difference that they made, or would make.
        pub changes: Vec<String>,
        /// Running and saved configuration afterwards.
        pub config: ConfigDto,
    }
}

pub(crate) fn routes() -> Vec<Route> {
    let about = "Carry out lines of NetScaler's command line on the configuration";
    vec![
        Route::post("/api/v1/ns/commands", Access::Configure, about, commands)
            .reads(Reads::Fields(FIELDS))
            .answers_changed::<CommandResultsDto>(),
    ]
}

/// What is told at the end, as it grows.
#[derive(Default)]
struct Told {
    changes: Vec<String>,
    warnings: Vec<String>,
    /// Of the configuration, as it was when they were told.
    of_config: Vec<String>,
    generation: u64,
}

async fn commands(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let fields = Fields::parse(&headers, &body::read(body, CONFIG_MAX).await?, FIELDS)?;
    let lines: Vec<String> = fields.texts("lines")?.into_iter().map(str::to_owned).collect();
    if lines.is_empty() {
        return Err(Problem::bad_request("`lines` is missing: a list of commands"));
    }
    if lines.len() > LINES_MAX {
        return Err(Problem::bad_request(format!("at most {LINES_MAX} lines at once")));
    }
    let (atomic, dry_run) = (fields.flag("atomic")?.unwrap_or(false), fields.flag("dry_run")?.unwrap_or(false));
    let mut told = Told { generation: app.handle().snapshot().generation, ..Told::default() };
    let outcomes = if atomic {
        all_or_none(&app, &caller, &lines, dry_run, &mut told).await?
    } else {
        match dry_run {
            true => runs::try_out(&app, &caller, &lines, &mut told).await?,
            false => runs::carry_out(&app, &caller, &lines, &mut told).await?,
        }
    };
    let results: Vec<CommandResultDto> = lines.into_iter().zip(outcomes).map(result).collect();
    let failed = u32::try_from(results.iter().filter(|one| !one.ok).count()).unwrap_or(u32::MAX);
    let config = app.read(ConfigDto::of).await?;
    // A line may have mended what one before it left open.
    let holds = |warning: &String| dry_run || config.warnings.iter().any(|now| same_warning(now, warning));
    told.warnings.extend(told.of_config.into_iter().filter(holds));
    let mut seen = HashSet::new();
    told.warnings.retain(|warning| seen.insert(warning.clone()));
    let answer = CommandResultsDto { results, failed, changes: told.changes, config };
    let mut answer = serde_json::to_value(answer).unwrap_or_default();
    answer["generation"] = told.generation.into();
    if !told.warnings.is_empty() {
        answer["warnings"] = told.warnings.into();
    }
    Ok(Json(answer))
}

fn result((line, outcome): (String, Result<(), NsError>)) -> CommandResultDto {
    let (code, message) = match outcome {
        Ok(()) => (None, None),
        Err(error) => (Some(error.code), Some(error.message)),
    };
    CommandResultDto { line, ok: message.is_none(), code, message }
}

/// What a line says; nothing where it is empty or a comment.
fn statements(text: &str) -> Result<Vec<Statement>, NsError> {
    match line::parse(text)? {
        Parsed::Nothing => Ok(Vec::new()),
        Parsed::Statements(statements) => Ok(statements),
        Parsed::Other(tokens) => {
            let words: Vec<&str> = tokens.iter().take(3).map(|token| &token.text[..]).collect();
            Err(NsError::no_such_command(&words.join(" ")).because("it is none that changes a configuration"))
        }
    }
}

/// One change for all lines. Where one is refused, the others are told not to have been carried out.
async fn all_or_none(
    app: &App,
    caller: &Caller,
    lines: &[String],
    dry_run: bool,
    told: &mut Told,
) -> Result<Vec<Result<(), NsError>>, Problem> {
    let mut all = Vec::new();
    // The line that each statement is of.
    let mut of_line = Vec::new();
    let mut refused = None;
    for (at, text) in lines.iter().enumerate() {
        match statements(text) {
            Ok(statements) => {
                of_line.extend(statements.iter().map(|_| at));
                all.extend(statements);
            }
            Err(error) => {
                refused = Some((at, error));
                break;
            }
        }
    }
    let refused = match refused {
        Some(refused) => Some(refused),
        None => match whole(app, caller, all, dry_run, told).await? {
            Ok(()) => None,
            // What only the whole shows belongs to the last line.
            Err((at, error)) => Some((at.and_then(|at| of_line.get(at).copied()).unwrap_or(lines.len() - 1), error)),
        },
    };
    let Some((at, error)) = refused else { return Ok(lines.iter().map(|_| Ok(())).collect()) };
    let other = |other: usize| {
        if other == at {
            error.clone()
        } else {
            NsError::new(257).because("another line was refused; nothing was changed")
        }
    };
    Ok((0..lines.len()).map(|at| Err(other(at))).collect())
}

/// Why statements were refused: which of them, where it is one, and the error.
type Refused = (Option<usize>, NsError);

/// Carries out statements as one change, or none of them.
async fn whole(
    app: &App,
    caller: &Caller,
    statements: Vec<Statement>,
    dry_run: bool,
    told: &mut Told,
) -> Result<Result<(), Refused>, Problem> {
    if statements.is_empty() {
        return Ok(Ok(()));
    }
    let change = move |document: &mut Document| {
        let mut warnings = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            let said = document.execute(statement).map_err(|error| (Some(at), error))?;
            warnings.extend(said.into_iter().map(|warning| warning.message));
        }
        Ok(((), warnings))
    };
    change_document(app, caller, dry_run, told, change).await
}

/// Carries out lines as one change, each of which may be refused by itself. Errors: what comes out does not load.
async fn edit(
    app: &App,
    caller: &Caller,
    lines: Vec<Line>,
    dry_run: bool,
    told: &mut Told,
) -> Result<Result<Vec<Result<(), NsError>>, NsError>, Problem> {
    let change = move |document: &mut Document| Ok(runs::on(document, &lines));
    Ok(change_document(app, caller, dry_run, told, change).await?.map_err(|(_, error)| error))
}

/// Lets `change` work on what runs, and carries out the acts that follow from it. It gives back what it tells and what
/// it warns of.
async fn change_document<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    dry_run: bool,
    told: &mut Told,
    change: impl Fn(&mut Document) -> Result<(T, Vec<String>), Refused> + Send + Sync + 'static,
) -> Result<Result<T, Refused>, Problem> {
    let change = move |root: &mut Map<String, Value>| {
        let mut document = Document::from_root(std::mem::take(root));
        let (result, warnings) = change(&mut document)?;
        let acts = document.take_acts();
        *root = document.into_root();
        Ok::<_, Refused>((result, warnings, acts))
    };
    let (done, (result, warnings, acts)) = match app.edit(caller.clone(), dry_run, None, change).await {
        Ok(edited) => edited,
        Err(Unedited::Declined(refused)) => return Ok(Err(refused)),
        Err(Unedited::Refused(Refusal::BadConfig(problems))) => {
            return Ok(Err((None, NsError::of_problems(&problems))));
        }
        Err(Unedited::Refused(refusal)) => return Err(refusal.into()),
        Err(Unedited::Busy(problem)) => return Err(problem),
    };
    told.generation = done.generation;
    told.changes.extend(done.changes);
    told.warnings.extend(warnings);
    told.of_config.extend(done.warnings);
    for act in acts.into_iter().filter(|_| !dry_run) {
        let done = app.command(caller.clone(), command(act), Duration::ZERO).await?;
        told.generation = done.generation;
        told.warnings.extend(done.warnings);
    }
    Ok(Ok(result))
}

fn command(act: Act) -> Command {
    let kind = match act.resource.nitro {
        "lbvserver" | "csvserver" => Kind::Vserver,
        "server" => Kind::Server,
        "servicegroup" if act.member.is_none() => Kind::ServiceGroup,
        _ => Kind::Service,
    };
    let name = match &act.member {
        Some(member) => format!("{}/{member}", act.name),
        None => act.name,
    };
    let object = ObjectRef { kind, name: name.as_str().into() };
    let note = Note::default();
    match act.enable {
        true => Command::Enable { object, note },
        false => Command::Disable { object, delay: None, graceful: false, note, wait: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_no_configuration_is_refused_here() {
        assert!(statements("# a comment").unwrap().is_empty());
        assert_eq!(statements("show service").unwrap_err().code, 1088);
        assert_eq!(statements("add server a[1-2] 192.0.2.[1-2]").unwrap().len(), 2);
    }
}
