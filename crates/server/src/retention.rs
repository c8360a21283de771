//! Periodic cleanup: drops messages that exceed a community's retention, forgets guests who are gone, and completes
//! erasures of people, conversations and communities that were interrupted.

use chat::limits::PAGE_MAX;
use chat::verbs::{
    Communities, Erase, EraseCommunity, EraseConversation, Erased, Expire, HalfErasedCommunities,
    HalfErasedConversations, HalfErasedPeople,
};
use chat::{By, CommunityId, ConversationId, Failure, Moment, PersonId};
use messenger::Messenger;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Time from the start to the first round: a restart is not slowed down, and a server that is restarted often still
/// drops old messages.
const FIRST_ROUND: Duration = Duration::from_secs(60);
/// Time from the start to the first check for erasures: this server may have been killed in the middle of one, and
/// possibly nobody waited for the answer.
const FIRST_LOOK: Duration = Duration::from_secs(10);
/// Time from one check for erasures to the next.
const LOOK: Duration = Duration::from_secs(60);
/// Scheduled time from one round through all communities to the next.
const ROUND: Duration = Duration::from_secs(60 * 60);
/// Maximum pause between two steps: people who write have priority.
const BREATH: Duration = Duration::from_millis(50);
/// A round that takes longer than [`ROUND`] does not keep up with what is written; then pauses are divided by this.
const HURRY: u32 = 8;
/// How long an erasure must have made no progress, here or on another node, before it is continued: two at once would
/// interfere.
const ABANDONED_MS: u64 = 10_000;

/// Runs until the process ends.
pub(crate) async fn apply(messenger: Messenger) {
    let mut next_round = Instant::now() + FIRST_ROUND;
    tokio::time::sleep(FIRST_LOOK).await;
    loop {
        let began = Instant::now();
        if next_round <= began {
            let due = next_round + ROUND;
            if let Err(failure) = go_round(&messenger, due).await {
                tracing::warn!(%failure, "expired messages could not be deleted; the next round retries");
            }
            // A late round is followed by the next one at once, which is then late from the start.
            next_round = due.max(began);
        }
        // A late round must not starve the check for erasures.
        let until = next_round.max(Instant::now() + LOOK);
        if let Err(failure) = erase_what_is_left(&messenger, messenger::now(), until).await {
            tracing::warn!(%failure, "pending erasures could not be read; the next check retries");
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Lists all communities except those being erased.
async fn communities(messenger: &Messenger) -> Result<Vec<CommunityId>, Failure> {
    let (mut kept, mut after) = (Vec::new(), None);
    loop {
        let listed = messenger.perform(Communities { after, limit: PAGE_MAX }).await?;
        let rows = listed.rows.into_iter().filter(|community| community.erasing.is_none());
        kept.extend(rows.map(|community| community.id));
        after = listed.next;
        if after.is_none() {
            return Ok(kept);
        }
    }
}

/// Drops old messages of all communities, which take turns: one that fails, or has much to drop, does not delay the
/// others. After `due` pauses are short.
async fn go_round(messenger: &Messenger, due: Instant) -> Result<(), Failure> {
    let kept = communities(messenger).await?;
    let mut left: VecDeque<Expiring> = kept.into_iter().map(Expiring::new).collect();
    while let Some(mut expiring) = left.pop_front() {
        let begun = Instant::now();
        match expiring.drop_a_part(messenger).await {
            Ok(false) => {}
            Ok(true) => {
                left.push_back(expiring);
                let now = Instant::now();
                tokio::time::sleep(pause(now - begun, due < now)).await;
            }
            // It is being erased.
            Err(Failure::Absent(_)) => {}
            Err(failure) => {
                let community = &expiring.community;
                tracing::warn!(%failure, %community, "expired messages could not be deleted; the next round retries");
            }
        }
    }
    Ok(())
}

/// Returns as long a pause as a step took: so half of the store's time is left to others, and if the store makes the
/// step wait for its turn, the pause grows, too. It is at most [`BREATH`], or cleanup would fall behind where much is
/// written all day.
fn pause(took: Duration, is_late: bool) -> Duration {
    let pause = took.min(BREATH);
    if is_late { pause / HURRY } else { pause }
}

/// A community with messages to drop.
struct Expiring {
    community: CommunityId,
    /// Number of messages dropped so far.
    dropped: u64,
}

impl Expiring {
    fn new(community: CommunityId) -> Self {
        Self { community, dropped: 0 }
    }

    /// Drops one step's worth of messages. Returns whether there is more.
    async fn drop_a_part(&mut self, messenger: &Messenger) -> Result<bool, Failure> {
        let Self { community, dropped } = self;
        let expired = messenger.ask(community, By::Service, Expire).await?;
        *dropped += expired.messages;
        if !expired.attachments.is_empty() {
            let files = expired.attachments;
            tracing::info!(%community, ?files, "files of expired messages should be deleted");
        }
        if !expired.more {
            if *dropped > 0 {
                tracing::info!(%community, messages = *dropped, "expired messages were deleted");
            }
            forget_guests(messenger, community).await?;
        }
        Ok(expired.more)
    }
}

/// Forgets guests. Runs after old messages were dropped: a guest whose messages are all gone can be forgotten, too.
async fn forget_guests(messenger: &Messenger, community: &CommunityId) -> Result<(), Failure> {
    let mut after = None;
    loop {
        let (forgotten, next) = messenger.forget_some_guests(community, after).await?;
        if forgotten > 0 {
            tracing::info!(%community, guests = forgotten, "data of guests who left was deleted");
            tokio::time::sleep(BREATH).await;
        }
        after = next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// An erasure to complete.
enum Left {
    Person(CommunityId, PersonId),
    Conversation(CommunityId, ConversationId),
    Community(CommunityId),
}

impl Left {
    /// Returns the community for the log. A person to be erased is not named there.
    fn community(&self) -> &CommunityId {
        match self {
            Self::Person(community, _) | Self::Conversation(community, _) | Self::Community(community) => {
                community
            }
        }
    }

    /// Erases one step's worth. Returns whether that was the last step, and which files have to be deleted.
    async fn erase_a_part(&self, messenger: &Messenger) -> Result<(bool, Vec<String>), Failure> {
        match self {
            Self::Person(community, person) => {
                let part = messenger.ask(community, By::Service, Erase { person: person.clone() }).await?;
                Ok((part.done, part.attachments))
            }
            Self::Conversation(community, conversation) => {
                let erase = EraseConversation { which: Erased::Id(*conversation) };
                let part = messenger.ask(community, By::Service, erase).await?;
                Ok((part.done, part.attachments))
            }
            Self::Community(community) => {
                let part = messenger.ask(community, By::Service, EraseCommunity).await?;
                Ok((part.done, part.attachments))
            }
        }
    }
}

/// Continues interrupted erasures of people, conversations and communities, in turn, at most until `until`. The files
/// are logged for the operator, because whoever requested the erasure is no longer there to get the answer.
async fn erase_what_is_left(messenger: &Messenger, now: Moment, until: Instant) -> Result<(), Failure> {
    let untouched_since = now.before_ms(ABANDONED_MS);
    let conversations = messenger.perform(HalfErasedConversations { untouched_since }).await?;
    let conversations = conversations.into_iter().map(|(community, id)| Left::Conversation(community, id));
    let people = messenger.perform(HalfErasedPeople { untouched_since }).await?;
    let people = people.into_iter().map(|(community, person)| Left::Person(community, person));
    let communities = messenger.perform(HalfErasedCommunities { untouched_since }).await?;
    let communities = communities.into_iter().map(Left::Community);
    let mut left: Vec<Left> = people.chain(conversations).chain(communities).collect();
    while !left.is_empty() && Instant::now() < until {
        for what in std::mem::take(&mut left) {
            let community = what.community();
            match what.erase_a_part(messenger).await {
                Ok((done, files)) => {
                    if !files.is_empty() {
                        tracing::info!(%community, ?files, "files of erased messages should be deleted");
                    }
                    if done {
                        tracing::info!(%community, "an interrupted erasure was completed");
                    } else {
                        left.push(what);
                    }
                }
                Err(Failure::Absent(_)) => {}
                Err(failure) => {
                    tracing::warn!(%failure, %community, "a part of an erasure failed; the next check retries");
                }
            }
            tokio::time::sleep(BREATH).await;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::verbs::{ChangeCommunity, ReadPage};
    use chat::{Asked, Call, Draft, Entropy, MemoryStore, PersonId, Profile, RoomName, verbs};
    use messenger::Settings;
    use std::sync::Arc;

    #[test]
    fn an_erasure_that_was_broken_off_is_brought_to_its_end_and_one_under_way_is_left_alone() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let messenger = Messenger::new(Arc::new(MemoryStore::default()), Settings::default());
            messenger.prepare_default().await.expect("the default community");
            let community = CommunityId::parse("default").expect("a community");
            messenger.ask(&community, By::Service, EraseCommunity).await.expect("the first part");
            go_round(&messenger, Instant::now() + ROUND).await.expect("there is nothing to drop");
            let (now, until) = (messenger::now(), Instant::now() + ROUND);
            for (now, left) in [(now, 1), (now.after_ms(2 * ABANDONED_MS), 0)] {
                erase_what_is_left(&messenger, now, until).await.expect("a look");
                let all = Communities { after: None, limit: PAGE_MAX };
                assert_eq!(messenger.perform(all).await.expect("a list").rows.len(), left);
            }
        });
    }

    #[test]
    fn a_person_who_is_half_erased_is_erased_whole_once_nobody_goes_on_with_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let messenger = Messenger::new(Arc::new(MemoryStore::default()), Settings::default());
            messenger.prepare_default().await.expect("the default community");
            let community = CommunityId::parse("default").expect("a community");
            let name = RoomName::parse("lobby").expect("a room");
            let room = messenger
                .ask(&community, By::Service, verbs::FindRoom { name })
                .await
                .expect("it is there")
                .id;
            let ann = PersonId::parse("ann").expect("an id");
            let profile = Profile { name: "Ann".to_owned(), avatar: None, guest: false, role: None };
            let by = || By::Person(ann.clone());
            messenger.ask(&community, by(), verbs::Meet { profile }).await.expect("somebody");
            let join = verbs::Join { conversation: room, invitation: None };
            messenger.ask(&community, by(), join).await.expect("it is public");
            for _ in 0..=PAGE_MAX {
                let append = verbs::Append { conversation: room, draft: Draft::text(None, "hello") };
                messenger.ask(&community, by(), append).await.expect("a message");
            }
            let part = messenger.ask(&community, By::Service, Erase { person: ann.clone() }).await;
            assert!(!part.expect("the first part").done);
            let (now, until) = (messenger::now(), Instant::now() + ROUND);
            for (now, left) in [(now, 1), (now.after_ms(2 * ABANDONED_MS), 0)] {
                erase_what_is_left(&messenger, now, until).await.expect("a look");
                let people = verbs::People { after: None, limit: PAGE_MAX };
                let people = messenger.ask(&community, By::Service, people).await.expect("a list").rows;
                assert_eq!(people.len(), left);
            }
            let page = ReadPage { conversation: room, around: verbs::Around::Newest, limit: PAGE_MAX };
            let page = messenger.ask(&community, By::Service, page).await.expect("a page");
            assert!(page.messages.iter().all(|shown| shown.message.sender == PersonId::erased()));
        });
    }

    #[test]
    fn a_room_that_is_half_erased_is_erased_whole_once_nobody_goes_on_with_it_though_all_in_it_is_too_old() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let messenger = Messenger::new(Arc::new(MemoryStore::default()), Settings::default());
            messenger.prepare_default().await.expect("the default community");
            let community = CommunityId::parse("default").expect("a community");
            let name = RoomName::parse("lobby").expect("a room");
            let find = verbs::FindRoom { name: name.clone() };
            let room = messenger.ask(&community, By::Service, find).await.expect("it is there").id;
            for nth in 0..=PAGE_MAX {
                let (now, entropy) = (Moment::from_millis(1_000), Entropy((nth as u128).to_be_bytes()));
                let call = Call { community: community.clone(), by: By::Service, now, entropy };
                let append = verbs::Append { conversation: room, draft: Draft::text(None, "hello") };
                messenger.perform(call.ask(append)).await.expect("a message");
            }
            let mut settings = chat::Settings::named("Throng");
            settings.limits.history_days = Some(1);
            messenger.ask(&community, By::Service, ChangeCommunity { settings }).await.expect("changed");
            let erase = EraseConversation { which: Erased::Id(room) };
            messenger.ask(&community, By::Service, erase).await.expect("the first part");
            go_round(&messenger, Instant::now() + ROUND).await.expect("it ends");
            let (now, until) = (messenger::now(), Instant::now() + ROUND);
            for (now, is_free) in [(now, false), (now.after_ms(2 * ABANDONED_MS), true)] {
                erase_what_is_left(&messenger, now, until).await.expect("a look");
                let again = verbs::CreateRoom::public(name.clone(), "Again");
                let made = messenger.ask(&community, By::Service, again).await;
                assert_eq!(made.is_ok(), is_free, "{made:?}");
            }
        });
    }

    #[test]
    fn a_round_forgets_guests_who_are_gone() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let messenger = Messenger::new(Arc::new(MemoryStore::default()), Settings::default());
            messenger.prepare_default().await.expect("the default community");
            let community = CommunityId::parse("default").expect("a community");
            let now = messenger.call(&community, By::Service).now;
            let long_ago = Moment::from_millis(1_000);
            let guests = (0..=chat::limits::GUESTS_FORGOTTEN_MAX).map(|nth| (format!("gone{nth}"), long_ago));
            for (name, now) in guests.chain([("here".to_owned(), now)]) {
                let by = By::Person(PersonId::parse(&name).expect("an id"));
                let call = Call { community: community.clone(), by, now, entropy: Entropy([1; 16]) };
                let profile = Profile { name, avatar: None, guest: true, role: None };
                messenger.perform(call.ask(verbs::Meet { profile })).await.expect("guests are welcome");
            }
            go_round(&messenger, Instant::now() + ROUND).await.expect("a round");
            let people = verbs::People { after: None, limit: PAGE_MAX };
            let people = messenger.ask(&community, By::Service, people).await.expect("a list");
            let names: Vec<&str> = people.rows.iter().map(|person| person.id.as_str()).collect();
            assert_eq!(names, ["here"]);
        });
    }

    #[test]
    fn a_pause_is_as_long_as_a_part_took_within_a_bound_and_short_for_who_is_late() {
        let ms = Duration::from_millis;
        for (took, is_late, waits) in [
            (0, false, ms(0)),
            (8, false, ms(8)),
            (300, false, BREATH),
            (8, true, ms(1)),
            (300, true, BREATH / HURRY),
        ] {
            assert_eq!(pause(ms(took), is_late), waits, "{took} ms, late: {is_late}");
        }
    }

    #[test]
    fn a_round_drops_what_is_too_old_and_nothing_else() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let messenger = Messenger::new(Arc::new(MemoryStore::default()), Settings::default());
            messenger.prepare_default().await.expect("the default community");
            let community = CommunityId::parse("default").expect("a community");
            let name = RoomName::parse("lobby").expect("a room");
            let room =
                messenger.ask(&community, By::Service, verbs::FindRoom { name }).await.expect("it is there");
            let say = |now, drawn| {
                let call = Call {
                    community: community.clone(),
                    by: By::Service,
                    now,
                    entropy: Entropy([drawn; 16]),
                };
                let append = verbs::Append { conversation: room.id, draft: Draft::text(None, "hello") };
                messenger.perform(Asked { call, command: append })
            };
            say(Moment::from_millis(1_000), 1).await.expect("an old message");
            let now = messenger.call(&community, By::Service).now;
            say(now, 2).await.expect("a new message");
            let mut settings = chat::Settings::named("Throng");
            settings.limits.history_days = Some(1);
            messenger.ask(&community, By::Service, ChangeCommunity { settings }).await.expect("changed");
            go_round(&messenger, Instant::now() + ROUND).await.expect("a round");
            let page = ReadPage { conversation: room.id, around: verbs::Around::Newest, limit: 10 };
            let page = messenger.ask(&community, By::Service, page).await.expect("a page");
            let kept: Vec<u64> = page.messages.iter().map(|shown| shown.message.seq.0).collect();
            assert_eq!(kept, [2]);
        });
    }
}
