//! Totals, and the check that they add up.

use super::Counts;

impl Counts {
    /// Returns the number of expected deliveries whose outcome is known; it equals [`Counts::expected`] if the totals
    /// add up.
    #[must_use]
    pub fn accounted_for(&self) -> u64 {
        self.delivered.saturating_add(self.lost).saturating_add(self.late).saturating_add(self.in_flight)
    }

    /// Returns whether the outcome of every expected delivery is known.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        self.expected == self.accounted_for()
    }

    /// Adds another's totals. The maximum number of concurrent connections is not a total and is left unchanged.
    pub(super) fn add(&mut self, other: &Self) {
        let Self {
            users_wanted,
            users,
            users_finished,
            users_failed,
            users_stopped,
            users_dropped,
            connected_max: _,
            connects,
            connects_failed,
            connect_timeouts,
            disconnects,
            joins,
            joins_failed,
            sent,
            expected,
            delivered,
            lost,
            late,
            in_flight,
            unjudged,
            duplicates,
            reordered,
            unexpected,
            unstamped,
            received,
            bytes_sent,
            bytes_received,
            replies,
            http,
            http_failed,
            http_bytes,
            transactions,
            errors,
        } = self;
        for (mine, others) in [
            (users_wanted, other.users_wanted),
            (users, other.users),
            (users_finished, other.users_finished),
            (users_failed, other.users_failed),
            (users_stopped, other.users_stopped),
            (users_dropped, other.users_dropped),
            (connects, other.connects),
            (connects_failed, other.connects_failed),
            (connect_timeouts, other.connect_timeouts),
            (disconnects, other.disconnects),
            (joins, other.joins),
            (joins_failed, other.joins_failed),
            (sent, other.sent),
            (expected, other.expected),
            (delivered, other.delivered),
            (lost, other.lost),
            (late, other.late),
            (in_flight, other.in_flight),
            (unjudged, other.unjudged),
            (duplicates, other.duplicates),
            (reordered, other.reordered),
            (unexpected, other.unexpected),
            (unstamped, other.unstamped),
            (received, other.received),
            (bytes_sent, other.bytes_sent),
            (bytes_received, other.bytes_received),
            (replies, other.replies),
            (http, other.http),
            (http_failed, other.http_failed),
            (http_bytes, other.http_bytes),
            (transactions, other.transactions),
            (errors, other.errors),
        ] {
            *mine = mine.saturating_add(others);
        }
    }
}
