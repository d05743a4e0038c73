//! Answers of servers that no engine may pass on.

use bascule::dataplane::l7::Carrier;

use super::one;
use crate::world::{Server, World, exchange, read_request};
use tokio::io::AsyncWriteExt;

#[tokio::test]
async fn an_answer_that_could_be_read_in_two_ways_is_none_through_either_engine() {
    let many = "X-A: 1\r\n".repeat(201);
    let doubtful = [
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n",
        "HTTP/1.1 200 OK\r\nContent_Length: 5\r\nContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n",
        "HTTP/1.1 200 OK\r\nConnection: content-length\r\nContent-Length: 5\r\n",
        &format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n{many}"),
    ];
    let mut passed = Vec::new();
    for head in doubtful {
        for carrier in [Carrier::Relay, Carrier::Pingora] {
            let answer = format!("{head}\r\n5\r\nhello\r\n0\r\n\r\n");
            let server = Server::each(move |mut stream| {
                let answer = answer.clone();
                async move {
                    while read_request(&mut stream).await.is_some() && stream.write_all(answer.as_bytes()).await.is_ok()
                    {
                    }
                }
            })
            .await;
            let world = World::through(one(&server).model(), carrier).await;
            let told = exchange(world.vip("web"), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
            if !told.starts_with("HTTP/1.1 502 ") || told.contains("hello") {
                passed.push(format!("{carrier:?}, {head:?}: {told:?}"));
            }
        }
    }
    assert!(passed.is_empty(), "{}", passed.join("\n"));
}
