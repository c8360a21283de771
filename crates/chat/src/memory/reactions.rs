//! Counts reactions in memory.

use super::Shelf;
use crate::ids::{ConversationId, PersonId, Seq};
use crate::message::Tally;
use crate::moment::Moment;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

impl Shelf {
    /// See [`Rows::tallies`](crate::Rows::tallies).
    pub(super) fn tallies(
        &self,
        of: ConversationId,
        span: &RangeInclusive<Seq>,
        asker: &PersonId,
    ) -> Vec<(Seq, Tally)> {
        let all = self.reactions.values();
        let all = all.filter(|row| row.conversation == of && span.contains(&row.seq));
        let mut counted: BTreeMap<(Seq, &str), (Moment, u64, bool)> = BTreeMap::new();
        for row in all {
            let (first, count, mine) = counted.entry((row.seq, &row.emoji)).or_insert((row.at, 0, false));
            *first = row.at.min(*first);
            *count += 1;
            *mine |= row.person == *asker;
        }
        let mut counted: Vec<_> = counted.into_iter().collect();
        // The sort is stable: reactions that began at the same time stay ordered by emoji.
        counted.sort_by_key(|&((seq, _), (first, ..))| (seq, first));
        let tally = |((seq, emoji), (_, count, mine)): ((Seq, &str), _)| {
            (seq, Tally { emoji: emoji.to_owned(), count, mine })
        };
        counted.into_iter().map(tally).collect()
    }
}
