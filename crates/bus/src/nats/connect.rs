//! The connection, and everything that can be wrong with it.

use crate::failure::Failure;
use crate::limits::{ANSWER_TIME_MAX, CONNECT_TIME_MAX};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr, ServerError};
use std::path::PathBuf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What is needed of a server.
const NEEDED: &str = "NATS 2.9 with JetStream";
/// Messages of one subscription that may wait. Past it they are lost, which is noticed like any loss.
const SUBSCRIPTION_LEN_MAX: usize = 4096;

pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) jetstream: Context,
    /// Which run of the server this is.
    pub(crate) run: Box<str>,
    pub(crate) failures: UnboundedReceiver<Failure>,
    pub(crate) fail: UnboundedSender<Failure>,
}

pub(crate) async fn connect(
    servers: &[ServerAddr],
    certificate_authority: Option<PathBuf>,
) -> Result<Connection, Failure> {
    let (fail, failures) = unbounded_channel();
    let client = options(certificate_authority, fail.clone()).connect(servers).await.map_err(explain)?;
    let info = client.server_info();
    if !client.is_server_compatible(2, 9, 0) {
        return Err(Failure::TooOld { found: format!("its version is {}", info.version), needed: NEEDED });
    }
    let mut jetstream = jetstream::new(client.clone());
    jetstream.set_timeout(ANSWER_TIME_MAX);
    let account = jetstream.query_account().await;
    account
        .map_err(|error| Failure::Refused(format!("JetStream does not answer, and is needed: {error}")))?;
    Ok(Connection { client, jetstream, run: info.server_id.into(), failures, fail })
}

fn options(certificate_authority: Option<PathBuf>, fail: UnboundedSender<Failure>) -> ConnectOptions {
    let options = ConnectOptions::new()
        .name("throng")
        // What a node says itself is nothing new to it.
        .no_echo()
        .connection_timeout(CONNECT_TIME_MAX)
        .request_timeout(Some(ANSWER_TIME_MAX))
        .subscription_capacity(SUBSCRIPTION_LEN_MAX)
        // A connection that breaks ends the session: what happens to a wish then is the hub's contract.
        .max_reconnects(1)
        .event_callback(move |event| {
            if let Some(failure) = failure_of(event) {
                // Refused only when the session is over.
                let _ = fail.send(failure);
            }
            std::future::ready(())
        });
    match certificate_authority {
        Some(path) => options.add_root_certificates(path),
        None => options,
    }
}

/// Why an event ends the session, if it does.
fn failure_of(event: Event) -> Option<Failure> {
    match event {
        Event::Disconnected | Event::Closed => {
            Some(Failure::Unreachable("the connection was closed".to_owned()))
        }
        Event::ServerError(ServerError::AuthorizationViolation) => {
            Some(Failure::Unauthenticated("authorization violation".to_owned()))
        }
        Event::ServerError(ServerError::Other(text)) => {
            Some(match text.to_lowercase().contains("permission") {
                true => Failure::Forbidden(text),
                false => Failure::Refused(text),
            })
        }
        Event::ClientError(error) => Some(Failure::Unreachable(error.to_string())),
        // What a slow consumer lost is noticed by those who count.
        Event::ServerError(ServerError::SlowConsumer(_)) | Event::SlowConsumer(_) => None,
        Event::Connected | Event::LameDuckMode | Event::Draining => None,
    }
}

fn explain(error: async_nats::ConnectError) -> Failure {
    let detail = error.to_string();
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            Failure::Unauthenticated(detail)
        }
        ConnectErrorKind::Tls => Failure::Tls(detail),
        ConnectErrorKind::TimedOut => Failure::Late,
        ConnectErrorKind::Io
        | ConnectErrorKind::Dns
        | ConnectErrorKind::ServerParse
        | ConnectErrorKind::MaxReconnects => match detail.to_lowercase() {
            text if text.contains("certificate") || text.contains("tls") => Failure::Tls(detail),
            _ => Failure::Unreachable(detail),
        },
    }
}
