//! The stamp in a message that identifies it to whoever receives it.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::observe::{Nanos, UserId};

/// Length of a stamp in a message, in bytes.
pub const STAMP_BYTES: usize = 48;

/// Prefix of a stamp. The tilde is not one of the other digits, so a stamp never contains a second prefix; it needs no
/// escaping in JSON, URLs or XML.
const MAGIC: &[u8; 4] = b"~St~";

/// Number of bytes that the digits encode: four digits for three bytes.
const BODY_BYTES: usize = (STAMP_BYTES - MAGIC.len()) / 4 * 3;

/// The digits of base64url (RFC 4648 section 5), in the order of their values.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Intended times have 56 bits of nanoseconds: 833 days.
const INTENDED_MAX: Nanos = (1 << 56) - 1;

const _: () = assert!(BODY_BYTES == 33 && MAGIC.len() + BODY_BYTES / 3 * 4 == STAMP_BYTES);

/// The identity of a message: 48 ASCII characters, safe inside a JSON string.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp {
    /// The run: messages of other runs are not judged.
    pub run_tag: u16,
    /// The machine that published it, to which the room number and the index belong.
    pub origin: u16,
    /// The room, or [`crate::observe::NO_ROOM`].
    pub room: u32,
    /// Index of the publication in this room on that machine, from 0.
    pub index: u32,
    /// The sender.
    pub sender: UserId,
    /// The sender's message count, from 1.
    pub sequence: u32,
    /// When it should have been sent; at most 833 days.
    pub intended: Nanos,
    /// Delay from `intended` to the actual send. Exact up to 134 ms; longer delays are rounded down to 27 significant
    /// bits.
    pub delay_ns: u64,
}

impl Stamp {
    /// Returns when it was sent.
    #[must_use]
    pub fn sent(&self) -> Nanos {
        self.intended.saturating_add(self.delay_ns)
    }

    /// Returns the message's number in observations: sender in the upper half, sequence in the lower half.
    #[must_use]
    pub fn message(&self) -> u64 {
        u64::from(self.sender) << 32 | u64::from(self.sequence)
    }

    /// Encodes the stamp as it appears in a message.
    #[must_use]
    pub fn to_text(&self) -> [u8; STAMP_BYTES] {
        let body = self.to_body();
        let mut text = [0; STAMP_BYTES];
        let (magic, digits) = text.split_at_mut(MAGIC.len());
        magic.copy_from_slice(MAGIC);
        for (digits, bytes) in digits.chunks_exact_mut(4).zip(body.chunks_exact(3)) {
            let bits = u32::from(bytes[0]) << 16 | u32::from(bytes[1]) << 8 | u32::from(bytes[2]);
            for (place, digit) in digits.iter_mut().enumerate() {
                *digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            }
        }
        text
    }

    /// Returns the first stamp in a received text or payload, of any run.
    #[must_use]
    pub fn find(bytes: &[u8]) -> Option<Self> {
        Self::find_all(bytes).next()
    }

    /// Returns all stamps in received data, in order: a server may combine several messages into one.
    pub fn find_all(bytes: &[u8]) -> impl Iterator<Item = Self> + '_ {
        static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MAGIC));
        let digits = STAMP_BYTES - MAGIC.len();
        FINDER.find_iter(bytes).filter_map(move |at| {
            let from = at + MAGIC.len();
            Self::from_digits(bytes.get(from..from + digits)?)
        })
    }

    fn from_digits(digits: &[u8]) -> Option<Self> {
        let mut body = [0; BODY_BYTES];
        let mut all_values = 0;
        for (bytes, digits) in body.chunks_exact_mut(3).zip(digits.chunks_exact(4)) {
            let values = [0, 1, 2, 3].map(|place| VALUES[usize::from(digits[place])]);
            let bits = values.iter().fold(0, |bits, &value| bits << 6 | u32::from(value));
            all_values |= values[0] | values[1] | values[2] | values[3];
            bytes.copy_from_slice(&bits.to_be_bytes()[1..]);
        }
        if all_values > 63 { None } else { Self::from_body(&body) }
    }

    /// Encodes the numbers in network byte order, followed by the checksum.
    fn to_body(self) -> [u8; BODY_BYTES] {
        let mut body = [0; BODY_BYTES];
        body[0..2].copy_from_slice(&self.run_tag.to_be_bytes());
        body[2..4].copy_from_slice(&self.origin.to_be_bytes());
        body[4..8].copy_from_slice(&self.room.to_be_bytes());
        body[8..12].copy_from_slice(&self.index.to_be_bytes());
        body[12..16].copy_from_slice(&self.sender.to_be_bytes());
        body[16..20].copy_from_slice(&self.sequence.to_be_bytes());
        body[20..27].copy_from_slice(&self.intended.min(INTENDED_MAX).to_be_bytes()[1..]);
        body[27..31].copy_from_slice(&shorten(self.delay_ns).to_be_bytes());
        let checksum = checksum(&body[..31]);
        body[31..33].copy_from_slice(&checksum.to_be_bytes());
        body
    }

    fn from_body(body: &[u8; BODY_BYTES]) -> Option<Self> {
        let number = |from: usize, to: usize| {
            let mut bytes = [0; 8];
            bytes[8 - (to - from)..].copy_from_slice(&body[from..to]);
            u64::from_be_bytes(bytes)
        };
        (number(31, 33) as u16 == checksum(&body[..31])).then(|| Self {
            run_tag: number(0, 2) as u16,
            origin: number(2, 4) as u16,
            room: number(4, 8) as u32,
            index: number(8, 12) as u32,
            sender: number(12, 16) as u32,
            sequence: number(16, 20) as u32,
            intended: number(20, 27),
            delay_ns: lengthen(number(27, 31) as u32),
        })
    }
}

/// Significant bits of a delay that are kept; the other five bits are the shift.
const DELAY_DIGITS: u32 = 27;

/// Encodes a delay in 32 bits: 27 significant bits and a shift. A delay that does not fit (nine years) becomes the
/// longest.
fn shorten(delay_ns: u64) -> u32 {
    let shift = (u64::BITS - delay_ns.leading_zeros()).saturating_sub(DELAY_DIGITS);
    if shift > 31 { u32::MAX } else { shift << DELAY_DIGITS | (delay_ns >> shift) as u32 }
}

fn lengthen(delay: u32) -> u64 {
    u64::from(delay & ((1 << DELAY_DIGITS) - 1)) << (delay >> DELAY_DIGITS)
}

/// CRC-16 with the CCITT polynomial: detects every change of a single digit; one in 65,536 other texts passes, in
/// addition to the chance of the prefix matching.
fn checksum(bytes: &[u8]) -> u16 {
    const TABLE: [u16; 256] = checksums_of_bytes();
    bytes.iter().fold(u16::MAX, |sum, &byte| sum << 8 ^ TABLE[usize::from((sum >> 8) as u8 ^ byte)])
}

const fn checksums_of_bytes() -> [u16; 256] {
    const POLYNOMIAL: u16 = 0x1021;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut sum = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 0x8000 == 0 { sum << 1 } else { sum << 1 ^ POLYNOMIAL };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
}

/// The value of each digit; more than 63 for any other byte.
const VALUES: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut value = 0;
    while value < DIGITS.len() {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stamp() -> impl Strategy<Value = Stamp> {
        let numbers = (any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
        (numbers, 0..=INTENDED_MAX, 0..1_u64 << DELAY_DIGITS).prop_map(
            |((run_tag, origin, room, index, sender, sequence), intended, delay_ns)| Stamp {
                run_tag,
                origin,
                room,
                index,
                sender,
                sequence,
                intended,
                delay_ns,
            },
        )
    }

    proptest! {
        #[test]
        fn it_is_found_as_it_was_written_wherever_it_stands(
            stamp in stamp(),
            before in prop::collection::vec(any::<u8>(), 0..80),
            after in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let message = [&before[..], &stamp.to_text(), &after].concat();
            prop_assert_eq!(Stamp::find(&message), Some(stamp));
        }

        #[test]
        fn it_needs_no_escape_in_json(stamp in stamp()) {
            let text = String::from_utf8(stamp.to_text().to_vec()).expect("it is ASCII");
            prop_assert_eq!(serde_json::to_string(&text).expect("text is JSON"), format!("\"{text}\""));
        }

        #[test]
        fn garbage_is_no_stamp_and_no_panic(
            pieces in prop::collection::vec(
                prop_oneof![Just(MAGIC.to_vec()), prop::collection::vec(any::<u8>(), 0..60), Just(vec![b'A'; 44])],
                0..12,
            ),
        ) {
            for found in Stamp::find_all(&pieces.concat()) {
                // Whatever passes the checksum could have been written as a stamp.
                prop_assert!(pieces.concat().windows(STAMP_BYTES).any(|window| window == found.to_text()));
            }
        }

        #[test]
        fn a_changed_stamp_is_not_another_one(stamp in stamp(), place in 4..STAMP_BYTES, digit in 0..64_usize) {
            let mut text = stamp.to_text();
            prop_assume!(text[place] != DIGITS[digit]);
            text[place] = DIGITS[digit];
            prop_assert_eq!(Stamp::find(&text), None);
        }

        #[test]
        fn long_delays_keep_27_binary_digits(delay_ns in 0..1_u64 << 58) {
            let kept = lengthen(shorten(delay_ns));
            prop_assert!(kept <= delay_ns && delay_ns - kept <= delay_ns >> 26);
        }
    }

    #[test]
    fn its_form_stays_the_same() {
        let stamp = Stamp {
            run_tag: 0x0102,
            origin: 3,
            room: 4,
            index: 5,
            sender: 6,
            sequence: 7,
            intended: 8_000_000_000,
            delay_ns: 9,
        };
        let text = "~St~AQIAAwAAAAQAAAAFAAAABgAAAAcAAAHc1lAAAAAACQuH";
        assert_eq!(std::str::from_utf8(&stamp.to_text()), Ok(text));
        assert_eq!((stamp.sent(), stamp.message()), (8_000_000_009, 6 << 32 | 7));
    }

    #[test]
    fn several_in_one_message_are_all_found() {
        let stamps = [1, 2, 3].map(|sequence| Stamp { sequence, ..Stamp::default() });
        let message = stamps.map(|stamp| stamp.to_text()).concat();
        assert_eq!(Stamp::find_all(&message).collect::<Vec<_>>(), stamps);
        // A truncated or corrupted stamp does not hide the next one.
        let cut = [&message[..30], &message[48..]].concat();
        assert_eq!(Stamp::find_all(&cut).collect::<Vec<_>>(), stamps[1..]);
        assert_eq!(Stamp::find(&message[..47]), None);
    }

    #[test]
    fn times_beyond_what_fits_are_cut() {
        let stamp = Stamp { intended: u64::MAX, delay_ns: u64::MAX, ..Stamp::default() };
        let found = Stamp::find(&stamp.to_text()).expect("it is a stamp");
        assert_eq!(found.intended, INTENDED_MAX);
        assert!(found.delay_ns > 9 * 365 * 24 * 3600 * 1_000_000_000);
    }
}
