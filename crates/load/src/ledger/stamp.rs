//! The mark that a message carries, by which whoever receives it can tell what it is.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::observe::{Nanos, UserId};

/// Length of a stamp in a message, in bytes.
pub const STAMP_BYTES: usize = 48;

/// What a stamp begins with. The tilde is no digit of the rest, so a stamp holds no second beginning; it needs no
/// escape in JSON, in a URL or in XML.
const MAGIC: &[u8; 4] = b"~St~";

/// Bytes behind the digits: four digits are three bytes.
const BODY_BYTES: usize = (STAMP_BYTES - MAGIC.len()) / 4 * 3;

/// The digits of base64url (RFC 4648 section 5), in the order of their values.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Intended times are kept in 56 bits of nanoseconds: 833 days.
const INTENDED_MAX: Nanos = (1 << 56) - 1;

const _: () = assert!(BODY_BYTES == 33 && MAGIC.len() + BODY_BYTES / 3 * 4 == STAMP_BYTES);

/// What a message says about itself: 48 ASCII characters, safe inside a JSON string.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stamp {
    /// Which run: messages of other runs are not ours to judge.
    pub run_tag: u16,
    /// Machine that published it; its room numbers and indices are that machine's.
    pub origin: u16,
    /// Room, or [`crate::observe::NO_ROOM`].
    pub room: u32,
    /// Number of the publication in this room and from this machine, from 0.
    pub index: u32,
    /// Who sent it.
    pub sender: UserId,
    /// The sender's count of messages, from 1.
    pub sequence: u32,
    /// When it ought to have been sent; at most 833 days.
    pub intended: Nanos,
    /// From then until it was sent. Exact up to 134 ms, beyond it rounded down to 27 binary digits.
    pub delay_ns: u64,
}

impl Stamp {
    /// When it was sent.
    #[must_use]
    pub fn sent(&self) -> Nanos {
        self.intended.saturating_add(self.delay_ns)
    }

    /// The message's number in observations: sender above, sequence below.
    #[must_use]
    pub fn message(&self) -> u64 {
        u64::from(self.sender) << 32 | u64::from(self.sequence)
    }

    /// As it stands in a message.
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

    /// The first stamp in a received text or payload, of whatever run.
    #[must_use]
    pub fn find(bytes: &[u8]) -> Option<Self> {
        Self::find_all(bytes).next()
    }

    /// All stamps in what was received, in order: a server may put several messages into one.
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
        for (bytes, digits) in body.chunks_exact_mut(3).zip(digits.chunks_exact(4)) {
            let mut bits = 0;
            for &digit in digits {
                bits = bits << 6 | u32::from(value_of(digit)?);
            }
            bytes.copy_from_slice(&bits.to_be_bytes()[1..]);
        }
        Self::from_body(&body)
    }

    /// Numbers in network order, then the checksum.
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
        let number = |from: usize, to: usize| body[from..to].iter().fold(0, |n, &b| n << 8 | u64::from(b));
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

/// Binary digits of a delay that are kept; the other five say by how many places they are shifted.
const DELAY_DIGITS: u32 = 27;

/// A delay in 32 bits: 27 significant digits and their place. What is too long for it (nine years) becomes the longest.
fn shorten(delay_ns: u64) -> u32 {
    let shift = (u64::BITS - delay_ns.leading_zeros()).saturating_sub(DELAY_DIGITS);
    if shift > 31 { u32::MAX } else { shift << DELAY_DIGITS | (delay_ns >> shift) as u32 }
}

fn lengthen(delay: u32) -> u64 {
    u64::from(delay & ((1 << DELAY_DIGITS) - 1)) << (delay >> DELAY_DIGITS)
}

/// Text that was not written as a stamp passes for one once in 65,536 times, on top of the magic's chance.
fn checksum(bytes: &[u8]) -> u16 {
    // FNV-1a, its 64 bits folded.
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) as u16
}

fn value_of(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}
