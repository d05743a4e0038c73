//! What a TCP relay must keep: every byte in order, each half's end, resets, and a bound on what a stalled side makes it
//! hold. Sizes on both sides of the point from which pages are spliced instead of copied.

use std::time::Duration;

use bascule::model::service::Protocol::Tcp;
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{PATIENT, Plan, Server, World, connect, eventually};

/// Below one read, about the splice threshold, and far above what sockets and pipes hold.
const SIZES: [usize; 8] = [0, 1, 1_000, 16 * 1024 - 1, 16 * 1024, 70_000, 300_000, 5_000_000];

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| ((i * 31 + i / 251 + seed) % 256) as u8).collect()
}

fn digest(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

async fn world(server: &Server) -> World {
    World::start(Plan::default().service("a", Tcp, server.at).vserver("db", Tcp, &["a"])).await
}

/// Reads to the end, then answers with the digest of what it read and as many bytes again, then ends.
async fn digester() -> Server {
    Server::each(|mut stream| async move {
        let mut read = Vec::new();
        if stream.read_to_end(&mut read).await.is_ok() {
            let _ = stream.write_all(&digest(&read)).await;
            let _ = stream.write_all(&bytes(read.len(), 7)).await;
        }
    })
    .await
}

async fn read_to_end(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut read = Vec::new();
    tokio::time::timeout(PATIENT, stream.read_to_end(&mut read)).await.expect("an end")?;
    Ok(read)
}

#[tokio::test]
async fn after_a_half_close_the_other_half_goes_on_whatever_the_size() {
    let server = digester().await;
    let world = world(&server).await;
    let mut all = tokio::task::JoinSet::new();
    for round in 0..4 {
        for size in SIZES {
            let mut client = connect(world.vip("db")).await;
            all.spawn(async move {
                let sent = bytes(size, round);
                client.write_all(&sent).await.unwrap();
                client.shutdown().await.unwrap();
                let answer = read_to_end(&mut client).await.unwrap();
                assert_eq!(answer[..32], digest(&sent), "{size} bytes arrived changed");
                assert!(answer[32..] == bytes(size, 7), "{size} bytes came back changed");
            });
        }
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
    eventually("no connection is left", || world.active("a") == 0).await;
}

#[tokio::test]
async fn a_server_that_speaks_first_and_closes_after_bulk_is_heard_to_the_end() {
    let server = Server::each(|mut stream| async move {
        let _ = stream.write_all(&bytes(3_000_000, 1)).await;
    })
    .await;
    let world = world(&server).await;
    for _ in 0..10 {
        let mut client = connect(world.vip("db")).await;
        let got = read_to_end(&mut client).await.unwrap();
        assert!(got == bytes(3_000_000, 1), "{} bytes came", got.len());
    }
}

/// Small answers that end at once go out with their end; ones that pause must not wait for it.
#[tokio::test]
async fn the_last_bytes_do_not_wait_for_an_end_that_does_not_come() {
    let server = Server::each(|mut stream| async move {
        let mut ball = [0; 1];
        while stream.read_exact(&mut ball).await.is_ok() {
            let _ = stream.write_all(&ball).await;
            // A second packet close behind the first, at times together with it.
            let _ = stream.write_all(&ball).await;
        }
    })
    .await;
    let world = world(&server).await;
    let mut client = connect(world.vip("db")).await;
    for ball in 0..200 {
        client.write_all(&[ball]).await.unwrap();
        let mut back = [0; 2];
        tokio::time::timeout(PATIENT, client.read_exact(&mut back)).await.expect("held back").unwrap();
        assert_eq!(back, [ball, ball]);
    }
}

#[tokio::test]
async fn a_reset_is_passed_on_as_a_reset_either_way() {
    let server = Server::each(|mut stream| async move {
        let mut word = [0; 1];
        let _ = stream.write_all(b"x").await;
        let read = stream.read_exact(&mut word).await;
        if read.is_ok() && word == *b"r" {
            let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
        } else if let Err(error) = read {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "the client's reset arrived as an end");
        }
    })
    .await;
    let world = world(&server).await;
    let mut client = connect(world.vip("db")).await;
    client.read_exact(&mut [0; 1]).await.unwrap();
    client.write_all(b"r").await.unwrap();
    let error = read_to_end(&mut client).await.expect_err("an end instead of a reset");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);

    let mut client = connect(world.vip("db")).await;
    client.read_exact(&mut [0; 1]).await.unwrap();
    socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
    drop(client);
    eventually("no connection is left", || world.active("a") == 0).await;
}

#[tokio::test]
async fn a_receiver_that_stalls_stops_its_sender() {
    let server = Server::each(|stream| async move {
        // Never reads.
        let _held = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let world = world(&server).await;
    let client = connect(world.vip("db")).await;
    let (mut accepted, chunk) = (0, bytes(64 * 1024, 0));
    // Ends when nothing more is taken for a while.
    while tokio::time::timeout(Duration::from_millis(400), client.writable()).await.is_ok() {
        accepted += client.try_write(&chunk).unwrap_or(0);
        assert!(accepted < 64 << 20, "nothing stops the sender");
    }
    assert!(accepted > 0);
}
