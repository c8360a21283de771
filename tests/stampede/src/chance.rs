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

    /// The first numbers of the published generator from this seed.
    const OF_1234567: [u64; 3] =
        [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];

    #[test]
    fn throws_are_those_of_the_published_generator_between_0_and_1() {
        let mut chance = Chance::new(1_234_567);
        for number in OF_1234567 {
            let throw = chance.throw();
            assert_eq!(throw, (number >> 11) as f64 / (1_u64 << 53) as f64);
            assert!((0.0..1.0).contains(&throw));
        }
    }
}
