//! A driver may delay crowds, and nothing else.

use crate::shard::Shard;
use hub::{Channel, Context, Joining, Limits, Micros, Outgoing, Pending, Reach};
use proto::phoenix::Payload;

/// Broadcasts each event that it gets, then replies.
struct Speaker;

impl Channel for Speaker {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        cx.broadcast(event, payload);
        cx.reply_ok(Outgoing::empty());
    }
}

#[test]
fn few_are_served_at_once_while_a_crowd_waits_for_its_turn_and_its_publisher_does_not() {
    let mut shard = Shard::new(1, || Speaker);
    let crowd = Limits::default().crowd_members_min as u32;
    let join = |topic: &str| format!(r#"["1","1","{topic}","phx_join",{{}}]"#);
    for slot in 0..crowd {
        let key = shard.open(slot, 1);
        shard.say(key, &join("lobby"));
    }
    let pair = [crowd, crowd + 1].map(|slot| shard.open(slot, 1));
    for key in pair {
        shard.say(key, &join("pair"));
    }
    shard.take();

    shard.say(hub::ConnectionKey { slot: 0, generation: 1 }, r#"["1","2","lobby","to_all",{}]"#);
    shard.say(pair[0], r#"["1","2","pair","to_one",{}]"#);
    let own = shard.take().texts;
    assert_eq!(own.iter().filter(|text| text.contains("to_all")).count(), 1, "the publisher's own copy");
    assert_eq!(own.iter().filter(|text| text.contains("phx_reply")).count(), 2);

    let pump = |shard: &mut Shard, reach| shard.hub.pump(Micros(0), usize::MAX, reach, &mut shard.effects);
    let pending = pump(&mut shard, Reach::Few);
    assert_eq!(pending, Pending { to_few: false, to_crowds: true });
    assert_eq!(shard.take().texts, [r#"[null,null,"pair","to_one",{}]"#]);

    while pump(&mut shard, Reach::All).any() {}
    let delivered = shard.take().texts;
    assert_eq!(delivered.len() as u32, crowd - 1, "everybody else");
    assert!(delivered.iter().all(|text| text.contains("to_all")));
}
