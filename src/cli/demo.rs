//! A back end for demonstrations: what `scripts/run` puts behind the appliance, so that there is something to break.
//!
//! | request | answer |
//! |---|---|
//! | GET / | its name |
//! | GET /health | 200 `ok`, or 503 while it is failing |
//! | POST /fail, POST /heal | it fails, or is well again |
//! | GET /slow?ms=N | its name, N milliseconds later (at most 60 000) |
//!
//! It has no credentials, so it listens where it is told and nowhere else.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Most connections at once; more wait in the kernel's queue.
const CONNECTIONS_MAX: usize = 512;

/// How long a client may take to send a head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest wait that a client may ask for. Milliseconds.
const SLOW_MAX_MS: u64 = 60_000;

#[derive(Clone, Debug, clap::Args)]
pub struct DemoArgs {
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS")]
    pub listen: SocketAddr,
    /// What it calls itself.
    #[arg(long)]
    pub name: String,
}

struct Backend {
    name: String,
    is_failing: AtomicBool,
}

/// Listens and serves until the future is dropped. Prints one line once it listens. Errors: the address cannot be bound.
pub async fn run(args: DemoArgs) -> std::io::Result<()> {
    let listener = TcpListener::bind(args.listen).await?;
    println!("demo back end {} listens on {}", args.name, listener.local_addr()?);
    serve(listener, args.name).await
}

async fn serve(listener: TcpListener, name: String) -> std::io::Result<()> {
    let backend = Arc::new(Backend { name, is_failing: AtomicBool::new(false) });
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { return Ok(()) };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of descriptors, or a client that left: both pass.
                tracing::warn!(%error, "cannot accept");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let backend = backend.clone();
        tokio::spawn(async move {
            converse(stream, backend).await;
            drop(permit);
        });
    }
}

async fn converse(stream: TcpStream, backend: Arc<Backend>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let backend = backend.clone();
        async move { Ok::<_, Infallible>(backend.answer(request).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(16 * 1024)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "connection ended");
    }
}

// === impl Backend ===

impl Backend {
    async fn answer(&self, request: Request<Incoming>) -> Response<String> {
        let read = matches!(*request.method(), Method::GET | Method::HEAD);
        let write = *request.method() == Method::POST;
        match request.uri().path() {
            "/health" if read => match self.is_failing.load(Ordering::Relaxed) {
                false => text(StatusCode::OK, "ok\n".to_owned()),
                true => text(StatusCode::SERVICE_UNAVAILABLE, "failing\n".to_owned()),
            },
            "/" if read => text(StatusCode::OK, format!("{}\n", self.name)),
            "/slow" if read => {
                let Some(ms) = milliseconds(request.uri().query().unwrap_or("")) else {
                    return text(StatusCode::BAD_REQUEST, format!("ask for /slow?ms=N, N up to {SLOW_MAX_MS}\n"));
                };
                tokio::time::sleep(Duration::from_millis(ms)).await;
                text(StatusCode::OK, format!("{} after {ms} ms\n", self.name))
            }
            "/fail" | "/heal" if write => {
                let is_failing = request.uri().path() == "/fail";
                self.is_failing.store(is_failing, Ordering::Relaxed);
                text(StatusCode::OK, format!("{} {}\n", self.name, if is_failing { "fails" } else { "is well" }))
            }
            "/" | "/health" | "/slow" | "/fail" | "/heal" => {
                text(StatusCode::METHOD_NOT_ALLOWED, "GET / /health /slow, POST /fail /heal\n".to_owned())
            }
            _ => text(StatusCode::NOT_FOUND, "GET / /health /slow, POST /fail /heal\n".to_owned()),
        }
    }
}

/// The value of `ms`; `None` where it is not there, not a number, or too large.
fn milliseconds(query: &str) -> Option<u64> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("ms="))?;
    value.parse().ok().filter(|&ms| ms <= SLOW_MAX_MS)
}

fn text(status: StatusCode, body: String) -> Response<String> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn ask(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let text = format!("{request} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_demo_back_end_fails_and_heals_on_demand() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(serve(listener, "red".to_owned()));
        assert!(ask(address, "GET /").await.ends_with("\r\n\r\nred\n"));
        assert!(ask(address, "GET /health").await.starts_with("HTTP/1.1 200"));
        assert!(ask(address, "POST /fail").await.ends_with("red fails\n"));
        assert!(ask(address, "GET /health").await.starts_with("HTTP/1.1 503"));
        assert!(ask(address, "GET /fail").await.starts_with("HTTP/1.1 405"), "only a POST changes anything");
        assert!(ask(address, "POST /heal").await.ends_with("red is well\n"));
        assert!(ask(address, "GET /health").await.starts_with("HTTP/1.1 200"));
        assert!(ask(address, "GET /slow?ms=1").await.ends_with("red after 1 ms\n"));
        assert!(ask(address, "GET /slow?ms=99999999").await.starts_with("HTTP/1.1 400"));
        assert!(ask(address, "GET /nothing").await.starts_with("HTTP/1.1 404"));
        server.abort();
    }
}
