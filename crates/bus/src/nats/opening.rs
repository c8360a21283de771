//! Opens a session: everything that has to be done before its first request.

use super::connect::Connection;
use super::line::{Line, subscribe};
use super::liveness::{Liveness, listening_time};
use super::people::Own;
use super::streams::{Streams, Witnesses};
use super::subjects::Subjects;
use crate::failure::Failure;
use crate::port::NodeAddress;
use crate::session::SessionContext;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::task::JoinSet;

/// The inputs of a session.
pub(crate) struct Opening {
    pub(crate) connection: Connection,
    pub(crate) subjects: Subjects,
    pub(crate) witnesses: Arc<Witnesses>,
    pub(crate) neighbours: Arc<Liveness>,
    /// The address where the node listens for the others.
    pub(crate) listening: Option<NodeAddress>,
    /// The number of the node's session.
    pub(crate) number: u64,
}

impl Opening {
    /// Does everything that has to be done before the first request. The listening tasks are running when it returns.
    pub(crate) async fn open(self, context: &SessionContext) -> Result<(Arc<Line>, JoinSet<()>), Failure> {
        let Opening { connection, subjects, witnesses, neighbours, listening, number } = self;
        let Connection { client, run, fail } = connection;
        let streams = Streams::open(&client, run.as_deref(), &subjects, &witnesses, context).await?;
        let nodes = subscribe(&client, subjects.nodes()).await?;
        let everybody = subscribe(&client, subjects.everybody()).await?;
        let who = subscribe(&client, subjects.who()).await?;
        let settled = Instant::now() + listening_time(context.times);
        let line = Arc::new(Line {
            context: context.clone(),
            client,
            subjects,
            streams,
            neighbours,
            own: Own::default(),
            listening,
            settled,
            number,
            beats: AtomicU64::default(),
            fail,
            passages: Mutex::default(),
        });
        line.try_rights().await?;
        line.neighbours.begin(settled, Instant::now());
        let mut tasks = JoinSet::new();
        tasks.spawn(line.clone().listen_to_nodes(nodes));
        tasks.spawn(line.clone().listen_to_everybody(everybody));
        tasks.spawn(line.clone().answer_who(who));
        line.beat().await?;
        Ok((line, tasks))
    }
}

impl Line {
    /// Performs what a session will do, so that missing permissions are noticed before they are needed.
    async fn try_rights(&self) -> Result<(), Failure> {
        let topic = self.subjects.rights();
        let subscription = subscribe(&self.client, topic.clone()).await?;
        for subject in [topic, self.subjects.everybody(), self.subjects.who()] {
            self.say(subject, Vec::new()).await?;
        }
        drop(subscription);
        self.round_trip().await
    }
}
