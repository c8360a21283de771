//! Tasks of a channel: how many may be in progress, and what a hold delays.

use crate::shard::Shard;
use hub::{Channel, ConnectionKey, Context, Info, Joining, Task, TaskOwner};
use proptest::prelude::*;
use proto::phoenix::Payload;

/// The limit that `Context::spawn` documents.
const TASKS_MAX: usize = 32;

/// Spawns or holds, and echoes anything else.
struct Worker;

impl Channel for Worker {
    fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
        Joining::accept()
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let task = || Task::future(async {});
        match event {
            "spawn" => cx.spawn(task()),
            "hold" => cx.hold(task()),
            "hold twice" => {
                cx.hold(task());
                cx.hold(task());
            }
            _ => cx.reply_ok(payload),
        }
    }

    fn handle_info(&mut self, cx: &mut Context<'_>, _: Info) {
        cx.push("answered", payload_of("{}"));
    }
}

fn payload_of(text: &str) -> Payload<'_> {
    Payload::Json(text)
}

fn joined() -> (Shard, ConnectionKey) {
    let mut shard = Shard::new(1, || Worker);
    let key = shard.open(0, 1);
    shard.say(key, r#"["1","1","t","phx_join",{}]"#);
    shard.take();
    (shard, key)
}

fn say(shard: &mut Shard, key: ConnectionKey, event: &str) {
    shard.say(key, &format!(r#"["1","2","t","{event}",{{}}]"#));
}

fn finish(shard: &mut Shard, owner: TaskOwner) {
    shard.finish(owner, Box::new(()));
}

#[test]
fn one_task_more_than_a_join_may_have_fails_the_channel() {
    let (mut shard, key) = joined();
    for _ in 0..TASKS_MAX {
        say(&mut shard, key, "spawn");
    }
    let wanted = shard.take();
    assert_eq!((wanted.tasks.len(), wanted.texts.len()), (TASKS_MAX, 0));

    say(&mut shard, key, "spawn");
    let wanted = shard.take();
    assert_eq!(wanted.tasks, []);
    assert_eq!(wanted.texts, [r#"["1","1","t","phx_error",{"reason":"channel_crash"}]"#]);
    assert_eq!(shard.hub.counters().channels_failed, 1);
}

#[test]
fn an_answer_makes_room_for_another_task() {
    let (mut shard, key) = joined();
    for _ in 0..TASKS_MAX * 3 {
        say(&mut shard, key, "spawn");
        let owner = shard.take().tasks[0];
        finish(&mut shard, owner);
    }
    assert_eq!(shard.hub.counters().channels_failed, 0);
}

#[test]
fn tasks_of_an_earlier_join_take_no_room() {
    let (mut shard, key) = joined();
    for _ in 0..TASKS_MAX {
        say(&mut shard, key, "spawn");
    }
    let earlier = shard.take().tasks;
    shard.say(key, r#"["1","3","t","phx_join",{}]"#);
    say(&mut shard, key, "spawn");
    let later = shard.take().tasks[0];
    earlier.into_iter().for_each(|owner| finish(&mut shard, owner));
    assert_eq!(shard.take().texts, [""; 0], "nobody is told of an answer that comes too late");
    finish(&mut shard, later);
    assert_eq!(shard.take().texts, [r#"["1",null,"t","answered",{}]"#]);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Say(&'static str),
    /// Answers the task at this index, modulo the number in progress.
    Answer(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        prop::sample::select(&["spawn", "hold", "hold twice", "echo"][..]).prop_map(Step::Say),
        (0..TASKS_MAX).prop_map(Step::Answer),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is in progress, an echo comes at once unless a hold is unanswered, and all come in the end.
    #[test]
    fn messages_wait_until_every_hold_is_answered(steps in prop::collection::vec(step(), 0..60)) {
        let (mut shard, key) = joined();
        // Tasks, with whether each is a hold, and the messages that wait for holds.
        let mut tasks: Vec<(TaskOwner, bool)> = Vec::new();
        let mut waiting = std::collections::VecDeque::new();
        let drain = (0..200).map(|_| Step::Answer(0));
        for step in steps.into_iter().chain(drain) {
            match step {
                // Few enough that no limit is reached, whatever waits.
                Step::Say(event) if tasks.len() + 2 * waiting.len() < TASKS_MAX - 2 => {
                    waiting.push_back(event);
                    say(&mut shard, key, event);
                }
                Step::Answer(at) if !tasks.is_empty() => {
                    let (owner, _) = tasks.remove(at % tasks.len());
                    finish(&mut shard, owner);
                }
                Step::Say(_) | Step::Answer(_) => continue,
            }
            let wanted = shard.take();
            let (mut echoes, mut started) = (0, wanted.tasks.into_iter());
            while tasks.iter().all(|(_, holds)| !holds) && let Some(event) = waiting.pop_front() {
                let count = match event { "echo" => 0, "hold twice" => 2, _ => 1 };
                echoes += usize::from(event == "echo");
                let holds = event != "spawn";
                tasks.extend(started.by_ref().take(count).map(|owner| (owner, holds)));
            }
            assert_eq!(started.count(), 0, "a task began behind a hold");
            let replies = wanted.texts.iter().filter(|text| text.contains("phx_reply")).count();
            assert_eq!(replies, echoes, "{:?}", wanted.texts);
        }
        assert!(tasks.is_empty() && waiting.is_empty());
        assert_eq!(shard.hub.counters().channels_failed, 0);
    }
}
