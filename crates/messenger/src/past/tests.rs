//! Past pages are what the store would return, from wherever it is asked, and are read once.

use super::*;
use crate::scene::{self, Held, by, id, run, somebody};
use chat::verbs::{Append, ChangeCommunity, Delete, EditText, Erase, Expire, React};
use chat::{Call, CommunityLimits, Conversation, Draft, Moment, Settings};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// Ann and Bob are in the lobby, where Ann has sent `said` messages.
async fn lobby(messenger: &Messenger, said: usize) -> Conversation {
    let lobby = scene::community(messenger, "one").await;
    for name in ["ann", "bob"] {
        scene::person(messenger, "one", name, &lobby).await;
        messenger.standing(&id("one"), lobby.id, &somebody(name)).await.expect("they are in it");
    }
    for nth in 1..=said {
        say(messenger, &lobby, &format!("said {nth}")).await;
    }
    lobby
}

async fn say(messenger: &Messenger, lobby: &Conversation, text: &str) {
    let append = Append { conversation: lobby.id, draft: Draft::text(None, text) };
    messenger.ask(&id("one"), by("ann"), append).await.expect("a message");
}

async fn edit(messenger: &Messenger, lobby: &Conversation, seq: u64, text: &str) {
    let (conversation, text) = (lobby.id, text.to_owned());
    let edit = EditText { conversation, seq: Seq(seq), text, mentions: Vec::new() };
    messenger.ask(&id("one"), by("ann"), edit).await.expect("it is hers");
}

/// What Bob sees after `seq`.
async fn after(messenger: &Messenger, lobby: &Conversation, seq: u64, limit: usize) -> Page {
    let page = messenger.after(&id("one"), lobby.id, &somebody("bob"), Seq(seq), limit).await;
    Page::clone(&page.expect("a page"))
}

async fn stored(messenger: &Messenger, lobby: &Conversation, seq: u64, limit: usize) -> Page {
    let read = ReadPage { conversation: lobby.id, around: Around::After(Seq(seq)), limit };
    messenger.ask(&id("one"), by("bob"), read).await.expect("a page")
}

fn readings(messenger: &Messenger, kind: &str) -> u64 {
    messenger.inner.cache.counts().find(|(name, ..)| *name == kind).map_or(0, |(.., misses)| misses)
}

#[test]
fn it_is_what_the_store_would_say_from_each_place_and_is_read_once() {
    run(async {
        let (messenger, _) = scene::messenger();
        let lobby = lobby(&messenger, 230).await;
        for seq in 0..=231 {
            for limit in [1, PAGE, PAGE_MAX] {
                let whole = stored(&messenger, &lobby, seq, limit).await;
                assert_eq!(after(&messenger, &lobby, seq, limit).await, whole, "{limit} after {seq}");
            }
        }
        // Of 230 messages the newest page has 50, and four pages of 50 the others.
        assert_eq!([readings(&messenger, "newest_page"), readings(&messenger, "past_page")], [1, 4]);
        say(&messenger, &lobby, "one more").await;
        assert_eq!(
            after(&messenger, &lobby, 31, PAGE_MAX).await,
            stored(&messenger, &lobby, 31, PAGE_MAX).await
        );
        assert_eq!(
            readings(&messenger, "past_page"),
            4,
            "what is said changes nothing of what was said before"
        );
    });
}

#[test]
fn those_who_want_the_same_places_at_once_wait_for_one_reading() {
    run(async {
        let (messenger, held) = scene::holding();
        let lobby = lobby(&messenger, 200).await;
        messenger.newest(&id("one"), lobby.id, &somebody("bob")).await.expect("a page");
        held.hold();
        let (one, bob) = (id("one"), somebody("bob"));
        let missed = |seq| messenger.missed(&one, lobby.id, &bob, Seq(seq));
        let (first, other, again, ()) = tokio::join!(missed(101), missed(120), missed(101), async {
            assert_eq!(held.count(), 1, "one reading for all");
            held.commit();
        });
        let counts = [first, other, again].map(|page| page.expect("a page").messages.len());
        assert_eq!(counts, [99, 80, 99]);
    });
}

#[test]
fn whatever_changes_is_seen_by_who_asks_afterwards() {
    run(async {
        let (messenger, _) = scene::messenger();
        let lobby = lobby(&messenger, 130).await;
        let (one, conversation) = (id("one"), lobby.id);
        after(&messenger, &lobby, 0, PAGE_MAX).await;
        let check = async |what: &str| {
            let seen = after(&messenger, &lobby, 0, PAGE_MAX).await;
            assert_eq!(seen, stored(&messenger, &lobby, 0, PAGE_MAX).await, "{what}");
            seen
        };
        edit(&messenger, &lobby, 7, "so").await;
        assert_eq!(check("an edit").await.messages[6].message.text, "so");
        for (who, mine) in [("ann", false), ("bob", true)] {
            let react = React { conversation, seq: Seq(8), emoji: "+1".to_owned(), on: true };
            messenger.ask(&one, by(who), react).await.expect("they may");
            assert_eq!(check("a reaction").await.messages[7].reactions[0].mine, mine);
        }
        messenger.ask(&one, by("ann"), Delete { conversation, seq: Seq(9) }).await.expect("it is hers");
        assert!(check("a delete").await.messages[8].message.deleted.is_some());
        let erase = Erase { person: somebody("ann") };
        messenger.ask(&one, By::Service, erase).await.expect("a key may");
        assert_eq!(check("an erasure").await.messages[0].message.text, "");
    });
}

#[test]
fn what_is_too_old_is_gone_from_it_also_where_another_node_dropped_it_and_did_not_tell_yet() {
    run(async {
        let (messenger, _) = scene::messenger();
        let lobby = lobby(&messenger, 60).await;
        let one = id("one");
        let limits = CommunityLimits { history_days: Some(1), ..CommunityLimits::default() };
        let settings = Settings { limits, ..Settings::named("One") };
        messenger.ask(&one, By::Service, ChangeCommunity { settings }).await.expect("changed");
        let now = messenger.call(&one, By::Service).now;
        let later = Call { now: now.after_ms(2 * DAY_MS), ..messenger.call(&one, by("ann")) };
        let append = Append { conversation: lobby.id, draft: Draft::text(None, "two days later") };
        messenger.perform(later.ask(append)).await.expect("a message");
        messenger.newest(&one, lobby.id, &somebody("bob")).await.expect("a page");
        let other = Messenger::new(messenger.store(), crate::messenger::Settings::default());
        let call =
            || Call { now: Moment::from_millis(now.millis() + 2 * DAY_MS), ..other.call(&one, By::Service) };
        assert_eq!(other.perform(call().ask(Expire)).await.expect("a key may").messages, 60);
        let seen = after(&messenger, &lobby, 0, PAGE_MAX).await;
        assert_eq!(seen, stored(&messenger, &lobby, 0, PAGE_MAX).await);
        assert_eq!(seen.messages.len(), 1);
    });
}

#[test]
fn its_revision_is_that_of_its_oldest_part_so_that_what_is_told_after_it_is_not_missed() {
    run(async {
        let (messenger, _) = scene::messenger();
        let lobby = lobby(&messenger, 130).await;
        let (one, cache) = (id("one"), &messenger.inner.cache);
        let before = messenger.past_page(&one, lobby.id, 0).await.expect("a page");
        edit(&messenger, &lobby, 7, "so").await;
        // As if it had been read before the edit, which was not announced yet.
        let key = Key::Past(one.clone(), lobby.id, 0);
        cache.get(key, || async { Ok(Found::page(Page::clone(&before))) }).await.expect("kept");
        let newest = messenger.newest(&one, lobby.id, &somebody("bob")).await.expect("a page");
        let seen = after(&messenger, &lobby, 0, PAGE_MAX).await;
        assert_eq!(seen.messages[6].message.text, "said 7");
        assert_eq!(seen.conversation.revision, before.conversation.revision);
        assert!(seen.conversation.revision < newest.conversation.revision);
    });
}

#[test]
fn what_this_node_has_not_heard_of_yet_is_read_for_who_was_told_of_it_by_another() {
    run(async {
        let held = std::sync::Arc::new(Held::default());
        let settings = || crate::messenger::Settings::default();
        let (here, there) = (Messenger::new(held.clone(), settings()), Messenger::new(held, settings()));
        let lobby = lobby(&here, 3).await;
        let (one, bob) = (id("one"), somebody("bob"));
        there.newest(&one, lobby.id, &bob).await.expect("a page");
        say(&here, &lobby, "four").await;
        let missed = there.missed(&one, lobby.id, &bob, Seq(4)).await.expect("a page");
        assert_eq!((missed.conversation.last, missed.messages.len()), (Seq(4), 0));
        let said = there.said_meanwhile(&one, lobby.id, &bob, (Seq(3), Seq(4))).await.expect("a page");
        assert_eq!(said.messages.len(), 1);
    });
}
