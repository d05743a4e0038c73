//! The rules of this code base that a reader cannot hold in his head, checked on every test run: who may name whom, what
//! may stand where, how long a file may get, what may be depended on. When a test here fails, change the code; change
//! the table only where the picture in `src/lib.rs` changes with it.

#[path = "tidy/complaints.rs"]
mod complaints;
#[path = "tidy/dependencies.rs"]
mod dependencies;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/sizes.rs"]
mod sizes;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;
