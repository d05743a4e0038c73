//! The arguments of every command.

mod boot;
mod drill;
mod keep;
mod token;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::demo::DemoArgs;

pub use boot::{FirstBootArgs, LoginCheckArgs, LoginNameArgs, RunArgs};
pub use drill::{DrillListArgs, DrillShowArgs, DrillStartArgs, DrillStopArgs, DrillWhat};
pub use keep::{Keep, NstraceArgs, Places};
pub use token::{TokenCreateArgs, TokenHashArgs, TokenListArgs, TokenRevokeArgs, TokenWhat};

/// An ADC and a GTM in one box.
#[derive(Debug, Parser)]
#[command(name = "bascule", version, about, max_term_width = 100)]
#[command(after_help = "The manual: `bascule manual`, and `bascule manual PAGE`.")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the appliance in the foreground.
    ///
    /// Prints one line a listener when it is ready. SIGHUP reads FILE again; SIGUSR2 hands over to a new process
    /// (`handover`); SIGTERM lets open work finish and ends with 0, a second one ends at once. The log goes to stderr;
    /// BASCULE_LOG filters it: `debug`, `info,bascule::probe=debug`.
    Run(RunArgs),
    /// Load configurations as `run` would and print every problem, then the warnings; exit 1 on any problem.
    Check(CheckArgs),
    /// NetScaler's command line, against a running appliance.
    Shell(ShellArgs),
    /// What goes on, again and again: problems, vservers and services with state, rates, connections, times, drains; with
    /// keys to scroll, to drain and to enable.
    Top(TopArgs),
    /// Turn a saved ns.conf into TOML, on stdout; what is not carried over stands line by line on stderr.
    ///
    /// Exit 2 where something that changes traffic is missing, or where the TOML does not load.
    Import {
        /// The ns.conf; `-` for the standard input.
        file: PathBuf,
        /// Exit 2 where anything at all is missing.
        #[arg(long)]
        strict: bool,
        /// Also list the lines that have no meaning here.
        #[arg(long)]
        all: bool,
    },
    /// Print what applying FILE would change.
    Diff(ApplyArgs),
    /// Replace the running configuration with FILE, all or nothing; `save config` in the shell makes it last.
    Apply(ApplyArgs),
    /// Take the appliance's own FILE again, all or nothing; says which unsaved changes that drops.
    Reload(Target),
    /// Run event scripts with expectations through the engine in virtual time; exit 1 with a difference.
    Test {
        /// Scripts (NAME.events, each with its configuration NAME.toml beside it), or folders of them.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Write a JUnit report here.
        #[arg(long, value_name = "FILE")]
        junit: Option<PathBuf>,
    },
    /// Run an event script through the engine in virtual time and print the timeline.
    Simulate {
        /// The configuration.
        #[arg(value_name = "FILE")]
        config: PathBuf,
        /// What happens to it; expectations are shown and not judged.
        #[arg(long, value_name = "SCRIPT")]
        events: PathBuf,
    },
    /// Run the journal of a state directory through the engine; exit 0 when chain and commits agree.
    Replay {
        /// What `run --state` was given; an appliance may be running on it.
        #[arg(value_name = "STATE_DIR")]
        state_dir: PathBuf,
    },
    /// Print the journal of a running appliance: what happened, who did it.
    Journal(JournalArgs),
    /// Print what happened between two moments as one document, for a review after an incident.
    Timeline(TimelineArgs),
    /// Say why an answer is what it is.
    Explain {
        #[command(subcommand)]
        what: ExplainWhat,
    },
    /// Activate a scenario for a while to see that it works, and bring it back; the reports of all such drills.
    Drill {
        #[command(subcommand)]
        what: DrillWhat,
    },
    /// Print the manual: what pages there are, or one of them.
    Manual {
        /// Such as `tls`, `rules` or `keys`.
        page: Option<String>,
    },
    /// Read a password and print its argon2id hash for `password_hash`.
    Passwd,
    /// Before an appliance's service starts: take the configuration that its machine is handed, once for each instance, and
    /// see to it that somebody can log in.
    ///
    /// Looks for a credential `appliance.config`, then for a drive with the label CIDATA: TOML or an ns.conf. See
    /// `bascule manual first_boot`.
    FirstBoot(FirstBootArgs),
    /// For the login of the machine: exit 0 where PAM_USER may come in with the password on standard input.
    #[command(hide = true)]
    LoginCheck(LoginCheckArgs),
    /// For the login of the machine: answers on standard input and output under which number a name runs.
    #[command(hide = true)]
    LoginName(LoginNameArgs),
    /// Make, list and revoke API tokens.
    Token {
        #[command(subcommand)]
        what: TokenWhat,
    },
    #[command(flatten)]
    Keep(Keep),
    /// A back end to break, for a try without servers of one's own.
    DemoBackend(DemoArgs),
    /// Print what completes this program's arguments in a shell: `bash`, `zsh`, `fish`.
    Completion { shell: clap_complete::Shell },
    /// Print the page bascule(1).
    #[command(hide = true)]
    ManPage,
    /// One statement for ORACLE; asked by the appliance itself, on standard input.
    #[command(hide = true)]
    SqlProbe,
}

#[derive(Clone, Debug, Args)]
pub struct ApplyArgs {
    /// A configuration; with includes it is sent as one text. Other files that it names (certificates, keys, zone files) are
    /// the appliance's, looked for from the folder of its own FILE.
    pub file: PathBuf,
    /// Take the appliance's files also where others of the same names lie beside FILE.
    #[arg(long)]
    pub box_files: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Configurations, each on its own.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value = "text")]
    pub format: CheckFormat,
    /// Replace a value of the configuration before checking; may be repeated.
    #[arg(long, value_name = "PATH=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    Text,
    Json,
}

#[derive(Clone, Debug, Args)]
pub struct ShellArgs {
    /// Carry out this command; may be repeated. Without it commands are read from the terminal or from stdin.
    #[arg(short = 'c', value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// Print REST's JSON instead of NetScaler's text.
    #[arg(long)]
    pub json: bool,
    /// On a terminal: offer `config ns` first, where nothing has been configured yet.
    #[arg(long)]
    pub setup: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct TopArgs {
    /// How often to look; at least 500ms.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = super::top::every)]
    pub every: Duration,
    /// Look once, and end.
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Subcommand)]
pub enum ExplainWhat {
    /// Why a DNS query is answered as it is.
    Dns(ExplainDnsArgs),
    /// Why a request goes where it goes: rules, members, the one chosen. Asking counts and moves nothing.
    Request(ExplainRequestArgs),
    /// Why a service gets new clients, or none: people, monitors, drains, passive health, each vserver.
    Service(ExplainServiceArgs),
}

#[derive(Clone, Debug, Args)]
pub struct ExplainDnsArgs {
    /// The domain name, absolute with or without the final dot.
    pub name: String,
    /// The record type.
    #[arg(value_name = "TYPE", default_value = "A")]
    pub rtype: String,
    /// The address of the resolver that asks.
    #[arg(long, value_name = "IP")]
    pub client: Option<IpAddr>,
    /// A moment of the past, from the journal: a time, or a duration back from now.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct ExplainRequestArgs {
    /// The vserver that is addressed.
    #[arg(long, value_name = "NAME")]
    pub vserver: String,
    /// The path, with query.
    #[arg(long, default_value = "/")]
    pub path: String,
    #[arg(long, default_value = "GET")]
    pub method: String,
    /// The Host field.
    #[arg(long)]
    pub host: Option<String>,
    /// The client's address, with or without a port. Default 127.0.0.1.
    #[arg(long, value_name = "IP")]
    pub client: Option<String>,
    /// A field; may be repeated.
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// The name of its TLS handshake.
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct ExplainServiceArgs {
    /// The service, or GROUP/MEMBER.
    pub name: String,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct JournalArgs {
    #[command(flatten)]
    pub span: Span,
    /// Only what this actor did: `admin:ops`, `uid:0`, `system`.
    #[arg(long)]
    pub actor: Option<String>,
    /// Only entries of this kind: `transition`, `act`, `config` …
    #[arg(long)]
    pub kind: Option<String>,
    /// The last so many, 1 to 10000; default 1000.
    #[arg(long)]
    pub limit: Option<u32>,
    /// Newest first; else the newest stands last.
    #[arg(long)]
    pub newest_first: bool,
    /// Instead: where the journal is shipped to, and how far it has come.
    #[arg(long)]
    pub shipping: bool,
    /// Print REST's JSON.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Debug, Args)]
pub struct TimelineArgs {
    #[command(flatten)]
    pub span: Span,
    #[arg(long, value_enum, default_value_t = TimelineFormat::Md)]
    pub format: TimelineFormat,
    /// Write it here instead of to stdout.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub target: Target,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimelineFormat {
    Md,
    Html,
    Json,
}

/// Which part of the journal.
#[derive(Clone, Debug, Default, Args)]
pub struct Span {
    /// Not before: a time such as 2027-01-15T08:00:00Z, or a duration back from now such as 2h.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Not after.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only entries of this scenario.
    #[arg(long, value_name = "NAME")]
    pub scenario: Option<String>,
}

/// Which appliance.
#[derive(Clone, Debug, Default, Args)]
pub struct Target {
    /// Where its management listens; with BASCULE_TOKEN, or BASCULE_USER and BASCULE_PASSWORD. Default: BASCULE_URL.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Its state directory, where the Unix socket is. Default: $STATE_DIRECTORY, ./state, /var/lib/bascule.
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub state: Option<PathBuf>,
    /// Over https: the authorities that may have signed its certificate, in PEM. Default: BASCULE_CA, else the system's.
    #[arg(long, value_name = "FILE", conflicts_with = "state")]
    pub ca: Option<PathBuf>,
    /// Over https: the one certificate to trust, by the SHA-256 that the appliance prints at its start. Default:
    /// BASCULE_FINGERPRINT.
    #[arg(long, value_name = "SHA256", conflicts_with_all = ["state", "ca"])]
    pub fingerprint: Option<String>,
}

/// `PATH=VALUE`
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => Ok((path.trim().into(), value.trim().into())),
        _ => Err("write it as PATH=VALUE, such as admin.listen=127.0.0.1:0".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_takes_what_the_contract_says() {
        let line = "bascule run --config f.toml --state s --ready-file r --set a.b=1 --set c=x=y --drain 1m";
        let Command::Run(args) = Cli::parse_from(line.split(' ')).command else { panic!("not run") };
        assert_eq!(args.set, [("a.b".into(), "1".into()), ("c".into(), "x=y".into())]);
        assert_eq!(args.drain, Duration::from_secs(60));
        assert!(Cli::try_parse_from(["bascule", "run"]).is_err(), "FILE is needed");
        assert!(Cli::try_parse_from("bascule run --config f --state s --ephemeral".split(' ')).is_err());
    }

    #[test]
    fn a_url_excludes_a_state_directory() {
        let line = "bascule shell --url http://127.0.0.1:1 -c x -c y";
        let Command::Shell(args) = Cli::parse_from(line.split(' ')).command else { panic!("not shell") };
        assert_eq!(args.commands, ["x", "y"]);
        assert!(Cli::try_parse_from("bascule shell --url http://x --state s".split(' ')).is_err());
    }
}
