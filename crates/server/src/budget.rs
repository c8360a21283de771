//! The effective memory budget: as configured, or derived from the server's control group. Also reports its origin, and
//! whether the control group allows it.

use crate::config::BudgetSetting;
use gateway::machine::{self, MemoryLimit};
use std::fmt;

/// A control group's limit is divided into this many parts …
const LIMIT_PARTS: u64 = 17;
/// … of which the budget gets these. The rest is for what the group counts and the budget does not: page cache, and
/// freed memory that the allocator keeps.
const BUDGET_PARTS: u64 = 16;

/// How much memory the server may use, and what its control group allows.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    setting: BudgetSetting,
    /// `None`: no limit.
    pub(crate) bytes: Option<u64>,
    /// `None`: no control group limits the server's memory, as far as is known.
    pub(crate) limit: Option<MemoryLimit>,
}

impl Budget {
    /// Returns the effective budget of this configuration on this machine.
    pub(crate) fn read(setting: BudgetSetting) -> Budget {
        // A kernel without control groups has no such files, and no limit.
        Budget::of(setting, machine::memory_limit().ok().flatten())
    }

    pub(crate) fn of(setting: BudgetSetting, limit: Option<MemoryLimit>) -> Budget {
        let bytes = match setting {
            BudgetSetting::Auto => limit.as_ref().map(|limit| share_of(limit.bytes)),
            BudgetSetting::Off => None,
            BudgetSetting::Bytes(bytes) => Some(bytes),
        };
        Budget { setting, bytes, limit }
    }

    /// Returns the limit that the budget was derived from.
    pub(crate) fn origin(&self) -> Option<Limit<'_>> {
        self.limit.as_ref().filter(|_| self.setting == BudgetSetting::Auto).map(Limit)
    }

    /// Returns the control group limit that a budget of this size requires, if the budget is derived from it.
    pub(crate) fn limit_for(&self, budget_bytes: u64) -> Option<u64> {
        self.origin().map(|_| budget_bytes.div_ceil(BUDGET_PARTS).saturating_mul(LIMIT_PARTS))
    }

    /// Returns the limit, if the kernel would kill the server at it before the budget is reached.
    pub(crate) fn exceeded(&self) -> Option<Limit<'_>> {
        let bytes = self.bytes?;
        self.limit.as_ref().filter(|limit| bytes > limit.bytes).map(Limit)
    }

    /// Returns the limit, if the budget is closer to it than a derived budget would be.
    pub(crate) fn close(&self) -> Option<Limit<'_>> {
        let bytes = self.bytes?;
        self.limit.as_ref().filter(|limit| bytes > share_of(limit.bytes)).map(Limit)
    }

    /// Returns the limit, if there is no budget because it was turned off.
    pub(crate) fn unheeded(&self) -> Option<Limit<'_>> {
        self.limit.as_ref().filter(|_| self.bytes.is_none()).map(Limit)
    }

    /// Logs how the control group affects the budget.
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

/// A control group's limit, formatted with its size and its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit<'a>(&'a MemoryLimit);

impl Limit<'_> {
    /// Returns the budget that it leaves room for, in MiB.
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

    fn budget(setting: BudgetSetting, limit_mebibytes: Option<u64>) -> Budget {
        let limit =
            |mebibytes: u64| MemoryLimit { bytes: mebibytes * MIB, file: "/groups/memory.max".into() };
        Budget::of(setting, limit_mebibytes.map(limit))
    }

    #[test]
    fn what_is_written_wins_over_the_control_group() {
        for (setting, limit, bytes) in [
            (BudgetSetting::Auto, None, None),
            (BudgetSetting::Auto, Some(4352), Some(4096 * MIB)),
            (BudgetSetting::Off, Some(4352), None),
            (BudgetSetting::Bytes(64 * MIB), Some(4352), Some(64 * MIB)),
            (BudgetSetting::Bytes(64 * MIB), Some(32), Some(64 * MIB)),
            (BudgetSetting::Bytes(64 * MIB), None, Some(64 * MIB)),
        ] {
            assert_eq!(budget(setting, limit).bytes, bytes, "{setting:?} with {limit:?}");
        }
    }

    #[test]
    fn a_limit_is_named_where_it_matters() {
        let said = |limit: Option<Limit<'_>>| limit.map(|limit| limit.to_string());
        let limited = "the control group's limit of 68 MiB (/groups/memory.max)".to_owned();
        let auto = budget(BudgetSetting::Auto, Some(68));
        assert_eq!(said(auto.origin()), Some(limited.clone()));
        assert_eq!(auto.bytes, Some(64 * MIB));
        assert_eq!(auto.limit_for(4096 * MIB), Some(4352 * MIB));
        assert_eq!([said(auto.exceeded()), said(auto.close()), said(auto.unheeded())], [None, None, None]);
        for (mebibytes, close, exceeded) in
            [(64, false, false), (66, true, false), (68, true, false), (69, true, true)]
        {
            let written = budget(BudgetSetting::Bytes(mebibytes * MIB), Some(68));
            assert_eq!(said(written.close()).is_some(), close, "{mebibytes}");
            assert_eq!(said(written.exceeded()).is_some(), exceeded, "{mebibytes}");
            assert_eq!(said(written.origin()), None, "{mebibytes}");
            assert_eq!(written.limit_for(MIB), None, "{mebibytes}");
        }
        assert_eq!(said(budget(BudgetSetting::Off, Some(68)).unheeded()), Some(limited));
        assert_eq!(said(budget(BudgetSetting::Auto, None).unheeded()), None);
    }
}
