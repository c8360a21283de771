//! A session as a flat list of operations with jumps: a user's position in its session is one number.

use std::sync::Arc;
use std::time::Duration;

use crate::draw::Distribution;
use crate::scenario::plan::{
    BarrierId, Condition, Connect, Expression, Extractor, HttpRequest, Join, LabelId, Push, Send, VariableId,
    Wait,
};
use crate::scenario::template::Template;

/// Index of an operation in its [`Program`].
pub(crate) type Position = u32;

/// One session, compiled: see [`super::compile`].
#[derive(Debug)]
pub(crate) struct Program {
    /// Operations in order of execution, apart from jumps. The last one is [`Operation::End`].
    pub(crate) operations: Vec<Operation>,
    /// The operations of each transaction, inner ones after outer ones.
    pub(crate) transactions: Vec<TransactionSpan>,
    /// Label for the duration of the whole session.
    pub(crate) label: LabelId,
    /// Whether messages and responses must be kept for a capture.
    pub(crate) captures: bool,
    /// Whether it reads slowly at any time: then its sockets get small buffers from the start.
    pub(crate) reads_slowly: bool,
}

/// Index of one of a user's registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RegisterIndex(pub(crate) u8);

/// The operations within one transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TransactionSpan {
    /// The first operation within it.
    pub(crate) first: Position,
    /// The operation that ends it.
    pub(crate) last: Position,
    /// Holds when the transaction began.
    pub(crate) register: RegisterIndex,
    /// The label under which it is reported.
    pub(crate) label: Option<LabelId>,
}

/// One operation. Operations that wait are a [`Step`](crate::scenario::plan::Step) of the plan with its label; the
/// others complete at once.
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
    /// Jumps to one of the positions by weight; the weights are cumulative and the last is their sum.
    Choose(Vec<(f64, Position)>),
    LoopBegin(Box<LoopBegin>),
    LoopEnd(Box<LoopEnd>),
    TransactionBegin(RegisterIndex),
    TransactionEnd(RegisterIndex, Option<LabelId>),
    End,
}

/// Sets a loop's register and falls through to its [`LoopEnd`], which guards the first round.
#[derive(Debug)]
pub(crate) struct LoopBegin {
    pub(crate) register: RegisterIndex,
    pub(crate) times: Option<Distribution>,
    pub(crate) during: Option<Duration>,
}

/// Decides whether another round begins.
#[derive(Debug)]
pub(crate) struct LoopEnd {
    pub(crate) register: RegisterIndex,
    /// Evaluated before each round; with `condition_after_first_round`, not before the first.
    pub(crate) condition: Option<Condition>,
    pub(crate) condition_after_first_round: bool,
    /// Set to the number of the round that begins, from 1.
    pub(crate) counter: Option<VariableId>,
    /// The first operation after the loop.
    pub(crate) exit: Position,
}

impl Operation {
    /// Returns whether a user only passes time here: nothing is measured until it is over.
    pub(crate) fn is_pause(&self) -> bool {
        matches!(self, Self::Barrier { .. } | Self::Think(_) | Self::Pace(_) | Self::Stay | Self::End)
    }

    /// Returns the label under which the operation is reported, in addition to its kind.
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
