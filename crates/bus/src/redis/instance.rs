//! One server: its connection, and the checks on it.

use super::channels::Channels;
use super::clients::{connect, patience};
use super::explain::{explain, sound};
use super::inbox::Inbox;
use super::keys::Keys;
use super::place::Place;
use super::scripts::{Scripts, call, sources};
use super::version::run_of;
use crate::failure::Failure;
use crate::session::SessionContext;
use crate::stored_head::StoredHead;
use ::redis::aio::MultiplexedConnection;
use ::redis::{Cmd, Pipeline, PushInfo, Value, cmd, from_redis_value};
use std::sync::Arc;

pub(crate) struct Instance {
    connection: MultiplexedConnection,
    pub(crate) keys: Keys,
    pub(crate) channels: Channels,
    pub(crate) scripts: Scripts,
    pub(crate) inbox: Arc<Inbox>,
}

impl Instance {
    /// Connects, and prepares everything for the first request.
    pub(crate) async fn connect(
        place: Place,
        witness: Arc<StoredHead>,
        context: &SessionContext,
    ) -> Result<Instance, Failure> {
        let Place { client, keys, channels } = place;
        let inbox = Arc::new(Inbox::new(context, keys.clone(), witness.clone()));
        let pushed = inbox.clone();
        let config = patience(context).set_push_sender(
            move |push: PushInfo| -> Result<(), std::convert::Infallible> {
                pushed.take(push);
                Ok(())
            },
        );
        let connection = connect(&client, &config).await?;
        let mut instance = Instance { connection, keys, channels, scripts: Scripts::new(channels), inbox };
        let run = instance.check_server().await?;
        instance.load_scripts().await?;
        instance.try_rights().await?;
        instance.begin_run(&run, &witness).await?;
        Ok(instance)
    }

    /// Sends commands in one write and returns their answers; fails if any of them is an error.
    pub(crate) async fn exchange(&mut self, commands: Vec<Cmd>) -> Result<Vec<Value>, Failure> {
        self.send(commands).await?.into_iter().map(sound).collect()
    }

    /// Like [`Instance::exchange`], but returns errors among the answers.
    pub(crate) async fn send(&mut self, commands: Vec<Cmd>) -> Result<Vec<Value>, Failure> {
        let mut pipeline = Pipeline::with_capacity(commands.len());
        for command in commands {
            pipeline.add_command(command);
        }
        let count = pipeline.len();
        let answers = self.connection.send_packed_commands(&pipeline, 0, count).await;
        answers.map_err(|error| explain(&error))
    }

    pub(crate) async fn ask(&mut self, command: Cmd) -> Result<Value, Failure> {
        let mut answers = self.exchange(vec![command]).await?;
        answers.pop().ok_or_else(|| Failure::Refused("no response".to_owned()))
    }

    /// Checks the server and returns its run id.
    async fn check_server(&mut self) -> Result<String, Failure> {
        let answer = self.ask(cmd("INFO").arg("server").to_owned()).await?;
        let info: String = from_redis_value(answer).map_err(|error| Failure::Refused(error.to_string()))?;
        run_of(&info, self.channels)
    }

    async fn load_scripts(&mut self) -> Result<(), Failure> {
        let load = |source: String| cmd("SCRIPT").arg("LOAD").arg(source).to_owned();
        self.exchange(sources(self.channels).into_iter().map(load).collect()).await.map(drop)
    }

    async fn try_rights(&mut self) -> Result<(), Failure> {
        let name = self.keys.rights();
        let mut rights = call(&self.scripts.rights, std::slice::from_ref(&name));
        rights.arg(&name);
        let subscribe = cmd(self.channels.subscribe()).arg(&name).to_owned();
        let unsubscribe = cmd(self.channels.unsubscribe()).arg(&name).to_owned();
        self.inbox.leaves(&name);
        let listen =
            cmd(self.channels.subscribe()).arg(&[self.keys.nodes(), self.keys.everybody()]).to_owned();
        self.exchange(vec![rights, subscribe, unsubscribe, listen]).await.map(drop)
    }

    /// Reports what this node knows to be stored; if the server has lost it, the orders get a new epoch.
    async fn begin_run(&mut self, run: &str, witness: &StoredHead) -> Result<(), Failure> {
        let mut fresh = [0; 9];
        getrandom::fill(&mut fresh).map_err(|error| Failure::Refused(error.to_string()))?;
        let epoch: String = fresh.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut marks = call(&self.scripts.marks, &[self.keys.marks()]);
        marks.arg(run).arg(epoch);
        match witness.seen() {
            Some(seen) => marks.arg(seen.epoch.as_str()).arg(seen.offset).arg(&*seen.run),
            None => marks.arg("").arg(0).arg(""),
        };
        self.ask(marks).await?;
        self.inbox.set_run(run);
        Ok(())
    }
}
