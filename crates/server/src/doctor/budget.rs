//! Checks the memory budget: where it comes from, how many connections it has room for, and whether the machine and the
//! control group can provide it.

use crate::budget::Budget;
use ::doctor::amounts::grouped;
use ::doctor::{Check, Facts, State};

const SUBJECT: &str = "memory budget";

/// `room` is what the budget has room for. Returns `None` if there is no budget and the memory is unknown.
pub(super) fn check(budget: &Budget, room: Option<::doctor::Budget>, facts: &Facts) -> Option<Check> {
    let check = |state, text: String| Some(Check::new(SUBJECT, state, text));
    let Some(::doctor::Budget { bytes, clients, .. }) = room else {
        return without(budget, facts);
    };
    let origin = budget.origin().map(|limit| format!(", by {limit}")).unwrap_or_default();
    let said = format!("{} MiB{origin}: room for about {} idle connections", bytes >> 20, grouped(clients));
    if let Some(limit) = budget.exceeded() {
        let check = check(State::Stop, format!("{said}, but the kernel will kill the server at {limit}"));
        return check.map(|check| check.with(smaller(limit.share_mebibytes())));
    }
    let usable = facts.usable_bytes().filter(|usable| bytes > *usable);
    if let Some(usable) = usable {
        let text = format!(
            "{said}, but the machine has only {} MiB left, and the kernel will kill the server when they are used up",
            usable >> 20
        );
        return check(State::Stop, text)
            .map(|check| check.with("a smaller `limits.memory_budget`, or more memory"));
    }
    if let Some(limit) = budget.close() {
        let text =
            format!("{said}; {limit} is less than a sixteenth above it, and also covers the page cache");
        return check(State::Caution, text).map(|check| check.with(smaller(limit.share_mebibytes())));
    }
    check(State::Ok, said)
}

fn without(budget: &Budget, facts: &Facts) -> Option<Check> {
    if let Some(limit) = budget.unheeded() {
        let text = format!("none: the server accepts connections until the kernel kills it, at {limit}");
        let remedy =
            format!("`limits.memory_budget` = \"auto\", which is {} MiB here", limit.share_mebibytes());
        return Some(Check::new(SUBJECT, State::Caution, text).with(remedy));
    }
    let text = "none: the server accepts connections until the kernel kills it";
    let remedy = format!(
        "--memory-budget {}MiB, nine tenths of the usable memory",
        (facts.usable_bytes()? / 10 * 9) >> 20
    );
    Some(Check::new(SUBJECT, State::Note, text).with(remedy))
}

fn smaller(mebibytes: u64) -> String {
    format!(
        "`limits.memory_budget` = \"auto\", which is {mebibytes} MiB here, or a larger memory limit of the control \
         group"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BudgetSetting;
    use ::doctor::{MemoryFacts, Reading};
    use gateway::machine::MemoryLimit;

    const MIB: u64 = 1 << 20;

    /// Checks a budget on a machine with `available` MiB of free memory.
    fn judged(setting: BudgetSetting, limit: Option<u64>, available: Option<u64>) -> Option<Check> {
        let limit_bytes = limit.map(|mebibytes| mebibytes * MIB);
        let memory = MemoryFacts {
            available_bytes: available
                .map_or_else(Reading::default, |mebibytes| Reading::Known(mebibytes * MIB)),
            limit_bytes,
            ..MemoryFacts::default()
        };
        let limit = limit_bytes.map(|bytes| MemoryLimit { bytes, file: "/groups/memory.max".into() });
        let budget = Budget::of(setting, limit);
        let of = |bytes| ::doctor::Budget {
            bytes,
            clients: 12_345,
            wanted_bytes: bytes,
            wanted_limit_bytes: None,
        };
        let room = budget.bytes.map(of);
        check(&budget, room, &Facts { memory, ..Facts::default() })
    }

    #[test]
    fn a_budget_is_judged_beside_the_machine_and_the_control_group() {
        let written = |mebibytes: u64| BudgetSetting::Bytes(mebibytes * MIB);
        let from_limit =
            "64 MiB, by the control group's limit of 68 MiB (/groups/memory.max): room for about 12,345";
        for (setting, limit, available, state, said) in [
            (written(512), None, Some(1024), State::Ok, "512 MiB: room for about 12,345 idle connections"),
            (written(2048), None, Some(1024), State::Stop, "the machine has only 1024 MiB left"),
            (BudgetSetting::Auto, Some(68), Some(1024), State::Ok, from_limit),
            (BudgetSetting::Auto, Some(2048), Some(1024), State::Stop, "the machine has only 1024 MiB left"),
            (written(64), Some(68), Some(1024), State::Ok, "64 MiB: room"),
            (written(68), Some(68), Some(1024), State::Caution, "less than a sixteenth above it"),
            (
                written(100),
                Some(68),
                Some(1024),
                State::Stop,
                "the kernel will kill the server at the control group's limit",
            ),
            (written(100), Some(68), None, State::Stop, "(/groups/memory.max)"),
            (BudgetSetting::Auto, None, Some(1024), State::Note, "none: the server accepts"),
            (BudgetSetting::Off, None, Some(1024), State::Note, "none: the server accepts"),
            (BudgetSetting::Off, Some(68), Some(1024), State::Caution, "/groups/memory.max"),
        ] {
            let check = judged(setting, limit, available).expect("something is known");
            assert_eq!(check.state, state, "{setting:?} with {limit:?}: {}", check.text);
            assert!(check.text.contains(said), "{setting:?} with {limit:?}: {}", check.text);
            assert_eq!(check.remedy.is_some(), state != State::Ok, "{setting:?} with {limit:?}");
        }
        assert_eq!(judged(BudgetSetting::Auto, None, None), None, "nothing is known of the machine");
    }
}
