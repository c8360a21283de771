//! A uniform random sample of a stream of unknown length (Vitter's algorithm R).

use serde::{Deserialize, Serialize};

/// Number of samples that the original kept.
pub const RESERVOIR_SAMPLES: usize = 1028;

/// The samples of a C10K test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Samples {
    /// Connect times in microseconds.
    pub connection_time: Reservoir,
    /// Times from sending a message to its echo, in microseconds.
    pub latency: Reservoir,
}

impl Samples {
    /// Returns empty reservoirs. The same seed and the same stream give the same samples.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { connection_time: Reservoir::new(seed), latency: Reservoir::new(mixed(seed)) }
    }

    /// Redraws from both, so that every time of either stream is equally likely to be among the samples.
    pub fn merge(&mut self, other: &Self) {
        self.connection_time.merge(&other.connection_time);
        self.latency.merge(&other.latency);
    }
}

/// At most [`RESERVOIR_SAMPLES`] values of a stream, all equally likely to be included.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reservoir {
    seed: u64,
    seen: u64,
    samples: Vec<u64>,
}

impl Reservoir {
    /// Returns an empty reservoir.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // The seeds of a run are small consecutive numbers, as are the counts that they are combined with.
        Self { seed: mixed(seed), seen: 0, samples: Vec::new() }
    }

    /// Adds the next value of the stream.
    pub fn add(&mut self, value: u64) {
        self.seen = self.seen.saturating_add(1);
        if self.samples.len() < RESERVOIR_SAMPLES {
            self.samples.push(value);
            return;
        }
        let place = below(self.seen, mixed(self.seed ^ self.seen));
        if let Some(sample) = usize::try_from(place).ok().and_then(|place| self.samples.get_mut(place)) {
            *sample = value;
        }
    }

    /// Returns the samples, in no particular order.
    #[must_use]
    pub fn samples(&self) -> &[u64] {
        &self.samples
    }

    /// Returns the number of values in the stream.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Draws without replacement from both, each time choosing one in proportion to its number of remaining values.
    fn merge(&mut self, other: &Self) {
        let mut pools = [(self.seen, std::mem::take(&mut self.samples)), (other.seen, other.samples.clone())];
        let mut drawn = Vec::new();
        let mut random = mixed(self.seed ^ other.seed.rotate_left(32) ^ self.seen);
        while drawn.len() < RESERVOIR_SAMPLES && pools.iter().any(|(_, samples)| !samples.is_empty()) {
            random = mixed(random);
            let remaining = pools[0].0.saturating_add(pools[1].0).max(1);
            let first = below(remaining, random) < pools[0].0;
            let chosen = if (first && !pools[0].1.is_empty()) || pools[1].1.is_empty() { 0 } else { 1 };
            let (left, samples) = &mut pools[chosen];
            random = mixed(random);
            drawn.push(samples.swap_remove(below(samples.len() as u64, random) as usize));
            *left = left.saturating_sub(1);
        }
        self.samples = drawn;
        self.seen = self.seen.saturating_add(other.seen);
    }
}

/// Maps 64 random bits to a number below the bound, without division; the bias is below bound / 2^64.
fn below(bound: u64, random: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

/// Mixes the bits of a number (the finalizer of SplitMix64): a random generator without state to keep or to send.
fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reservoir_of(seed: u64, values: std::ops::Range<u64>) -> Reservoir {
        let mut reservoir = Reservoir::new(seed);
        values.for_each(|value| reservoir.add(value));
        reservoir
    }

    #[test]
    fn a_short_stream_is_kept_whole() {
        assert_eq!(reservoir_of(1, 0..1028).samples(), (0..1028).collect::<Vec<_>>());
    }

    #[test]
    fn the_same_seed_draws_the_same_samples() {
        assert_eq!(reservoir_of(1, 0..9000), reservoir_of(1, 0..9000));
        assert_ne!(reservoir_of(1, 0..9000).samples(), reservoir_of(2, 0..9000).samples());
    }

    /// With 200 streams of 10,280 values, each tenth of a stream has 20,560 samples on average, with a standard
    /// deviation of about 136: a deviation of 5 % in a tenth is no coincidence.
    #[test]
    fn each_part_of_a_stream_is_as_likely_to_be_sampled() {
        let mut of_tenth = [0_u32; 10];
        for seed in 0..200 {
            let whole = reservoir_of(seed, 0..10_280);
            whole.samples().iter().for_each(|value| of_tenth[(value / 1028) as usize] += 1);
        }
        assert!(of_tenth.iter().all(|count| (19_532..=21_588).contains(count)), "{of_tenth:?}");
    }

    #[test]
    fn merged_samples_are_of_both_streams_by_their_length() {
        let mut from_second = 0;
        for seed in 0..100 {
            let mut merged = reservoir_of(seed, 0..3000);
            merged.merge(&reservoir_of(seed + 1000, 3000..4000));
            assert_eq!((merged.samples().len(), merged.seen()), (RESERVOIR_SAMPLES, 4000));
            from_second += merged.samples().iter().filter(|value| **value >= 3000).count();
        }
        let share = from_second as f64 / (100 * RESERVOIR_SAMPLES) as f64;
        assert!((0.24..0.26).contains(&share), "{share}");
    }
}
