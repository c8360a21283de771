//! Settings that are lists of networks.

use super::raw::Raw;
use super::shape::Shape;
use std::marker::PhantomData;
use std::str::FromStr;

/// A list of networks, possibly empty; in the environment, comma-separated. `N` is the type of network.
pub(crate) struct Networks<N>(PhantomData<N>);

impl<N> Networks<N> {
    /// The shape as a value.
    pub(crate) const SHAPE: Self = Self(PhantomData);
}

impl<N: FromStr> Shape for Networks<N> {
    type Value = Vec<N>;

    fn expected(&self) -> String {
        "a list of networks with all host bits 0, such as [\"10.0.0.0/8\", \"fd00::/8\"]".into()
    }

    fn parse(&self, raw: &Raw) -> Option<Vec<N>> {
        let entries: Vec<&str> = match raw {
            Raw::Text(text) if text.trim().is_empty() => Vec::new(),
            Raw::Text(text) => text.split(',').map(str::trim).collect(),
            Raw::List(items) => items.iter().map(Raw::text).collect::<Option<_>>()?,
            Raw::Integer(_) | Raw::Boolean(_) | Raw::Other(_) => return None,
        };
        entries.into_iter().map(|entry| entry.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway::Network;

    const SHAPE: Networks<Network> = Networks::SHAPE;

    /// The networks of load balancers and of host sites are types of two crates.
    #[test]
    fn a_network_with_bits_of_a_host_is_refused_whosever_it_is() {
        let text = Raw::Text("10.1.2.3/16".into());
        assert_eq!(SHAPE.parse(&text), None);
        assert_eq!(Networks::<identity::Network>::SHAPE.parse(&text), None);
    }

    #[test]
    fn networks_are_a_list_or_text_with_commas() {
        let parsed = |text: &str| SHAPE.parse(&Raw::Text(text.into())).map(|networks| networks.len());
        assert_eq!(parsed("10.0.0.0/8, fd00::/8,127.0.0.1"), Some(3));
        assert_eq!(parsed(""), Some(0));
        for text in ["10.0.0.1/8", "10.0.0.0/8,", "balancer.example", "10.0.0.0/40"] {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert_eq!(SHAPE.parse(&Raw::List(vec![Raw::Text("::1".into())])).map(|list| list.len()), Some(1));
        assert_eq!(SHAPE.parse(&Raw::List(vec![Raw::Integer(10)])), None);
    }
}
