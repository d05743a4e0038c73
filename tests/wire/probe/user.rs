//! USER: scripts that answer, and scripts that misbehave.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use bascule::model::dialogue::{Script, ScriptLimits, Value};
use bascule::model::scenario::Secret;
use bascule::probe::{Surroundings, sample_in};

use super::*;

/// A folder of a configuration, with one for scripts in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("scripts")).unwrap();
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.0.path().join("scripts").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    async fn run(&self, script: Script, timeout: Duration) -> Verdict {
        let target = Target::new(([192, 0, 2, 7], 8080).into());
        let check = check(Probe::User { target, script }, timeout);
        sample_in(&check, &Surroundings { folder: self.0.path().to_owned() }, None).await
    }

    /// Writes a script of the shell and runs it.
    async fn shell(&self, text: &str, timeout: Duration) -> Verdict {
        self.write("script", &format!("#!/bin/sh\n{text}\n"), 0o755);
        self.run(script("script"), timeout).await
    }
}

fn script(name: &str) -> Script {
    Script {
        directory: "scripts".into(),
        name: name.into(),
        arguments: Vec::new(),
        environment: Vec::new(),
        limits: ScriptLimits::default(),
    }
}

/// Whether a process whose arguments hold `mark` is alive.
fn is_alive(mark: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_zombie = fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| stat.contains(") Z "));
        String::from_utf8_lossy(&line).contains(mark) && !is_zombie
    })
}

/// Waits for the kernel to carry out what it was told.
async fn gone(mark: &str) -> bool {
    for _ in 0..200 {
        if !is_alive(mark) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn a_script_gets_its_arguments_and_environment_and_nothing_else() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("token"), "tok en\n").unwrap();
    let text = "#!/bin/sh\nprintf '%s|' \"$@\" \"$MODE\" \"$TOKEN\" \"$BASCULE_ADDRESS:$BASCULE_PORT\" \
                \"$BASCULE_CHECK\" \"$HOME\" \"$CARGO_MANIFEST_DIR\" \"$(basename \"$PWD\")\"\n";
    folder.write("tell", text, 0o755);
    let told = Script {
        arguments: vec!["a b".into(), "$(id); `id`".into()],
        environment: vec![
            ("MODE".into(), Value::Plain("deep".into())),
            ("TOKEN".into(), Value::Secret(Secret::File("token".into()))),
        ],
        ..script("tell")
    };
    let verdict = folder.run(told, PATIENT).await;
    let said = "192.0.2.7|8080|a b|$(id); `id`|deep|tok en|192.0.2.7:8080|c|||scripts|";
    assert_eq!(verdict.outcome, Outcome::Pass, "{}", verdict.detail);
    // What is shown is cut.
    assert!(verdict.detail.contains(&said[..55]), "{}", verdict.detail);
}

#[tokio::test]
async fn the_exit_status_decides_and_the_first_line_is_shown() {
    let folder = Folder::new();
    let pass = folder.shell("echo; echo fine; echo more", PATIENT).await;
    assert_verdict(&pass, Outcome::Pass, "the script passed: \"fine\"");
    assert_verdict(&folder.shell("echo oh >&2; exit 3", PATIENT).await, Outcome::Fail, "ended with 3: \"oh\"");
    assert_verdict(&folder.shell("kill -SEGV $$", PATIENT).await, Outcome::Fail, "ended by SIGSEGV");
    assert_verdict(&folder.shell("exec /nonexistent", PATIENT).await, Outcome::Void, "cannot be executed (127)");
}

#[tokio::test]
async fn only_an_executable_file_in_the_folder_that_not_everybody_may_change_is_run() {
    let folder = Folder::new();
    assert_verdict(&folder.run(script("gone"), PATIENT).await, Outcome::Void, "No such file");
    folder.write("plain", "#!/bin/sh\n", 0o644);
    assert_verdict(&folder.run(script("plain"), PATIENT).await, Outcome::Void, "no executable file");
    folder.write("open", "#!/bin/sh\n", 0o777);
    assert_verdict(&folder.run(script("open"), PATIENT).await, Outcome::Void, "everybody may change it");
    symlink("/bin/true", folder.0.path().join("scripts/link")).unwrap();
    assert_verdict(&folder.run(script("link"), PATIENT).await, Outcome::Void, "a link out of the folder");
    assert_verdict(&folder.run(script("../scripts"), PATIENT).await, Outcome::Void, "");
}

#[tokio::test]
async fn a_script_that_hangs_forks_and_ignores_sigterm_is_killed_with_all_it_started() {
    let folder = Folder::new();
    let mark = "4711.0815";
    let text = format!(
        "trap '' TERM HUP INT\n(trap '' TERM; sleep {mark}) &\nsh -c 'trap \"\" TERM; sleep {mark} & sleep {mark}' \
         &\nwhile :; do sleep {mark}; done"
    );
    let timeout = Duration::from_millis(500);
    let begun = Instant::now();
    let verdict = folder.shell(&text, timeout).await;
    assert_verdict(&verdict, Outcome::Fail, "timed out after 500 ms; the script and what it started were killed");
    assert!(begun.elapsed() < PATIENT / 2, "it took {:?}", begun.elapsed());
    assert!(gone(mark).await, "something of it is still alive");
}

#[tokio::test]
async fn what_a_script_leaves_behind_is_killed_and_not_waited_for() {
    let folder = Folder::new();
    let mark = "4711.0816";
    let verdict = folder.shell(&format!("sleep {mark} &\necho started"), PATIENT).await;
    assert_verdict(&verdict, Outcome::Pass, "the script passed: \"started\"");
    assert!(gone(mark).await);
}

#[tokio::test]
async fn a_cancelled_sample_kills_its_script() {
    let folder = Folder::new();
    let mark = "4711.0817";
    let text = format!("sleep {mark}");
    let run = folder.shell(&text, PATIENT);
    assert!(tokio::time::timeout(Duration::from_millis(500), run).await.is_err());
    assert!(gone(mark).await);
}

#[tokio::test]
async fn a_flood_of_output_is_cut_off_and_a_failure() {
    let folder = Folder::new();
    for pipe in ["", ">&2"] {
        let verdict = folder.shell(&format!("while :; do echo xxxxxxxxxxxxxxxx {pipe}; done"), PATIENT).await;
        assert_eq!(verdict.outcome, Outcome::Fail, "{}", verdict.detail);
        assert!(!verdict.detail.contains("timed out"), "{}", verdict.detail);
    }
}

#[tokio::test]
async fn memory_cpu_time_and_files_are_limited_by_the_kernel() {
    let folder = Folder::new();
    // A second of the processor may take a busy machine a minute.
    let limited = |name: &str, limits: ScriptLimits| folder.run(Script { limits, ..script(name) }, 10 * PATIENT);
    folder.write("tell", "#!/bin/sh\necho $(ulimit -v) $(ulimit -t) $(ulimit -n) $(ulimit -c)\n", 0o755);
    let limits = ScriptLimits { memory: 64 << 20, cpu: Some(Duration::from_secs(2)), file_size: 0, open_files: 32 };
    assert_verdict(&limited("tell", limits.clone()).await, Outcome::Pass, "\"65536 2 32 0\"");
    folder.write("write", "#!/bin/sh\necho x > written && exit 0\nexit 9\n", 0o755);
    let verdict = limited("write", limits.clone()).await;
    assert_eq!(verdict.outcome, Outcome::Fail, "{}", verdict.detail);
    assert!(fs::read(folder.0.path().join("scripts/written")).unwrap_or_default().is_empty());
    folder.write("spin", "#!/bin/sh\nwhile :; do :; done\n", 0o755);
    let one_second = ScriptLimits { cpu: Some(Duration::from_secs(1)), ..limits.clone() };
    let verdict = limited("spin", one_second).await;
    assert_eq!(verdict.outcome, Outcome::Fail, "{}", verdict.detail);
    assert!(verdict.detail.contains("SIGKILL") || verdict.detail.contains("SIGXCPU"), "{}", verdict.detail);
    folder.write("grow", "#!/bin/sh\nx=xxxxxxxxxxxxxxxx\nwhile :; do x=$x$x; done\n", 0o755);
    let verdict = limited("grow", limits).await;
    assert_eq!(verdict.outcome, Outcome::Fail, "{}", verdict.detail);
    assert!(!verdict.detail.contains("timed out"), "{}", verdict.detail);
}
