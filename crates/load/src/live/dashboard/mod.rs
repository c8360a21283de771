//! The run in a browser, as JSON, and for Prometheus, on its own port and thread, so that it responds even while every
//! other thread is busy.
//!
//! | path | |
//! |---|---|
//! | `GET /` | the page |
//! | `GET /api/status` | a [`Status`](crate::live::Status) and how the run was asked to stop |
//! | `GET /api/series?since=SECOND` | rows of the series from that second on, at most [`SERIES_ROWS_PER_ANSWER_MAX`] |
//! | `POST /api/stop` | requests an orderly end; with `?at_once=true`, an end without waiting |
//! | `GET /metrics` | Prometheus text format, or OpenMetrics if requested |
//!
//! The stop request is the only thing that it can change. It is accepted from its own page and from programs, but never
//! from another page open in the user's browser (see `access`).

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

/// Address and host names of the dashboard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Address to listen on; port 0 picks a free port. Unless it is a loopback address, stopping the run requires a
    /// token that is part of [`Dashboard::url`].
    pub address: SocketAddr,
    /// Accepted host names besides addresses and `localhost`.
    pub host_names: Vec<String>,
}

/// Why the dashboard could not be started.
#[derive(Debug)]
pub enum ServeError {
    /// Listening on the address failed.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The thread, its runtime or its token could not be created.
    Start(io::Error),
}

/// A dashboard, which serves until it is dropped.
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

/// A bound port that is not served yet.
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
                    // Serving continues after accept errors and ends only with the runtime.
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
    /// Returns the address in use.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL for people to open.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until a page that is being viewed has received the end of the run: not at all if there are no viewers, and
    /// never longer than a page takes until its next request.
    pub fn wait_for_viewers(&self) {
        self.viewers.wait_until_told();
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        // Dropping the sender stops the thread, which may have ended already.
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
                write!(f, "the dashboard cannot listen on {address}: {error}; give another address or port 0")
            }
            ServeError::Start(error) => write!(f, "the dashboard cannot be started: {error}"),
        }
    }
}

impl std::error::Error for ServeError {}

#[cfg(test)]
mod tests;
