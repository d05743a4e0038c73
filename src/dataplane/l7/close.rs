//! The end of a client's connection.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use crate::dataplane::conn::Transport;
use crate::dataplane::{Shared, raised};

/// How long a closing connection reads on, so that its client can take the last answer.
pub(super) const LINGER: Duration = Duration::from_secs(2);
/// Bytes that it reads on at most.
const LINGER_BYTES: usize = 1024 * 1024;

/// Ends our side and reads on for a moment: closing with unread bytes would be a reset, which may overtake the answer.
pub(super) async fn linger<S: Transport>(shared: &Arc<Shared>, mut io: S) {
    let drained = async {
        let _ = io.shutdown().await;
        let socket = io.socket();
        // Not in the connection's task, which is as large as its largest state.
        let (mut left, mut scrap) = (LINGER_BYTES, vec![0; 4096]);
        while left > 0 && socket.readable().await.is_ok() {
            match socket.try_read(&mut scrap) {
                Ok(0) => return,
                Ok(read) => left = left.saturating_sub(read),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    tokio::select! {
        _ = tokio::time::timeout(LINGER, drained) => {}
        () = raised(shared.kill.clone()) => {}
    }
}
