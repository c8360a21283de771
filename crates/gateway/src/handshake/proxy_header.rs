//! The PROXY protocol header, version 2, with which a load balancer identifies its client (HAProxy's
//! `doc/proxy-protocol.txt`, section 2.2). Bytes in, an address out; whether to trust it is not decided here.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Size of everything before the addresses: signature, version and command, family and transport, length.
const FIXED_BYTES: usize = 16;
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
const IPV4_BYTES: usize = 12;
const IPV6_BYTES: usize = 36;

/// Maximum size of a header: the addresses and what may follow them, which is ignored (the longest that a balancer
/// sends by default is below 600 bytes).
pub(crate) const PROXY_HEADER_BYTES_MAX: usize = 2048;

/// A complete header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ProxyHeader {
    /// The client that connected to the balancer; `None` if the balancer uses the connection itself, for example for a
    /// health check, or if the client has no IP address: then the connection's own address applies.
    pub(crate) client: Option<SocketAddr>,
    /// Size of the header; the client's data follows.
    pub(crate) bytes: usize,
}

/// Why bytes are not the beginning of a header. The connection is then closed, as the protocol requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BadProxyHeader {
    /// Another protocol, or version 1 of this one.
    Signature,
    /// An unknown version or command.
    VersionOrCommand,
    /// An unknown address family or transport.
    Family,
    /// Too short for the addresses of its family.
    Short,
    /// Longer than [`PROXY_HEADER_BYTES_MAX`].
    Long,
}

impl fmt::Display for BadProxyHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadProxyHeader::Signature => {
                "the connection does not begin with a PROXY protocol header, version 2"
            }
            BadProxyHeader::VersionOrCommand => "the PROXY protocol header has an unknown version or command",
            BadProxyHeader::Family => "the PROXY protocol header has an unknown address family",
            BadProxyHeader::Short => "the PROXY protocol header is too short for its addresses",
            BadProxyHeader::Long => "the PROXY protocol header is longer than 2048 bytes",
        })
    }
}

/// Returns the header's total size as soon as it is known; `None` if more bytes are needed.
pub(crate) fn proxy_header_bytes(bytes: &[u8]) -> Result<Option<usize>, BadProxyHeader> {
    let known = bytes.len().min(SIGNATURE.len());
    if bytes[..known] != SIGNATURE[..known] {
        return Err(BadProxyHeader::Signature);
    }
    let Some(&[high, low]) = bytes.get(FIXED_BYTES - 2..FIXED_BYTES) else { return Ok(None) };
    let whole = FIXED_BYTES + usize::from(u16::from_be_bytes([high, low]));
    if whole <= PROXY_HEADER_BYTES_MAX { Ok(Some(whole)) } else { Err(BadProxyHeader::Long) }
}

/// Parses a header at the beginning of a connection's bytes; `None` if more bytes are needed.
pub(crate) fn parse_proxy_header(bytes: &[u8]) -> Result<Option<ProxyHeader>, BadProxyHeader> {
    let Some(whole) = proxy_header_bytes(bytes)? else { return Ok(None) };
    let is_local = match bytes[SIGNATURE.len()] {
        0x20 => true,
        0x21 => false,
        _ => return Err(BadProxyHeader::VersionOrCommand),
    };
    let family = bytes[SIGNATURE.len() + 1];
    let Some(addresses) = bytes.get(FIXED_BYTES..whole) else { return Ok(None) };
    // With the LOCAL command any family is allowed, and the addresses must be ignored.
    let client = if is_local { None } else { client(family, addresses)? };
    Ok(Some(ProxyHeader { client, bytes: whole }))
}

fn client(family: u8, addresses: &[u8]) -> Result<Option<SocketAddr>, BadProxyHeader> {
    // The layout for each family: source and destination address, then both ports.
    match family {
        // Unspecified, and the two families of Unix sockets.
        0x00 | 0x31 | 0x32 => Ok(None),
        0x11 | 0x12 => match addresses.get(..IPV4_BYTES) {
            Some(&[a, b, c, d, _, _, _, _, high, low, ..]) => {
                let ip = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
                Ok(Some(SocketAddr::new(ip, u16::from_be_bytes([high, low]))))
            }
            Some(_) | None => Err(BadProxyHeader::Short),
        },
        0x21 | 0x22 => {
            let addresses = addresses.get(..IPV6_BYTES).ok_or(BadProxyHeader::Short)?;
            let (source, rest) = addresses.split_first_chunk::<16>().ok_or(BadProxyHeader::Short)?;
            let port = u16::from_be_bytes([rest[16], rest[17]]);
            Ok(Some(SocketAddr::new(Ipv6Addr::from(*source).to_canonical(), port)))
        }
        _ => Err(BadProxyHeader::Family),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).expect("a length").to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, rest].concat()
    }

    const IPV4: [u8; 12] = [203, 0, 113, 7, 10, 0, 0, 1, 0x30, 0x39, 0x0f, 0xa0];

    #[test]
    fn an_address_of_either_family_is_the_clients() {
        let mut ipv6 = [0; 36];
        ipv6[..2].copy_from_slice(&[0x20, 0x01]);
        ipv6[15] = 9;
        ipv6[32..34].copy_from_slice(&443_u16.to_be_bytes());
        let mut mapped = [0; 36];
        mapped[10..16].copy_from_slice(&[0xff, 0xff, 203, 0, 113, 7]);
        let table: [(u8, &[u8], &str); 4] = [
            (0x11, &IPV4, "203.0.113.7:12345"),
            (0x12, &IPV4, "203.0.113.7:12345"),
            (0x21, &ipv6, "[2001::9]:443"),
            (0x22, &mapped, "203.0.113.7:0"),
        ];
        for (family, addresses, expected) in table {
            let bytes = header(0x21, family, addresses);
            let read = parse_proxy_header(&bytes).expect("sound").expect("whole");
            assert_eq!(read.client.map(|client| client.to_string()).as_deref(), Some(expected));
            assert_eq!(read.bytes, bytes.len());
        }
    }

    #[test]
    fn what_follows_the_addresses_is_passed_over_and_what_follows_the_header_is_not() {
        let with_more = [&IPV4[..], &[0x04, 0, 3, 1, 2, 3]].concat();
        let mut bytes = header(0x21, 0x11, &with_more);
        bytes.extend_from_slice(b"GET / HTTP/1.1");
        let read = parse_proxy_header(&bytes).expect("sound").expect("whole");
        assert_eq!(&bytes[read.bytes..], b"GET / HTTP/1.1");
        assert_eq!(read.client, Some(([203, 0, 113, 7], 12345).into()));
    }

    #[test]
    fn a_balancer_that_speaks_for_itself_brings_nobody() {
        for bytes in [header(0x20, 0x00, &[]), header(0x20, 0x11, &IPV4), header(0x20, 0x7f, &[1])] {
            assert_eq!(
                parse_proxy_header(&bytes),
                Ok(Some(ProxyHeader { client: None, bytes: bytes.len() }))
            );
        }
        for family in [0x00, 0x31, 0x32] {
            let read = parse_proxy_header(&header(0x21, family, &IPV4)).expect("sound").expect("whole");
            assert_eq!(read.client, None, "family {family:#04x}");
        }
    }

    #[test]
    fn until_the_end_more_must_come() {
        let whole = header(0x21, 0x11, &IPV4);
        for length in 0..whole.len() {
            assert_eq!(parse_proxy_header(&whole[..length]), Ok(None), "{length} bytes");
        }
    }

    #[test]
    fn what_is_no_header_is_told_at_once() {
        let mut long = header(0x21, 0x11, &IPV4);
        long[14..16].copy_from_slice(&0xffff_u16.to_be_bytes());
        let table = [
            (b"G".to_vec(), BadProxyHeader::Signature),
            (b"PROXY TCP4 203.0.113.7 10.0.0.1 12345 4000\r\n".to_vec(), BadProxyHeader::Signature),
            (header(0x11, 0x11, &IPV4), BadProxyHeader::VersionOrCommand),
            (header(0x22, 0x11, &IPV4), BadProxyHeader::VersionOrCommand),
            (header(0x21, 0x41, &IPV4), BadProxyHeader::Family),
            (header(0x21, 0x11, &IPV4[..11]), BadProxyHeader::Short),
            (header(0x21, 0x21, &IPV4), BadProxyHeader::Short),
            (long, BadProxyHeader::Long),
        ];
        for (bytes, error) in table {
            assert_eq!(parse_proxy_header(&bytes), Err(error), "{bytes:?}");
        }
    }
}
