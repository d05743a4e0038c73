//! L5: management over HTTP.
