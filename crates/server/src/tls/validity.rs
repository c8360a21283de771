//! The validity period of a certificate.
//!
//! The TLS library does not check the server's own certificate, so the two times are read here from the DER encoding
//! (RFC 5280 section 4.1, X.690), and nothing else. A malformed certificate has no validity period.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The validity period of a certificate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Validity {
    pub(crate) not_before: Timestamp,
    pub(crate) not_after: Timestamp,
}

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// `[0] EXPLICIT Version`, which version 1 certificates lack.
const VERSION: u8 = 0xa0;

impl Validity {
    /// Reads it from a DER-encoded certificate.
    pub(crate) fn of(certificate: &[u8]) -> Option<Validity> {
        let mut certificate = Elements(Elements(certificate).take(SEQUENCE)?);
        let mut fields = Elements(certificate.take(SEQUENCE)?);
        fields.skip_if(VERSION);
        fields.take(INTEGER)?; // serialNumber
        fields.take(SEQUENCE)?; // signature
        fields.take(SEQUENCE)?; // issuer
        let mut times = Elements(fields.take(SEQUENCE)?);
        Some(Validity { not_before: times.take_time()?, not_after: times.take_time()? })
    }
}

/// A sequence of elements, each a tag, a length and the content.
struct Elements<'a>(&'a [u8]);

impl<'a> Elements<'a> {
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = match first {
            // X.690 section 8.1.3: a length up to 127 is one byte; otherwise the first byte is the number of length
            // bytes.
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
            }
            0x80 | 0x85.. => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// Returns the content of the next element if it has this tag.
    fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }

    fn skip_if(&mut self, tag: u8) {
        if self.0.first() == Some(&tag) {
            self.next();
        }
    }

    fn take_time(&mut self) -> Option<Timestamp> {
        let (tag, content) = self.next()?;
        let digits = std::str::from_utf8(content).ok()?.strip_suffix('Z')?;
        let (year, rest) = match tag {
            UTC_TIME => {
                // RFC 5280 section 4.1.2.5.1: years from 50 on belong to the last century.
                let (year, rest) = digits.split_at_checked(2)?;
                let year: i16 = number(year)?;
                (if year >= 50 { 1900 + year } else { 2000 + year }, rest)
            }
            GENERALIZED_TIME => {
                let (year, rest) = digits.split_at_checked(4)?;
                (number(year)?, rest)
            }
            _ => return None,
        };
        let field = |at: usize| number::<i8>(rest.get(at..at + 2)?);
        let is_whole = rest.len() == 10;
        let time = DateTime::new(year, field(0)?, field(2)?, field(4)?, field(6)?, field(8)?, 0)
            .ok()
            .filter(|_| is_whole)?;
        time.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp())
    }
}

/// Accepts digits only, no sign.
fn number<N: std::str::FromStr>(digits: &str) -> Option<N> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(not_before: (i32, u8, u8), not_after: (i32, u8, u8)) -> Vec<u8> {
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
        let date = |(year, month, day)| rcgen::date_time_ymd(year, month, day);
        (parameters.not_before, parameters.not_after) = (date(not_before), date(not_after));
        parameters.self_signed(&key).expect("a certificate").der().to_vec()
    }

    #[test]
    fn the_times_are_those_that_the_certificate_was_made_with() {
        // Certificates write years up to 2049 with two digits, later ones with four.
        for (not_before, not_after, expected) in [
            ((1999, 12, 31), (2030, 1, 2), ["1999-12-31T00:00:00Z", "2030-01-02T00:00:00Z"]),
            ((2049, 12, 31), (2050, 1, 1), ["2049-12-31T00:00:00Z", "2050-01-01T00:00:00Z"]),
        ] {
            let validity = Validity::of(&certificate(not_before, not_after)).expect("it has two times");
            assert_eq!([validity.not_before, validity.not_after].map(|time| time.to_string()), expected);
        }
    }

    #[test]
    fn what_is_cut_or_garbled_has_no_validity_and_does_no_harm() {
        let whole = certificate((2020, 1, 1), (2040, 1, 1));
        for length in 0..whole.len() {
            assert_eq!(Validity::of(&whole[..length]), None, "{length} bytes");
        }
        for at in 0..whole.len().min(300) {
            for bits in [0x01, 0x80, 0xff] {
                let mut garbled = whole.clone();
                garbled[at] ^= bits;
                // Any result is fine, as long as it does not panic.
                let _ = Validity::of(&garbled);
            }
        }
    }
}
