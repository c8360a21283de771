//! The administration listener: metrics, probes and the API, on a separate port and thread, so that a scrape is
//! answered even if all other threads are busy.

mod allocator;
mod api;
mod memory;
mod metrics;
mod problem;
mod status;
mod token;

pub(crate) use memory::WholeMemory;

use crate::health::{self, Readiness};
use ::api::Api;
use axum::Router;
use gateway::Handle;
use gateway::machine::MemoryLimit;
use messenger::Messenger;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::thread;
use token::{Token, TokenError};

/// Why the administration listener could not be set up.
#[derive(Debug)]
pub(crate) enum AdminError {
    /// There is no token.
    Token(TokenError),
    /// Listening at the address failed.
    Listen { address: SocketAddr, error: io::Error },
    /// The thread or its runtime could not be started.
    Thread(io::Error),
}

impl fmt::Display for AdminError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdminError::Token(error) => error.fmt(f),
            AdminError::Listen { address, error } => {
                write!(
                    f,
                    "cannot listen on {address}: {error}: set `admin.listen` to another address, or \"off\""
                )
            }
            AdminError::Thread(error) => write!(f, "cannot start the administration thread: {error}"),
        }
    }
}

impl std::error::Error for AdminError {}

/// What the administration API works on.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) handle: Handle,
    pub(crate) messenger: Messenger,
    pub(crate) memory: WholeMemory,
    pub(crate) bus: Option<bus::Status>,
    pub(crate) rest: Api,
    /// The control group's limit at the start.
    pub(crate) memory_limit: Option<MemoryLimit>,
}

/// A bound listener and the token of its API; it does not answer requests yet.
pub(crate) struct Admin {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    token_path: PathBuf,
}

impl Admin {
    /// Performs every step that can fail for a reason that the user can fix.
    pub(crate) fn bind(address: SocketAddr, data_dir: &Path) -> Result<Admin, AdminError> {
        let (token, token_path) = Token::open_or_create(data_dir).map_err(AdminError::Token)?;
        let failed = |error| AdminError::Listen { address, error };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Admin { address: listener.local_addr().map_err(failed)?, listener, token, token_path })
    }

    /// Returns the address in use.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the path of the token file.
    pub(crate) fn token_path(&self) -> &Path {
        &self.token_path
    }

    /// Answers requests until the process ends.
    pub(crate) fn start(self, served: Served, readiness: Readiness) -> Result<(), AdminError> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(AdminError::Thread)?;
        status::begin();
        let paths = router(served, readiness, self.token);
        let listener = self.listener;
        let serve = move || {
            gateway::TimeSlices::Short.request();
            let listen = async { axum::serve(tokio::net::TcpListener::from_std(listener)?, paths).await };
            if let Err(error) = runtime.block_on(listen) {
                tracing::error!(%error, "the administration listener stopped");
            }
        };
        thread::Builder::new().name("admin".into()).spawn(serve).map(drop).map_err(AdminError::Thread)
    }
}

fn router(served: Served, readiness: Readiness, token: Token) -> Router {
    health::router(readiness).merge(metrics::router(served.clone())).merge(api::router(served, token))
}
