//! Runs what channels spawned, and brings each answer back to its shard.

use crate::shard::Mail;
use engine::{Mailboxes, ShardIndex};
use hub::{Answer, Task, TaskOwner};

pub(super) fn spawn(mailboxes: Mailboxes<Mail>, shard: ShardIndex, owner: TaskOwner, task: Task) {
    let tell = move |answer| mailboxes.post(shard, Mail::Answer { owner, answer });
    // A task of its own, so that its panic is an answer and not an end.
    let running = match task {
        Task::Future(future) => tokio::spawn(future),
        Task::Blocking(work) => tokio::task::spawn_blocking(work),
        // Shards begin those themselves.
        Task::Called(call) => return call.begin(tell),
    };
    tokio::spawn(async move { tell(running.await.map_or(Answer::Panicked, Answer::Finished)) });
}
