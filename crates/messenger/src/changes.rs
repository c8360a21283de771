//! Finds and announces changes of messages that were not announced when they were stored.
//!
//! A commit that appears to have failed may have succeeded. The requester is told that the outcome is unknown; here the
//! outcome is found out, and announced as it would have been. Revisions are dense: if a later change was announced
//! meanwhile, clients have noticed the gap and have asked for it, so nothing older is announced.

use crate::audience::DoubtedChange;
use crate::messenger::Messenger;
use crate::news::{ChangedAt, counts, reacted};
use crate::notice::ErasedReactions;
use crate::notice_applier::NoticeApplier;
use chat::verbs::{Around, ReadPage};
use chat::{By, CommunityId, Conversation, ConversationId, Failure, Revision};
use serde_json::json;

/// Conversations that the store is asked about at once.
const READ_AT_ONCE: usize = 100;

/// What is to be announced of a change.
struct ChangeEvent {
    revision: Revision,
    event: &'static str,
    payload: String,
}

impl NoticeApplier<'_> {
    /// It is unknown whether a message was changed: this node reads its state in a later round.
    pub(crate) fn change_doubted(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        change: &DoubtedChange,
    ) {
        self.cache.forget_messages(community, conversation);
        self.audience.doubt_change(community, conversation, change);
    }

    /// It is unknown which messages of a community were changed.
    pub(crate) fn changes_doubted(&mut self, community: &CommunityId) {
        self.cache.forget_community(community);
        self.audience.leave_all_changes_untold(community);
    }

    /// Reactions of a person who is being erased were removed from a message.
    pub(crate) fn reactions_erased(&mut self, community: &CommunityId, erased: &ErasedReactions<'_>) {
        let ErasedReactions { at, person, emoji, counts } = erased;
        let ChangedAt { conversation, revision, .. } = *at;
        self.cache.forget_messages(community, conversation);
        for emoji in emoji.iter() {
            if self.audience.tells_erased(community, conversation, revision) {
                let payload = reacted(*at, counts, person, emoji, false).to_string();
                self.revised(community, conversation, revision, "react", &payload);
            }
        }
    }
}

impl Messenger {
    /// Announces those of these changes that are stored but were not announced. What the store could not answer is
    /// asked again in the next round.
    pub(crate) async fn find_out_changes(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        changes: &[DoubtedChange],
    ) {
        let (audience, mut found) = (&self.inner.audience, Vec::new());
        for (place, change) in changes.iter().enumerate() {
            match self.read_change(community, conversation, change).await {
                Ok(told) => found.extend(told),
                Err(failure @ Failure::Unavailable(_)) => {
                    tracing::warn!(%failure, "changed messages could not be read; the next round retries");
                    let rest = changes.iter().skip(place);
                    rest.for_each(|change| audience.doubt_change(community, conversation, change));
                    break;
                }
                // The person who reacted may no longer read there; the others may.
                Err(_) if change.reaction.is_some() => audience.leave_changes_untold(community, conversation),
                Err(failure) => {
                    tracing::info!(%failure, %community, %conversation, "a change is not announced: the \
                         conversation can no longer be read");
                }
            }
        }
        let told = audience.told_revision(community, conversation);
        found.retain(|change| change.revision > told);
        found.sort_by_key(|change| change.revision);
        for ChangeEvent { revision, event, payload } in found {
            self.inner.here().revised(community, conversation, revision, event, &payload);
        }
    }

    /// Returns the state of a message as it is announced; `None` if it never changed.
    async fn read_change(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        DoubtedChange { seq, reaction }: &DoubtedChange,
    ) -> Result<Option<ChangeEvent>, Failure> {
        let by = reaction.as_ref().map_or(By::Service, |(person, _)| By::named(person));
        let read = ReadPage { conversation, around: Around::Place(*seq), limit: 1 };
        let page = self.ask(community, by, read).await?;
        let shown = page.messages.iter().find(|shown| shown.message.seq == *seq);
        let Some(shown) = shown.filter(|shown| shown.message.revision > Revision::default()) else {
            return Ok(None);
        };
        let message = &shown.message;
        let (event, payload) = match reaction {
            Some((person, emoji)) => {
                let on = shown.reactions.iter().any(|tally| tally.mine && tally.emoji == *emoji);
                ("react", reacted(ChangedAt::of(message), &counts(&shown.reactions), person, emoji, on))
            }
            None if message.deleted.is_some() => ("msg:delete", json!(message)),
            None => ("msg:edit", json!(message)),
        };
        Ok(Some(ChangeEvent { revision: message.revision, event, payload: payload.to_string() }))
    }

    /// Announces the revision of conversations whose changes were not announced one by one: clients behind it ask for
    /// them. If the store cannot answer, the next rounds ask again.
    pub(crate) async fn tell_how_far_changes_are(&self, conversations: &[(CommunityId, ConversationId)]) {
        let mut batches = conversations.chunks(READ_AT_ONCE);
        while let Some(batch) = batches.next() {
            let ask = |(community, conversation): &(CommunityId, ConversationId)| {
                let read = ReadPage { conversation: *conversation, around: Around::Newest, limit: 1 };
                self.ask(community, By::Service, read)
            };
            let answers: Vec<_> = batch.iter().map(ask).collect();
            let mut unread = Vec::new();
            for (place, answer) in batch.iter().zip(answers) {
                match answer.await {
                    Ok(page) => self.tell_how_far_it_is(place, &page.conversation),
                    Err(Failure::Unavailable(_)) => unread.push(place),
                    Err(failure) => {
                        let (community, conversation) = place;
                        tracing::info!(%failure, %community, %conversation, "a change is not announced: the \
                             conversation can no longer be read");
                    }
                }
            }
            if !unread.is_empty() {
                tracing::warn!("the revisions of conversations could not be read; the next round retries");
                for (community, conversation) in unread.into_iter().chain(batches.flatten()) {
                    self.inner.audience.leave_changes_untold(community, *conversation);
                }
                return;
            }
        }
    }

    fn tell_how_far_it_is(
        &self,
        (community, conversation): &(CommunityId, ConversationId),
        now: &Conversation,
    ) {
        if now.revision > self.inner.audience.told_revision(community, *conversation) {
            let payload = json!(now).to_string();
            let mut here = self.inner.here();
            here.revised(community, *conversation, now.revision, "conversation:changed", &payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::{DeviceId, Followed, Reading, UNTOLD_CHANGES_READ_MAX};
    use crate::scene::{self, id, run, somebody};
    use chat::{RoomName, Ulid};

    fn conversation(number: usize) -> ConversationId {
        ConversationId(Ulid::from_bytes((number as u128).to_be_bytes()))
    }

    /// Ann has `count` rooms open, and is in another that she does not have open.
    fn open(messenger: &Messenger, count: usize) {
        let (one, ann, audience) = (id("one"), somebody("ann"), &messenger.inner.audience);
        audience.arrive(&one, &ann, DeviceId(1)).expect("there is room");
        let followed = [Followed { id: conversation(0), is_room: true, revision: Revision(0) }];
        audience.begin_following(&one, &ann);
        audience.follow_all(&one, &ann, Reading { followed: &followed, gone: &[] });
        let name = RoomName::parse("lobby").expect("a name");
        for number in 1..=count {
            audience.open_room(&one, conversation(number), &name, &ann, DeviceId(1));
        }
    }

    #[test]
    fn a_round_reads_how_far_so_many_open_conversations_are_and_leaves_the_rest_to_the_next() {
        run(async {
            let (messenger, _) = scene::messenger();
            scene::community(&messenger, "one").await;
            open(&messenger, UNTOLD_CHANGES_READ_MAX + 1);
            let (one, audience) = (id("one"), &messenger.inner.audience);
            audience.revised(&one, conversation(0), Revision(5));
            audience.leave_all_changes_untold(&one);
            for read in [UNTOLD_CHANGES_READ_MAX, 1, 0] {
                let before = messenger.counts().asked_total;
                messenger.catch_up().await;
                assert_eq!(messenger.counts().asked_total - before, read as u64);
            }
            audience.note_revision(&one, conversation(0), Revision(7));
            let told = audience.told_revision(&one, conversation(0));
            assert_eq!(told, Revision(7), "who opens that room is the first there");
        });
    }

    #[test]
    fn a_round_ends_with_what_the_store_cannot_say_and_the_next_asks_for_all_of_it() {
        run(async {
            let (messenger, held) = scene::holding();
            scene::community(&messenger, "one").await;
            open(&messenger, 3 * READ_AT_ONCE);
            messenger.inner.audience.leave_all_changes_untold(&id("one"));
            for (fails, read) in [(true, READ_AT_ONCE), (false, 3 * READ_AT_ONCE), (false, 0)] {
                let before = messenger.counts().asked_total;
                if fails {
                    held.hold();
                }
                tokio::join!(messenger.catch_up(), async { held.cut() });
                assert_eq!(messenger.counts().asked_total - before, read as u64);
            }
        });
    }
}
