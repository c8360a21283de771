//! A host site for tests: a real HTTP server on the loopback interface that records its requests.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, Response};
use identity::{AddressPolicy, Outbound, Target};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// How long a test waits for an event that must happen.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A request as the site received it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

type Answering = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// The site. It stops with the test's runtime, or with [`Site::stop`].
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    arrived: Arc<Notify>,
    serving: JoinHandle<()>,
}

impl Site {
    /// Starts a site that answers with `answer`.
    pub(crate) async fn start<F>(answer: impl Fn(Seen) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        Self::serve(TcpListener::bind("127.0.0.1:0").await.expect("a port"), answer)
    }

    /// Starts a site that answers with `answer` what comes to `listener`.
    pub(crate) fn serve<F>(listener: TcpListener, answer: impl Fn(Seen) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let address = listener.local_addr().expect("an address");
        let (seen, arrived) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let answer = Arc::new(move |seen: Seen| Box::pin(answer(seen)) as Answering);
        let state = (seen.clone(), arrived.clone());
        let router = axum::Router::new().fallback(move |request: Request<Body>| {
            let ((seen, arrived), answer) = (state.clone(), answer.clone());
            async move {
                let (head, body) = request.into_parts();
                let body = to_bytes(body, 1 << 20).await.expect("a body").to_vec();
                let request = Seen { path: head.uri.to_string(), headers: head.headers, body };
                seen.lock().expect("no panic").push(request.clone());
                arrived.notify_waiters();
                answer(request).await
            }
        });
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Site { address, seen, arrived, serving }
    }

    /// A URL of the site.
    pub(crate) fn target(&self, path: &str) -> Target {
        Target::parse(&format!("http://{}{path}", self.address)).expect("a target")
    }

    /// The requests received so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no panic").clone()
    }

    /// Waits until it has received `count` requests.
    pub(crate) async fn has_seen(&self, count: usize) {
        until(&self.arrived, || self.seen().len() >= count).await;
    }

    /// Takes the site down: closes its port and its connections.
    pub(crate) fn stop(&self) {
        self.serving.abort();
    }
}

/// Waits for a condition that can become true when `changed` is notified.
pub(crate) async fn until(changed: &Notify, holds: impl Fn() -> bool) {
    let waiting = async {
        loop {
            let told = changed.notified();
            tokio::pin!(told);
            told.as_mut().enable();
            if holds() {
                return;
            }
            told.await;
        }
    };
    tokio::time::timeout(DEADLINE, waiting).await.expect("it comes before the deadline");
}

/// Polls for a condition that nothing notifies of.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(DEADLINE, waiting)
        .await
        .unwrap_or_else(|_| panic!("not before the deadline: {what}"));
}

pub(crate) fn answer(status: u16, body: impl Into<Body>) -> Response<Body> {
    Response::builder().status(status).body(body.into()).expect("an answer")
}

/// A TLS configuration that trusts only these roots.
pub(crate) fn trusting(roots: RootCertStore) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    Arc::new(config.expect("versions").with_root_certificates(roots).with_no_client_auth())
}

/// An [`Outbound`] that may reach the loopback interface.
pub(crate) fn outbound() -> Outbound {
    let policy = AddressPolicy::public_and(vec!["127.0.0.0/8".parse().expect("a network")]);
    Outbound::new(trusting(RootCertStore::empty()), policy)
}
