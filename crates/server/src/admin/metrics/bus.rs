//! Metrics of the bus between nodes, if there is one.

use super::page::Page;
use ::bus::{Snapshot, State};
use std::fmt;

pub(super) fn encode(page: &mut Page<'_>, bus: &Snapshot) -> fmt::Result {
    let is_up = matches!(bus.state, State::Up { .. });
    page.gauge("throng_bus_up", "Whether this node is connected to the bus.", u64::from(is_up))?;
    page.counter("throng_bus_connects", "Times that this node connected to the bus.", bus.connects_total)?;
    page.gauge("throng_bus_nodes", "Live nodes on the bus, including this one.", bus.nodes)?;
    page.gauge(
        "throng_bus_subscriptions",
        "Topics to which this node is subscribed on the bus.",
        bus.subscriptions,
    )?;
    page.gauge("throng_bus_queue_depth", "Items waiting for the bus.", bus.queue_len)?;
    page.counters(
        "throng_bus_publications",
        "Broadcasts through the bus: from this node (local), or received from another node (bus).",
        "origin",
        [("local", bus.published_total), ("bus", bus.delivered_total)].into_iter(),
    )?;
    let dropped = bus.dropped_total;
    page.counter(
        "throng_bus_dropped",
        "Broadcasts of this node that were dropped because the bus had no room.",
        dropped,
    )?;
    let lost = bus.lost_total;
    page.counter(
        "throng_bus_lost",
        "Broadcasts of this node that other nodes did not receive, or may not have received.",
        lost,
    )?;
    let untold = bus.untold_total;
    page.counter(
        "throng_bus_untold",
        "Lost broadcasts of which members on other nodes are not told, because there were too many topics.",
        untold,
    )?;
    let undecodable = bus.undecodable_total;
    page.counter(
        "throng_bus_undecodable",
        "Messages from other nodes that this node could not decode.",
        undecodable,
    )
}
