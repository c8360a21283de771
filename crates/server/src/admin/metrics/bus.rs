//! Metrics of the bus between nodes, if there is one.

use super::page::Page;
use ::bus::{Snapshot, State};
use std::fmt;

pub(super) fn encode(page: &mut Page<'_>, bus: &Snapshot) -> fmt::Result {
    let is_up = matches!(bus.state, State::Up { .. });
    page.gauge("throng_bus_up", "Whether the bus between nodes is there.", u64::from(is_up))?;
    page.counter("throng_bus_connects", "Times that the bus came to be there.", bus.connects_total)?;
    page.gauge("throng_bus_nodes", "Nodes that the bus knows to live, this one included.", bus.nodes)?;
    page.gauge("throng_bus_subscriptions", "Topics that the bus tells this node of.", bus.subscriptions)?;
    page.gauge("throng_bus_queue_depth", "What waits for the bus.", bus.queue_len)?;
    page.counters(
        "throng_bus_publications",
        "Broadcasts that went through the bus: from this node (local), or to it from another (bus).",
        "origin",
        [("local", bus.published_total), ("bus", bus.delivered_total)].into_iter(),
    )?;
    let dropped = bus.dropped_total;
    page.counter("throng_bus_dropped", "Broadcasts of this node that the bus had no room for.", dropped)?;
    let lost = bus.lost_total;
    page.counter(
        "throng_bus_lost",
        "Broadcasts of this node that other nodes did not get, or may not have.",
        lost,
    )?;
    let untold = bus.untold_total;
    page.counter(
        "throng_bus_untold",
        "Those of them that the other nodes' members are not told of, as there were too many topics.",
        untold,
    )?;
    let undecodable = bus.undecodable_total;
    page.counter(
        "throng_bus_undecodable",
        "Messages of other nodes that make no sense to this one.",
        undecodable,
    )
}
