//! Establishes the connection, and checks the server.

use super::explain::{NEEDED, explain_connect, failure_of};
use crate::failure::Failure;
use crate::limits::SUBSCRIPTION_LEN_MAX;
use crate::times::Times;
use async_nats::{Client, ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use std::path::PathBuf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) struct Connection {
    pub(crate) client: Client,
    /// Identifies the run of the server; `None` if the server is a member of a cluster.
    pub(crate) run: Option<String>,
    pub(crate) fail: UnboundedSender<Failure>,
}

/// Connects to one of the servers. Failures of the connection arrive at the receiver.
pub(crate) async fn connect(
    servers: &[ServerAddr],
    certificate_authority: Option<PathBuf>,
    times: Times,
) -> Result<(Connection, UnboundedReceiver<Failure>), Failure> {
    let (fail, failures) = unbounded_channel();
    let is_encrypted = servers.iter().all(ServerAddr::tls_required);
    let options = let_in(options(certificate_authority, times, servers.len(), fail.clone()), servers);
    let client = options.connect(servers).await.map_err(|error| explain_connect(&error, is_encrypted))?;
    let info = client.server_info();
    if !client.is_server_compatible(2, 9, 0) {
        return Err(Failure::TooOld { found: format!("its version is {}", info.version), needed: NEEDED });
    }
    let run = info.cluster.is_none().then_some(info.server_id);
    Ok((Connection { client, run, fail }, failures))
}

/// Adds the credentials from a URL: a name and a password, or a token.
fn let_in(options: ConnectOptions, servers: &[ServerAddr]) -> ConnectOptions {
    let Some(server) = servers.iter().find(|server| server.has_user_pass()) else { return options };
    let decoded =
        |text: Option<&str>| percent_decode_str(text.unwrap_or_default()).decode_utf8_lossy().into_owned();
    match (server.username(), server.password()) {
        (token, None) => options.token(decoded(token)),
        (name, password) => options.user_and_password(decoded(name), decoded(password)),
    }
}

fn options(
    certificate_authority: Option<PathBuf>,
    times: Times,
    servers: usize,
    fail: UnboundedSender<Failure>,
) -> ConnectOptions {
    let options = ConnectOptions::new()
        .name("throng")
        // A node does not need its own messages.
        .no_echo()
        .connection_timeout(times.connect_max)
        .request_timeout(Some(times.answer_max))
        .subscription_capacity(SUBSCRIPTION_LEN_MAX)
        // A broken connection ends the session: the hub's contract defines what happens to requests then. The attempts of
        // the first connection count as well, one for each server.
        .max_reconnects(servers)
        .event_callback(move |event| {
            if let Some(failure) = failure_of(event) {
                // Fails only when the session is over.
                let _ = fail.send(failure);
            }
            std::future::ready(())
        });
    match certificate_authority {
        Some(path) => options.add_root_certificates(path),
        None => options,
    }
}
