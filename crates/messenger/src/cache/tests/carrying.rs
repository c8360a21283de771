//! The newest page and the sender's standing are updated with each new message.

use super::*;
use crate::reading::PAGE;
use chat::verbs::{Appended, Around, EditText, ReadConversation, ReadPage};
use chat::{Message, Seq};

async fn say(messenger: &Messenger, lobby: &Conversation, text: &str) -> Message {
    let append = Append { conversation: lobby.id, draft: Draft::text(None, text) };
    let Appended { message, .. } = messenger.ask(&id("one"), by("ann"), append).await.expect("a message");
    message
}

async fn kept(messenger: &Messenger, lobby: &Conversation) -> Page {
    let page = messenger.newest(&id("one"), lobby.id, &somebody("ann")).await;
    Page::clone(&page.expect("a page"))
}

async fn stored(messenger: &Messenger, lobby: &Conversation) -> Page {
    let newest = ReadPage { conversation: lobby.id, around: Around::Newest, limit: PAGE };
    messenger.ask(&id("one"), by("ann"), newest).await.expect("a page")
}

/// What the cache takes the page for.
fn weight(messenger: &Messenger, lobby: &Conversation) -> u64 {
    let cache = &messenger.inner.cache;
    let digest = Key::Newest(id("one"), lobby.id).digest(cache.secret);
    Bytes.weight(&digest, &cache.items.peek(&digest).expect("it is kept"))
}

fn readings(messenger: &Messenger) -> u64 {
    let mut counts = messenger.inner.cache.counts();
    counts.find(|(name, ..)| *name == "newest_page").map_or(0, |(.., misses)| misses)
}

#[test]
fn it_is_what_the_store_would_say_and_is_not_read_for_each_message() {
    run(async {
        let (messenger, lobby) = lobby().await;
        let (one, mut changes) = (id("one"), 0);
        for nth in 0..2 * PAGE as u64 {
            let (conversation, seq) = (lobby.id, Seq(1 + nth / 2));
            let emoji = || "+1".to_owned();
            match nth % 10 {
                3 => drop(
                    messenger
                        .ask(&one, by("ann"), React { conversation, seq, emoji: emoji(), on: true })
                        .await,
                ),
                7 => drop(
                    messenger
                        .ask(
                            &one,
                            by("ann"),
                            EditText { conversation, seq, text: format!("so {nth}"), mentions: Vec::new() },
                        )
                        .await,
                ),
                _ => drop(say(&messenger, &lobby, &format!("said {nth}")).await),
            }
            changes += u64::from(matches!(nth % 10, 3 | 7));
            let page = kept(&messenger, &lobby).await;
            assert_eq!(page, stored(&messenger, &lobby).await, "after step {nth}");
            assert_eq!(weight(&messenger, &lobby), Found::page(page).bytes(), "after step {nth}");
        }
        assert_eq!(readings(&messenger), 1 + changes, "only what changed is read again");
    });
}

#[test]
fn what_is_said_while_it_is_read_is_not_missing_from_it_afterwards() {
    run(async {
        let (messenger, lobby) = lobby().await;
        let before = stored(&messenger, &lobby).await;
        let key = Key::Newest(id("one"), lobby.id);
        read_while(&messenger, key, Found::page(before), async {
            say(&messenger, &lobby, "meanwhile").await;
            Ok(())
        })
        .await;
        assert_eq!(kept(&messenger, &lobby).await, stored(&messenger, &lobby).await);
    });
}

#[test]
fn a_message_that_is_on_it_comes_no_second_time_and_one_after_a_hole_makes_it_stale() {
    run(async {
        let (messenger, lobby) = lobby().await;
        let said = say(&messenger, &lobby, "yes").await;
        let page = kept(&messenger, &lobby).await;
        let (cache, before) = (&messenger.inner.cache, readings(&messenger));
        cache.said(&id("one"), &said, PAGE);
        assert_eq!((kept(&messenger, &lobby).await, readings(&messenger)), (page.clone(), before));
        cache.said(&id("one"), &Message { seq: said.seq.next().next(), ..said }, PAGE);
        assert_eq!((kept(&messenger, &lobby).await, readings(&messenger)), (page, before + 1));
    });
}

#[test]
fn what_made_all_pages_stale_is_not_undone_by_the_next_message() {
    run(async {
        let (messenger, lobby) = lobby().await;
        kept(&messenger, &lobby).await;
        let before = readings(&messenger);
        messenger.inner.cache.forget_pages(&id("one"));
        say(&messenger, &lobby, "later").await;
        assert_eq!(kept(&messenger, &lobby).await, stored(&messenger, &lobby).await);
        assert_eq!(readings(&messenger), before + 1);
    });
}

#[test]
fn who_says_something_stands_as_the_store_has_it_without_being_read_again() {
    run(async {
        let (messenger, lobby) = lobby().await;
        let (one, ann) = (id("one"), somebody("ann"));
        let standings = || {
            let mut counts = messenger.inner.cache.counts();
            counts.find(|(name, ..)| *name == "standing").map_or(0, |(.., misses)| misses)
        };
        messenger.standing(&one, lobby.id, &ann).await.expect("she is in it");
        let before = standings();
        for nth in 0..3 {
            say(&messenger, &lobby, &format!("said {nth}")).await;
            let kept = messenger.standing(&one, lobby.id, &ann).await.expect("she is in it");
            let read = ReadConversation { conversation: lobby.id };
            let (_, member) = messenger.ask(&one, by("ann"), read).await.expect("she may");
            assert_eq!(kept.member, member.map(Part::of));
        }
        assert_eq!(standings(), before);
    });
}
