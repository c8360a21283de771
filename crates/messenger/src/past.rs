//! What stands before the newest page, in pages of fixed places that everybody shares.
//!
//! Who comes back stands anywhere, and everybody somewhere else. So what they missed is put together from the newest page and
//! from pages whose places do not depend on who asks: a storm reads each of them once. Such a page is only asked for when its
//! last place is said; what is said later changes nothing of it.
//!
//! What is put together was not read at one moment. Its revision is that of its oldest part: who is given it learns of what
//! changed since, as if all of it had been read then. Where a place is missing, as when old messages are dropped meanwhile, it
//! is read at one moment, for who asked alone.

use crate::cache::{Found, Key};
use crate::messenger::Messenger;
use crate::reading::{PAGE, absent};
use chat::limits::PAGE_MAX;
use chat::verbs::{Around, Page, ReadPage};
use chat::{By, CommunityId, ConversationId, Failure, PersonId, Seq, Shown};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Places of a page.
const PLACES: u64 = PAGE as u64;

impl Messenger {
    /// The messages of a conversation after a place, as somebody sees them who [stands](Messenger::standing) to it so that they
    /// may read them.
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

    /// What somebody missed who stood at `seq`, on one page, as [`Messenger::after`]. What is more than that is not read: the
    /// page says that there is more, and is empty.
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
            // Another node may have told them of what this one has not heard of yet.
            return self.after_at_once(community, conversation, person, seq, PAGE_MAX).await;
        }
        if last.0 - seq.0 > PAGE_MAX as u64 {
            let conversation = newest.conversation.clone();
            return Ok(Arc::new(Page { messages: Vec::new(), conversation, more: true }));
        }
        self.after(community, conversation, person, seq, PAGE_MAX).await
    }

    /// What was said after `seq` up to `head` at least, for who may read there.
    ///
    /// # Errors
    /// They may not read it: absent or refused, as the rules have it.
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

    /// The messages of so many places, as they are for everybody.
    async fn past_page(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        nth: u64,
    ) -> Result<Arc<Page>, Failure> {
        let around = Around::Before(Seq((nth + 1) * PLACES + 1));
        let read = ReadPage { conversation, around, limit: PAGE };
        let found = self.inner.cache.get(Key::Past(community.clone(), conversation, nth), async {
            Ok(Found::Page(Arc::new(self.ask(community, By::Service, read).await?)))
        });
        match found.await? {
            Found::Page(page) => Ok(page),
            Found::Community(_) | Found::Room(_) | Found::Person(_) | Found::Standing(_) => Err(absent()),
        }
    }

    /// The same as [`Messenger::after`], read at one moment for one.
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

/// The messages of a page that have these places.
fn between(page: &Page, places: RangeInclusive<Seq>) -> impl Iterator<Item = Shown> {
    page.messages.iter().filter(move |shown| places.contains(&shown.message.seq)).cloned()
}

/// Whether there is a message for each of these places.
fn is_whole(messages: &[Shown], places: RangeInclusive<Seq>) -> bool {
    let expected = places.start().0..=places.end().0;
    expected.eq(messages.iter().map(|shown| shown.message.seq.0))
}

#[cfg(test)]
mod tests;
