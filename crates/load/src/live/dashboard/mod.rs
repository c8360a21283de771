//! The run in a browser, as JSON, and for Prometheus, on a port and a thread of its own, so that it answers while every
//! other thread is busy.
//!
//! | path | |
//! |---|---|
//! | `GET /` | the page |
//! | `GET /api/status` | a [`Status`](crate::live::Status) and how the run was asked to stop |
//! | `GET /api/series?since=SECOND` | rows of the series from that second on, at most [`SERIES_ROWS_PER_ANSWER_MAX`] |
//! | `POST /api/stop` | asks for an orderly end; with `?at_once=true` for one without waiting |
//! | `GET /metrics` | Prometheus: text, or OpenMetrics for who asks for it |
//!
//! It changes nothing but that wish to stop, and takes it from its own page, from programs, and never from another page
//! that the user's browser happens to show (see `access`).

mod access;
mod api;
mod page;
mod viewers;

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use axum::Router;
use axum::routing::get;
use tokio::sync::oneshot;

use crate::live::dashboard::access::Access;
use crate::live::dashboard::viewers::Viewers;
use crate::live::{Board, metrics};

pub use api::SERIES_ROWS_PER_ANSWER_MAX;

/// Where and for whom the dashboard is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where it listens; port 0 takes a free one. Elsewhere than on a loopback address, stopping the run asks for a
    /// token that is part of [`Dashboard::url`].
    pub address: SocketAddr,
    /// Names, besides addresses and `localhost`, under which it may be asked for.
    pub host_names: Vec<String>,
}

/// Why there is no dashboard.
#[derive(Debug)]
pub enum ServeError {
    /// The address cannot be listened on.
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// The thread, its runtime or its token cannot be made.
    Start(io::Error),
}

/// A dashboard that answers until it is dropped.
#[derive(Debug)]
pub struct Dashboard {
    address: SocketAddr,
    url: String,
    viewers: Arc<Viewers>,
    shutdown: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Serves the dashboard of a run.
///
/// # Errors
/// See [`ServeError`].
pub fn serve(board: Arc<Board>, options: &Options) -> Result<Dashboard, ServeError> {
    let listening = Listening::on(options.address)?;
    let access = Access::new(listening.address, options.host_names.clone()).map_err(ServeError::Start)?;
    let url = access.url(listening.address);
    let metrics = Router::new().route("/metrics", get(metrics::scrape)).with_state(Arc::clone(&board));
    let viewers = Arc::new(Viewers::default());
    let api = api::router(board, access.clone(), Arc::clone(&viewers));
    let router = page::router().merge(api).merge(metrics);
    listening.start(access::guarded(router, access), url, viewers)
}

/// Serves only `/metrics`.
///
/// # Errors
/// See [`ServeError`].
pub fn serve_metrics(board: Arc<Board>, address: SocketAddr) -> Result<Dashboard, ServeError> {
    let listening = Listening::on(address)?;
    let url = format!("http://{}/metrics", listening.address);
    let router = Router::new().route("/metrics", get(metrics::scrape)).with_state(board);
    listening.start(router, url, Arc::default())
}

/// A bound port on which nothing is answered yet.
struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    fn on(address: SocketAddr) -> Result<Self, ServeError> {
        let failed = |error| ServeError::Listen { address, error };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { address: listener.local_addr().map_err(failed)?, listener })
    }

    fn start(self, router: Router, url: String, viewers: Arc<Viewers>) -> Result<Dashboard, ServeError> {
        let Self { listener, address } = self;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ServeError::Start)?;
        let (shutdown, shut_down) = oneshot::channel();
        let serve = move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::select! {
                    // Accepting goes on after an error; this ends only with the runtime.
                    _ = axum::serve(listener, router) => {}
                    _ = shut_down => {}
                }
            });
        };
        let thread =
            thread::Builder::new().name("dashboard".into()).spawn(serve).map_err(ServeError::Start)?;
        Ok(Dashboard { address, url, viewers, shutdown: Some(shutdown), thread: Some(thread) })
    }
}

impl Dashboard {
    /// The address in use.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a person opens.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until a page that watches has been told that the run has ended; not at all where nobody watches, and never
    /// longer than a page takes to ask again.
    pub fn wait_for_viewers(&self) {
        self.viewers.wait_until_told();
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        // The sender's end is what the thread waits for; it may have ended by itself.
        drop(self.shutdown.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Listen { address, error } => {
                write!(f, "the dashboard cannot listen on {address}: {error}; use another address, or port 0")
            }
            ServeError::Start(error) => write!(f, "cannot start the dashboard: {error}"),
        }
    }
}

impl std::error::Error for ServeError {}

#[cfg(test)]
mod tests;
