//! The supported engines.

use crate::address::{Address, Server};
use crate::failure::Failure;
use crate::nats::{Nats, NatsSession};
use crate::redis::{Redis, RedisSession};
use crate::requests::Requests;
use crate::session::SessionContext;
use crate::settings::BadSettings;
use std::path::PathBuf;

/// The engine that the addresses select.
pub(crate) enum Engine {
    Redis(Redis),
    Nats(Nats),
}

pub(crate) enum Session {
    Redis(RedisSession),
    Nats(Box<NatsSession>),
}

impl Engine {
    pub(crate) fn new(
        addresses: Vec<Address>,
        prefix: &str,
        certificate_authority: Option<PathBuf>,
    ) -> Result<Engine, BadSettings> {
        let (mut redis, mut cluster, mut nats) = (Vec::new(), Vec::new(), Vec::new());
        for address in addresses {
            match address.server {
                Server::Redis(info) => redis.push(*info),
                Server::RedisCluster(info) => cluster.push(*info),
                Server::Nats(server) => nats.push(server),
            }
        }
        match (redis.is_empty(), cluster.is_empty(), nats.is_empty()) {
            (true, true, true) => Err(BadSettings::NoInstance),
            (false, true, true) => Redis::new(redis, prefix, certificate_authority).map(Engine::Redis),
            (true, false, true) => Redis::cluster(cluster, prefix, certificate_authority).map(Engine::Redis),
            (true, true, false) => Nats::new(nats, prefix, certificate_authority).map(Engine::Nats),
            _ => Err(BadSettings::SeveralEngines),
        }
    }

    /// Connects, and does everything that has to be done before the first request.
    pub(crate) async fn open(&self, context: &SessionContext) -> Result<Session, Failure> {
        Ok(match self {
            Engine::Redis(redis) => Session::Redis(redis.open(context).await?),
            Engine::Nats(nats) => Session::Nats(Box::new(nats.open(context).await?)),
        })
    }
}

impl Session {
    /// Executes requests until the engine is away, and returns why; `None` if no hub is left.
    pub(crate) async fn serve(self, context: &SessionContext, requests: &mut Requests) -> Option<Failure> {
        match self {
            Session::Redis(session) => session.serve(context, requests).await,
            Session::Nats(session) => session.serve(context, requests).await,
        }
    }
}
