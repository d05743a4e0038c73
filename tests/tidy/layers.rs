//! Who may name whom. The table is that of the architecture: decisions (machine, balance, config) know the nouns alone and
//! never each other; the data plane and the control layer meet in the snapshot; front ends see the control layer's door.

use super::source::{self, Source};

/// A module and what it may name beside itself. `X` allows all of X; `X::a` allows that path and what is below it.
const LAYERS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("machine", &["model"]),
    ("balance", &["model"]),
    ("config", &["model"]),
    ("netscaler", &["model", "config"]),
    ("snapshot", &["model", "balance"]),
    ("probe", &["model"]),
    ("network", &["model", "snapshot"]),
    ("dataplane", &["model", "balance", "snapshot"]),
    ("files", &["model", "config"]),
    ("control", &["model", "machine", "config", "files", "snapshot", "probe"]),
    (
        "rehearse",
        &[
            "model",
            "machine",
            "balance",
            "config",
            "files",
            "snapshot",
            "dataplane::dns::answer",
            "dataplane::dns::explain",
            "dataplane::l7::policy",
            // A replay reads what the writer wrote.
            "control::journal",
            "control::store::read_journal",
            "control::store::ReadJournal",
        ],
    ),
    ("admin", FRONT_END),
    ("cli", FRONT_END_AND_DTO),
    ("peer", &["model", "snapshot", "control::Handle", "control::World", "control::peers"]),
    ("manual", &[]),
];

/// The control layer as front ends see it: the handle, its vocabulary, and the types that a look at the world holds.
const FRONT_END: &[&str] = &[
    "model",
    "config",
    "netscaler",
    "snapshot",
    "rehearse",
    "manual",
    "control::Handle",
    "control::command",
    "control::preview",
    "control::Command",
    "control::Done",
    "control::Refusal",
    "control::World",
    "control::Event",
    "control::ConfigStatus",
    "control::RunStatus",
    "control::journal",
    "control::JournalEntry",
    "control::JournalQuery",
];

const FRONT_END_AND_DTO: &[&str] = &[
    "model",
    "config",
    "netscaler",
    "snapshot",
    "rehearse",
    "manual",
    "control::Handle",
    "control::command",
    "control::preview",
    "control::Command",
    "control::Done",
    "control::Refusal",
    "control::World",
    "control::Event",
    "control::ConfigStatus",
    "control::RunStatus",
    "control::journal",
    "control::JournalEntry",
    "control::JournalQuery",
    "admin::dto",
    "files",
];

/// May name everything: they put the parts together.
const ABOVE_ALL: &[&str] = &["app", "lib", "main"];

/// A name, where it may not stand (modules; empty: anywhere), where it may all the same (path prefixes), and why.
struct OnlyIn {
    names: &'static [&'static str],
    not_in: &'static [&'static str],
    except: &'static [&'static str],
    why: &'static str,
}

const BELOW_THE_EDGES: &[&str] = &["model", "machine", "balance", "config", "netscaler", "snapshot"];

const ONLY_IN: &[OnlyIn] = &[
    OnlyIn {
        names: &["Instant::now", "SystemTime::now", "Timestamp::now", "Zoned::now"],
        not_in: &["model", "machine", "balance", "config", "netscaler", "snapshot", "rehearse", "control"],
        except: &["src/control/clock.rs"],
        why: "time is an argument: what decides is told the time, and one clock tells it",
    },
    OnlyIn {
        names: &[
            "tokio",
            "TcpStream",
            "TcpListener",
            "UdpSocket",
            "UnixStream",
            "socket2",
            "std::fs",
            "std::env::var",
            "std::process",
            "std::thread",
        ],
        not_in: BELOW_THE_EDGES,
        // Signals between tasks, no I/O: a new generation, the end of a connection, a place that is free.
        except: &[
            "src/snapshot/cell.rs",
            "src/snapshot/live.rs",
            "src/snapshot/live/secondary.rs",
            "src/snapshot/live/surge.rs",
        ],
        why: "sockets, files, threads and the environment belong to L3 and above, so that what decides can be tested without",
    },
    OnlyIn {
        names: &["arc_swap", "ArcSwap"],
        not_in: &[],
        // Signatures stand for themselves: nothing else must agree with one.
        except: &["src/snapshot/cell.rs", "src/snapshot/signing.rs", "src/snapshot/signing/table.rs"],
        why: "one cell: two that must agree would not",
    },
    OnlyIn {
        names: &["pingora_core", "pingora_proxy", "pingora_http", "pingora_error"],
        not_in: &[],
        except: &["src/dataplane/l7/pingora", "src/app.rs"],
        why: "pingora is one of two engines; health, state and selection are ours",
    },
    OnlyIn {
        names: &["tracing"],
        not_in: &["model", "machine", "balance", "config", "netscaler"],
        except: &[],
        why: "a transition is an effect, and the shell around logs it",
    },
];

#[test]
fn every_module_names_only_what_its_layer_allows() {
    let mut broken = Vec::new();
    for source in source::rust_files(&["src"]) {
        let module = module_of(&source.path);
        if ABOVE_ALL.contains(&&*module) {
            continue;
        }
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            broken.push(format!("{}: the module `{module}` stands in no layer", source.path));
            continue;
        };
        for (at, path) in crate_paths(&source) {
            let is_allowed = path.split("::").next() == Some(&module)
                || allowed.iter().any(|allowed| path == *allowed || path.starts_with(&format!("{allowed}::")));
            if !is_allowed {
                broken.push(format!("{}:{}: {module} names {path}", source.path, source::line_of(&source.code, at)));
            }
        }
    }
    assert!(broken.is_empty(), "layers are broken:\n{}", broken.join("\n"));
}

#[test]
fn names_that_belong_to_one_place_stay_there() {
    let mut broken = Vec::new();
    for source in source::rust_files(&["src"]) {
        let module = module_of(&source.path);
        for rule in ONLY_IN {
            let is_concerned = rule.not_in.is_empty() || rule.not_in.contains(&&*module);
            if !is_concerned || rule.except.iter().any(|prefix| source.path.starts_with(prefix)) {
                continue;
            }
            for name in rule.names {
                for at in occurrences(&source.product, name) {
                    let line = source::line_of(&source.product, at);
                    broken.push(format!("{}:{line}: {name} ({})", source.path, rule.why));
                }
            }
        }
    }
    assert!(broken.is_empty(), "names out of place:\n{}", broken.join("\n"));
}

/// The first part below `src`: `machine` for `src/machine/check.rs` and for `src/machine.rs`.
fn module_of(path: &str) -> String {
    let path = path.strip_prefix("src/").unwrap_or(path);
    path.split('/').next().unwrap_or(path).trim_end_matches(".rs").to_owned()
}

/// Where `name` stands as a whole word (or path).
fn occurrences<'a>(code: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_word = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    code.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let before = at.checked_sub(1).map(|i| code.as_bytes()[i]);
        let after = code.as_bytes().get(at + name.len()).copied();
        !is_word(before) && !is_word(after)
    })
}

/// Every path that starts at the crate's root, `use` trees taken apart: `model::id::Name`. Paths of `super` count where
/// they climb to the root.
fn crate_paths(source: &Source) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    for at in occurrences(&source.code, "crate") {
        let rest = &source.code[at + "crate".len()..];
        let is_visibility = source.code[..at].ends_with('(') && rest.starts_with(')');
        if let Some(rest) = rest.trim_start().strip_prefix("::").filter(|_| !is_visibility) {
            expand(rest, "", &mut |path| paths.push((at, path)));
        }
    }
    let depth = depth_of(&source.path);
    let climb = vec!["super"; depth].join("::");
    for at in occurrences(&source.code, &climb).filter(|_| depth > 0) {
        let is_longer = source.code[..at].ends_with("super::");
        let Some(rest) = source.code[at + climb.len()..].strip_prefix("::").filter(|_| !is_longer) else { continue };
        // From a module inside the file the same climb ends below the root: only names of layers are meant.
        expand(rest, "", &mut |path| {
            let first = path.split("::").next().unwrap_or("");
            if LAYERS.iter().any(|(name, _)| *name == first) && first != module_of(&source.path) {
                paths.push((at, path));
            }
        });
    }
    paths
}

/// How many `super` lead from the file's module to the root.
fn depth_of(path: &str) -> usize {
    let stem = path.strip_prefix("src/").unwrap_or(path).trim_end_matches(".rs");
    if matches!(stem, "lib" | "main") { 0 } else { stem.split('/').count() }
}

/// Takes a path or a `use` tree apart: `a::{b, c::d}` gives `a::b` and `a::c::d`.
fn expand(text: &str, prefix: &str, found: &mut impl FnMut(String)) {
    let text = text.trim_start();
    let joined = |segment: &str| if prefix.is_empty() { segment.to_owned() } else { format!("{prefix}::{segment}") };
    if let Some(inside) = text.strip_prefix('{') {
        let mut depth = 0;
        let mut start = 0;
        for (i, byte) in inside.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth == 0 => {
                    expand(&inside[start..i], prefix, found);
                    break;
                }
                b'}' => depth -= 1,
                b',' if depth == 0 => {
                    expand(&inside[start..i], prefix, found);
                    start = i + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let segment = &text[..end];
    if segment.is_empty() {
        if text.starts_with('*') && !prefix.is_empty() {
            found(prefix.to_owned());
        }
        return;
    }
    match text[end..].trim_start().strip_prefix("::") {
        Some(rest) if !rest.trim_start().starts_with('<') => expand(rest, &joined(segment), found),
        _ => found(joined(segment)),
    }
}

#[test]
fn the_checker_sees_through_use_trees_and_super() {
    let seen = |path: &str, code: &str| -> Vec<String> {
        let source =
            Source { path: path.to_owned(), text: String::new(), code: code.to_owned(), product: code.to_owned() };
        crate_paths(&source).into_iter().map(|(_, path)| path).collect()
    };
    assert_eq!(
        seen("src/a.rs", "use crate::{model::{id::Name, time}, config};"),
        ["model::id::Name", "model::time", "config"]
    );
    assert_eq!(seen("src/a.rs", "fn f() { crate::control::Handle::new(); }"), ["control::Handle::new"]);
    assert_eq!(seen("src/a.rs", "pub(crate) fn f() {} use crate::model::*;"), ["model"]);
    assert_eq!(seen("src/probe/tcp.rs", "use super::super::config::x; use super::Miss;"), ["config::x"]);
}
