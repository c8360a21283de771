//! The words by which channels are spoken to.

/// Which channels there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Channels {
    /// Those of one server, for whoever is connected to it.
    Plain,
    /// Those of a cluster, each at the master that has its slot: a plain one's messages would go to all of its servers.
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

    /// A script whose word for publishing is this one: which command a script calls is known before it runs.
    pub(crate) fn in_script(self, source: &str) -> String {
        source.replace("'PUBLISH'", &format!("'{}'", self.publish()))
    }
}
