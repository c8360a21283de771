//! A panic in the destructor of an application's value ends only the channel it belongs to, if any.

use crate::shard::Shard;
use hub::{Channel, ConnectionKey, Context, Event, Info, Joining, Task};
use proto::phoenix::Payload;
use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Panics when it is dropped, with another bomb as the payload while any are left. Counts the drops.
struct Bomb {
    drops: Arc<AtomicUsize>,
    left: usize,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Relaxed);
        // Like a panic, but without the hook's output on standard error.
        match self.left.checked_sub(1) {
            Some(left) => resume_unwind(Box::new(Bomb { drops: self.drops.clone(), left })),
            None => resume_unwind(Box::new("planned by the test")),
        }
    }
}

/// Panics with a bomb on `boom`, and is one itself.
struct Mined {
    drops: Arc<AtomicUsize>,
    _bomb: Bomb,
}

impl Channel for Mined {
    fn join(&mut self, _: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        match payload {
            Payload::Json(text) if text.contains("crash") => self.explode(),
            _ => Joining::accept(),
        }
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "boom" => self.explode(),
            "spawn" => cx.spawn(Task::future(async {})),
            _ => cx.reply_ok(payload),
        }
    }

    fn handle_info(&mut self, _: &mut Context<'_>, _: Info) {}
}

impl Mined {
    fn explode(&self) -> ! {
        resume_unwind(Box::new(Bomb { drops: self.drops.clone(), left: 3 }))
    }
}

/// Creates a shard of mined channels, two connections with mined assigns, and the counter of drops. The shard itself is
/// never dropped: in a failing test that would set off the bombs.
fn mined() -> (ManuallyDrop<Shard>, [ConnectionKey; 2], Arc<AtomicUsize>) {
    let drops = Arc::new(AtomicUsize::new(0));
    let bomb = {
        let drops = drops.clone();
        move || Bomb { drops: drops.clone(), left: 1 }
    };
    let mut shard = {
        let (drops, bomb) = (drops.clone(), bomb.clone());
        Shard::new(1, move || Mined { drops: drops.clone(), _bomb: bomb() })
    };
    let keys = [0, 1].map(|slot| {
        let key = ConnectionKey { slot, generation: 1 };
        shard.open_with(key, |new| new.assigns = Some(Arc::new(bomb())))
    });
    for key in keys {
        shard.say(key, r#"["1","1","t","phx_join",{}]"#);
    }
    shard.take();
    (ManuallyDrop::new(shard), keys, drops)
}

fn echoes(shard: &mut Shard, key: ConnectionKey) -> bool {
    shard.take();
    shard.say(key, r#"["1","9","t","echo",{}]"#);
    shard.take().texts == [r#"["1","9","t","phx_reply",{"status":"ok","response":{}}]"#]
}

#[test]
fn an_answer_that_comes_too_late_is_dropped_without_harm() {
    let (mut shard, [first, second], drops) = mined();
    shard.say(first, r#"["1","2","t","spawn",{}]"#);
    let owner = shard.take().tasks[0];
    shard.handle(Event::Closed(first));
    let before = drops.load(Relaxed);
    shard.finish(owner, Box::new(Bomb { drops: drops.clone(), left: 0 }));
    assert_eq!(drops.load(Relaxed), before + 1);
    assert!(echoes(&mut shard, second));
}

#[test]
fn the_payload_of_a_panic_is_dropped_without_harm() {
    let (mut shard, [first, second], drops) = mined();
    shard.say(first, r#"["1","2","t","boom",{}]"#);
    assert_eq!(shard.hub.counters().channels_failed, 1);
    assert!(drops.load(Relaxed) > 0);
    shard.say(first, r#"["3","3","t","phx_join",{"crash":true}]"#);
    assert!(shard.take().texts.iter().any(|text| text.contains("join crashed")));
    assert!(echoes(&mut shard, second));
}

#[test]
fn the_assigns_of_a_socket_are_dropped_without_harm() {
    let (mut shard, [first, second], drops) = mined();
    shard.handle(Event::Closed(first));
    // The channel's and the assigns': each bomb and the one that it panics with.
    assert_eq!(drops.load(Relaxed), 4);
    assert!(echoes(&mut shard, second));
    shard.handle(Event::Closed(second));
    assert!(shard.hub.is_empty());
}
