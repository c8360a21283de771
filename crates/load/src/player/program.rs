//! A session as a flat list of operations with jumps: where a user is in its session is one number.

use std::sync::Arc;
use std::time::Duration;

use crate::draw::Distribution;
use crate::scenario::plan::{
    BarrierId, Condition, Connect, Expression, Extractor, HttpRequest, Join, LabelId, Push, Send, VariableId,
    Wait,
};
use crate::scenario::template::Template;

/// Place of an operation in its [`Program`].
pub(crate) type Position = u32;

/// One session, compiled: see [`super::compile`].
#[derive(Debug)]
pub(crate) struct Program {
    /// What is done, in order but for jumps. The last one is [`Operation::End`].
    pub(crate) operations: Vec<Operation>,
    /// Where each transaction's steps are, inner ones after outer ones.
    pub(crate) transactions: Vec<TransactionSpan>,
    /// Label of the whole session's time.
    pub(crate) label: LabelId,
    /// Whether messages and responses must be kept for a capture.
    pub(crate) captures: bool,
    /// Whether it reads slowly at some time: then its sockets get small buffers from the start.
    pub(crate) reads_slowly: bool,
}

/// Which of a user's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegisterIndex(pub(crate) u8);

/// The operations that belong to one transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TransactionSpan {
    /// The first operation within it.
    pub(crate) first: Position,
    /// The operation that ends it.
    pub(crate) last: Position,
    /// Holds when it began.
    pub(crate) register: RegisterIndex,
    /// Under which it reports.
    pub(crate) label: Option<LabelId>,
}

/// One operation. What waits is a [`Step`](crate::scenario::plan::Step) of the plan with its label; the rest is done
/// at once.
#[derive(Debug)]
pub(crate) enum Operation {
    Connect(Option<LabelId>, Box<Connect>),
    Join(Option<LabelId>, Box<Join>),
    Leave(Option<LabelId>, Template),
    Push(Option<LabelId>, Box<Push>),
    Send(Option<LabelId>, Box<Send>),
    Wait(Option<LabelId>, Box<Wait>),
    Think(Distribution),
    Pace(Distribution),
    Barrier {
        label: Option<LabelId>,
        barrier: BarrierId,
        users: Option<u64>,
        timeout: Duration,
    },
    Set(VariableId, Expression),
    Capture(VariableId, Extractor),
    Http(Option<LabelId>, Box<HttpRequest>),
    Close {
        code: u16,
        reason: Arc<str>,
    },
    Cut,
    HalfOpen(Duration),
    SlowReader(Option<u64>),
    Stay,
    Abort {
        whole_run: bool,
    },
    Jump(Position),
    JumpUnless(Condition, Position),
    /// Goes to one of the positions by weight; the weights are cumulative and the last is their sum.
    Choose(Vec<(f64, Position)>),
    LoopBegin(Box<LoopBegin>),
    LoopEnd(Box<LoopEnd>),
    TransactionBegin(RegisterIndex),
    TransactionEnd(RegisterIndex, Option<LabelId>),
    End,
}

/// Sets a loop's register; falls through into the first [`LoopEnd`]-guarded round.
#[derive(Debug)]
pub(crate) struct LoopBegin {
    pub(crate) register: RegisterIndex,
    pub(crate) times: Option<Distribution>,
    pub(crate) during: Option<Duration>,
}

/// Decides whether there is one more round.
#[derive(Debug)]
pub(crate) struct LoopEnd {
    pub(crate) register: RegisterIndex,
    /// Asked before each round but, with `condition_after_first_round`, the first.
    pub(crate) condition: Option<Condition>,
    pub(crate) condition_after_first_round: bool,
    /// Gets the number of the round that begins, from 1.
    pub(crate) counter: Option<VariableId>,
    /// The first operation after the loop.
    pub(crate) exit: Position,
}

impl Operation {
    /// Whether a user who comes to it only passes time: nothing is measured until that is over.
    pub(crate) fn is_pause(&self) -> bool {
        matches!(self, Self::Barrier { .. } | Self::Think(_) | Self::Pace(_) | Self::Stay | Self::End)
    }

    /// Under which it reports besides its kind.
    pub(crate) fn label(&self) -> Option<LabelId> {
        match self {
            Self::Connect(label, _)
            | Self::Join(label, _)
            | Self::Leave(label, _)
            | Self::Push(label, _)
            | Self::Send(label, _)
            | Self::Wait(label, _)
            | Self::Http(label, _)
            | Self::Barrier { label, .. }
            | Self::TransactionEnd(_, label) => *label,
            Self::Think(_)
            | Self::Pace(_)
            | Self::Set(..)
            | Self::Capture(..)
            | Self::Close { .. }
            | Self::Cut
            | Self::HalfOpen(_)
            | Self::SlowReader(_)
            | Self::Stay
            | Self::Abort { .. }
            | Self::Jump(_)
            | Self::JumpUnless(..)
            | Self::Choose(_)
            | Self::LoopBegin(_)
            | Self::LoopEnd(_)
            | Self::TransactionBegin(_)
            | Self::End => None,
        }
    }
}
