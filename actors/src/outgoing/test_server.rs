//! Small servers on this machine for tests, each of which behaves in one way.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use url::Url;

/// The body with which every request ends.
pub(crate) const BODY: &[u8] = br#"{"event":"test"}"#;

/// The behaviour of a server after it has read a request.
#[derive(Clone)]
pub(crate) enum Behaviour {
    /// Answers one request after the other, each with one of these, and closes. An empty one is no answer.
    Answers(Vec<String>),
    /// Sends this and keeps the connection open without a further byte.
    Stalls(String),
    /// Sends this, and then the letter x for as long as the client reads.
    NeverEnds(String),
    /// Sends this again and again for as long as the client reads.
    Repeats(&'static str),
}

/// A server that behaves in one way, and keeps the requests that it read.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
    _task: JoinSet<()>,
}

impl TestServer {
    pub(crate) async fn start(behaviour: Behaviour) -> TestServer {
        TestServer::start_with(behaviour, None).await
    }

    /// One with TLS, by a certificate for `name`, which is answered beside it.
    pub(crate) async fn start_with_tls(behaviour: Behaviour, name: &str) -> (TestServer, CertificateDer<'static>) {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(vec![name.to_owned()]).expect("a certificate can be made");
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("the key is in PKCS 8 form");
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider knows them")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("key and certificate belong together");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        (TestServer::start_with(behaviour, Some(acceptor)).await, cert.der().clone())
    }

    async fn start_with(behaviour: Behaviour, tls: Option<TlsAcceptor>) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let (requests, connections) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
        let mut task = JoinSet::new();
        task.spawn(accept(listener, behaviour, tls, Arc::clone(&requests), Arc::clone(&connections)));
        TestServer { address, requests, connections, _task: task }
    }

    pub(crate) fn url(&self, scheme: &str, host: &str, path: &str) -> Url {
        let text = format!("{scheme}://{host}:{}{path}", self.address.port());
        text.parse().expect("it is a URL")
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn only_request(&self) -> String {
        let requests = self.requests.lock().expect("no test panics while it holds them");
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests[0].clone()
    }
}

async fn accept(
    listener: TcpListener,
    behaviour: Behaviour,
    tls: Option<TlsAcceptor>,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
) {
    let mut served = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.fetch_add(1, Ordering::SeqCst);
        let (behaviour, tls, requests) = (behaviour.clone(), tls.clone(), Arc::clone(&requests));
        served.spawn(async move {
            match tls {
                None => serve(stream, &behaviour, &requests).await,
                Some(acceptor) => serve(acceptor.accept(stream).await?, &behaviour, &requests).await,
            }
        });
    }
}

/// Serves one connection. Errors are ignored: the client may close the connection at any time.
async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    behaviour: &Behaviour,
    requests: &Mutex<Vec<String>>,
) -> io::Result<()> {
    read_request(&mut stream, requests).await?;
    match behaviour {
        Behaviour::Answers(texts) => {
            for (number, text) in texts.iter().enumerate() {
                if number > 0 {
                    read_request(&mut stream, requests).await?;
                }
                stream.write_all(text.as_bytes()).await?;
                stream.flush().await?;
            }
            stream.shutdown().await
        }
        Behaviour::Stalls(text) => {
            stream.write_all(text.as_bytes()).await?;
            stream.flush().await?;
            stream.read_to_end(&mut Vec::new()).await.map(|_| ())
        }
        Behaviour::NeverEnds(text) => {
            stream.write_all(text.as_bytes()).await?;
            loop {
                stream.write_all(&[b'x'; 4_096]).await?;
            }
        }
        Behaviour::Repeats(text) => loop {
            stream.write_all(text.as_bytes()).await?;
        },
    }
}

/// Reads a request that ends with [`BODY`], or has none, and keeps it.
async fn read_request(stream: &mut (impl AsyncRead + Unpin), requests: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut request = Vec::new();
    while !is_whole(&request) {
        if stream.read_buf(&mut request).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let text = String::from_utf8(request).expect("the request is text");
    requests.lock().expect("no test panics while it holds them").push(text);
    Ok(())
}

fn is_whole(request: &[u8]) -> bool {
    let waits_for_body = || String::from_utf8_lossy(request).contains("content-length: 16\r\n");
    request.ends_with(BODY) || (request.ends_with(b"\r\n\r\n") && !waits_for_body())
}

pub(crate) fn answers(status: &str, headers: &str, body: &str) -> Behaviour {
    let text = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len());
    Behaviour::Answers(vec![text])
}

/// A listener whose queue is full, so that further connections wait.
pub(crate) async fn unresponsive_listener(address: SocketAddr) -> (TcpListener, JoinSet<()>) {
    let socket = TcpSocket::new_v4().expect("there are sockets");
    socket.bind(address).expect("the port is free at this address");
    let listener = socket.listen(1).expect("it is bound");
    let mut waiting = JoinSet::new();
    for _ in 0..8 {
        waiting.spawn(async move {
            let stream = TcpStream::connect(address).await;
            std::future::pending::<()>().await;
            drop(stream);
        });
    }
    while timeout(Duration::from_millis(300), TcpStream::connect(address)).await.is_ok() {}
    (listener, waiting)
}
