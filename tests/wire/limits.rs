//! Places, queues, spillover, limits of one client, and persistence of every kind, through real sockets.

#[path = "limits/bandwidth.rs"]
mod bandwidth;
#[path = "limits/persistence.rs"]
mod persistence;
#[path = "limits/spill.rs"]
mod spill;
#[path = "limits/surge.rs"]
mod surge;

use std::sync::Arc;
use std::time::Duration;

use bascule::snapshot::live::VserverLive;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::world::{PATIENT, Server, World, connect, read_request};

/// An HTTP server whose answers wait until they are let go.
struct Held {
    server: Server,
    gate: Arc<Semaphore>,
}

/// Answers with `name`, one for each permit.
async fn held(name: &'static str) -> Held {
    let gate = Arc::new(Semaphore::new(0));
    let seen: Arc<parking_lot::Mutex<Vec<u8>>> = Arc::default();
    let (permits, record) = (Arc::clone(&gate), Arc::clone(&seen));
    let mut server = Server::each(move |mut stream| {
        let (permits, record) = (Arc::clone(&permits), Arc::clone(&record));
        async move {
            while let Some(request) = read_request(&mut stream).await {
                record.lock().extend_from_slice(request.as_bytes());
                permits.acquire().await.unwrap().forget();
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name}", name.len());
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    })
    .await;
    server.seen = seen;
    Held { server, gate }
}

/// A request under way; the answer is read later.
async fn ask(world: &World, vserver: &str, path: &str) -> TcpStream {
    let mut client = connect(world.vip(vserver)).await;
    let request = format!("GET {path} HTTP/1.1\r\nHost: t.test\r\nConnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    client
}

fn live(world: &World, vserver: &str) -> Arc<VserverLive> {
    let snapshot = world.cell.load_full();
    let id = snapshot.model.vserver_id(vserver).unwrap();
    Arc::clone(&snapshot.vservers[id.index()].live)
}

/// Sends its name at once, then echoes.
async fn tcp(name: &'static str) -> Server {
    Server::each(move |mut stream| async move {
        let _ = stream.write_all(name.as_bytes()).await;
        let (mut reader, mut writer) = stream.split();
        let _ = tokio::io::copy(&mut reader, &mut writer).await;
    })
    .await
}

/// The first byte that comes; `None` where the connection was reset or ended instead.
async fn first_byte(stream: &mut TcpStream) -> Option<char> {
    let mut byte = [0; 1];
    let read = tokio::time::timeout(PATIENT, stream.read(&mut byte)).await.expect("neither a byte nor an end");
    read.ok().filter(|&n| n == 1).map(|_| char::from(byte[0]))
}

/// Nothing comes for a moment.
async fn is_silent(stream: &mut TcpStream) -> bool {
    let mut byte = [0; 1];
    tokio::time::timeout(Duration::from_millis(150), stream.read(&mut byte)).await.is_err()
}
