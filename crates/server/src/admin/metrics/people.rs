//! The messenger's metrics. They have no label for the community: there may be thousands.

use super::page::Page;
use messenger::{Counts, Messenger};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use std::fmt;

/// Reads the messenger at each scrape.
pub(super) struct MessengerCollector {
    pub(super) messenger: Messenger,
}

impl fmt::Debug for MessengerCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessengerCollector")
    }
}

impl Collector for MessengerCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let counts = self.messenger.counts();
        let mut page = Page::new(encoder);
        people(&mut page, &counts)?;
        store(&mut page, &counts)?;
        cache(&mut page, &counts)
    }
}

fn people(page: &mut Page<'_>, counts: &Counts) -> fmt::Result {
    page.gauge(
        "throng_communities_active",
        "Communities with at least one person online.",
        counts.communities,
    )?;
    page.gauge("throng_people_online", "People who are online, or were until a moment ago.", counts.people)?;
    page.gauge("throng_devices_online", "Connected devices of people.", counts.devices)?;
    page.gauge("throng_rooms_open", "Rooms that at least one client has open.", counts.rooms_open)?;
    page.gauge("throng_sessions", "Connections authenticated by a token.", counts.sessions)?;
    let waiting = "Joins that wait because many joins of their community are under way.";
    page.gauge("throng_community_joins_waiting", waiting, counts.joins_waiting)?;
    let refused = "Joins refused because they had waited too long for others of their community.";
    page.counter("throng_community_joins_refused", refused, counts.joins_refused_total)?;
    page.counters(
        "throng_rate_limited",
        "Requests refused because there were too many per minute, by limit.",
        "limit",
        counts.limited.iter().copied(),
    )
}

fn store(page: &mut Page<'_>, counts: &Counts) -> fmt::Result {
    page.counter("throng_store_requests", "Store operations.", counts.asked_total)?;
    let unavailable = counts.unavailable_total;
    page.counter(
        "throng_store_unavailable",
        "Store operations that failed because of a problem with the store.",
        unavailable,
    )?;
    let dropped = counts.sightings_dropped_total;
    page.counter("throng_sightings_dropped", "People whose last-seen time could not be stored.", dropped)?;
    let untold = counts.untold_total;
    page.counter(
        "throng_news_untold",
        "Notices of stored changes dropped because a queue was full.",
        untold,
    )?;
    page.counter("throng_news_heard", "Notices of stored changes from other nodes.", counts.heard_total)?;
    let missed = counts.missed_total;
    page.counter(
        "throng_news_missed",
        "Times that notices from other nodes may have been missed, and all state was reloaded.",
        missed,
    )
}

fn cache(page: &mut Page<'_>, counts: &Counts) -> fmt::Result {
    let hits = counts.cache.iter().map(|(kind, hits, _)| (*kind, *hits));
    page.counters("throng_cache_hits", "Reads answered from the cache, by kind.", "kind", hits)?;
    let misses = counts.cache.iter().map(|(kind, _, misses)| (*kind, *misses));
    page.counters("throng_cache_misses", "Reads that the store had to answer, by kind.", "kind", misses)?;
    page.gauge("throng_cache_bytes", "Memory used by the read cache.", counts.cache_bytes)?;
    page.gauge("throng_cache_bytes_max", "Maximum memory of the read cache.", counts.cache_bytes_max)
}
