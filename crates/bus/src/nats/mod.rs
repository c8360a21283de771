//! NATS 2.9 and later. Topics are core subjects. Recoverable topics are stored in JetStream streams, one for all topics
//! with the same retention, which republish stored messages with their place. Beats take the place of leases, and
//! questions about people go to the nodes that have them.

mod connect;
mod explain;
mod feeds;
mod history;
mod ledger;
mod line;
mod liveness;
mod marks;
mod opening;
mod order;
mod people;
mod places;
mod pump;
mod questions;
mod reorder;
mod rule;
mod session;
mod streams;
mod subjects;

use crate::announced::announced;
use crate::failure::Failure;
use crate::session::SessionContext;
use crate::settings::BadSettings;
use connect::connect;
use liveness::Liveness;
use opening::Opening;
pub(crate) use session::Session as NatsSession;
use session::Session;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use streams::Witnesses;
use subjects::Subjects;

/// A NATS cluster, given by some of its servers.
pub(crate) struct Nats {
    servers: Vec<async_nats::ServerAddr>,
    subjects: Subjects,
    certificate_authority: Option<PathBuf>,
    sessions: AtomicU64,
    // These outlive sessions.
    witnesses: Arc<Witnesses>,
    neighbours: Arc<Liveness>,
}

impl Nats {
    pub(crate) fn new(
        servers: Vec<async_nats::ServerAddr>,
        prefix: &str,
        certificate_authority: Option<PathBuf>,
    ) -> Result<Nats, BadSettings> {
        if let Some(path) = &certificate_authority {
            let bad = |detail: String| BadSettings::BadCertificates(path.clone(), detail);
            let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
            let begins = b"-----BEGIN CERTIFICATE-----";
            if !text.windows(begins.len()).any(|bytes| bytes == begins) {
                return Err(bad("the file has no certificate".to_owned()));
            }
        }
        Ok(Nats {
            servers,
            subjects: Subjects::new(prefix),
            certificate_authority,
            sessions: AtomicU64::default(),
            witnesses: Arc::default(),
            neighbours: Arc::default(),
        })
    }

    /// Connects, and checks that the server meets the requirements.
    pub(crate) async fn open(&self, context: &SessionContext) -> Result<Session, Failure> {
        let servers: Vec<_> = self.servers.iter().map(|server| (server.host(), server.port())).collect();
        let listening = announced(context, &servers).await;
        let certificates = self.certificate_authority.clone();
        let (connection, mut failures) = connect(&self.servers, certificates, context.times).await?;
        let opening = Opening {
            connection,
            subjects: self.subjects.clone(),
            witnesses: self.witnesses.clone(),
            neighbours: self.neighbours.clone(),
            listening,
            number: self.sessions.fetch_add(1, Relaxed),
        };
        tokio::select! {
            biased;
            // Without a permission, no answer arrives; the reason comes as an event.
            failure = failures.recv() => Err(failure.unwrap_or(Failure::Late)),
            line = opening.open(context) => Ok(Session::new(line?, failures)),
        }
    }
}
