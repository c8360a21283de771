//! Names of subjects, streams and buckets. What a name of ours holds is a token's worth of base64: topics may have dots,
//! spaces and wildcards in them.

use super::rule::Rule;
use crate::frame::VERSION;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

#[derive(Clone)]
pub(crate) struct Subjects {
    prefix: String,
}

impl Subjects {
    /// A prefix may have `:` and `.` in it, which names of streams may not.
    pub(crate) fn new(prefix: &str) -> Subjects {
        Subjects { prefix: format!("{}-{VERSION}", prefix.replace([':', '.'], "-")) }
    }

    /// Where everybody who subscribed the topic hears of it.
    pub(crate) fn topic(&self, topic: &str) -> String {
        format!("{}.topic.{}", self.prefix, token(topic))
    }

    /// Where publications on a recoverable topic are sent to be kept; the server publishes them again on the topic's own.
    pub(crate) fn order(&self, rule: Rule, topic: &str) -> String {
        format!("{}.order.{rule}.{}", self.prefix, token(topic))
    }

    /// All orders of a rule, and where what is kept of them is published again.
    pub(crate) fn orders(&self, rule: Rule) -> (String, String) {
        (format!("{}.order.{rule}.>", self.prefix), format!("{}.topic.>", self.prefix))
    }

    pub(crate) fn stream(&self, rule: Rule) -> String {
        format!("{}-{rule}", self.prefix)
    }

    /// The stream in which orders keep what they have in common.
    pub(crate) fn marks_stream(&self) -> String {
        format!("{}-marks", self.prefix)
    }

    /// What one of them keeps there.
    pub(crate) fn marks(&self, key: &str) -> String {
        format!("{}.marks.{key}", self.prefix)
    }

    /// Where nodes say that they live.
    pub(crate) fn nodes(&self) -> String {
        format!("{}.nodes", self.prefix)
    }

    /// Where all nodes hear what is to end.
    pub(crate) fn everybody(&self) -> String {
        format!("{}.everybody", self.prefix)
    }

    /// Where nodes are asked who is there.
    pub(crate) fn who(&self) -> String {
        format!("{}.who", self.prefix)
    }

    /// Where nobody listens.
    pub(crate) fn nobody(&self) -> String {
        format!("{}.nobody", self.prefix)
    }

    /// No topic's, beside those of topics: rights are tried on it.
    pub(crate) fn rights(&self) -> String {
        format!("{}.topic.rights", self.prefix)
    }
}

/// Never empty, which no token may be.
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
