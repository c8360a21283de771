//! The agent's listener, which admits one controller at a time.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use super::link::Link;
use super::protocol::{
    FromAgent, FromController, GREETING_MAX, Hello, MESSAGE_BYTES_MAX, PROTOCOL, Refusal, Welcome,
};
use super::session::Session;
use super::token::Token;
use super::transport::{self, TlsError, is_reachable_from_outside};
use crate::live::Stop;
use crate::run::Signals;

/// Maximum number of connections that have not completed the greeting; further ones are closed at once.
const STRANGERS_MAX: usize = 16;
/// How long a controller waits for the previous one to be cleaned up.
const TIDYING_MAX: Duration = Duration::from_secs(1);
/// How often the agent checks for connections and for a signal to end.
const INTERVAL: Duration = Duration::from_millis(50);

/// How an agent waits for controllers.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The token that controllers must present; `None` is allowed only on a loopback address.
    pub token: Option<Token>,
    /// PEM files with the certificate and its key, for TLS.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Its weight relative to other agents, above 0.
    pub weight: f64,
    /// Parent of the run folders, for controllers that request an event log.
    pub out: PathBuf,
}

/// Why an agent cannot wait for controllers.
#[derive(Debug)]
pub enum ServeError {
    /// Without a token, anyone could use the machine's whole network.
    TokenNeeded(SocketAddr),
    /// The weight is invalid.
    Weight(f64),
    /// The certificate or its key.
    Tls(TlsError),
    /// The address cannot be listened on.
    Listen(SocketAddr, io::Error),
    /// Signal handlers cannot be installed.
    Signals(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TokenNeeded(address) => write!(
                f,
                "{address} is not a loopback address, and anybody who can reach an agent can control it: set \
                 a --token (or STAMPEDE_TOKEN) that its controllers use too, or listen on a loopback \
                 address"
            ),
            Self::Weight(weight) => write!(f, "--weight {weight}: must be a number above 0"),
            Self::Tls(error) => error.fmt(f),
            Self::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::Signals(error) => write!(f, "cannot handle signals: {error}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves controllers, one at a time, until SIGINT or SIGTERM. Calls `ready` with the address once it accepts
/// connections.
///
/// # Errors
/// [`ServeError`]. An error with one controller is reported to it and on standard error, and affects nothing else.
pub fn serve(options: AgentOptions, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let has_token = options.token.as_ref().is_some_and(|token| !token.is_empty());
    if is_reachable_from_outside(&options.listen) && !has_token {
        return Err(ServeError::TokenNeeded(options.listen));
    }
    if !(options.weight.is_finite() && options.weight > 0.0) {
        return Err(ServeError::Weight(options.weight));
    }
    let tls = options.identity.as_ref().map(|(certificate, key)| transport::identity(certificate, key));
    let tls = tls.transpose().map_err(ServeError::Tls)?;
    let signals = Signals::catch().map_err(ServeError::Signals)?;
    let failed = |error| ServeError::Listen(options.listen, error);
    let listener = TcpListener::bind(options.listen).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    ready(listener.local_addr().map_err(failed)?);
    Agent { options, tls, signals, strangers: AtomicUsize::new(0), stage: Mutex::new(()) }
        .accept_all(&listener);
    Ok(())
}

/// State shared by all connections of an agent.
struct Agent {
    options: AgentOptions,
    tls: Option<Arc<ServerConfig>>,
    signals: Signals,
    strangers: AtomicUsize,
    /// Held by the connection that is being served.
    stage: Mutex<()>,
}

impl Agent {
    fn accept_all(&self, listener: &TcpListener) {
        thread::scope(|scope| {
            while self.signals.stop() == Stop::No {
                match listener.accept() {
                    Ok((socket, peer)) => {
                        if self.strangers.fetch_add(1, Ordering::Relaxed) >= STRANGERS_MAX {
                            self.strangers.fetch_sub(1, Ordering::Relaxed);
                            continue;
                        }
                        scope.spawn(move || self.meet(socket, peer));
                    }
                    // No connection is pending, it was aborted, or there is no free descriptor: try again later.
                    Err(_) => thread::sleep(INTERVAL),
                }
            }
        });
    }

    /// Serves one connection from beginning to end.
    fn meet(&self, socket: TcpStream, peer: SocketAddr) {
        let admitted = self.admit(socket);
        self.strangers.fetch_sub(1, Ordering::Relaxed);
        let end = match admitted {
            Ok(Some((link, stage))) => {
                eprintln!("stampede: controller {peer} connected");
                let end = Session::new(link, &self.options, &self.signals).run();
                drop(stage);
                end.map_err(|error| error.to_string())
            }
            Ok(None) => return,
            Err(error) => Err(error),
        };
        match end {
            Ok(()) => eprintln!("stampede: controller {peer} has finished"),
            Err(error) => eprintln!("stampede: controller {peer}: {error}"),
        }
    }

    /// Performs the greeting; returns `None` for a controller that was refused and has been told so.
    fn admit(&self, socket: TcpStream) -> Result<Option<(Link, MutexGuard<'_, ()>)>, String> {
        // On some systems this flag is inherited from the listener.
        socket.set_nonblocking(false).map_err(|error| error.to_string())?;
        socket.set_read_timeout(Some(GREETING_MAX)).map_err(|error| error.to_string())?;
        let mut link = transport::accept(socket, self.tls.as_ref()).map_err(|error| error.to_string())?;
        let hello = match link.expect(GREETING_MAX).map_err(|error| error.to_string())? {
            FromController::Hello(hello) => hello,
            FromController::Probe { .. }
            | FromController::Prepare(_)
            | FromController::File(_)
            | FromController::Go(_)
            | FromController::Word(_)
            | FromController::Stop
            | FromController::Abort => return Err("no greeting".to_owned()),
        };
        let refusal = match self.judge(&hello) {
            None => match self.take_stage() {
                Some(stage) => return self.welcome(link, stage).map(Some),
                None => Refusal::Busy,
            },
            Some(refusal) => refusal,
        };
        eprintln!("stampede: refused a controller: {refusal:?}");
        link.send(&FromAgent::Refused(refusal)).map_err(|error| error.to_string())?;
        Ok(None)
    }

    /// Acquires the right to command the agent. Cleanup after the previous controller may still be in progress.
    fn take_stage(&self) -> Option<MutexGuard<'_, ()>> {
        let until = Instant::now() + TIDYING_MAX;
        loop {
            match self.stage.try_lock() {
                Ok(stage) => return Some(stage),
                Err(TryLockError::Poisoned(stage)) => return Some(stage.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(INTERVAL),
            }
        }
    }

    fn welcome<'a>(
        &self,
        mut link: Link,
        stage: MutexGuard<'a, ()>,
    ) -> Result<(Link, MutexGuard<'a, ()>), String> {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let welcome = Welcome { name: engine::machine::host_name(), cores, weight: self.options.weight };
        link.send(&FromAgent::Welcome(welcome)).map_err(|error| error.to_string())?;
        link.allow(MESSAGE_BYTES_MAX);
        Ok((link, stage))
    }

    /// Returns why a controller is refused. One without the token learns nothing but the version.
    fn judge(&self, hello: &Hello) -> Option<Refusal> {
        let version = env!("CARGO_PKG_VERSION");
        if hello.protocol != PROTOCOL || hello.version != version {
            return Some(Refusal::Version { version: version.to_owned(), protocol: PROTOCOL });
        }
        let is_known = self.options.token.is_none() || self.options.token == hello.token;
        (!is_known).then_some(Refusal::Token)
    }
}
