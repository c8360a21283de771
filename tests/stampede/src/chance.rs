//! Chance from a seed.

/// SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The same seed throws the same.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From 0 (inclusive) to 1 (exclusive).
    pub fn throw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throws_lie_evenly_between_0_and_1_and_repeat_with_the_seed() {
        let throws = |seed| {
            let mut chance = Chance::new(seed);
            (0..10_000).map(|_| chance.throw()).collect::<Vec<_>>()
        };
        let first = throws(1);
        assert!(first.iter().all(|throw| (0.0..1.0).contains(throw)));
        let mean = first.iter().sum::<f64>() / first.len() as f64;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert_eq!(first, throws(1));
        assert_ne!(first, throws(2));
    }
}
