use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::super::backup::backup;
use super::*;
use crate::control::store::{Batch, Draft, Store as _};
use crate::model::time::{Tick, Wall};

/// An appliance on the disk: FILE with a certificate beside it, a secret elsewhere, a state with entries.
struct Site {
    dir: tempfile::TempDir,
}

impl Site {
    fn new() -> Site {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("etc/apps")).unwrap();
        fs::create_dir_all(at("state/history")).unwrap();
        fs::create_dir_all(at("secrets")).unwrap();
        let secret = at("secrets/t.secret");
        fs::write(&secret, "hush").unwrap();
        fs::write(at("etc/hash"), "user's hash").unwrap();
        fs::write(at("etc/apps/a.toml"), "[switch.go]\n").unwrap();
        let text = format!(
            "schema = 1\ninclude = [\"apps/*.toml\"]\n[trigger.t]\ntype = \"http\"\nurl = \"http://127.0.0.1:1/\"\n\
             secret = {{ file = \"{}\" }}\n[trigger.u]\ntype = \"http\"\nurl = \"http://127.0.0.1:1/\"\n\
             secret = {{ file = \"hash\" }}\n",
            secret.display()
        );
        fs::write(at("etc/box.toml"), text).unwrap();
        fs::write(at("state/history/1.bin"), [7; 100]).unwrap();
        fs::write(at("state/cookie.key"), [1; 32]).unwrap();
        fs::set_permissions(at("state/cookie.key"), fs::Permissions::from_mode(0o600)).unwrap();
        Site { dir }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn backup(&self) -> Result<Vec<String>, String> {
        backup(&self.at("kept.tar.gz"), &self.at("etc/box.toml"), &self.at("state"))
    }

    fn restore_to(&self, folder: &str) -> Result<Vec<String>, String> {
        let at = self.at(folder);
        restore(&self.at("kept.tar.gz"), &at.join("etc/new.toml"), &at.join("state"), false, false)
    }
}

fn entries(dir: &Path, count: i64) {
    let (mut store, _) = store::open(dir).unwrap();
    let draft = |at| Draft {
        at: Wall(at),
        tick: Tick(1),
        kind: "act",
        object: "".into(),
        actor: "admin".into(),
        body: json!({}),
    };
    store.commit(&[&Batch { entries: (0..count).map(draft).collect(), ..Batch::default() }]).unwrap();
}

#[test]
fn what_was_kept_beside_a_running_appliance_comes_back_with_its_permissions_and_the_journal_whole() {
    let site = Site::new();
    entries(&site.at("state"), 3);
    let running = store::open(&site.at("state")).unwrap();
    let told = site.backup().unwrap();
    assert!(told.iter().all(|line| !line.contains("left out")), "{told:?}");
    assert_eq!(fs::metadata(site.at("kept.tar.gz")).unwrap().permissions().mode() & 0o777, 0o600);
    drop(running);
    let told = site.restore_to("new").unwrap();
    assert!(told[1].starts_with("1 files lay outside"), "{told:?}");
    let same = |from: &str, to: &str| assert_eq!(fs::read(site.at(from)).unwrap(), fs::read(site.at(to)).unwrap());
    same("etc/box.toml", "new/etc/new.toml");
    same("etc/apps/a.toml", "new/etc/apps/a.toml");
    same("etc/hash", "new/etc/hash");
    same("state/history/1.bin", "new/state/history/1.bin");
    same("state/cookie.key", "new/state/cookie.key");
    let mode = |name: &str| fs::metadata(site.at(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("new/state/cookie.key"), mode("new/state/bascule.db")), (0o600, 0o600));
    let (store, found) = store::open(&site.at("new/state")).unwrap();
    assert_eq!((found.journal_head, store.reader().verify().unwrap().broken), (3, None));
    let left: Vec<_> = fs::read_dir(site.at("new/etc")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn a_state_that_is_held_or_there_and_a_configuration_that_is_there_are_not_written_over() {
    let site = Site::new();
    entries(&site.at("state"), 1);
    site.backup().unwrap();
    assert!(site.backup().unwrap_err().contains("is there already"));
    let held = store::open(&site.at("new/state")).unwrap();
    assert!(site.restore_to("new").unwrap_err().contains("in use by process"));
    drop(held);
    assert!(site.restore_to("new").unwrap_err().contains("holds a state already"));
    fs::create_dir_all(site.at("other/etc")).unwrap();
    fs::write(site.at("other/etc/new.toml"), "mine").unwrap();
    assert!(site.restore_to("other").unwrap_err().contains("--replace"));
    assert_eq!(fs::read(site.at("other/etc/new.toml")).unwrap(), b"mine");
    assert!(!site.at("other/state/bascule.db").exists());
    let new = site.at("other/etc/new.toml");
    restore(&site.at("kept.tar.gz"), &new, &site.at("other/state"), true, true).unwrap();
    assert_eq!(fs::read(new).unwrap(), fs::read(site.at("etc/box.toml")).unwrap());
}

/// A backup with the pieces that `change` makes of a good one.
fn forged(site: &Site, change: impl Fn(&mut serde_json::Value, &mut Vec<(String, Vec<u8>)>)) {
    let file = File::open(site.at("kept.tar.gz")).unwrap();
    let mut tar = tar::Archive::new(GzDecoder::new(file));
    let mut pieces = Vec::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        pieces.push((entry.path().unwrap().display().to_string(), bytes));
    }
    let mut manifest = serde_json::from_slice(&pieces.remove(0).1).unwrap();
    change(&mut manifest, &mut pieces);
    pieces.insert(0, (MANIFEST.to_owned(), serde_json::to_vec(&manifest).unwrap()));
    let mut packer = GzEncoder::new(File::create(site.at("kept.tar.gz")).unwrap(), Compression::fast());
    for (name, bytes) in pieces {
        let mut header = tar::Header::new_gnu();
        // Also names that `append_data` would refuse.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_cksum();
        packer.write_all(header.as_bytes()).unwrap();
        packer.write_all(&bytes).unwrap();
        packer.write_all(&vec![0; bytes.len().next_multiple_of(512) - bytes.len()]).unwrap();
    }
    packer.write_all(&[0; 1024]).unwrap();
    packer.finish().unwrap();
}

#[test]
fn a_backup_that_was_changed_restores_nothing() {
    type Change = fn(&mut serde_json::Value, &mut Vec<(String, Vec<u8>)>);
    let cases: [(&str, Change); 7] = [
        ("is not what the manifest says", |_, pieces| pieces[0].1[0] ^= 1),
        ("longer than it may be", |_, pieces| pieces[0].1.extend(b"more")),
        ("is missing", |_, pieces| drop(pieces.pop())),
        ("not in its manifest", |_, pieces| pieces.push(("state/more".into(), b"x".to_vec()))),
        ("not in its manifest", |_, pieces| pieces.push(("../../escaped".into(), b"x".to_vec()))),
        ("is not a name that a backup has", |manifest, pieces| {
            manifest["files"][0]["name"] = "state/../../escaped".into();
            pieces[0].0 = "state/../../escaped".into();
        }),
        ("of a newer version", |manifest, _| manifest["schema"] = 99.into()),
    ];
    for (why, change) in cases {
        let site = Site::new();
        entries(&site.at("state"), 1);
        site.backup().unwrap();
        forged(&site, change);
        let refused = site.restore_to("new").unwrap_err();
        assert!(refused.contains(why), "{why}: {refused}");
        assert!(!site.at("new/etc/new.toml").exists() && !site.at("new/state/bascule.db").exists(), "{why}");
        assert!(!site.at("escaped").exists() && !site.at("new/escaped").exists(), "{why}");
        let left: Vec<_> = fs::read_dir(site.at("new/state")).into_iter().flatten().flatten().collect();
        assert!(left.iter().all(|entry| entry.file_name() == "bascule.lock"), "{why}: {left:?}");
    }
    let site = Site::new();
    fs::write(site.at("kept.tar.gz"), "no archive").unwrap();
    assert!(site.restore_to("new").unwrap_err().contains("is no backup, or damaged"));
}

/// Another file in it, as its manifest says.
fn with(manifest: &mut serde_json::Value, pieces: &mut Vec<(String, Vec<u8>)>, name: &str, bytes: &[u8]) {
    let (_, sha256) = copy(&mut &*bytes, &mut io::sink(), 1 << 20).unwrap();
    let item = json!({ "name": name, "bytes": bytes.len(), "sha256": sha256, "mode": 0o600 });
    let files = manifest["files"].as_array_mut().unwrap();
    files.retain(|file| file["name"] != name);
    files.push(item);
    pieces.retain(|piece| piece.0 != name);
    pieces.push((name.to_owned(), bytes.to_vec()));
}

#[test]
fn a_backup_that_is_as_it_says_and_would_be_no_appliance_restores_nothing() {
    type Change = fn(&mut serde_json::Value, &mut Vec<(String, Vec<u8>)>);
    let cases: [(&str, Change); 8] = [
        ("FILE (`config/other.toml`) is not in its manifest", |manifest, _| manifest["file"] = "other.toml".into()),
        ("FILE is no TOML", |manifest, pieces| with(manifest, pieces, "config/box.toml", b"[no")),
        ("FILE is no TOML", |manifest, pieces| with(manifest, pieces, "config/box.toml", b"\xff\0")),
        ("is no database", |manifest, pieces| with(manifest, pieces, "state/bascule.db", b"")),
        ("is no database", |manifest, pieces| {
            with(manifest, pieces, "state/bascule.db", b"SQLite format 4\0 and more")
        }),
        ("is not a name that a backup has", |manifest, pieces| with(manifest, pieces, "state/bascule.db/x", b"")),
        ("two files of it go to", |manifest, pieces| with(manifest, pieces, "config/new.toml", b"")),
        ("would be a file and a folder", |manifest, pieces| with(manifest, pieces, "state/cookie.key/x", b"")),
    ];
    for (why, change) in cases {
        let site = Site::new();
        entries(&site.at("state"), 1);
        site.backup().unwrap();
        forged(&site, change);
        let refused = site.restore_to("new").unwrap_err();
        assert!(refused.contains(why), "{why}: {refused}");
        let left = |folder: &str| fs::read_dir(site.at(folder)).into_iter().flatten().flatten().collect::<Vec<_>>();
        assert!(left("new/etc").is_empty(), "{why}: {:?}", left("new/etc"));
        assert!(left("new/state").iter().all(|entry| entry.file_name() == "bascule.lock"), "{why}");
    }
    let site = Site::new();
    entries(&site.at("state"), 1);
    site.backup().unwrap();
    fs::create_dir_all(site.at("new/etc/hash")).unwrap();
    let new = site.at("new");
    let refused = restore(&site.at("kept.tar.gz"), &new.join("etc/new.toml"), &new.join("state"), true, false);
    assert!(refused.unwrap_err().contains("is a folder"));
    assert!(!new.join("etc/new.toml").exists());
}

#[test]
fn what_people_have_uploaded_is_kept_whatever_its_name() {
    let site = Site::new();
    entries(&site.at("state"), 1);
    let names = ["www.new", "bascule.db", "bascule.db.schema-3", ".restore-1", "bascule.lock", "traces"];
    fs::create_dir_all(site.at("state/ssl")).unwrap();
    for name in names {
        fs::write(site.at("state/ssl").join(name), name).unwrap();
    }
    for left_out in ["state/handover.json", "state/save.new", "state/bascule.db.schema-3"] {
        fs::write(site.at(left_out), "x").unwrap();
    }
    site.backup().unwrap();
    site.restore_to("new").unwrap();
    for name in names {
        assert_eq!(fs::read_to_string(site.at("new/state/ssl").join(name)).unwrap(), name);
    }
    for left_out in ["handover.json", "save.new", "bascule.db.schema-3"] {
        assert!(!site.at("new/state").join(left_out).exists(), "{left_out}");
    }
}

#[test]
fn a_backup_that_is_cut_off_anywhere_or_unpacks_without_end_restores_nothing() {
    let site = Site::new();
    entries(&site.at("state"), 1);
    site.backup().unwrap();
    let whole = fs::read(site.at("kept.tar.gz")).unwrap();
    for part in 0..40 {
        fs::write(site.at("kept.tar.gz"), &whole[..whole.len() * part / 40]).unwrap();
        let refused = site.restore_to("new").unwrap_err();
        assert!(refused.contains("kept.tar.gz"), "{part}: {refused}");
        assert!(!site.at("new/etc/new.toml").exists() && !site.at("new/state/bascule.db").exists(), "{part}");
    }
    // A name of two GiB, of which some KiB are on the disk: whoever reads it keeps it in memory.
    let mut packer = GzEncoder::new(File::create(site.at("kept.tar.gz")).unwrap(), Compression::fast());
    let mut manifest = tar::Header::new_gnu();
    let text = serde_json::to_vec(&Manifest {
        backup: super::super::manifest::FORMAT,
        version: "1".into(),
        made_at: "now".into(),
        schema: None,
        file: "box.toml".into(),
        files: vec![Item { name: "config/box.toml".into(), bytes: 0, sha256: String::new(), mode: 0o600 }],
    });
    let text = text.unwrap();
    manifest.set_path(MANIFEST).unwrap();
    manifest.set_size(text.len() as u64);
    manifest.set_cksum();
    packer.write_all(manifest.as_bytes()).unwrap();
    packer.write_all(&text).unwrap();
    packer.write_all(&vec![0; text.len().next_multiple_of(512) - text.len()]).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_path("name").unwrap();
    header.set_size(2 << 30);
    header.set_cksum();
    packer.write_all(header.as_bytes()).unwrap();
    for _ in 0..8 {
        packer.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    packer.finish().unwrap();
    let refused = site.restore_to("new").unwrap_err();
    assert!(refused.contains("more than it says"), "{refused}");
}
