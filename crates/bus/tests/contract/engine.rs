//! What the tests need of a server.

use crate::node::nats_server::NatsServer;
use crate::node::redis_server::RedisServer;
use bus::Settings;

pub(crate) trait Engine {
    /// For nodes of one cluster on it.
    fn settings(&self) -> Settings;
    /// It answers nobody, and forgets nothing.
    fn pause(&self);
    fn resume(&self);
    /// As by `kill -9`.
    fn kill(&mut self);
    fn start_again(&mut self);
    /// Keeps its files as they are now.
    fn save_files(&mut self);
    /// Puts them back; it must not run.
    fn restore_files(&mut self);
}

impl Engine for RedisServer {
    fn settings(&self) -> Settings {
        RedisServer::settings(self)
    }

    fn pause(&self) {
        RedisServer::pause(self);
    }

    fn resume(&self) {
        RedisServer::resume(self);
    }

    fn kill(&mut self) {
        RedisServer::kill(self);
    }

    fn start_again(&mut self) {
        RedisServer::start_again(self);
    }

    fn save_files(&mut self) {
        RedisServer::save_files(self);
    }

    fn restore_files(&mut self) {
        RedisServer::restore_files(self);
    }
}

impl Engine for NatsServer {
    fn settings(&self) -> Settings {
        NatsServer::settings(self)
    }

    fn pause(&self) {
        NatsServer::pause(self);
    }

    fn resume(&self) {
        NatsServer::resume(self);
    }

    fn kill(&mut self) {
        NatsServer::kill(self);
    }

    fn start_again(&mut self) {
        NatsServer::start_again(self);
    }

    fn save_files(&mut self) {
        NatsServer::save_files(self);
    }

    fn restore_files(&mut self) {
        NatsServer::restore_files(self);
    }
}
