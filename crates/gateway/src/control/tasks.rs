//! Runs the tasks that channels spawned, and returns each answer to its shard.

use crate::shard::Mail;
use engine::{Mailboxes, ShardIndex};
use hub::{Answer, Task, TaskOwner};

pub(super) fn spawn(mailboxes: Mailboxes<Mail>, shard: ShardIndex, owner: TaskOwner, task: Task) {
    let tell = move |answer| mailboxes.post(shard, Mail::Answer { owner, answer });
    // A separate tokio task, so that a panic becomes an answer.
    let running = match task {
        Task::Future(future) => tokio::spawn(future),
        Task::Blocking(work) => tokio::task::spawn_blocking(work),
        // Shards begin these themselves.
        Task::Called(call) => return call.begin(tell),
    };
    tokio::spawn(async move { tell(running.await.map_or(Answer::Panicked, Answer::Finished)) });
}
