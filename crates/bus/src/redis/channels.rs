//! The commands for channels.

/// The kind of channels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Channels {
    /// Those of a single server, for all of its connections.
    Plain,
    /// Sharded ones of a cluster, each at the master of its slot: messages on ordinary ones would go to all of its
    /// servers.
    Sharded,
}

impl Channels {
    pub(crate) fn publish(self) -> &'static str {
        match self {
            Channels::Plain => "PUBLISH",
            Channels::Sharded => "SPUBLISH",
        }
    }

    pub(crate) fn subscribe(self) -> &'static str {
        match self {
            Channels::Plain => "SUBSCRIBE",
            Channels::Sharded => "SSUBSCRIBE",
        }
    }

    pub(crate) fn unsubscribe(self) -> &'static str {
        match self {
            Channels::Plain => "UNSUBSCRIBE",
            Channels::Sharded => "SUNSUBSCRIBE",
        }
    }

    /// Returns a script with this kind's publish command: the commands of a script must be known before it runs.
    pub(crate) fn in_script(self, source: &str) -> String {
        source.replace("'PUBLISH'", &format!("'{}'", self.publish()))
    }
}
