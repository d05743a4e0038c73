//! What probes find on this machine: the folder of the configuration, and the secrets that it names.

use std::path::PathBuf;

use tokio::io::AsyncReadExt;

use super::Miss;
use crate::model::scenario::Secret;

/// Longest secret. Bytes.
const SECRET_MAX: u64 = 64 * 1024;

/// Where a probe finds what it needs on this machine.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The folder of the configuration: relative paths begin here.
    pub folder: PathBuf,
}

// === impl Surroundings ===

impl Surroundings {
    /// Read for each sample, so that a changed secret counts at once. Without it nothing can be asked: void.
    pub(super) async fn secret(&self, secret: &Secret) -> Result<String, Miss> {
        match secret {
            Secret::Env(name) => std::env::var(&**name)
                .map_err(|_| Miss::Void(format!("the environment variable {name} is not set, or not a text"))),
            Secret::File(path) => {
                let unreadable = |error| Miss::Void(format!("the file {path} cannot be read: {error}"));
                let whole = self.folder.join(&**path);
                // A pipe that nobody writes into would hold a thread for each sample.
                if !tokio::fs::metadata(&whole).await.map_err(unreadable)?.is_file() {
                    return Err(Miss::Void(format!("the file {path} cannot be read: it is no regular file")));
                }
                let file = tokio::fs::File::open(whole).await.map_err(unreadable)?;
                let mut text = String::new();
                file.take(SECRET_MAX).read_to_string(&mut text).await.map_err(unreadable)?;
                // An editor's line end is not part of it.
                let kept = text.trim_end_matches(['\r', '\n']).len();
                text.truncate(kept);
                Ok(text)
            }
        }
    }
}
