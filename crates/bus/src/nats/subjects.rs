//! Names of subjects, streams and buckets. Topics are encoded as one base64 token, because they may contain dots,
//! spaces and wildcards.

use super::rule::Rule;
use crate::frame::VERSION;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

#[derive(Clone)]
pub(crate) struct Subjects {
    prefix: String,
}

impl Subjects {
    /// A prefix may contain `:` and `.`, which stream names may not.
    pub(crate) fn new(prefix: &str) -> Subjects {
        Subjects { prefix: format!("{}-{VERSION}", prefix.replace([':', '.'], "-")) }
    }

    /// The subject of a topic, for its subscribers.
    pub(crate) fn topic(&self, topic: &str) -> String {
        format!("{}.topic.{}", self.prefix, token(topic))
    }

    /// The subject of publications on a recoverable topic that are to be stored; the server republishes them on the
    /// topic's own.
    pub(crate) fn order(&self, rule: Rule, topic: &str) -> String {
        format!("{}.order.{rule}.{}", self.prefix, token(topic))
    }

    /// Returns the subjects of all orders of a rule, and the subjects on which stored messages are republished.
    pub(crate) fn orders(&self, rule: Rule) -> (String, String) {
        (format!("{}.order.{rule}.>", self.prefix), format!("{}.topic.>", self.prefix))
    }

    pub(crate) fn stream(&self, rule: Rule) -> String {
        format!("{}-{rule}", self.prefix)
    }

    /// The stream with the common data of the orders.
    pub(crate) fn marks_stream(&self) -> String {
        format!("{}-marks", self.prefix)
    }

    /// The subject of one entry in it.
    pub(crate) fn marks(&self, key: &str) -> String {
        format!("{}.marks.{key}", self.prefix)
    }

    /// The subject of beats.
    pub(crate) fn nodes(&self) -> String {
        format!("{}.nodes", self.prefix)
    }

    /// The subject of all nodes, for dismissals and messages.
    pub(crate) fn everybody(&self) -> String {
        format!("{}.everybody", self.prefix)
    }

    /// The subject of questions about people.
    pub(crate) fn who(&self) -> String {
        format!("{}.who", self.prefix)
    }

    /// A subject without subscribers.
    pub(crate) fn nobody(&self) -> String {
        format!("{}.nobody", self.prefix)
    }

    /// A subject next to those of topics, for testing permissions.
    pub(crate) fn rights(&self) -> String {
        format!("{}.topic.rights", self.prefix)
    }
}

/// Never empty, because a token must not be.
fn token(topic: &str) -> String {
    format!("t{}", URL_SAFE_NO_PAD.encode(topic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_is_one_token() {
        let subjects = Subjects::new("a.b:c");
        for topic in ["", "rooms:lobby", "a.b", "*", ">", "a b\n"] {
            let subject = subjects.topic(topic);
            assert_eq!(subject.split('.').count(), 3, "{subject}");
            assert!(
                subject.split('.').all(|token| !token.is_empty() && !token.contains([' ', '*', '>', '\n']))
            );
        }
    }
}
