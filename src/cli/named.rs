//! Files that a configuration names when it is sent to an appliance: they are the appliance's, and where others of the
//! same names lie beside the configuration, that must be said.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// What compares at a time. Bytes.
const PIECE: usize = 64 << 10;

/// For each of the files `named` in `file` that lies beside it and is not, or not surely, the appliance's: a sentence.
/// `there`: the folder in which the appliance looks; `None`: it cannot be seen from here.
pub(super) fn doubts(named: &[String], file: &Path, there: Option<&Path>) -> Vec<String> {
    let here = file.parent().unwrap_or(Path::new(""));
    let mut doubts = Vec::new();
    for name in named.iter().filter(|name| Path::new(name).is_relative()) {
        let ours = here.join(name);
        if !ours.exists() {
            continue;
        }
        let shown = ours.display();
        match there {
            None => doubts.push(format!(
                "{name}: the appliance takes its own file of this name, which cannot be compared from here with {shown}"
            )),
            Some(there) => {
                let theirs = there.join(name);
                if let Err(why) = same(&ours, &theirs) {
                    doubts.push(format!("{name}: the appliance takes {}, not {shown}: {why}", theirs.display()));
                }
            }
        }
    }
    doubts
}

/// Where the files are that were taken.
pub(super) fn of_the_box(named: &[String], folder: Option<&str>) -> Option<String> {
    let mut relative = named.iter().filter(|name| Path::new(name).is_relative());
    let (first, more) = (relative.next()?, relative.count());
    let (files, are) = match more {
        0 => (first.clone(), "is"),
        1 => (format!("{first} and 1 more file"), "are"),
        more => (format!("{first} and {more} more files"), "are"),
    };
    Some(format!("{files} {are} the appliance's own, in {}", folder.unwrap_or("the folder that it was started in")))
}

/// Errors: how they differ, or why that cannot be said.
fn same(ours: &Path, theirs: &Path) -> Result<(), String> {
    if let (Ok(ours), Ok(theirs)) = (ours.canonicalize(), theirs.canonicalize())
        && ours == theirs
    {
        return Ok(());
    }
    let open = |path: &Path| {
        let cannot = |error: std::io::Error| format!("{} cannot be compared ({error})", path.display());
        File::open(path).map(|file| BufReader::with_capacity(PIECE, file)).map_err(cannot)
    };
    let (mut ours, mut theirs) = (open(ours)?, open(theirs)?);
    loop {
        let (a, b) = match (ours.fill_buf(), theirs.fill_buf()) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(error), _) | (_, Err(error)) => return Err(format!("they cannot be compared ({error})")),
        };
        let length = a.len().min(b.len());
        if a.is_empty() && b.is_empty() {
            return Ok(());
        }
        if length == 0 || a[..length] != b[..length] {
            return Err("their contents differ".into());
        }
        ours.consume(length);
        theirs.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_beside_the_configuration_that_is_not_the_appliances_is_in_doubt() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write =
            |dir: &tempfile::TempDir, name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write(&here, "same.pem", &"x".repeat(3 * PIECE));
        write(&there, "same.pem", &"x".repeat(3 * PIECE));
        write(&here, "other.pem", "of the operator");
        write(&there, "other.pem", "of the operator, longer");
        write(&here, "new.pem", "new");
        write(&there, "theirs.pem", "theirs");
        let whole = here.path().join("new.pem").display().to_string();
        let named = ["same.pem", "other.pem", "new.pem", "theirs.pem", &whole].map(str::to_owned);
        let file = here.path().join("box.toml");
        let told = doubts(&named, &file, Some(there.path()));
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("other.pem: ") && told[0].ends_with("their contents differ"), "{told:?}");
        assert!(told[1].starts_with("new.pem: ") && told[1].contains("cannot be compared"), "{told:?}");
        assert_eq!(doubts(&named, &file, Some(here.path())), Vec::<String>::new(), "the same folder");
        assert_eq!(doubts(&named, &file, None).len(), 3, "what cannot be seen is in doubt");
    }

    #[test]
    fn it_is_said_whose_files_were_taken() {
        let named = ["/etc/a.pem", "b.pem", "c.pem"].map(str::to_owned);
        let told = of_the_box(&named, Some("/etc/bascule")).unwrap();
        assert_eq!(told, "b.pem and 1 more file are the appliance's own, in /etc/bascule");
        assert_eq!(of_the_box(&named[..1], None), None);
    }
}
