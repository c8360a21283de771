//! Time distributions of the whole run, by metric and by label.

use serde::{Deserialize, Serialize};

use super::Population;
use super::limits::LABELS_MAX;

/// Time distributions of the whole run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) latency: Population,
    pub(super) service_latency: Population,
    pub(super) connect: Population,
    pub(super) join: Population,
    pub(super) reply: Population,
    pub(super) reply_intended: Population,
    pub(super) http: Population,
    pub(super) http_intended: Population,
    pub(super) send_lag: Population,
    pub(super) begin_lag: Population,
    /// From when all users of a burst were due until the last had started and the data that had arrived meanwhile was
    /// read; recorded once per user that started.
    pub(super) burst: Population,
    pub(super) session: Population,
    pub(super) labelled: Vec<Option<Box<Population>>>,
}

impl Measured {
    /// Records a time of a label; for a label beyond [`LABELS_MAX`], only increments `unlabelled`.
    pub(super) fn label(&mut self, label: u16, time_us: u64, unlabelled: &mut u64) {
        if label >= LABELS_MAX {
            *unlabelled += 1;
            return;
        }
        self.labelled_mut(label).record(time_us);
    }

    fn labelled_mut(&mut self, label: u16) -> &mut Population {
        let place = usize::from(label);
        if place >= self.labelled.len() {
            self.labelled.resize_with(place + 1, || None);
        }
        self.labelled[place].get_or_insert_default()
    }

    /// Adds the measurements of a later part of the same run, or of another machine.
    pub(super) fn merge(&mut self, other: &Self) {
        for (mine, others) in [
            (&mut self.latency, &other.latency),
            (&mut self.service_latency, &other.service_latency),
            (&mut self.connect, &other.connect),
            (&mut self.join, &other.join),
            (&mut self.reply, &other.reply),
            (&mut self.reply_intended, &other.reply_intended),
            (&mut self.http, &other.http),
            (&mut self.http_intended, &other.http_intended),
            (&mut self.send_lag, &other.send_lag),
            (&mut self.begin_lag, &other.begin_lag),
            (&mut self.burst, &other.burst),
            (&mut self.session, &other.session),
        ] {
            mine.merge(others);
        }
        for (label, others) in (0..LABELS_MAX).zip(&other.labelled) {
            if let Some(others) = others {
                self.labelled_mut(label).merge(others);
            }
        }
    }
}
