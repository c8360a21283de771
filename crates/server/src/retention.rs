//! What is older than a community keeps is dropped, now and then; and what is left of communities whose erasure was not
//! brought to its end.

use chat::limits::PAGE_MAX;
use chat::verbs::{Communities, EraseCommunity, Expire};
use chat::{By, CommunityId, Failure, Thing};
use messenger::Messenger;
use std::time::Duration;

/// From the start to the first round: a restart is not slowed, and a server that is restarted often has rounds all the same.
const FIRST: Duration = Duration::from_secs(60);
/// From one round to the next.
const ROUND: Duration = Duration::from_secs(60 * 60);
/// From one part to the next: people who write go before.
const BREATH: Duration = Duration::from_millis(50);

/// Goes round until the process ends.
pub(crate) async fn apply(messenger: Messenger) {
    tokio::time::sleep(FIRST).await;
    loop {
        if let Err(failure) = go_round(&messenger).await {
            tracing::warn!(%failure, "what is too old was not dropped; the next round tries again");
        }
        tokio::time::sleep(ROUND).await;
    }
}

/// A community of which it fails keeps the others from nothing.
async fn go_round(messenger: &Messenger) -> Result<(), Failure> {
    let mut after = None;
    loop {
        let listed = messenger.perform(Communities { after, limit: PAGE_MAX }).await?;
        for community in &listed.rows {
            let done = match community.erasing {
                Some(_) => erase(messenger, &community.id).await,
                None => expire(messenger, &community.id).await,
            };
            if let Err(failure) = done {
                tracing::warn!(%failure, community = %community.id, "what is too old was not dropped; the next round tries again");
            }
        }
        after = listed.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn expire(messenger: &Messenger, community: &CommunityId) -> Result<(), Failure> {
    loop {
        let expired = messenger.ask(community, By::Service, Expire).await?;
        if expired.messages > 0 {
            tracing::info!(%community, messages = expired.messages, "messages were dropped, as the community keeps them");
        }
        if !expired.more {
            return Ok(());
        }
        tokio::time::sleep(BREATH).await;
    }
}

/// Goes on where whoever erases it has stopped, or beside them.
async fn erase(messenger: &Messenger, community: &CommunityId) -> Result<(), Failure> {
    loop {
        match messenger.ask(community, By::Service, EraseCommunity).await {
            Ok(part) if !part.done => tokio::time::sleep(BREATH).await,
            Ok(_) => {
                tracing::info!(%community, "a community is erased");
                return Ok(());
            }
            Err(Failure::Absent(Thing::Community)) => return Ok(()),
            Err(failure) => return Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::verbs::{ChangeCommunity, ReadPage};
    use chat::{Asked, Call, Draft, Entropy, MemoryStore, Moment, RoomName, verbs};
    use messenger::Settings;
    use std::sync::Arc;

    #[test]
    fn a_round_brings_an_erasure_to_its_end() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let messenger = Messenger::new(Arc::new(MemoryStore::default()), Settings::default());
            messenger.prepare_default().await.expect("the default community");
            let community = CommunityId::parse("default").expect("a community");
            messenger.ask(&community, By::Service, EraseCommunity).await.expect("the first part");
            go_round(&messenger).await.expect("a round");
            let listed = messenger.perform(Communities { after: None, limit: 1 }).await.expect("a list");
            assert_eq!(listed.rows, []);
        });
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
            go_round(&messenger).await.expect("a round");
            let page = ReadPage { conversation: room.id, around: verbs::Around::Newest, limit: 10 };
            let page = messenger.ask(&community, By::Service, page).await.expect("a page");
            let kept: Vec<u64> = page.messages.iter().map(|shown| shown.message.seq.0).collect();
            assert_eq!(kept, [2]);
        });
    }
}
