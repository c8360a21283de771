//! The [`Channel`] trait, which applications implement.

use crate::call::{Call, Finish};
use crate::context::Context;
use crate::outgoing::Outgoing;
use proto::phoenix::Payload;
use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::Pin;

/// A message to a channel from a task or another part of the program.
pub type Info = Box<dyn Any + Send>;

/// Work that takes time. It never runs on a shard.
pub enum Task {
    /// Polled by the control plane's runtime.
    Future(Pin<Box<dyn Future<Output = Info> + Send>>),
    /// Run on a thread that may block.
    Blocking(Box<dyn FnOnce() -> Info + Send>),
    /// Done elsewhere, by code that calls back.
    Called(Call),
}

impl Task {
    /// Creates a task from a future; its output becomes the answer. The future is created on the shard and polled
    /// elsewhere, so anything that needs a runtime, such as a timer, must be created inside an `async` block.
    pub fn future<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> Task {
        // An `async` block would hold the future twice: as captured, and as awaited.
        let mut future = Box::pin(future);
        Task::Future(Box::pin(poll_fn(move |cx| {
            future.as_mut().poll(cx).map(|answer| Box::new(answer) as Info)
        })))
    }

    /// Creates a task from a closure that may block; its result becomes the answer.
    pub fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Task {
        Task::Blocking(Box::new(move || Box::new(work()) as Info))
    }

    /// Creates a task for code that calls back, for example from a thread of its own: the answer goes from there
    /// directly to the shard and wakes nothing else. `begin` is called on the shard and passes on the [`Finish`] to be
    /// called with the answer.
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

/// The result of a task.
pub enum Answer {
    /// It finished with this value.
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
    /// Accepts with an empty response.
    pub const fn accept() -> Joining {
        Joining::Accept(Outgoing::empty())
    }

    /// Refuses with `{"reason": reason}`.
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
    /// handler panicked is dropped without a call to `terminate`: its state may be inconsistent.
    Failed,
}

/// One join of one client to one topic: created by a factory when the client joins, dropped when the join ends.
///
/// A handler acts through its [`Context`], in the order in which the client is to see the effects, and never blocks:
/// work that takes time goes to [`Context::spawn`] or [`Context::hold`]. A panic ends this channel with `phx_error` and
/// nothing else.
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
    /// Decides on a join. Pushes and broadcasts belong in [`Channel::joined`].
    fn join(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) -> Joining;

    /// Decides on a join whose [`Joining::Later`] task has finished.
    fn join_answered(&mut self, _cx: &mut Context<'_>, _answer: Info) -> Joining {
        Joining::refuse("join crashed")
    }

    /// Called when the join has been accepted and its reply has been sent; on a recoverable topic, after what the
    /// client missed.
    fn joined(&mut self, _cx: &mut Context<'_>) {}

    /// Handles a message from the client.
    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>);

    /// Handles the answer of a task that this channel spawned or held for.
    fn handle_info(&mut self, _cx: &mut Context<'_>, _info: Info) {}

    /// Returns the events whose broadcasts go to [`Channel::handle_out`] instead of directly to the client.
    ///
    /// A channel's own broadcasts reach its client at once and in order, before the reply that follows. Those of an
    /// intercepted event go to `handle_out` after the handler has returned, as in Phoenix, where they pass through the
    /// channel's mailbox. If one handler makes two broadcasts and the first is intercepted, the client therefore sees
    /// the second one first.
    fn intercepts(&self) -> &'static [&'static str] {
        &[]
    }

    /// Handles a broadcast of an intercepted event: push it unchanged, change it, or drop it.
    fn handle_out(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        cx.push(event, payload);
    }

    /// Called when the join has ended. Pushes still reach the client if its connection is open.
    fn terminate(&mut self, _cx: &mut Context<'_>, _reason: Ended) {}
}

/// Creates the channel for one join.
pub trait ChannelFactory {
    /// Creates a channel; its [`Channel::join`] is called next.
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
