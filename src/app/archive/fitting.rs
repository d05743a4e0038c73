//! What a restore looks at once everything is unpacked, and before anything is in its place.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::absolute;
use crate::files;

/// What a database of SQLite begins with.
const SQLITE: &[u8; 16] = b"SQLite format 3\0";

/// Whether what goes to FILE and to the database is what has to be there, and every file has a place of its own. `all`:
/// where each lies, and where it goes. Errors: in words.
pub(super) fn check(all: &[(PathBuf, PathBuf)], config: &Path, state: &Path) -> Result<(), String> {
    let mut places = BTreeMap::new();
    for (staged, to) in all {
        if to.is_dir() {
            return Err(format!("{} is a folder: move it away", to.display()));
        }
        if let Some(file) = to.ancestors().skip(1).find(|above| above.exists() && !above.is_dir()) {
            return Err(format!("{} is no folder, and {} goes into it: move it away", file.display(), to.display()));
        }
        if places.insert(absolute(to)?, staged).is_some() {
            return Err(format!("two files of it go to {}: give FILE another name", to.display()));
        }
    }
    for place in places.keys() {
        if let Some(file) = place.ancestors().skip(1).find(|above| places.contains_key(*above)) {
            return Err(format!(
                "{} would be a file and a folder: it is damaged, or FILE needs another name",
                file.display()
            ));
        }
    }
    if let Some(staged) = places.get(&absolute(config)?) {
        let parsed = files::read_text(staged).and_then(|text| match text.parse::<toml::Table>() {
            Ok(_) => Ok(()),
            Err(error) => Err(error.message().to_owned()),
        });
        parsed.map_err(|why| format!("FILE is no TOML ({why})"))?;
    }
    let Some(staged) = places.get(&absolute(&state.join("bascule.db"))?) else { return Ok(()) };
    let mut head = [0; SQLITE.len()];
    match File::open(staged).and_then(|mut file| file.read_exact(&mut head)) {
        Ok(()) if head == *SQLITE => Ok(()),
        _ => Err("`state/bascule.db` is no database".to_owned()),
    }
}
