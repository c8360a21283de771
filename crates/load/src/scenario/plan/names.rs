//! What the parts of a plan are named by: places in its tables.

use serde::{Deserialize, Serialize};

/// Names a variable of the scenario; each user has a value for it, or none yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VariableId(pub u16);

/// Names a label of [`Plan::labels`](super::Plan::labels): a transaction, a request or a step that reports under a name of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LabelId(pub u16);

/// Place of a session in [`Plan::sessions`](super::Plan::sessions).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SessionId(pub u16);

/// Place of a target in [`Plan::targets`](super::Plan::targets).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TargetId(pub u16);

/// Place of a feeder in [`Plan::feeders`](super::Plan::feeders).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FeederId(pub u16);

/// Place of a barrier in [`Plan::barriers`](super::Plan::barriers).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BarrierId(pub u16);
