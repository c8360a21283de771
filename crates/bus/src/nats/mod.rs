//! NATS 2.9 and later. Topics are core subjects; what recoverable ones keep is in JetStream streams, one for all that
//! keep the same, which publish again what they have kept, with its place. Leases are heartbeats, and people are asked of
//! the nodes that have them.

mod beats;
mod connect;
mod feeds;
mod history;
mod marks;
mod people;
mod pump;
mod rule;
mod session;
mod streams;
mod subjects;

use crate::failure::Failure;
use crate::session::Desk;
use connect::connect;
pub(crate) use session::Session as NatsSession;
use session::Session;
use std::path::PathBuf;
use std::sync::Arc;
use streams::Witnesses;
use subjects::Subjects;

/// The servers of one NATS cluster.
pub(crate) struct Nats {
    servers: Vec<async_nats::ServerAddr>,
    subjects: Subjects,
    certificate_authority: Option<PathBuf>,
    /// They outlive sessions.
    witnesses: Arc<Witnesses>,
}

impl Nats {
    pub(crate) fn new(
        servers: Vec<async_nats::ServerAddr>,
        prefix: &str,
        certificate_authority: Option<PathBuf>,
    ) -> Nats {
        Nats { servers, subjects: Subjects::new(prefix), certificate_authority, witnesses: Arc::default() }
    }

    /// Connects, and checks that the server is what is needed.
    pub(crate) async fn open(&self, desk: &Desk) -> Result<Session, Failure> {
        let connection = connect(&self.servers, self.certificate_authority.clone()).await?;
        Session::open(connection, self.subjects.clone(), self.witnesses.clone(), desk).await
    }
}
