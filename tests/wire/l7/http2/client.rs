//! A client of HTTP/2.

use std::net::SocketAddr;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use http::{HeaderMap, Request, request::Builder};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::world::{PATIENT, connect};

/// A connection. Clones open streams on the same one.
#[derive(Clone)]
pub struct Client {
    sender: SendRequest<Bytes>,
    ended: tokio::sync::watch::Receiver<Option<Result<(), String>>>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub trailers: Option<HeaderMap>,
}

// === impl Client ===

impl Client {
    /// With prior knowledge.
    pub async fn connect(to: SocketAddr) -> Client {
        Client::over(connect(to).await).await
    }

    pub async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Client {
        let mut builder = h2::client::Builder::new();
        builder.max_header_list_size(1 << 20).initial_window_size(1 << 20).initial_connection_window_size(1 << 22);
        let (sender, connection) = builder.handshake::<_, Bytes>(stream).await.unwrap();
        let (end, ended) = tokio::sync::watch::channel(None);
        tokio::spawn(async move {
            let result = connection.await.map_err(|error| error.to_string());
            end.send_replace(Some(result));
        });
        Client { sender, ended }
    }

    /// Opens a stream; the body goes through what comes back unless it `ends` with the head.
    pub async fn open(&self, request: Request<()>, ends: bool) -> (ResponseFuture, h2::SendStream<Bytes>) {
        let mut sender = self.sender.clone().ready().await.unwrap();
        sender.send_request(request, ends).unwrap()
    }

    pub async fn send(&self, request: Request<()>, body: Option<&'static str>) -> Answer {
        let (answer, mut sender) = self.open(request, body.is_none()).await;
        if let Some(body) = body {
            sender.send_data(Bytes::from_static(body.as_bytes()), true).unwrap();
        }
        answer_of(answer).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(request("GET", path).body(()).unwrap(), None).await
    }

    /// How the connection ended.
    pub async fn ended(&self) -> Result<(), String> {
        let mut ended = self.ended.clone();
        let end = tokio::time::timeout(PATIENT, ended.wait_for(Option::is_some)).await.expect("no end");
        end.unwrap().clone().unwrap()
    }

    /// Whether another stream may be opened.
    pub async fn is_open(&self) -> bool {
        self.ended.borrow().is_none() && self.sender.clone().ready().await.is_ok()
    }
}

// === impl Answer ===

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

pub fn request(method: &str, path: &str) -> Builder {
    Request::builder().method(method).uri(format!("http://t.test{path}"))
}

/// Head, body and trailers.
pub async fn answer_of(answer: ResponseFuture) -> Result<Answer, h2::Error> {
    let whole = async {
        let (head, mut body) = answer.await?.into_parts();
        let mut read = Vec::new();
        while let Some(bytes) = body.data().await {
            let bytes = bytes?;
            body.flow_control().release_capacity(bytes.len())?;
            read.extend_from_slice(&bytes);
        }
        let trailers = body.trailers().await?;
        Ok(Answer { status: head.status.as_u16(), headers: head.headers, body: read, trailers })
    };
    tokio::time::timeout(PATIENT, whole).await.expect("no whole answer")
}
