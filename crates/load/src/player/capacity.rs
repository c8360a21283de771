//! How many shards, and whose descriptors: from the users that may be connected at once and what a table may hold.

use engine::Tables;
use engine::machine::DescriptorLimit;

/// Descriptors of a table that are not connections: readiness loops, wakers, the event log, the dashboard.
const RESERVE: u64 = 256;

/// What the engine is started with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Capacity {
    pub(crate) shards: usize,
    pub(crate) tables: Tables,
}

impl Capacity {
    /// One shard a core in one table, unless more connections are wanted than one table holds: then as many shards
    /// with tables of their own as it takes. `shards` overrides the number, not the need for tables.
    pub(crate) fn plan(
        shards: Option<usize>,
        connections: u64,
        cores: usize,
        limit: DescriptorLimit,
    ) -> Capacity {
        let table = limit.soft.map_or(u64::MAX, |soft| soft.saturating_sub(RESERVE).max(1));
        if connections <= table {
            return Capacity { shards: shards.unwrap_or(cores).max(1), tables: Tables::Shared };
        }
        let needed = usize::try_from(connections.div_ceil(table)).unwrap_or(usize::MAX);
        let shards = shards.unwrap_or(cores.max(needed)).clamp(1, usize::from(u16::MAX));
        Capacity { shards, tables: Tables::Private }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_its_own_for_each_shard_only_where_one_is_too_small() {
        let limit = DescriptorLimit { soft: Some(20_000), hard: Some(20_000) };
        let plan = |shards, connections| {
            let capacity = Capacity::plan(shards, connections, 2, limit);
            (capacity.shards, capacity.tables)
        };
        assert_eq!(plan(None, 10_000), (2, Tables::Shared));
        assert_eq!(plan(Some(1), 10_000), (1, Tables::Shared));
        assert_eq!(plan(None, 200_000), (11, Tables::Private));
        assert_eq!(plan(Some(20), 200_000), (20, Tables::Private));
        let none = DescriptorLimit { soft: None, hard: None };
        assert_eq!(Capacity::plan(None, 5_000_000, 2, none).tables, Tables::Shared);
    }
}
