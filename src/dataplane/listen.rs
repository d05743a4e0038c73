//! Sockets that come and go with the snapshot.
