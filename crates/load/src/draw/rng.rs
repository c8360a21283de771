//! The random number generator: eight bytes of state, so that every user can have its own.

use std::convert::Infallible;

use rand::rand_core::TryRng;

use crate::observe::UserId;

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). Good enough for load, not
/// for secrets. Also implements [`rand::Rng`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rng {
    state: u64,
}

/// The odd number closest to 2^64 divided by the golden ratio: SplitMix64's increment.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// First stream that does not belong to a user; users' numbers have 32 bits.
const FIRST_STREAM_OF_NO_USER: u64 = 1 << 32;

const ALPHANUMERIC: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl Rng {
    /// Returns the stream of one user under a scenario's seed.
    #[must_use]
    pub fn for_user(seed: u64, user: UserId) -> Self {
        Self::for_stream(seed, u64::from(user))
    }

    /// Returns a stream for something that belongs to no user, such as the arrivals of a phase. `purpose` distinguishes
    /// these streams; its upper half is not used.
    #[must_use]
    pub fn for_purpose(seed: u64, purpose: u32) -> Self {
        Self::for_stream(seed, FIRST_STREAM_OF_NO_USER | u64::from(purpose))
    }

    /// Mixes twice, which places the streams at unrelated points of the generator's single cycle.
    fn for_stream(seed: u64, stream: u64) -> Self {
        Self { state: mix(mix(seed.wrapping_add(GAMMA)) ^ mix(stream.wrapping_mul(GAMMA).wrapping_add(1))) }
    }

    /// Returns 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Returns a number uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns an integer uniform in [0, `count`), or 0 if `count` is 0. The bias is at most `count` in 2^64.
    pub fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(count)) >> 64) as u64
    }

    /// Appends `length` random letters and digits.
    pub fn append_alphanumeric(&mut self, length: usize, text: &mut Vec<u8>) {
        /// Base-62 digits taken from 64 bits: one fewer than fit, to keep the bias small.
        const PER_DRAW: usize = 9;
        let mut left = length;
        while left > 0 {
            let mut bits = self.bits();
            for _ in 0..left.min(PER_DRAW) {
                let wide = u128::from(bits) * ALPHANUMERIC.len() as u128;
                bits = wide as u64;
                text.push(ALPHANUMERIC[(wide >> 64) as usize]);
            }
            left -= left.min(PER_DRAW);
        }
    }
}

impl TryRng for Rng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let drawn = self.bits().to_le_bytes();
            chunk.copy_from_slice(&drawn[..chunk.len()]);
        }
        Ok(())
    }
}

/// SplitMix64's output function: a bijection in which every output bit depends on every input bit.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rand::Rng as _;

    use super::*;

    #[test]
    fn it_is_splitmix64() {
        let mut rng = Rng { state: 0 };
        let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(drawn, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
        assert_eq!(size_of::<Rng>(), 8);
    }

    #[test]
    fn the_same_seed_gives_the_same_user_the_same_numbers_in_every_version() {
        let users = [(0, 0), (0, 1), (1, 0), (u64::MAX, UserId::MAX)];
        let firsts = users.map(|(seed, user)| Rng::for_user(seed, user).bits());
        let expected = [
            2_952_671_057_175_321_964,
            899_492_025_199_979_184,
            15_453_050_337_563_922_905,
            16_306_431_706_598_040_973,
        ];
        assert_eq!(firsts, expected);
    }

    #[test]
    fn streams_of_users_seeds_and_purposes_have_nothing_in_common() {
        let streams = (0..200)
            .flat_map(|n| [Rng::for_user(n, 7), Rng::for_user(7, n as u32), Rng::for_purpose(7, n as u32)])
            .collect::<Vec<_>>();
        let firsts: HashSet<u64> = streams.into_iter().map(|mut stream| stream.bits()).collect();
        // User 7 of seed 7 occurs twice.
        assert_eq!(firsts.len(), 599);
    }

    #[test]
    fn unit_and_below_stay_in_their_bounds_and_fill_them_evenly() {
        let mut rng = Rng::for_user(1, 1);
        let mut tenths = [0_i32; 10];
        let mut sevenths = [0_i32; 7];
        for _ in 0..70_000 {
            tenths[(rng.unit() * 10.0) as usize] += 1;
            sevenths[rng.below(7) as usize] += 1;
        }
        // Five standard deviations of a binomial count.
        assert!(tenths.iter().all(|count| (count - 7_000).abs() < 400), "{tenths:?}");
        assert!(sevenths.iter().all(|count| (count - 10_000).abs() < 465), "{sevenths:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn letters_and_digits_are_appended_in_the_wanted_number_and_evenly() {
        let mut rng = Rng::for_user(2, 2);
        for length in [0, 1, 8, 9, 10, 100] {
            let mut text = b"-".to_vec();
            rng.append_alphanumeric(length, &mut text);
            assert_eq!(text.len(), length + 1);
            assert!(text[1..].iter().all(u8::is_ascii_alphanumeric));
        }
        let mut text = Vec::new();
        rng.append_alphanumeric(62_000, &mut text);
        let counts = ALPHANUMERIC.map(|digit| text.iter().filter(|&&byte| byte == digit).count());
        assert!(counts.iter().all(|&count| (count as i32 - 1_000).abs() < 160), "{counts:?}");
    }
}
