//! Counts reactions: any number of people may have reacted, so their rows are not read as a page.

use super::select::{Entity as _, Select};
use super::session::{Param, Session, corrupt};
use chat::rows::Found;
use chat::{CommunityId, PersonId, Reaction, Seq, Tally};

/// Counts the reactions to the messages of a range: see [`Rows::tallies`](chat::Rows::tallies).
pub(super) fn tallies(
    session: &mut impl Session,
    community: &CommunityId,
    span: [Param<'static>; 3],
    asker: &PersonId,
) -> Found<Vec<(Seq, Tally)>> {
    let here = Select::of(community).and("t.conversation = ? AND t.seq >= ? AND t.seq <= ?", span);
    let (conditions, params, _) = here.parts();
    let mut params = params.to_vec();
    params.push(asker.as_str().into());
    let sql = format!(
        "SELECT t.seq, t.emoji, count(*), count(CASE WHEN t.person = ?{} THEN 1 END) FROM {} t \
         WHERE {conditions} GROUP BY t.seq, t.emoji ORDER BY t.seq, min(t.at_ms), t.emoji",
        params.len(),
        Reaction::TABLE,
    );
    let mut found = Vec::new();
    session.query(&sql, &params, &mut |row| {
        let number = |at| row.integer(at).map(|number| number.and_then(|number| u64::try_from(number).ok()));
        let (Some(seq), Some(emoji), Some(count), Some(own)) =
            (number(0)?, row.text(1)?, number(2)?, number(3)?)
        else {
            return Err(corrupt("a reaction has no sequence number or emoji"));
        };
        found.push((Seq(seq), Tally { emoji: emoji.to_owned(), count, mine: own > 0 }));
        Ok(())
    })?;
    Ok(found)
}
