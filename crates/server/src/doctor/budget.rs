//! Whether the machine has the memory that the budget allows.

use ::doctor::{Check, Facts, State};

const SUBJECT: &str = "memory budget";

pub(super) fn check(budget: Option<u64>, facts: &Facts) -> Option<Check> {
    let Some(budget) = budget else {
        let text = "there is none: the server lets connections in until the kernel ends it";
        let usable = facts.usable_bytes()?;
        let remedy = format!("--memory-budget {}MiB, nine tenths of what is usable", (usable / 10 * 9) >> 20);
        return Some(Check::new(SUBJECT, State::Note, text).with(remedy));
    };
    let usable = facts.usable_bytes()?;
    let said = format!("{} MiB of {} MiB usable", budget >> 20, usable >> 20);
    if budget <= usable {
        return Some(Check::new(SUBJECT, State::Ok, said));
    }
    let text = format!("{said}: the kernel ends the server before it reaches its budget");
    Some(Check::new(SUBJECT, State::Stop, text).with("a smaller `limits.memory_budget`, or more memory"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::doctor::{MemoryFacts, Reading};

    #[test]
    fn a_budget_beyond_the_memory_stops() {
        let available_bytes = Reading::Known(1 << 30);
        let facts =
            Facts { memory: MemoryFacts { available_bytes, ..MemoryFacts::default() }, ..Facts::default() };
        for (budget, state) in [(Some(1 << 29), State::Ok), (Some(1 << 31), State::Stop), (None, State::Note)]
        {
            assert_eq!(check(budget, &facts).expect("the memory is known").state, state, "{budget:?}");
        }
        assert_eq!(check(Some(1), &Facts::default()), None, "nothing is known of the machine");
    }
}
