//! Typed indexes into the tables of a plan.

use serde::{Deserialize, Serialize};

/// Index of a variable in [`Plan::variables`](super::Plan::variables); each user has a value for it, or none yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VariableId(pub u16);

/// Index of a label in [`Plan::labels`](super::Plan::labels): a transaction, a request or a step that reports under its
/// own name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LabelId(pub u16);

/// Index of a session in [`Plan::sessions`](super::Plan::sessions).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SessionId(pub u16);

/// Index of a target in [`Plan::targets`](super::Plan::targets).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TargetId(pub u16);

/// Index of a feeder in [`Plan::feeders`](super::Plan::feeders).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FeederId(pub u16);

/// Index of a barrier in [`Plan::barriers`](super::Plan::barriers).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BarrierId(pub u16);
