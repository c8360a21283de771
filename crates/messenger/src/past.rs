//! Messages before the newest page, in aligned pages that are shared by everybody.
//!
//! Returning clients stopped at many different messages. What they missed is assembled from the newest page and from
//! pages whose boundaries do not depend on who asks, so that a storm reads each of them once. Such a page is read only
//! when its last sequence number has been assigned; later messages do not change it.
//!
//! The parts were not read at the same moment. The result has the revision of its oldest part, so that the client
//! learns of all changes since, as if everything had been read then. If a sequence number is missing, as when old
//! messages are expiring, the range is read in one query for that client alone.

use crate::cache::{Found, Key};
use crate::messenger::Messenger;
use crate::reading::{PAGE, absent};
use chat::limits::PAGE_MAX;
use chat::verbs::{Around, Page, ReadPage};
use chat::{By, CommunityId, ConversationId, Failure, PersonId, Seq, Shown};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Sequence numbers per page.
const PLACES: u64 = PAGE as u64;

impl Messenger {
    /// Returns the messages of a conversation after `seq`, as seen by a person who has [standing](Messenger::standing)
    /// to read it.
    pub(crate) async fn after(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        seq: Seq,
        limit: usize,
    ) -> Result<Arc<Page>, Failure> {
        let newest = self.newest_page(community, conversation).await?;
        let (first, last) = (newest.conversation.first, newest.conversation.last);
        let from = Seq(seq.0.saturating_add(1)).max(first);
        let to = last.min(Seq(from.0.saturating_add(limit.clamp(1, PAGE_MAX) as u64 - 1)));
        let newest_from = newest.messages.first().map_or(last.next(), |shown| shown.message.seq);
        let (messages, more) = (Vec::new(), to < last);
        let mut page = Page { messages, conversation: newest.conversation.clone(), more };
        let mut next = from;
        while next <= to && next < newest_from {
            let nth = (next.0 - 1) / PLACES;
            let past = self.past_page(community, conversation, nth).await?;
            let end = Seq((nth + 1) * PLACES).min(to).min(Seq(newest_from.0 - 1));
            page.conversation.revision = page.conversation.revision.min(past.conversation.revision);
            page.messages.extend(between(&past, next..=end));
            next = end.next();
        }
        page.messages.extend(between(&newest, next..=to));
        if is_whole(&page.messages, from..=to) {
            return self.as_seen_by(community, conversation, person, Arc::new(page)).await;
        }
        self.after_at_once(community, conversation, person, seq, limit).await
    }

    /// Returns what a person missed since `seq`, on one page, like [`Messenger::after`]. If it is more than a page, it
    /// is not read: the page is empty and says that there is more.
    pub(crate) async fn missed(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        seq: Seq,
    ) -> Result<Arc<Page>, Failure> {
        let newest = self.newest_page(community, conversation).await?;
        let last = newest.conversation.last;
        if seq > last {
            // Another node may have sent them messages that this one has not heard of yet.
            return self.after_at_once(community, conversation, person, seq, PAGE_MAX).await;
        }
        if last.0 - seq.0 > PAGE_MAX as u64 {
            let conversation = newest.conversation.clone();
            return Ok(Arc::new(Page { messages: Vec::new(), conversation, more: true }));
        }
        self.after(community, conversation, person, seq, PAGE_MAX).await
    }

    /// Returns the messages after `seq`, at least up to `head`, after checking that the person may read them.
    ///
    /// # Errors
    /// The person may not read it: absent or refused, according to the rules.
    pub(crate) async fn said_meanwhile(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        (seq, head): (Seq, Seq),
    ) -> Result<Arc<Page>, Failure> {
        self.standing(community, conversation, person).await?;
        let page = self.after(community, conversation, person, seq, PAGE_MAX).await?;
        if page.conversation.last >= head {
            return Ok(page);
        }
        self.after_at_once(community, conversation, person, seq, PAGE_MAX).await
    }

    /// Returns the `nth` aligned page, as it is for everybody.
    async fn past_page(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        nth: u64,
    ) -> Result<Arc<Page>, Failure> {
        let around = Around::Before(Seq((nth + 1) * PLACES + 1));
        let read = ReadPage { conversation, around, limit: PAGE };
        let found = self.inner.cache.get(Key::Past(community.clone(), conversation, nth), || async {
            Ok(Found::page(self.ask(community, By::Service, read).await?))
        });
        match found.await? {
            Found::Page(page, _) => Ok(page),
            Found::Community(_) | Found::Room(_) | Found::Person(..) | Found::Standing(_) => Err(absent()),
        }
    }

    /// Like [`Messenger::after`], but read in one query for this person.
    async fn after_at_once(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        seq: Seq,
        limit: usize,
    ) -> Result<Arc<Page>, Failure> {
        let read = ReadPage { conversation, around: Around::After(seq), limit };
        self.ask(community, By::Person(person.clone()), read).await.map(Arc::new)
    }
}

/// Returns the messages of a page in this range.
fn between(page: &Page, places: RangeInclusive<Seq>) -> impl Iterator<Item = Shown> {
    page.messages.iter().filter(move |shown| places.contains(&shown.message.seq)).cloned()
}

/// Returns whether there is a message for each sequence number of the range.
fn is_whole(messages: &[Shown], places: RangeInclusive<Seq>) -> bool {
    let expected = places.start().0..=places.end().0;
    expected.eq(messages.iter().map(|shown| shown.message.seq.0))
}

#[cfg(test)]
mod tests;
