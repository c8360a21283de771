//! A client's requests that wait for an answer.

use super::request::{Answering, Outcome};
use crate::fault::{ErrorCode, Fault};
use gateway::{Context, Info, ReplyTo, Task};
use serde_json::Value;

/// Requests of one join that may wait at the same time; one more is answered `rate_limited`. The hub fails a channel
/// with more than 32 tasks.
const WAITING_MAX: u8 = 24;
/// How long the client should then wait, in milliseconds: about a group commit.
const RETRY_AFTER_MS: u64 = 50;

/// The number of waiting requests.
#[derive(Default)]
pub(super) struct Waiting(u8);

/// An answer that has arrived on the shard.
pub(super) struct Answered {
    to: ReplyTo,
    outcome: Outcome,
}

impl Waiting {
    /// Replies to the request at hand at once.
    pub(super) fn answer_now(cx: &mut Context<'_>, outcome: Result<Value, Fault>) {
        match outcome {
            Ok(response) => cx.reply_ok(response),
            Err(fault) => cx.reply_error(fault.json()),
        }
    }

    /// Replies to the request at hand when the answer is there.
    pub(super) fn answer_later(&mut self, cx: &mut Context<'_>, answer: Answering) {
        self.0 += 1;
        let to = cx.defer();
        cx.spawn(match answer {
            Answering::Called(promised) => Task::called(move |finish| {
                promised.then(move |outcome| {
                    let outcome = outcome.unwrap_or_else(|| Err(unanswered()));
                    finish.with(Answered { to, outcome });
                });
            }),
            Answering::Awaited(future) => Task::future(async move { Answered { to, outcome: future.await } }),
        });
    }

    /// Returns whether one more may wait; if not, replies to the request at hand with an error.
    pub(super) fn has_room(&self, cx: &mut Context<'_>) -> bool {
        let has_room = self.0 < WAITING_MAX;
        if !has_room {
            let fault = Fault::new(
                ErrorCode::RateLimited,
                "too many requests of this connection are waiting for \
                 an answer",
            );
            cx.reply_error(fault.with("retry_after_ms", RETRY_AFTER_MS).json());
        }
        has_room
    }

    /// Delivers an answer to its client; any other message is returned.
    pub(super) fn settle(&mut self, cx: &mut Context<'_>, info: Info) -> Result<(), Info> {
        let Answered { to, outcome } = *info.downcast::<Answered>()?;
        self.0 = self.0.saturating_sub(1);
        match outcome {
            Ok(response) => cx.reply_to(&to, "ok", response),
            Err(fault) => cx.reply_to(&to, "error", fault.json()),
        }
        Ok(())
    }
}

fn unanswered() -> Fault {
    Fault::new(ErrorCode::Internal, "internal error: the request was not answered")
}
