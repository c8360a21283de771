//! Messages of a client whose answers are under way.

use super::request::Answering;
use crate::fault::{ErrorCode, Fault};
use gateway::{Context, Info, ReplyTo, Task};
use serde_json::Value;

/// Messages of one join that wait at once; past it one more is answered `rate_limited`. The hub fails a channel with more
/// than 32 tasks.
const WAITING_MAX: u8 = 24;
/// How long to wait then, in milliseconds: about a group commit.
const RETRY_AFTER_MS: u64 = 50;

/// How many there are.
#[derive(Default)]
pub(super) struct Waiting(u8);

/// An answer, back on the shard.
pub(super) struct Answered {
    to: ReplyTo,
    outcome: Result<Value, Fault>,
}

impl Waiting {
    /// Answers the message at hand at once.
    pub(super) fn answer_now(cx: &mut Context<'_>, outcome: Result<Value, Fault>) {
        match outcome {
            Ok(response) => cx.reply_ok(response),
            Err(fault) => cx.reply_error(fault.json()),
        }
    }

    /// Answers the message at hand when the answer is there.
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

    /// Whether one more may wait; if not, the message at hand is answered so.
    pub(super) fn has_room(&self, cx: &mut Context<'_>) -> bool {
        let has_room = self.0 < WAITING_MAX;
        if !has_room {
            let fault = Fault::new(ErrorCode::RateLimited, "too many messages wait for an answer");
            cx.reply_error(fault.with("retry_after_ms", RETRY_AFTER_MS).json());
        }
        has_room
    }

    /// Hands an answer to its client; what is none is handed back.
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
    Fault::new(ErrorCode::Internal, "nobody answers")
}
