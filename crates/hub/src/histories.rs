//! Which topics keep a history, and how much of it.

use crate::pattern::Pattern;
use std::sync::Arc;

/// How much of its publications a topic keeps; the strictest bound applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Retention {
    /// Maximum number of publications.
    pub messages_max: usize,
    /// Maximum age, in microseconds.
    pub age_us_max: u64,
    /// Maximum memory, in bytes. A publication that alone is larger is delivered but not kept.
    pub bytes_max: usize,
}

impl Default for Retention {
    /// A thousand messages, ten minutes, one megabyte.
    fn default() -> Self {
        Retention { messages_max: 1000, age_us_max: 600_000_000, bytes_max: 1 << 20 }
    }
}

/// The recoverable topics, by pattern; the first match wins. Topics without a match are ephemeral.
///
/// ```
/// use hub::{Histories, Pattern, Retention};
/// let rooms = Pattern::parse("rooms:*").unwrap();
/// let histories: Histories = [(rooms, Retention::default())].into_iter().collect();
/// assert_eq!(histories.of("rooms:lobby"), Some(Retention::default()));
/// assert_eq!(histories.of("typing:lobby"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Histories(Arc<[(Pattern, Retention)]>);

/// One pattern's retention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    /// Its index among the patterns.
    pub(crate) index: usize,
    pub(crate) retention: Retention,
}

impl Histories {
    /// Returns a topic's retention; `None` for an ephemeral one.
    pub fn of(&self, topic: &str) -> Option<Retention> {
        self.rule(topic).map(|rule| rule.retention)
    }

    /// Iterates over the retentions of all patterns.
    pub fn retentions(&self) -> impl Iterator<Item = Retention> {
        self.0.iter().map(|(_, retention)| *retention)
    }

    pub(crate) fn rule(&self, topic: &str) -> Option<Rule> {
        let (index, (_, retention)) =
            self.0.iter().enumerate().find(|(_, (pattern, _))| pattern.matches(topic))?;
        Some(Rule { index, retention: *retention })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<(Pattern, Retention)> for Histories {
    fn from_iter<I: IntoIterator<Item = (Pattern, Retention)>>(rules: I) -> Histories {
        Histories(rules.into_iter().collect())
    }
}
