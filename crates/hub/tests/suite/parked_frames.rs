//! Frames that wait for a join or a held channel are handled in order, however the wait ends.

use crate::shard::{Shard, Wanted, topic_at};
use hub::{Channel, Context, Event, Info, Joining, ShardMessage, Task};
use proto::phoenix::Payload;

/// Holds on `hold`, echoes anything else, and panics on the broadcast that it intercepts.
struct Holder;

impl Channel for Holder {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "hold" => cx.hold(Task::future(async {})),
            "fatal" => cx.broadcast("fatal", payload),
            _ => cx.reply_ok(payload),
        }
    }

    fn handle_info(&mut self, _: &mut Context<'_>, _: Info) {}

    fn intercepts(&self) -> &'static [&'static str] {
        &["fatal"]
    }

    fn handle_out(&mut self, cx: &mut Context<'_>, _: &str, _: Payload<'_>) {
        cx.fail();
    }
}

#[test]
fn frames_behind_a_held_channel_that_dies_of_a_broadcast_are_answered() {
    let mut shard = Shard::new(2, || Holder);
    let topic = topic_at(0);
    let (holder, other) = (shard.open(0, 1), shard.open(1, 1));
    shard.say(holder, &format!(r#"["1","1","{topic}","phx_join",{{}}]"#));
    shard.say(other, &format!(r#"["1","1","{topic}","phx_join",{{}}]"#));
    shard.say(holder, &format!(r#"["1","2","{topic}","hold",{{}}]"#));
    shard.say(holder, &format!(r#"["1","3","{topic}","echo",{{}}]"#));
    shard.say(other, &format!(r#"["1","2","{topic}","fatal",{{}}]"#));
    shard.take();
    shard.pump();
    let Wanted { texts, .. } = shard.take();
    let unmatched = format!(
        r#"[null,"3","{topic}","phx_reply",{{"status":"error","response":{{"reason":"unmatched topic"}}}}]"#
    );
    assert!(texts.contains(&unmatched), "{texts:?}");
}

#[test]
fn a_join_does_not_stand_on_an_answer_to_an_earlier_request_of_interest() {
    let mut shard = Shard::new(2, || Holder);
    let topic = topic_at(1);
    let join = |reference: u32| format!(r#"["{reference}","{reference}","{topic}","phx_join",{{}}]"#);
    // Three joins wait for the home, two on the same slot; only the last is still there when the answer comes.
    let (first, second) = (shard.open(0, 1), shard.open(1, 1));
    shard.say(first, &join(1));
    shard.say(second, &join(1));
    shard.handle(Event::Closed(first));
    let third = shard.open(0, 2);
    shard.say(third, &join(1));
    shard.handle(Event::Closed(second));
    // Once it is established it leaves, which ends the topic here, and joins again, which recreates it.
    shard.say(third, &format!(r#"["1","2","{topic}","phx_leave",{{}}]"#));
    shard.say(third, &join(3));
    let Wanted { texts, messages, .. } = shard.take();
    assert_eq!(texts, [""; 0]);
    shard.handle(Event::Shard(answer_to(&messages)));

    let Wanted { texts, messages, .. } = shard.take();
    let replied = |reference: u32, texts: &[String]| {
        texts.iter().any(|text| {
            text.starts_with(&format!(r#"["{reference}","{reference}""#)) && text.contains("phx_reply")
        })
    };
    assert!(replied(1, &texts), "{texts:?}");
    assert!(!replied(3, &texts), "the home has not confirmed the second interest: {texts:?}");
    shard.handle(Event::Shard(answer_to(&messages)));
    assert!(replied(3, &shard.take().texts));
}

/// Returns the home's answer to the last request of interest.
fn answer_to(messages: &[ShardMessage]) -> ShardMessage {
    let mut answers = messages.iter().rev().filter_map(|message| match message {
        ShardMessage::Interest { topic, on: true, epoch, .. } => {
            Some(ShardMessage::InterestConfirmed { topic: topic.clone(), epoch: *epoch, position: None })
        }
        _ => None,
    });
    answers.next().expect("a request of interest")
}
