//! Changes of messages that were not told when they were stored: looked for, and told.
//!
//! A commit that failed as far as anybody knows may be done all the same. Whoever asked for it is told that it is unknown; here
//! it is found out, and told as it would have been. Revisions are dense: where a later change was told meanwhile, clients
//! have seen that one is missing and have asked for it, so that nothing is told that is older.

use crate::audience::DoubtedChange;
use crate::cache::Key;
use crate::here::Here;
use crate::messenger::Messenger;
use crate::news::{ChangedAt, counts, reacted};
use crate::notice::ErasedReactions;
use chat::verbs::{Around, ReadPage};
use chat::{By, CommunityId, ConversationId, Failure, PersonId, Revision};
use serde_json::json;

/// What is to be told of a change.
struct Told {
    revision: Revision,
    event: &'static str,
    payload: String,
}

impl Here<'_> {
    /// Nobody knows whether a message was changed: this node reads by and by what it is now.
    pub(crate) fn change_doubted(
        &mut self,
        community: &CommunityId,
        conversation: ConversationId,
        change: &DoubtedChange,
    ) {
        self.cache.forget(&Key::Newest(community.clone(), conversation));
        self.audience.doubt_change(community, conversation, change);
    }

    /// Nobody knows which messages of a community were changed.
    pub(crate) fn changes_doubted(&mut self, community: &CommunityId) {
        self.cache.forget_community(community);
        self.audience.leave_all_changes_untold(community);
    }

    /// Reactions of somebody who is erased are gone from a message.
    pub(crate) fn reactions_erased(&mut self, community: &CommunityId, erased: &ErasedReactions<'_>) {
        let ErasedReactions { at, person, emoji, counts } = erased;
        let ChangedAt { conversation, revision, .. } = *at;
        self.cache.forget(&Key::Newest(community.clone(), conversation));
        for emoji in emoji.iter() {
            if self.audience.tells_erased(community, conversation, revision) {
                let payload = reacted(*at, counts, person, emoji, false).to_string();
                self.revised(community, conversation, revision, "react", &payload);
            }
        }
    }
}

impl Messenger {
    /// Tells those of these changes that are stored and were not told. What the store could not say is asked again in the
    /// next round.
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
                    tracing::warn!(%failure, "whether messages were changed could not be read; the next round tries again");
                    let rest = changes.iter().skip(place);
                    rest.for_each(|change| audience.doubt_change(community, conversation, change));
                    break;
                }
                // Whose reaction it is may not look there any more; the others may.
                Err(_) if change.reaction.is_some() => audience.leave_changes_untold(community, conversation),
                Err(failure) => {
                    tracing::info!(%failure, %community, %conversation, "nobody looks at it any more");
                }
            }
        }
        let told = audience.told_revision(community, conversation);
        found.retain(|change| change.revision > told);
        found.sort_by_key(|change| change.revision);
        for Told { revision, event, payload } in found {
            self.inner.here().revised(community, conversation, revision, event, &payload);
        }
    }

    /// What a message is now, as it is told; none where it never changed.
    async fn read_change(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        DoubtedChange { seq, reaction }: &DoubtedChange,
    ) -> Result<Option<Told>, Failure> {
        let by = reaction.as_ref().map_or(By::Service, |(person, _)| by(person));
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
        Ok(Some(Told { revision: message.revision, event, payload: payload.to_string() }))
    }

    /// Tells how far a conversation has come whose changes were not told one by one: who stands before that asks for them.
    pub(crate) async fn tell_how_far_changes_are(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
    ) {
        let read = ReadPage { conversation, around: Around::Newest, limit: 1 };
        match self.ask(community, By::Service, read).await {
            Ok(page) => {
                let now = &page.conversation;
                if now.revision > self.inner.audience.told_revision(community, conversation) {
                    let (event, payload) = ("conversation:changed", json!(now).to_string());
                    self.inner.here().revised(community, conversation, now.revision, event, &payload);
                }
            }
            Err(Failure::Unavailable(_)) => {
                self.inner.audience.leave_changes_untold(community, conversation);
            }
            Err(failure) => {
                tracing::info!(%failure, %community, %conversation, "nobody looks at it any more");
            }
        }
    }
}

/// Who is called that.
fn by(person: &PersonId) -> By {
    if *person == PersonId::service() { By::Service } else { By::Person(person.clone()) }
}
