//! Plans the shards and their descriptor tables, from the number of connections wanted and the descriptor limit.

use crate::config::Config;
use gateway::Tables;
use gateway::machine::DescriptorLimit;
use std::thread;

/// Descriptors of a table that are not used for connections: listeners, wakers, files, plain HTTP.
const RESERVE: usize = 512;
/// The kernel distributes connections over shards by hash, so some shards get more than their share, by up to this
/// fraction.
const IMBALANCE: f64 = 0.04;

/// The configured values; `None` leaves a value to the plan.
#[derive(Clone, Copy, Debug)]
struct ConfiguredCapacity {
    shards: Option<usize>,
    tables: Option<Tables>,
    connections: Option<usize>,
}

/// The values to start the gateway with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Capacity {
    pub(crate) shards: usize,
    pub(crate) tables: Tables,
}

impl Capacity {
    /// Plans for this machine, with that descriptor limit.
    pub(crate) fn of(config: &Config, limit: DescriptorLimit) -> Capacity {
        let configured = ConfiguredCapacity {
            shards: config.shards,
            tables: config.descriptor_tables,
            connections: config.limits.connections,
        };
        Self::plan(configured, thread::available_parallelism().map_or(1, usize::from), limit)
    }

    /// Returns the number of descriptor tables.
    pub(crate) fn tables_count(&self) -> usize {
        match self.tables {
            Tables::Shared => 1,
            Tables::Private => self.shards,
        }
    }

    /// One shard per core with a shared table, unless more connections are wanted than one table holds: then as many
    /// shards with private tables as that requires.
    fn plan(configured: ConfiguredCapacity, cores: usize, limit: DescriptorLimit) -> Capacity {
        let table = limit.soft.map_or(usize::MAX, |soft| (soft as usize).saturating_sub(RESERVE).max(1));
        let wanted = configured.connections;
        let tables = configured.tables.unwrap_or(match wanted {
            Some(wanted) if wanted > table => Tables::Private,
            Some(_) | None => Tables::Shared,
        });
        let for_wanted = match (tables, wanted) {
            (Tables::Private, Some(wanted)) => {
                (wanted as f64 * (1.0 + IMBALANCE) / table as f64).ceil() as usize
            }
            (Tables::Private | Tables::Shared, _) => 1,
        };
        let shards = configured.shards.unwrap_or_else(|| cores.max(for_wanted));
        Capacity { shards, tables }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(wanted: Option<usize>, soft: Option<u64>) -> (usize, Tables) {
        let configured = ConfiguredCapacity { shards: None, tables: None, connections: wanted };
        let capacity = Capacity::plan(configured, 2, DescriptorLimit { soft, hard: soft });
        (capacity.shards, capacity.tables)
    }

    #[test]
    fn one_table_is_enough_for_what_fits() {
        assert_eq!(plan(None, Some(20_000)), (2, Tables::Shared));
        assert_eq!(plan(Some(19_000), Some(20_000)), (2, Tables::Shared));
        assert_eq!(plan(Some(5_000_000), None), (2, Tables::Shared));
    }

    #[test]
    fn more_than_one_table_holds_takes_shards_with_their_own() {
        assert_eq!(plan(Some(200_000), Some(20_000)), (11, Tables::Private));
        assert_eq!(plan(Some(2_000_000), Some(20_000)), (107, Tables::Private));
    }
}
