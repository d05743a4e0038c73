//! What a package carries beside the program and only the program knows: completion, and the page bascule(1).

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;

use super::args::Cli;
use super::fail;

pub(super) fn completion(shell: clap_complete::Shell) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "bascule", &mut text);
    print(&text)
}

/// One page for the program and all its commands, in roff.
pub(super) fn page() -> ExitCode {
    match write_page() {
        Ok(text) => print(&text),
        Err(error) => fail(&format!("man-page: {error}")),
    }
}

const FILES: [(&str, &str); 2] = [
    ("/etc/bascule/bascule.toml", "The configuration. `save config` in the shell writes it."),
    ("/var/lib/bascule", "The state: what people have set, scenarios, journal, outbox, and the socket of the shell."),
];

fn write_page() -> std::io::Result<Vec<u8>> {
    let mut command = Cli::command();
    // What arguments look like is known from then on.
    command.build();
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone());
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    writeln!(text, ".SH COMMANDS")?;
    write_commands(&command, "", &mut text)?;
    writeln!(text, ".SH FILES")?;
    for (path, what) in FILES {
        writeln!(text, ".TP\n.I {path}\n{}", escaped(what))?;
    }
    Ok(text)
}

/// Those below `command`, and those below them: `token`, `token create`.
fn write_commands(command: &clap::Command, prefix: &str, text: &mut Vec<u8>) -> std::io::Result<()> {
    let shown = |of: &&clap::Command| !of.is_hide_set() && of.get_name() != "help";
    for of in command.get_subcommands().filter(shown) {
        let name = format!("{prefix}{}", of.get_name());
        let about = of.get_long_about().or(of.get_about()).map(ToString::to_string).unwrap_or_default();
        let usage = of.clone().bin_name(format!("bascule {name}")).render_usage().to_string();
        writeln!(text, ".SS {}", escaped(&name))?;
        writeln!(text, ".B {}\n.PP", escaped(usage.trim_start_matches("Usage: ")))?;
        writeln!(text, "{}", escaped(&about))?;
        let is_own = |argument: &&clap::Arg| !argument.is_hide_set() && argument.get_id() != "help";
        for argument in of.get_arguments().filter(is_own) {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            writeln!(text, ".TP\n.B {}\n{}", escaped(&argument.to_string()), escaped(&help))?;
        }
        write_commands(of, &format!("{name} "), text)?;
    }
    Ok(())
}

/// A line that roff takes as text.
fn escaped(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn print(text: &[u8]) -> ExitCode {
    // A reader that is gone (`| head`) is no error of ours.
    let _ = std::io::stdout().lock().write_all(text);
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_command_with_its_arguments_and_the_files() {
        let page = String::from_utf8(write_page().unwrap()).unwrap();
        for line in [".SH COMMANDS", ".SS run", ".SS token create", ".SH FILES", ".I /etc/bascule/bascule.toml"] {
            assert!(page.lines().any(|found| found == line), "{line}");
        }
        assert!(page.contains(".B bascule run [OPTIONS] \\-\\-config <FILE>"), "{page}");
        assert!(page.contains(".B \\-\\-ready\\-file <FILE>\nOnce ready"), "{page}");
        for hidden in [".SS man\\-page", ".SS sql\\-probe", ".SS help"] {
            assert!(!page.contains(hidden), "{hidden}");
        }
    }

    #[test]
    fn a_line_that_roff_would_take_as_its_own_is_text() {
        assert_eq!(escaped(".SH a\n'x \\n-b"), "\\&.SH a\n\\&'x \\en\\-b");
    }

    #[test]
    fn every_shell_gets_its_completion() {
        for (shell, line) in [
            (clap_complete::Shell::Bash, "_bascule() {"),
            (clap_complete::Shell::Zsh, "#compdef bascule"),
            (clap_complete::Shell::Fish, "complete -c bascule"),
        ] {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "bascule", &mut text);
            assert!(String::from_utf8(text).unwrap().contains(line), "{shell}");
        }
    }
}
