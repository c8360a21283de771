//! Readings that many want at once: through the cache, one for all.

use crate::audience::{Presence, Status};
use crate::cache::{Found, Key, Outline, Part, Standing};
use crate::messenger::Messenger;
use chat::limits::PAGE_MAX;
use chat::verbs::{Around, FindRoom, LastSeen, OwnReactions, Page, ReadConversation, ReadPage};
use chat::{
    By, CommunityId, ConversationId, Failure, Moment, PersonId, Reaction, Revision, RoomName, Seq, Shown,
    Thing,
};
use std::sync::Arc;

/// Messages with a join, and on a page of which nobody said how long it is.
pub(crate) const PAGE: usize = 50;
/// Revisions of which those who come back are served by one reading.
const CHANGES_TOGETHER: u64 = 50;

impl Messenger {
    /// Which conversation a room is. It says nothing of who may know that.
    ///
    /// # Errors
    /// There is none of that name, or the store cannot be asked.
    pub async fn room(&self, community: &CommunityId, name: &RoomName) -> Result<ConversationId, Failure> {
        let found = self.inner.cache.get(Key::Room(community.clone(), name.clone()), async {
            let room = self.ask(community, By::Service, FindRoom { name: name.clone() }).await?;
            Ok(Found::Room(room.id))
        });
        match found.await? {
            Found::Room(id) => Ok(id),
            Found::Community(_) | Found::Person(_) | Found::Standing(_) | Found::Page(_) => Err(absent()),
        }
    }

    /// Who of a conversation is here: how many, and who they are, unless they are more than are told apart. It says nothing
    /// of who may know that.
    pub fn present_in(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
    ) -> (usize, Option<Vec<Presence>>) {
        self.inner.audience.present_in(community, conversation)
    }

    /// The presence of those people of whom the asker may know it: of keys all, of people those with whom they share a
    /// conversation. Others are not in the answer.
    ///
    /// # Errors
    /// As [`LastSeen`].
    pub fn presences(
        &self,
        community: &CommunityId,
        by: By,
        people: Vec<PersonId>,
    ) -> impl Future<Output = Result<Vec<Presence>, Failure>> + Send + use<> {
        let (messenger, community) = (self.clone(), community.clone());
        let asked = self.ask(&community, by, LastSeen { people });
        async move {
            let audience = &messenger.inner.audience;
            let presence = |(person, seen): (PersonId, Option<Moment>)| {
                let here = audience.presence(&community, &person);
                let here = here.unwrap_or(Presence { person, status: Status::Offline, seen: None });
                let seen = if here.status == Status::Offline { here.seen.max(seen) } else { None };
                Presence { seen, ..here }
            };
            Ok(asked.await?.into_iter().map(presence).collect())
        }
    }

    /// How somebody stands to a conversation that they may read.
    ///
    /// # Errors
    /// They may not read it: absent or refused, as the rules have it.
    pub(crate) async fn standing(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Result<Arc<Standing>, Failure> {
        let key = Key::Standing(community.clone(), conversation, person.clone());
        let found = self.inner.cache.get(key, async {
            let by = || By::Person(person.clone());
            // The page is asked for the sake of its rules: who may see a room may not always read it.
            let page = self.ask(community, by(), ReadPage { conversation, around: Around::Newest, limit: 1 });
            let read = self.ask(community, by(), ReadConversation { conversation });
            page.await?;
            let (conversation, member) = read.await?;
            let member = member.map(Part::of);
            Ok(Found::Standing(Arc::new(Standing { conversation: Outline::of(conversation), member })))
        });
        match found.await? {
            Found::Standing(standing) => Ok(standing),
            Found::Community(_) | Found::Room(_) | Found::Person(_) | Found::Page(_) => Err(absent()),
        }
    }

    /// The newest messages of a conversation, for somebody who [stands](Messenger::standing) to it so that they may read
    /// them. One reading serves everybody; where there are reactions on it, only which of them are one's own is read for
    /// each.
    pub(crate) async fn newest(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Result<Arc<Page>, Failure> {
        let page = self.newest_page(community, conversation).await?;
        self.as_seen_by(community, conversation, person, page).await
    }

    /// The newest messages, as they are for everybody.
    pub(crate) async fn newest_page(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
    ) -> Result<Arc<Page>, Failure> {
        let read = ReadPage { conversation, around: Around::Newest, limit: PAGE };
        let found = self.inner.cache.get(Key::Newest(community.clone(), conversation), async {
            Ok(Found::Page(Arc::new(self.ask(community, By::Service, read).await?)))
        });
        match found.await? {
            Found::Page(page) => Ok(page),
            Found::Community(_) | Found::Room(_) | Found::Person(_) | Found::Standing(_) => Err(absent()),
        }
    }

    /// A page whose messages lie no farther apart than [`PAGE_MAX`], with which reactions are somebody's own.
    pub(crate) async fn as_seen_by(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        page: Arc<Page>,
    ) -> Result<Arc<Page>, Failure> {
        let Some(span) = reacted_span(&page) else { return Ok(page) };
        let own = self.own(community, conversation, person, span).await?;
        Ok(Arc::new(with_own(&page, &own)))
    }

    /// The messages of a conversation that changed after a revision. When something changed, all who have it open may ask
    /// that at once: one reading serves them, apart from which reactions are one's own.
    ///
    /// # Errors
    /// They may not read it: absent or refused, as the rules have it.
    pub(crate) async fn changed(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        since: Revision,
        limit: usize,
    ) -> Result<Arc<Page>, Failure> {
        self.standing(community, conversation, person).await?;
        let read = ReadPage { conversation, around: Around::Changed(since), limit: limit.clamp(1, PAGE_MAX) };
        let limit = u32::try_from(read.limit).unwrap_or(u32::MAX);
        let key = Key::Changed(community.clone(), conversation, since, limit);
        let found = self
            .inner
            .cache
            .get(key, async { Ok(Found::Page(Arc::new(self.ask(community, By::Service, read).await?))) });
        let page = match found.await? {
            Found::Page(page) => page,
            Found::Community(_) | Found::Room(_) | Found::Person(_) | Found::Standing(_) => {
                return Err(absent());
            }
        };
        match reacted_span(&page) {
            None => Ok(page),
            // They lie far apart: what is one's own among them is not read in one go.
            Some((from, to)) if to.0 - from.0 >= PAGE_MAX as u64 => {
                self.ask(community, By::Person(person.clone()), read).await.map(Arc::new)
            }
            Some(_) => self.as_seen_by(community, conversation, person, page).await,
        }
    }

    /// The same for who comes back. They left at many revisions: one reading that begins a little before serves all of about the
    /// same, unless that is more than one page.
    pub(crate) async fn changed_while_away(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        since: Revision,
    ) -> Result<Arc<Page>, Failure> {
        let begin = Revision(since.0 - since.0 % CHANGES_TOGETHER);
        let page = self.changed(community, conversation, person, begin, PAGE_MAX).await?;
        if page.more && begin < since {
            return self.changed(community, conversation, person, since, PAGE_MAX).await;
        }
        let mut page = (*page).clone();
        page.messages.retain(|shown| shown.message.revision > since);
        Ok(Arc::new(page))
    }

    /// What somebody has reacted to between two places, which are no more than [`PAGE_MAX`].
    async fn own(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        (from, to): (Seq, Seq),
    ) -> Result<Vec<Reaction>, Failure> {
        self.ask(community, By::Person(person.clone()), OwnReactions { conversation, from, to }).await
    }
}

/// From the first to the last of the messages that have reactions, if any has.
fn reacted_span(page: &Page) -> Option<(Seq, Seq)> {
    let reacted = page.messages.iter().filter(|shown| !shown.reactions.is_empty());
    let places = reacted.map(|shown| shown.message.seq);
    places.clone().min().zip(places.max())
}

/// The page as somebody sees it who has given these reactions.
fn with_own(page: &Page, own: &[Reaction]) -> Page {
    let mut page = page.clone();
    for Shown { message, reactions } in &mut page.messages {
        for tally in reactions {
            tally.mine = own.iter().any(|own| own.seq == message.seq && own.emoji == tally.emoji);
        }
    }
    page
}

pub(crate) fn absent() -> Failure {
    Failure::Absent(Thing::Conversation)
}
