//! Negotiation of permessage-deflate by `Sec-WebSocket-Extensions` (RFC 7692 sections 5 and 7.1).

use super::deflater::WINDOW_BITS_MIN;

/// What our client offers: it can read whatever a server may answer to that.
pub const CLIENT_OFFER: &str = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

const NAME: &str = "permessage-deflate";

/// This side's settings for compression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeflateConfig {
    /// The window to compress with, from 9 to 15 bits. A smaller one costs the peer less memory.
    pub server_window_bits_max: u8,
}

/// What both sides agreed on; in any case neither keeps its window from message to message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agreed {
    /// The window that the server may compress with, from 9 to 15 bits.
    pub server_window_bits: u8,
}

impl Default for DeflateConfig {
    fn default() -> Self {
        DeflateConfig { server_window_bits_max: 15 }
    }
}

/// Accepts the first offer that can be met, given the values of the request's `Sec-WebSocket-Extensions` headers.
/// `None` means to continue without compression.
pub fn negotiate<'a>(config: &DeflateConfig, offers: impl Iterator<Item = &'a str>) -> Option<Agreed> {
    offers.flat_map(|header| split_outside_quotes(header, ',')).find_map(|offer| {
        let demanded = Parameters::parse(offer, Side::Offer)?.server_window_bits.unwrap_or(15);
        let server_window_bits = demanded.min(config.server_window_bits_max.clamp(WINDOW_BITS_MIN, 15));
        (server_window_bits >= WINDOW_BITS_MIN).then_some(Agreed { server_window_bits })
    })
}

impl Agreed {
    /// Returns the `Sec-WebSocket-Extensions` header of the response.
    ///
    /// Both `no_context_takeover` parameters may be in the response without having been offered (RFC 7692 sections
    /// 7.1.1.1 and 7.1.1.2). The client's window is not restricted, so `client_max_window_bits` is never in it.
    pub fn response_header(&self) -> String {
        match self.server_window_bits {
            15 => CLIENT_OFFER.to_owned(),
            bits => format!("{CLIENT_OFFER}; server_max_window_bits={bits}"),
        }
    }

    /// Parses a server's response to [`CLIENT_OFFER`]. `None` if it is not valid, in which case a client must fail the
    /// connection.
    pub fn from_response(header: &str) -> Option<Agreed> {
        let answer = Parameters::parse(header, Side::Answer)?;
        answer
            .server_no_context_takeover
            .then_some(Agreed { server_window_bits: answer.server_window_bits.unwrap_or(15) })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Offer,
    Answer,
}

/// The parameters of one permessage-deflate element.
#[derive(Default)]
struct Parameters {
    server_no_context_takeover: bool,
    client_no_context_takeover: bool,
    server_window_bits: Option<u8>,
    client_window_bits: Option<Option<u8>>,
}

impl Parameters {
    /// Returns `None` for another extension, and for a parameter that is unknown, repeated or has an invalid value:
    /// section 7.1 requires that such an offer is declined.
    fn parse(element: &str, side: Side) -> Option<Parameters> {
        let mut pieces = split_outside_quotes(element, ';').map(str::trim);
        if !pieces.next()?.eq_ignore_ascii_case(NAME) {
            return None;
        }
        let mut parameters = Parameters::default();
        for piece in pieces {
            parameters.add(piece, side)?;
        }
        Some(parameters)
    }

    fn add(&mut self, piece: &str, side: Side) -> Option<()> {
        let (name, value) = match piece.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(unquoted(value.trim_start()))),
            None => (piece, None),
        };
        match (name.to_ascii_lowercase().as_str(), value) {
            ("server_no_context_takeover", None) => set_once(&mut self.server_no_context_takeover),
            ("client_no_context_takeover", None) => set_once(&mut self.client_no_context_takeover),
            ("server_max_window_bits", Some(bits)) if self.server_window_bits.is_none() => {
                self.server_window_bits = Some(window_bits(bits)?);
                Some(())
            }
            // Our client never offers it, so it must not be in a response (section 7.1.2.2).
            ("client_max_window_bits", bits) if side == Side::Offer && self.client_window_bits.is_none() => {
                self.client_window_bits =
                    Some(bits.map(window_bits).map_or(Some(None), |bits| bits.map(Some))?);
                Some(())
            }
            _ => None,
        }
    }
}

fn set_once(flag: &mut bool) -> Option<()> {
    (!std::mem::replace(flag, true)).then_some(())
}

/// "A decimal integer value without leading zeroes between 8 to 15 inclusive" (section 7.1.2).
fn window_bits(text: &str) -> Option<u8> {
    let is_canonical = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|bits| is_canonical && (8..=15).contains(bits))
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}

/// Splits at a separator that is not within a quoted string (RFC 9110 section 5.6.4).
fn split_outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(move |character: char| {
        if is_escaped {
            is_escaped = false;
            return false;
        }
        match character {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => is_escaped = true,
            _ => {}
        }
        character == separator && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(offers: &[&str]) -> Option<String> {
        negotiate(&DeflateConfig::default(), offers.iter().copied()).map(|agreed| agreed.response_header())
    }

    #[test]
    fn every_offer_without_a_smaller_window_gets_the_same_answer() {
        let offers = [
            "permessage-deflate",
            "permessage-deflate; client_max_window_bits",
            "permessage-deflate;client_max_window_bits=8; server_no_context_takeover",
            "permessage-deflate; server_max_window_bits=15; client_no_context_takeover",
            r#"permessage-deflate; server_max_window_bits="15""#,
            "x-webkit-deflate-frame, permessage-deflate; client_max_window_bits",
            "x;a=\"permessage-deflate, \\\" ,\", Permessage-Deflate",
        ];
        for offer in offers {
            assert_eq!(answer(&[offer]).as_deref(), Some(CLIENT_OFFER), "{offer}");
        }
    }

    #[test]
    fn a_demanded_window_is_answered() {
        for bits in 9..15 {
            let offer = format!("permessage-deflate; server_max_window_bits={bits}");
            assert_eq!(answer(&[&offer]), Some(format!("{CLIENT_OFFER}; server_max_window_bits={bits}")));
        }
    }

    #[test]
    fn the_first_offer_that_can_be_met_is_taken() {
        let fallback =
            "permessage-deflate; server_max_window_bits=8, permessage-deflate; server_max_window_bits=10";
        let expected = Some(format!("{CLIENT_OFFER}; server_max_window_bits=10"));
        assert_eq!(answer(&[fallback]), expected);
        assert_eq!(
            answer(&["permessage-deflate; nonsense", "permessage-deflate; server_max_window_bits=10"]),
            expected
        );
    }

    #[test]
    fn offers_that_break_the_rules_are_declined() {
        let offers = [
            "",
            "permessage-bzip2",
            "permessage-deflate; server_max_window_bits=8",
            "permessage-deflate; server_max_window_bits",
            "permessage-deflate; server_max_window_bits=16",
            "permessage-deflate; server_max_window_bits=09",
            "permessage-deflate; server_max_window_bits=+9",
            "permessage-deflate; client_max_window_bits=7",
            "permessage-deflate; client_no_context_takeover=1",
            "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
            "permessage-deflate; client_max_window_bits; client_max_window_bits",
            "permessage-deflate;",
            "permessage-deflate; unknown=1",
        ];
        for offer in offers {
            assert_eq!(answer(&[offer]), None, "{offer}");
        }
    }

    #[test]
    fn a_configured_window_is_announced() {
        let config = DeflateConfig { server_window_bits_max: 10 };
        let agreed = negotiate(&config, ["permessage-deflate"].into_iter()).expect("an agreement");
        assert_eq!(agreed.server_window_bits, 10);
        assert_eq!(Agreed::from_response(&agreed.response_header()), Some(agreed));
    }

    #[test]
    fn a_client_refuses_an_answer_that_it_could_not_read() {
        for header in [
            "permessage-deflate",
            "permessage-deflate; server_no_context_takeover; client_max_window_bits=9",
            "permessage-deflate; server_no_context_takeover; x",
        ] {
            assert_eq!(Agreed::from_response(header), None, "{header}");
        }
    }
}
