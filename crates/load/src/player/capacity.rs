//! How many shards to start and whether they share a descriptor table, from the number of concurrent users and the size
//! of a table.

use engine::Tables;
use engine::machine::DescriptorLimit;

/// Descriptors of a table that are not connections: epoll instances, wakers, the event log, the dashboard.
const RESERVE: u64 = 256;

/// Number of connections needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    /// Expected concurrent connections.
    pub(crate) at_once: u64,
    /// Total number of connections if nobody ever left.
    pub(crate) in_all: u64,
}

/// The engine's start-up configuration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Capacity {
    pub(crate) shards: usize,
    pub(crate) tables: Tables,
}

impl Capacity {
    /// Plans one shard per core in a shared table if that holds everybody; otherwise shards with private tables, enough
    /// to hold the expected concurrent connections and at least one per core. `shards` overrides the number of shards,
    /// but not the need for tables.
    pub(crate) fn plan(
        shards: Option<usize>,
        wanted: Wanted,
        cores: usize,
        limit: DescriptorLimit,
    ) -> Capacity {
        let table = limit.soft.map_or(u64::MAX, |soft| soft.saturating_sub(RESERVE).max(1));
        if wanted.in_all <= table {
            return Capacity { shards: shards.unwrap_or(cores).max(1), tables: Tables::Shared };
        }
        let needed = usize::try_from(wanted.at_once.div_ceil(table)).unwrap_or(usize::MAX);
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
        let plan = |shards, at_once, in_all| {
            let capacity = Capacity::plan(shards, Wanted { at_once, in_all }, 2, limit);
            (capacity.shards, capacity.tables)
        };
        assert_eq!(plan(None, 10_000, 10_000), (2, Tables::Shared));
        assert_eq!(plan(Some(1), 10_000, 10_000), (1, Tables::Shared));
        assert_eq!(plan(None, 200_000, 200_000), (11, Tables::Private));
        assert_eq!(plan(Some(20), 200_000, 200_000), (20, Tables::Private));
        let none = DescriptorLimit { soft: None, hard: None };
        let many = Wanted { at_once: 5_000_000, in_all: 5_000_000 };
        assert_eq!(Capacity::plan(None, many, 2, none).tables, Tables::Shared);
    }

    #[test]
    fn who_comes_one_after_the_other_takes_no_threads_but_has_room_where_the_crowd_is_greater_than_expected()
    {
        let limit = DescriptorLimit { soft: Some(20_000), hard: Some(20_000) };
        let plan = |at_once, in_all| Capacity::plan(None, Wanted { at_once, in_all }, 2, limit);
        assert_eq!(plan(900, 180_000), Capacity { shards: 2, tables: Tables::Private });
        assert_eq!(plan(60_000, 180_000), Capacity { shards: 4, tables: Tables::Private });
        // The number is unknown: one table per core.
        assert_eq!(plan(0, u64::MAX), Capacity { shards: 2, tables: Tables::Private });
    }
}
