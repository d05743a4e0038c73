use std::path::{Path, PathBuf};

use super::*;

const NOW: Wall = Wall(1_800_000_000_000_000);

/// A machine in a folder.
struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("etc")).unwrap();
        std::fs::create_dir_all(folder.path().join("drive")).unwrap();
        Machine { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> &Machine {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn options(&self) -> FirstBootOptions {
        FirstBootOptions {
            config: self.path("etc/bascule.toml"),
            state: self.path("state"),
            places: Places {
                credential: Some(self.path("credentials/appliance.config")),
                drive: Some(self.path("drive")),
                instance: Some("machine-1".into()),
            },
            recover: false,
            consoles: vec![self.path("console")],
        }
    }

    fn boot(&self) -> (Vec<String>, FirstBoot) {
        self.boot_with(&self.options())
    }

    fn boot_with(&self, options: &FirstBootOptions) -> (Vec<String>, FirstBoot) {
        let mut told = Vec::new();
        let shown = carry_out(options, NOW, &mut |lines| {
            told.extend_from_slice(lines);
            true
        });
        shown.unwrap();
        (told, record::read(&options.state).unwrap())
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.path("etc/bascule.toml")).unwrap()
    }

    fn loads(&self) -> bool {
        files::load(&self.path("etc/bascule.toml"), &[]).is_ok()
    }
}

/// The password that was told, if any.
fn password(told: &[String]) -> Option<&str> {
    told.iter().find_map(|line| line.split_once("shown this once: ").map(|(_, password)| password))
}

#[test]
fn without_a_seed_nsroot_gets_a_password_that_is_shown_once_and_kept_by_nobody() {
    let machine = Machine::new();
    let (told, report) = machine.boot();
    let shown = password(&told).unwrap().to_owned();
    assert_eq!(shown.len(), 23, "{shown}");
    assert_eq!((report.source, report.outcome), (SeedSource::None, SeedOutcome::None));
    let loaded = files::load(&machine.path("etc/bascule.toml"), &[]).unwrap();
    assert_eq!(&*loaded.model.admin.users[0].name, "nsroot");
    assert_eq!(loaded.model.admin.listen.to_string(), "[::]:9443");
    assert!(loaded.model.admin.tls.is_some(), "passwords go over TLS");
    let kept = machine.config() + &std::fs::read_to_string(machine.path("state/first-boot.json")).unwrap();
    assert!(!kept.contains(&shown));
    let (told, _) = machine.boot();
    assert_eq!(told, Vec::<String>::new(), "the second boot has nothing to say");
}

#[test]
fn a_seed_is_taken_once_for_each_instance() {
    let machine = Machine::new();
    machine
        .file("drive/meta-data", "instance-id: one\n")
        .file("drive/user-data", "schema = 1\n[appliance]\nname = \"first\"\n");
    let (_, report) = machine.boot();
    assert_eq!((report.source, report.outcome), (SeedSource::Drive, SeedOutcome::Applied));
    assert!(machine.config().contains("first"));

    machine.file("drive/user-data", "schema = 1\n[appliance]\nname = \"second\"\n");
    let (told, _) = machine.boot();
    assert!(machine.config().contains("first"), "what people saved since is not undone by a reboot");
    assert!(told.iter().any(|line| line.contains("the seed has changed")), "{told:?}");

    machine.file("drive/meta-data", "{\"instance-id\": \"two\"}");
    machine.boot();
    assert!(machine.config().contains("second"));
    assert!(std::fs::read_to_string(machine.path("etc/bascule.toml.1")).unwrap().contains("first"));
}

#[test]
fn a_credential_comes_before_a_drive() {
    let machine = Machine::new();
    machine.file("drive/user-data", "schema = 1\n[appliance]\nname = \"drive\"\n");
    machine.file("credentials/appliance.config", "schema = 1\n[appliance]\nname = \"hypervisor\"\n");
    let (_, report) = machine.boot();
    assert_eq!(report.source, SeedSource::Credential);
    assert!(machine.config().contains("hypervisor"));
}

#[test]
fn a_seed_with_faults_applies_nothing_and_all_of_them_are_told() {
    let machine = Machine::new();
    machine.file("etc/bascule.toml", "schema = 1\n[appliance]\nname = \"before\"\n");
    machine.file("drive/user-data", "schema = 1\nnmae = \"x\"\n[service.web1]\nport = \"eighty\"\n");
    let (told, report) = machine.boot();
    assert_eq!(report.outcome, SeedOutcome::Refused);
    assert!(report.problems.len() >= 2, "{report:?}");
    assert!(told.iter().any(|line| line.contains("nmae")), "{told:?}");
    assert!(machine.config().contains("before"));
    assert!(password(&told).is_some(), "the box comes up manageable");
    assert!(machine.loads());
}

#[test]
fn a_seed_that_says_who_may_log_in_is_left_as_it_is() {
    let machine = Machine::new();
    let seed = format!(
        "schema = 1 # mine\n[admin]\nlisten = \"127.0.0.1:9080\"\n\
         [admin.user.ops]\nrole = \"superuser\"\npassword_hash = \"{}\"\n",
        crate::cli::hash_password("s3cret").unwrap()
    );
    machine.file("drive/user-data", &seed);
    let (told, _) = machine.boot();
    assert_eq!(password(&told), None);
    assert_eq!(machine.config(), seed);
}

#[test]
fn a_seed_that_names_an_address_and_nobody_keeps_its_address() {
    let machine = Machine::new();
    machine.file("drive/user-data", "schema = 1\n[admin]\nlisten = \"127.0.0.1:9080\" # mine\n");
    let (told, _) = machine.boot();
    assert!(password(&told).is_some());
    assert!(machine.config().contains("listen = \"127.0.0.1:9080\" # mine"));
    assert!(machine.loads());
}

#[test]
fn an_ns_conf_is_applied_without_what_cannot_be_carried() {
    let machine = Machine::new();
    let seed = "#NS13.1 Build 49.13\n\
        add server s1 10.0.0.1\n\
        add service web1 s1 HTTP 80\n\
        add lb vserver web HTTP 192.0.2.10 80\n\
        bind lb vserver web web1\n\
        add appfw profile p\n\
        add ssl certKey shop -cert shop.pem -key shop.key\n\
        add lb vserver shop SSL 192.0.2.10 443\n\
        bind ssl vserver shop -certkeyName shop\n";
    machine.file("drive/user-data", seed);
    let (told, report) = machine.boot();
    assert_eq!(report.outcome, SeedOutcome::AppliedInPart, "{report:?}");
    assert!(report.left_out.iter().any(|line| line.contains("line 6") && line.contains("firewall")), "{report:?}");
    assert!(report.left_out.iter().any(|line| line.contains("shop.pem")), "{report:?}");
    assert!(report.left_out.iter().all(|line| told.contains(line)));
    let loaded = files::load(&machine.path("etc/bascule.toml"), &[]).unwrap();
    assert!(loaded.model.vservers.iter().any(|vserver| &*vserver.name == "web"));
    assert!(password(&told).is_some(), "NetScaler's hashes are no good here");
}

#[test]
fn files_beside_a_seed_come_with_it_unless_it_is_refused() {
    let machine = Machine::new();
    let zone = "$ORIGIN example.\n$TTL 60\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\nns A 192.0.2.1\n";
    machine.file("drive/files/zones/example.zone", zone);
    machine.file("drive/user-data", "schema = 1\n[zone.\"example\"]\nfile = \"zones/example.zone\"\nx = 1\n");
    machine.boot();
    assert!(!machine.path("etc/zones").exists());
    machine.file("drive/meta-data", "instance-id: next\n");
    machine.file("drive/user-data", "schema = 1\n[zone.\"example\"]\nfile = \"zones/example.zone\"\n");
    let (_, report) = machine.boot();
    assert_eq!(report.outcome, SeedOutcome::Applied, "{report:?}");
    assert_eq!(std::fs::read_to_string(machine.path("etc/zones/example.zone")).unwrap(), zone);
}

#[test]
fn a_configuration_that_does_not_load_is_set_aside_and_the_box_comes_up() {
    let machine = Machine::new();
    machine.boot();
    machine.file("etc/bascule.toml", "schema = 1\nthis is none\n");
    let (told, report) = machine.boot();
    assert!(machine.loads());
    assert!(told.iter().any(|line| line.contains("does not load")), "{told:?}");
    assert!(password(&told).is_some());
    assert!(!report.problems.is_empty());
    assert!(std::fs::read_to_string(machine.path("etc/bascule.toml.1")).unwrap().contains("this is none"));
}

#[test]
fn a_lost_password_is_made_anew_from_the_console_and_the_journal_is_told_once() {
    let machine = Machine::new();
    let first = machine.boot().0;
    let options = FirstBootOptions { recover: true, ..machine.options() };
    let (told, report) = machine.boot_with(&options);
    assert_ne!(password(&told), password(&first));
    assert_eq!(report.recovered_at, Some(NOW));
    let (_, untold) = record::read_untold(&options.state).unwrap();
    let what: Vec<&str> = untold.iter().filter_map(|body| body["what"].as_str()).collect();
    assert_eq!(what, ["first_boot", "password_recovered"]);
    record::write(&options.state, &report, true).unwrap();
    assert!(record::read_untold(&options.state).unwrap().1.is_empty());
    machine.boot();
    assert!(record::read_untold(&options.state).unwrap().1.is_empty(), "a further boot tells nothing anew");
}

#[test]
fn a_seed_for_another_tool_is_refused_by_name() {
    let prepared = seed::prepare("#cloud-config\nusers: []\n", Path::new("x.toml"), None);
    assert!(prepared.text.unwrap_err()[0].contains("cloud-init"));
    assert!(!seed::is_ns_conf("schema = 1\n[service.add]\nport = 80\n"));
    assert!(seed::is_ns_conf("#NS13\nadd server a 1.1.1.1\nset ns config -x y\n"));
}

#[test]
fn the_console_is_told_and_one_that_is_missing_is_passed_over() {
    let machine = Machine::new();
    machine.file("console", "");
    let mut consoles = console::open(&[machine.path("none"), machine.path("console")]);
    assert_eq!(console::tell(&mut consoles, &["a line\u{1b}[2J".into()]), 1);
    let told = std::fs::read_to_string(machine.path("console")).unwrap();
    assert!(told.starts_with("\r\nbascule: a line") && !told.contains('\u{1b}'), "{told:?}");
    assert!(!machine.path("none").exists());
}

#[test]
fn a_password_that_nobody_can_be_shown_does_not_count() {
    let machine = Machine::new();
    machine.file("etc/bascule.toml", "schema = 1\n");
    assert_eq!(carry_out(&machine.options(), NOW, &mut |_| false), Err(UNTOLD.into()));
    assert_eq!(machine.config(), "schema = 1\n");
    let (told, _) = machine.boot();
    assert!(password(&told).is_some(), "the next boot makes one");
}

#[test]
fn a_password_is_shown_before_a_record_that_cannot_be_written() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.path("state/first-boot.json.new")).unwrap();
    let mut told = Vec::new();
    let result = carry_out(&machine.options(), NOW, &mut |lines| {
        told.extend_from_slice(lines);
        true
    });
    assert!(result.is_err());
    assert!(password(&told).is_some() && machine.loads());
}

#[test]
fn users_of_an_included_file_are_users() {
    let machine = Machine::new();
    let hash = crate::cli::hash_password("s3cret").unwrap();
    let users = format!(
        "[admin]\nlisten = \"127.0.0.1:9080\"\n[admin.user.ops]\nrole = \"superuser\"\npassword_hash = \"{hash}\"\n"
    );
    let root = "schema = 1\ninclude = [\"users.toml\"]\n";
    machine.file("etc/bascule.toml", root).file("etc/users.toml", &users);
    let (told, _) = machine.boot();
    assert_eq!((password(&told), machine.config().as_str()), (None, root));
    let (told, _) = machine.boot_with(&FirstBootOptions { recover: true, ..machine.options() });
    assert!(password(&told).is_some() && machine.loads(), "{told:?}");
}

#[test]
fn files_that_cannot_be_copied_refuse_the_seed_and_the_box_comes_up() {
    for name in ["bascule.toml", "bascule.toml.1", "link"] {
        let machine = Machine::new();
        machine.file("etc/bascule.toml", "schema = 1\n[appliance]\nname = \"before\"\n");
        std::os::unix::fs::symlink("/nowhere", machine.path("etc/link")).unwrap();
        machine.file(&format!("drive/files/{name}"), "junk").file("drive/files/a", "first");
        machine.file("drive/user-data", "schema = 1\n");
        let (told, report) = machine.boot();
        assert_eq!(report.outcome, SeedOutcome::Refused, "{name}");
        assert!(password(&told).is_some() && machine.config().contains("before"), "{name}");
        assert!(!machine.path("etc/a").exists(), "{name}: none of them is copied");
    }
}

#[test]
fn a_seed_that_comes_late_or_is_mended_is_taken() {
    let machine = Machine::new();
    machine.boot();
    machine.file("drive/user-data", "schema = 1\nx = 1\n");
    assert_eq!(machine.boot().1.outcome, SeedOutcome::Refused);
    machine.file("drive/user-data", "schema = 1\n[appliance]\nname = \"late\"\n");
    assert_eq!(machine.boot().1.outcome, SeedOutcome::Applied);
    assert!(machine.config().contains("late"));
    machine.file("state/first-boot.json", "");
    machine.file("drive/user-data", "schema = 1\n[appliance]\nname = \"again\"\n");
    let lost = carry_out(&machine.options(), NOW, &mut |_| true);
    assert!(lost.is_ok() && machine.config().contains("late"), "a lost record undoes nothing");
}

#[test]
fn an_ns_conf_of_which_nothing_is_carried_is_refused_and_odd_names_are_left_out_alone() {
    let machine = Machine::new();
    machine.file("drive/user-data", "add foo a\nadd foo b\n");
    assert_eq!(machine.boot().1.outcome, SeedOutcome::Refused);
    machine.file("drive/user-data", "add server s 10.0.0.1\nadd ssl certKey \"wild.card-2024\" -cert /x -key /y\n");
    let (_, report) = machine.boot();
    assert_eq!(report.outcome, SeedOutcome::AppliedInPart, "{report:?}");
    assert!(machine.config().contains("10.0.0.1"));
}
