//! The memory budget in force: as it is written, or what the server's control group leaves it. Says where it comes from,
//! and whether the control group can give it.

use crate::config::BudgetWish;
use gateway::machine::{self, MemoryLimit};
use std::fmt;

/// Of so many parts of a control group's limit …
const LIMIT_PARTS: u64 = 17;
/// … these are the budget. The rest is for what the group counts and the budget does not: pages of files, and what
/// the allocator keeps of freed memory.
const BUDGET_PARTS: u64 = 16;

/// How much the server may take, and what its control group allows.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    wish: BudgetWish,
    /// `None`: as much as there is.
    pub(crate) bytes: Option<u64>,
    /// `None`: no control group limits the server's memory, as far as can be seen.
    pub(crate) limit: Option<MemoryLimit>,
}

impl Budget {
    /// What this configuration comes to here and now.
    pub(crate) fn read(wish: BudgetWish) -> Budget {
        // A kernel without control groups has no such files, and no limit.
        Budget::of(wish, machine::memory_limit().ok().flatten())
    }

    pub(crate) fn of(wish: BudgetWish, limit: Option<MemoryLimit>) -> Budget {
        let bytes = match wish {
            BudgetWish::Auto => limit.as_ref().map(|limit| share_of(limit.bytes)),
            BudgetWish::Off => None,
            BudgetWish::Bytes(bytes) => Some(bytes),
        };
        Budget { wish, bytes, limit }
    }

    /// The limit that the budget was taken from.
    pub(crate) fn origin(&self) -> Option<Limit<'_>> {
        self.limit.as_ref().filter(|_| self.wish == BudgetWish::Auto).map(Limit)
    }

    /// What the control group's limit would have to be for a budget of so many bytes, where the budget follows it.
    pub(crate) fn limit_for(&self, budget_bytes: u64) -> Option<u64> {
        self.origin().map(|_| budget_bytes.div_ceil(BUDGET_PARTS).saturating_mul(LIMIT_PARTS))
    }

    /// The limit that ends the server before it reaches its budget.
    pub(crate) fn exceeded(&self) -> Option<Limit<'_>> {
        let bytes = self.bytes?;
        self.limit.as_ref().filter(|limit| bytes > limit.bytes).map(Limit)
    }

    /// The limit that is nearer to the budget than [`Budget::of`] would have them.
    pub(crate) fn close(&self) -> Option<Limit<'_>> {
        let bytes = self.bytes?;
        self.limit.as_ref().filter(|limit| bytes > share_of(limit.bytes)).map(Limit)
    }

    /// The limit beside which there is no budget, as it was written.
    pub(crate) fn unheeded(&self) -> Option<Limit<'_>> {
        self.limit.as_ref().filter(|_| self.bytes.is_none()).map(Limit)
    }

    /// Says in the log what the control group has to do with the budget.
    pub(crate) fn log(&self) {
        if let Some(limit) = self.exceeded() {
            tracing::warn!(
                "the memory budget exceeds {limit}: the kernel will kill the server before it refuses connections; \
                 set `limits.memory_budget` to {} MiB or less, or to \"auto\"",
                limit.share_mebibytes()
            );
        } else if let (Some(bytes), Some(limit)) = (self.bytes, self.origin()) {
            tracing::info!("memory budget: {} MiB, {BUDGET_PARTS}/{LIMIT_PARTS} of {limit}", bytes >> 20);
        } else if let Some(limit) = self.unheeded() {
            tracing::info!("no memory budget: the kernel will kill the server at {limit}");
        }
    }
}

/// A control group's limit in words: its size, and where it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit<'a>(&'a MemoryLimit);

impl Limit<'_> {
    /// The budget that it leaves room for, in MiB.
    pub(crate) fn share_mebibytes(self) -> u64 {
        share_of(self.0.bytes) >> 20
    }
}

impl fmt::Display for Limit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemoryLimit { bytes, file } = self.0;
        write!(f, "the control group's limit of {} MiB ({})", bytes >> 20, file.display())
    }
}

fn share_of(limit_bytes: u64) -> u64 {
    limit_bytes / LIMIT_PARTS * BUDGET_PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn budget(wish: BudgetWish, limit_mebibytes: Option<u64>) -> Budget {
        let limit =
            |mebibytes: u64| MemoryLimit { bytes: mebibytes * MIB, file: "/groups/memory.max".into() };
        Budget::of(wish, limit_mebibytes.map(limit))
    }

    #[test]
    fn what_is_written_wins_over_the_control_group() {
        for (wish, limit, bytes) in [
            (BudgetWish::Auto, None, None),
            (BudgetWish::Auto, Some(4352), Some(4096 * MIB)),
            (BudgetWish::Off, Some(4352), None),
            (BudgetWish::Bytes(64 * MIB), Some(4352), Some(64 * MIB)),
            (BudgetWish::Bytes(64 * MIB), Some(32), Some(64 * MIB)),
            (BudgetWish::Bytes(64 * MIB), None, Some(64 * MIB)),
        ] {
            assert_eq!(budget(wish, limit).bytes, bytes, "{wish:?} with {limit:?}");
        }
    }

    #[test]
    fn a_limit_is_named_where_it_matters() {
        let said = |limit: Option<Limit<'_>>| limit.map(|limit| limit.to_string());
        let limited = "the control group's limit of 68 MiB (/groups/memory.max)".to_owned();
        let auto = budget(BudgetWish::Auto, Some(68));
        assert_eq!(said(auto.origin()), Some(limited.clone()));
        assert_eq!(auto.bytes, Some(64 * MIB));
        assert_eq!(auto.limit_for(4096 * MIB), Some(4352 * MIB));
        assert_eq!([said(auto.exceeded()), said(auto.close()), said(auto.unheeded())], [None, None, None]);
        for (mebibytes, close, exceeded) in
            [(64, false, false), (66, true, false), (68, true, false), (69, true, true)]
        {
            let written = budget(BudgetWish::Bytes(mebibytes * MIB), Some(68));
            assert_eq!(said(written.close()).is_some(), close, "{mebibytes}");
            assert_eq!(said(written.exceeded()).is_some(), exceeded, "{mebibytes}");
            assert_eq!(said(written.origin()), None, "{mebibytes}");
            assert_eq!(written.limit_for(MIB), None, "{mebibytes}");
        }
        assert_eq!(said(budget(BudgetWish::Off, Some(68)).unheeded()), Some(limited));
        assert_eq!(said(budget(BudgetWish::Auto, None).unheeded()), None);
    }
}
