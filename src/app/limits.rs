//! Open files: a connection through the box needs two, and the usual soft limit of 1024 would end at a few hundred. The
//! hard limit is what the administrator allows; the soft one is only a default for programs that use `select`.

use crate::dataplane::{self, Allowance};

/// Raises the soft limit of open files to the hard one. Where that fails, or is less than all that the data plane would
/// take, it takes fewer connections, and the log says how many.
pub(super) fn raise_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls read or write the one struct that lives here, and nothing else. `std` has no way to do this.
    let raised = unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0
        }
    };
    if !raised {
        tracing::warn!("cannot raise the limit of open files: {}", std::io::Error::last_os_error());
    }
    if let Some(Allowance { files, connections, files_for_all }) = dataplane::allowance() {
        tracing::warn!(files, connections, files_for_all, "the limit of open files bounds client connections");
    }
}
