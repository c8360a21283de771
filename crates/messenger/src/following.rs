//! A person's conversations: read as a whole, then followed by their devices.

use crate::audience::{self, Audience, Followed};
use crate::messenger::Messenger;
use crate::reading::PAGE;
use chat::limits::{CONVERSATIONS_MAX, PAGE_MAX};
use chat::verbs::{Conversations, ReadConversation, Tab, TabPosition};
use chat::{By, CommunityId, ConversationId, Failure, PersonId, Seq};

/// All conversations of a person.
pub(crate) struct Theirs {
    /// The first [`PAGE`] lines of their conversations tab.
    pub(crate) tabs: Vec<Tab>,
    pub(crate) next: Option<TabPosition>,
    pub(crate) all: Vec<Line>,
    /// Whether all were read.
    pub(crate) is_whole: bool,
}

/// One of them.
pub(crate) struct Line {
    pub(crate) followed: Followed,
    pub(crate) last: Seq,
}

impl Line {
    fn of(tab: &Tab) -> Self {
        Self { followed: Followed::of(&tab.conversation), last: tab.conversation.last }
    }
}

/// A reading of a person's conversations in progress; abandoned when dropped.
pub(crate) struct Reading<'a> {
    audience: &'a Audience,
    community: &'a CommunityId,
    pub(crate) person: &'a PersonId,
    is_over: bool,
}

impl<'a> Reading<'a> {
    pub(crate) fn begin(audience: &'a Audience, community: &'a CommunityId, person: &'a PersonId) -> Self {
        audience.begin_following(community, person);
        Self { audience, community, person, is_over: false }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.audience.abandon_following(self.community, self.person);
        }
    }
}

impl Messenger {
    /// Reads the conversations of a person who is online. They follow these from now on, except for those they leave
    /// meanwhile; those with whom they share them are sent their presence.
    ///
    /// # Errors
    /// As [`Conversations`]. What they followed before stays followed.
    pub(crate) async fn follow(&self, community: &CommunityId, person: &PersonId) -> Result<Theirs, Failure> {
        let reading = Reading::begin(&self.inner.audience, community, person);
        let theirs = self.conversations(community, person).await?;
        let followed: Vec<_> = theirs.all.iter().map(|line| line.followed).collect();
        let gone = if theirs.is_whole { self.gone(community, person, &followed).await? } else { Vec::new() };
        let heads: Vec<_> = theirs.all.iter().map(|line| (line.followed.id, line.last)).collect();
        self.note_followed(reading, audience::Reading { followed: &followed, gone: &gone }, &heads);
        Ok(theirs)
    }

    /// Applies what was read of a person's conversations. Returns whether they follow other conversations than before.
    pub(crate) fn note_followed(
        &self,
        mut reading: Reading<'_>,
        read: audience::Reading<'_>,
        heads: &[(ConversationId, Seq)],
    ) -> bool {
        let Reading { audience, community, person, .. } = reading;
        reading.is_over = true;
        let changed = audience.follow_all(community, person, read);
        self.inner.here().announce(&changed.announcement);
        audience.note_heads(community, heads);
        changed.is_other
    }

    /// Returns what a person follows but is no longer in. A conversation that is on no page may have moved to the front
    /// during the reading, so each is asked about.
    async fn gone(
        &self,
        community: &CommunityId,
        person: &PersonId,
        read: &[Followed],
    ) -> Result<Vec<ConversationId>, Failure> {
        let mut gone = Vec::new();
        for conversation in self.inner.audience.unread(community, person, read) {
            match self.ask(community, By::Person(person.clone()), ReadConversation { conversation }).await {
                Ok((_, Some(_))) => {}
                Err(failure @ Failure::Unavailable(_)) => return Err(failure),
                Ok((_, None)) | Err(_) => gone.push(conversation),
            }
        }
        Ok(gone)
    }

    /// Reads the conversations they are in.
    pub(crate) async fn conversations(
        &self,
        community: &CommunityId,
        person: &PersonId,
    ) -> Result<Theirs, Failure> {
        let by = || By::Person(person.clone());
        let first = self.ask(community, by(), Conversations { before: None, limit: PAGE }).await?;
        let mut all: Vec<Line> = first.rows.iter().map(Line::of).collect();
        let mut next = first.next;
        while let Some(before) = next.filter(|_| all.len() < CONVERSATIONS_MAX) {
            let page = Conversations { before: Some(before), limit: PAGE_MAX };
            let page = self.ask(community, by(), page).await?;
            all.extend(page.rows.iter().map(Line::of));
            next = page.next;
        }
        Ok(Theirs { tabs: first.rows, next: first.next, all, is_whole: next.is_none() })
    }
}

#[cfg(test)]
mod tests {
    use crate::audience::DeviceId;
    use crate::scene::{self, id, run, somebody};

    #[test]
    fn a_reading_that_nobody_waits_for_any_more_keeps_no_other_from_being_begun() {
        run(async {
            let (messenger, held) = scene::holding();
            let lobby = scene::community(&messenger, "one").await;
            scene::person(&messenger, "one", "ann", &lobby).await;
            let (one, ann, audience) = (id("one"), somebody("ann"), &messenger.inner.audience);
            audience.arrive(&one, &ann, DeviceId(1)).expect("there is room");
            held.hold();
            tokio::select! {
                biased;
                _ = messenger.follow(&one, &ann) => panic!("nothing is answered"),
                () = std::future::ready(()) => {}
            }
            assert_eq!(held.count(), 1);
            audience.follow_again(&one, &ann);
            assert_eq!(audience.overdue().to_follow, [(one, ann)]);
        });
    }
}
