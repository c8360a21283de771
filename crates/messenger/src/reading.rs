//! Reads that many clients want at once: through the cache, one for all.

use crate::audience::{Presence, Status};
use crate::cache::{Found, Key, Part, Standing};
use crate::messenger::Messenger;
use chat::limits::PAGE_MAX;
use chat::verbs::{Around, FindRoom, LastSeen, OwnReactions, Page, ReadConversation, ReadPage};
use chat::{
    By, CommunityId, ConversationId, Failure, Moment, PersonId, Reaction, Revision, RoomName, Seq, Shown,
    Thing,
};
use std::sync::Arc;

/// Messages in the answer to a join, and on a page if no length is given.
pub(crate) const PAGE: usize = 50;
/// Revisions that are served by one read for returning clients.
const CHANGES_TOGETHER: u64 = 50;

impl Messenger {
    /// Returns the conversation of a room. It does not check who may know it.
    ///
    /// # Errors
    /// There is no room of that name, or the store is unavailable.
    pub async fn room(&self, community: &CommunityId, name: &RoomName) -> Result<ConversationId, Failure> {
        let found = self.inner.cache.get(Key::Room(community.clone(), name.clone()), || async {
            let room = self.ask(community, By::Service, FindRoom { name: name.clone() }).await?;
            Ok(Found::Room(room.id.into()))
        });
        match found.await? {
            Found::Room(id) => Ok(*id),
            Found::Community(_) | Found::Person(..) | Found::Standing(_) | Found::Page(..) => Err(absent()),
        }
    }

    /// Returns how many people in a conversation are online, and who they are unless they are too many. It does not
    /// check who may know it.
    pub fn present_in(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
    ) -> (usize, Option<Vec<Presence>>) {
        self.inner.audience.present_in(community, conversation)
    }

    /// Returns the presence of those of these people that the asker may know of: a key may know of all, a person of
    /// those with whom they share a conversation. The others are left out.
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

    /// Returns a person's standing in a conversation that they may read.
    ///
    /// # Errors
    /// The person may not read it: absent or refused, according to the rules.
    pub(crate) async fn standing(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Result<Arc<Standing>, Failure> {
        let key = Key::Standing(community.clone(), conversation, person.clone());
        let read =
            || async { self.read_standing(community, conversation, person).await.map(Found::Standing) };
        match self.inner.cache.get(key, read).await? {
            Found::Standing(standing) => Ok(standing),
            Found::Community(_) | Found::Room(_) | Found::Person(..) | Found::Page(..) => Err(absent()),
        }
    }

    /// Like [`Messenger::standing`], but does not cache what it reads.
    pub(crate) async fn standing_once(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Result<Arc<Standing>, Failure> {
        match self.inner.cache.known_standing(community, conversation, person) {
            Some(standing) => Ok(standing),
            None => self.read_standing(community, conversation, person).await,
        }
    }

    async fn read_standing(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Result<Arc<Standing>, Failure> {
        let by = || By::Person(person.clone());
        // The page is read for the sake of its access rules: not everybody who may see a room may read it.
        let page = self.ask(community, by(), ReadPage { conversation, around: Around::Newest, limit: 1 });
        let read = self.ask(community, by(), ReadConversation { conversation });
        page.await?;
        let (conversation, member) = read.await?;
        let member = member.map(Part::of);
        let name = self.inner.cache.shared_name(community, conversation);
        Ok(Arc::new(Standing { name, member }))
    }

    /// Returns the newest messages of a conversation, for a person who has [standing](Messenger::standing) to read it.
    /// One read serves everybody; only if messages have reactions, the person's own ones are read separately.
    pub(crate) async fn newest(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
    ) -> Result<Arc<Page>, Failure> {
        let page = self.newest_page(community, conversation).await?;
        self.as_seen_by(community, conversation, person, page).await
    }

    /// Returns the newest messages, as they are for everybody.
    pub(crate) async fn newest_page(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
    ) -> Result<Arc<Page>, Failure> {
        let read = ReadPage { conversation, around: Around::Newest, limit: PAGE };
        let found = self.inner.cache.get(Key::Newest(community.clone(), conversation), || async {
            Ok(Found::page(self.ask(community, By::Service, read).await?))
        });
        match found.await? {
            Found::Page(page, _) => Ok(page),
            Found::Community(_) | Found::Room(_) | Found::Person(..) | Found::Standing(_) => Err(absent()),
        }
    }

    /// Marks a person's own reactions on a page whose messages span at most [`PAGE_MAX`] sequence numbers.
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

    /// Returns the messages of a conversation that changed after a revision.
    ///
    /// # Errors
    /// The person may not read it: absent or refused, according to the rules.
    pub(crate) async fn changed(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        since: Revision,
        limit: usize,
    ) -> Result<Arc<Page>, Failure> {
        self.standing(community, conversation, person).await?;
        self.changed_since(community, conversation, person, since, limit).await
    }

    /// Like [`Messenger::changed`], for a person who has [standing](Messenger::standing). After a change, everybody who has
    /// the conversation open may ask for it at once: one read serves them all, except for which reactions are their own.
    async fn changed_since(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        since: Revision,
        limit: usize,
    ) -> Result<Arc<Page>, Failure> {
        let read = ReadPage { conversation, around: Around::Changed(since), limit: limit.clamp(1, PAGE_MAX) };
        let limit = u32::try_from(read.limit).unwrap_or(u32::MAX);
        let key = Key::Changed(community.clone(), conversation, since, limit);
        let found = self
            .inner
            .cache
            .get(key, || async { Ok(Found::page(self.ask(community, By::Service, read).await?)) });
        let page = match found.await? {
            Found::Page(page, _) => page,
            Found::Community(_) | Found::Room(_) | Found::Person(..) | Found::Standing(_) => {
                return Err(absent());
            }
        };
        match reacted_span(&page) {
            None => Ok(page),
            // They are too far apart to read the person's own reactions in one query.
            Some((from, to)) if to.0 - from.0 >= PAGE_MAX as u64 => {
                self.ask(community, By::Person(person.clone()), read).await.map(Arc::new)
            }
            Some(_) => self.as_seen_by(community, conversation, person, page).await,
        }
    }

    /// Like [`Messenger::changed`], for returning people who have [standing](Messenger::standing). They left at many
    /// revisions: one read that begins slightly earlier serves all with about the same, unless that is more than one page.
    pub(crate) async fn changed_while_away(
        &self,
        community: &CommunityId,
        conversation: ConversationId,
        person: &PersonId,
        since: Revision,
    ) -> Result<Arc<Page>, Failure> {
        let begin = Revision(since.0 - since.0 % CHANGES_TOGETHER);
        let page = self.changed_since(community, conversation, person, begin, PAGE_MAX).await?;
        if page.more && begin < since {
            return self.changed_since(community, conversation, person, since, PAGE_MAX).await;
        }
        let mut page = (*page).clone();
        page.messages.retain(|shown| shown.message.revision > since);
        Ok(Arc::new(page))
    }

    /// Returns a person's own reactions between two sequence numbers, which span at most [`PAGE_MAX`].
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

/// Returns the first and the last message with reactions, if there are any.
fn reacted_span(page: &Page) -> Option<(Seq, Seq)> {
    let reacted = page.messages.iter().filter(|shown| !shown.reactions.is_empty());
    let places = reacted.map(|shown| shown.message.seq);
    places.clone().min().zip(places.max())
}

/// Returns the page as seen by the person with these reactions.
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
