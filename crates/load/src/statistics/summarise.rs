//! Summarises the statistics of a run.

use super::facts::RunFacts;
use super::{FanOut, LabelledSpread, Population, Statistics, Summary, Times, findings, thresholds, verdict};

impl Summary {
    /// The version of the format that is written.
    pub const FORMAT: u32 = 1;
}

impl Statistics {
    /// Returns the summary of the run. If `facts` has no length, that of the series is used.
    #[must_use]
    pub fn summary(&self, facts: &RunFacts) -> Summary {
        let seconds = if facts.seconds > 0.0 { facts.seconds } else { self.seconds.len() as f64 };
        let (fan_out, _) = self.publications.so_far();
        let mut summary = Summary {
            format: Summary::FORMAT,
            scenario: facts.scenario.clone(),
            seed: facts.seed,
            started: facts.started.clone(),
            seconds,
            ended_by: facts.ended_by.clone(),
            verdict: verdict::judge(self, &facts.generator),
            thresholds: facts
                .thresholds
                .iter()
                .map(|threshold| thresholds::judge(threshold, self, seconds))
                .collect(),
            counts: self.counts(),
            times: self.times(facts),
            fan_out,
            errors: self.errors.counts(facts),
            findings: Vec::new(),
            machines: facts.machines.clone(),
            generator: facts.generator.clone(),
        };
        summary.findings = findings::find(self, &summary, facts);
        summary
    }

    /// Returns the key figures of the run's times so far.
    #[must_use]
    pub fn times(&self, facts: &RunFacts) -> Times {
        let times = &self.times;
        Times {
            latency: times.latency.spread(),
            service_latency: times.service_latency.spread(),
            connect: times.connect.spread(),
            join: times.join.spread(),
            reply: times.reply.spread(),
            reply_intended: times.reply_intended.spread(),
            http: times.http.spread(),
            http_intended: times.http_intended.spread(),
            send_lag: times.send_lag.spread(),
            begin_lag: times.begin_lag.spread(),
            burst: times.burst.spread(),
            session: times.session.spread(),
            labelled: self
                .labelled()
                .map(|(label, population)| LabelledSpread {
                    label: facts.label(label),
                    spread: population.spread(),
                })
                .collect(),
        }
    }

    /// Returns the figures of publications with several receivers so far.
    #[must_use]
    pub fn fan_out(&self) -> FanOut {
        self.publications.so_far().0
    }

    /// Returns the errors so far, most frequent first.
    #[must_use]
    pub fn errors(&self, facts: &RunFacts) -> Vec<super::ErrorCount> {
        self.errors.counts(facts)
    }

    /// Iterates over the labels that have times, by index.
    pub fn labelled(&self) -> impl Iterator<Item = (u16, &Population)> {
        (0..)
            .zip(&self.times.labelled)
            .filter_map(|(label, population)| Some((label, population.as_deref()?)))
    }
}
