//! Names of keys and channels.

use crate::frame::VERSION;
use hub::NodeId;

/// The common prefix of all names.
#[derive(Clone)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    pub(crate) fn new(prefix: &str) -> Keys {
        Keys { prefix: format!("{prefix}:{VERSION}:") }
    }

    /// Creates names that a cluster stores in the slot of `tag`.
    pub(crate) fn tagged(prefix: &str, tag: &str) -> Keys {
        Keys { prefix: format!("{prefix}:{{{tag}}}:{VERSION}:") }
    }

    /// Common data of the orders.
    pub(crate) fn marks(&self) -> String {
        format!("{}marks", self.prefix)
    }

    /// The nodes with the expiry times of their leases.
    pub(crate) fn leases(&self) -> String {
        format!("{}leases", self.prefix)
    }

    /// The addresses where nodes listen for each other.
    pub(crate) fn addresses(&self) -> String {
        format!("{}addresses", self.prefix)
    }

    /// The channel for notices that a node joined or left.
    pub(crate) fn nodes(&self) -> String {
        format!("{}nodes", self.prefix)
    }

    /// The channel of all nodes, for dismissals and messages.
    pub(crate) fn everybody(&self) -> String {
        format!("{}everybody", self.prefix)
    }

    /// The key, and the channel, for testing permissions.
    pub(crate) fn rights(&self) -> String {
        format!("{}rights", self.prefix)
    }

    /// The offset of a topic's newest publication.
    pub(crate) fn newest(&self, topic: &str) -> String {
        format!("{}newest:{topic}", self.prefix)
    }

    /// A topic's history.
    pub(crate) fn order(&self, topic: &str) -> String {
        format!("{}order:{topic}", self.prefix)
    }

    /// The prefix of the sets of topics on which nodes have people.
    pub(crate) fn topics_prefix(&self) -> String {
        format!("{}topics:", self.prefix)
    }

    /// The topics on which a node has people.
    pub(crate) fn topics(&self, node: NodeId) -> String {
        self.topics_prefix() + &name(node)
    }

    /// The prefix of the keys of people.
    pub(crate) fn people_prefix(&self) -> String {
        format!("{}people:", self.prefix)
    }

    /// A node's people on a topic.
    pub(crate) fn people(&self, node: NodeId, topic: &str) -> String {
        format!("{}{}:{topic}", self.people_prefix(), name(node))
    }

    /// A topic's channel.
    pub(crate) fn channel(&self, topic: &str) -> String {
        format!("{}topic:{topic}", self.prefix)
    }

    /// Returns the topic of a channel.
    pub(crate) fn topic_of<'c>(&self, channel: &'c str) -> Option<&'c str> {
        channel.strip_prefix(&*self.prefix)?.strip_prefix("topic:")
    }
}

/// Formats a node id for keys and leases.
pub(crate) fn name(node: NodeId) -> String {
    format!("{:016x}", node.0)
}

/// Parses the output of [`name`].
pub(crate) fn node(name: &str) -> Option<NodeId> {
    u64::from_str_radix(name, 16).ok().map(NodeId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_were_written() {
        let keys = Keys::new("throng");
        for topic in ["rooms:lobby", "", "topic:", "a b\"\n"] {
            assert_eq!(keys.topic_of(&keys.channel(topic)), Some(topic));
        }
        for channel in [keys.nodes(), keys.everybody()] {
            assert_eq!(keys.topic_of(&channel), None);
        }
        let tagged = Keys::tagged("throng", "31");
        assert_eq!(tagged.channel("a{b}"), "throng:{31}:v1:topic:a{b}");
        assert_eq!(tagged.topic_of(&tagged.channel("a{b}")), Some("a{b}"));
        assert_eq!(Keys::new("other").topic_of(&keys.channel("a")), None);
        assert_eq!(node(&name(NodeId(7))), Some(NodeId(7)));
    }
}
