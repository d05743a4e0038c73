//! Who goes back to the member that served it before.

/// SOURCEIP entries of one vserver; bounded.
#[derive(Debug, Default)]
pub struct Table {}
