//! What a programmer writes: the [`Channel`] trait.

use crate::call::{Call, Finish};
use crate::context::Context;
use crate::outgoing::Outgoing;
use proto::phoenix::Payload;
use std::any::Any;
use std::future::Future;
use std::pin::Pin;

/// What a task or another part of the program tells a channel.
pub type Info = Box<dyn Any + Send>;

/// Work that takes time. It runs elsewhere, never on a shard.
pub enum Task {
    /// Polled by the control plane's runtime.
    Future(Pin<Box<dyn Future<Output = Info> + Send>>),
    /// Run on a thread that may block.
    Blocking(Box<dyn FnOnce() -> Info + Send>),
    /// Done by somebody who calls back.
    Called(Call),
}

impl Task {
    /// A future whose output becomes the answer. It is made on the shard and polled elsewhere: what needs a runtime
    /// around it, such as a timer, is made inside an `async` block.
    pub fn future<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Task {
        Task::Future(Box::pin(async move { Box::new(future.await) as Info }))
    }

    /// A closure that may block; its result becomes the answer.
    pub fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Task {
        Task::Blocking(Box::new(move || Box::new(work()) as Info))
    }

    /// Something that calls back, for what has a thread of its own: the answer goes from there to the shard, and wakes nobody
    /// else. `begin` is called on the shard, and hands on what is to be called with the answer.
    pub fn called(begin: impl FnOnce(Finish) + Send + 'static) -> Task {
        Task::Called(Call::new(begin))
    }
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Task::Future(_) => "Task::Future",
            Task::Blocking(_) => "Task::Blocking",
            Task::Called(_) => "Task::Called",
        })
    }
}

/// How a task ended.
pub enum Answer {
    /// It brought this.
    Finished(Info),
    /// It panicked; the channel that waits for it fails.
    Panicked,
}

/// A join handler's decision.
pub enum Joining {
    /// Accepted, with the reply's response.
    Accept(Outgoing<'static>),
    /// Refused, with the reply's response; by convention `{"reason": …}`.
    Refuse(Outgoing<'static>),
    /// Decided when this task has finished, by [`Channel::join_answered`]. Until then the client's other messages
    /// for the topic wait.
    Later(Task),
}

impl Joining {
    /// Accepted with an empty response.
    pub const fn accept() -> Joining {
        Joining::Accept(Outgoing::empty())
    }

    /// Refused with `{"reason": reason}`.
    pub fn refuse(reason: &str) -> Joining {
        Joining::Refuse(serde_json::json!({ "reason": reason }).into())
    }
}

/// Why a channel ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The client left.
    Left,
    /// The channel stopped itself.
    Stopped,
    /// The client joined the topic again.
    Replaced,
    /// The connection ended.
    Disconnected,
    /// A handler reported a failure or spawned too many tasks, or a task of the channel panicked. A channel whose
    /// handler panicked is dropped without a last word: its state may be torn.
    Failed,
}

/// One join of one client to one topic: made by a factory when the client asks, dropped when the join ends.
///
/// A handler says what it wants through its [`Context`], in the order in which the client shall see it, and never
/// blocks: what takes time is given to [`Context::spawn`] or [`Context::hold`]. A panic ends this channel with
/// `phx_error` and nothing else.
///
/// ```
/// use hub::{Channel, Context, Joining};
/// use proto::phoenix::Payload;
///
/// struct Room;
///
/// impl Channel for Room {
///     fn join(&mut self, _: &mut Context<'_>, _: Payload<'_>) -> Joining {
///         Joining::accept()
///     }
///
///     fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
///         match event {
///             "new_msg" => cx.broadcast("new_msg", payload),
///             _ => cx.reply_error(serde_json::json!({"reason": "unknown event"})),
///         }
///     }
/// }
/// ```
pub trait Channel: 'static {
    /// Decides on a join. Pushes and broadcasts belong into [`Channel::joined`].
    fn join(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) -> Joining;

    /// Decides on a join whose [`Joining::Later`] task has finished.
    fn join_answered(&mut self, _cx: &mut Context<'_>, _answer: Info) -> Joining {
        Joining::refuse("join crashed")
    }

    /// The join was accepted and its reply is on the way; on a recoverable topic what the client missed is, too.
    fn joined(&mut self, _cx: &mut Context<'_>) {}

    /// A message of the client.
    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>);

    /// The answer of a task that this channel spawned or held for.
    fn handle_info(&mut self, _cx: &mut Context<'_>, _info: Info) {}

    /// Events whose broadcasts come to [`Channel::handle_out`] instead of going straight to the client.
    ///
    /// A channel's own broadcasts reach its client at once and in their order, before the reply that follows; those of
    /// an intercepted event come to `handle_out` after the handler has returned, as in Phoenix, where they pass
    /// through the channel's mailbox. Of two broadcasts in one handler, the first of them intercepted, the client
    /// therefore sees the second first.
    fn intercepts(&self) -> &'static [&'static str] {
        &[]
    }

    /// A broadcast of an intercepted event: push it as it is, change it, or drop it.
    fn handle_out(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        cx.push(event, payload);
    }

    /// The join ended. Pushes still reach the client if its connection stands.
    fn terminate(&mut self, _cx: &mut Context<'_>, _reason: Ended) {}
}

/// Makes the channel of a topic for one join.
pub trait ChannelFactory {
    /// A new channel; its [`Channel::join`] is called next.
    fn make(&self, topic: &str) -> Box<dyn Channel>;
}

impl<F, C> ChannelFactory for F
where
    F: Fn() -> C,
    C: Channel,
{
    fn make(&self, _topic: &str) -> Box<dyn Channel> {
        Box::new(self())
    }
}
