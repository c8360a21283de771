//! Limits per IP address: open connections and the rate of new ones. For IPv6 they apply to a [network].
//!
//! An IPv6 address has an entry beside that of its network while it has connections, so that [`Admission::ip`] can
//! return it.
//!
//! Accessed once when a connection opens and once when it closes, by all shards and the control plane. Lock striping
//! keeps contention low.

use crate::address::network;
use slab::Slab;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const STRIPES: usize = 64;

/// The index of an address's entry. It takes four bytes per connection, even inside an `Option`, instead of sixteen for
/// the address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AddressIndex(NonZeroU32);

impl AddressIndex {
    fn new(stripe: usize, place: usize) -> AddressIndex {
        AddressIndex(NonZeroU32::MIN.saturating_add((place * STRIPES + stripe) as u32))
    }

    /// The stripe and the place in it.
    fn parts(self) -> (usize, usize) {
        let index = (self.0.get() - 1) as usize;
        (index % STRIPES, index / STRIPES)
    }
}

pub(crate) struct Admission {
    stripes: Vec<Mutex<Stripe>>,
    open_max: u32,
    rate_max: u32,
    began: Instant,
}

/// Contains whole networks: all addresses of a network are in the same stripe.
#[derive(Default)]
struct Stripe {
    places: HashMap<IpAddr, usize>,
    addresses: Slab<Address>,
}

/// An IPv4 address, an IPv6 network, or an address in such a network. The latter only counts connections; its network
/// has the limits.
struct Address {
    ip: IpAddr,
    open: u32,
    /// Tokens left in the bucket, and when it was last refilled, in milliseconds.
    tokens: f64,
    filled_ms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Excess {
    Connections,
    Rate,
}

impl Excess {
    /// Returns the name of the reason in the counter of refused connections.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Excess::Connections => "connections_per_ip",
            Excess::Rate => "connection_rate_per_ip",
        }
    }
}

impl Admission {
    pub(crate) fn new(open_max: u32, rate_max: u32) -> Admission {
        let stripes = std::iter::repeat_with(Mutex::default).take(STRIPES).collect();
        Admission { stripes, open_max, rate_max, began: Instant::now() }
    }

    /// Admits and counts a connection, until [`Admission::leave`].
    pub(crate) fn enter(&self, remote: SocketAddr) -> Result<AddressIndex, Excess> {
        let now_ms = self.began.elapsed().as_millis() as u64;
        let ip = remote.ip().to_canonical();
        let (network, at) = (network(ip), stripe_of(ip));
        let mut stripe = lock(&self.stripes[at]);
        let place = stripe.place(network, f64::from(self.rate_max), now_ms);
        let address = &mut stripe.addresses[place];
        if address.open >= self.open_max {
            return Err(Excess::Connections);
        }
        address.fill(f64::from(self.rate_max), now_ms);
        if address.tokens < 1.0 {
            return Err(Excess::Rate);
        }
        address.tokens -= 1.0;
        address.open += 1;
        Ok(AddressIndex::new(at, stripe.within(place, network, ip)))
    }

    /// Counts a connection that was admitted already, when a shard hands it over.
    pub(crate) fn enter_again(&self, remote: SocketAddr) -> AddressIndex {
        let now_ms = self.began.elapsed().as_millis() as u64;
        let ip = remote.ip().to_canonical();
        let (network, at) = (network(ip), stripe_of(ip));
        let mut stripe = lock(&self.stripes[at]);
        let place = stripe.place(network, f64::from(self.rate_max), now_ms);
        stripe.addresses[place].open += 1;
        AddressIndex::new(at, stripe.within(place, network, ip))
    }

    /// Returns the memory of the tables of addresses, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let of = |stripe: &Mutex<Stripe>| {
            let stripe = lock(stripe);
            // A hash table fills seven eighths of its buckets, and has one byte per bucket for the hash.
            let places = (stripe.places.capacity() * 8 / 7) * (size_of::<(IpAddr, usize)>() + 1);
            places + stripe.addresses.capacity() * (size_of::<Address>() + size_of::<usize>())
        };
        self.stripes.iter().map(of).sum::<usize>() as u64
    }

    /// Returns the address whose connections are counted at this index.
    pub(crate) fn ip(&self, index: AddressIndex) -> IpAddr {
        let (at, place) = index.parts();
        lock(&self.stripes[at]).addresses[place].ip
    }

    pub(crate) fn leave(&self, index: AddressIndex) {
        let (at, place) = index.parts();
        let now_ms = self.began.elapsed().as_millis() as u64;
        let mut stripe = lock(&self.stripes[at]);
        let place = stripe.leave(place);
        let address = &mut stripe.addresses[place];
        address.open -= 1;
        address.fill(f64::from(self.rate_max), now_ms);
        let (is_idle, ip) = (address.open == 0, address.ip);
        // An address with an unrefilled bucket is remembered; otherwise it could reset the bucket by disconnecting.
        if is_idle && address.tokens >= f64::from(self.rate_max) {
            stripe.addresses.remove(place);
            stripe.places.remove(&ip);
        }
    }
}

/// A connection or a long-poll session of the control plane. It is counted until it ends, or until a shard takes over
/// the count with the socket.
pub(crate) struct Visit {
    admission: Arc<Admission>,
    address: Mutex<Option<AddressIndex>>,
}

impl Visit {
    pub(crate) fn new(admission: Arc<Admission>, address: AddressIndex) -> Visit {
        Visit { admission, address: Mutex::new(Some(address)) }
    }

    /// Creates a visit for a proxy's connection, which carries other clients' requests: each of those is counted
    /// separately.
    pub(crate) fn uncounted(admission: Arc<Admission>) -> Visit {
        Visit { admission, address: Mutex::new(None) }
    }

    pub(crate) fn is_counted(&self) -> bool {
        lock(&self.address).is_some()
    }

    /// Takes the count: from now on the caller is responsible for [`Admission::leave`].
    pub(crate) fn take_over(&self) -> Option<AddressIndex> {
        lock(&self.address).take()
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(address) = self.take_over() {
            self.admission.leave(address);
        }
    }
}

/// Number of entries in a stripe from which idle ones with a full bucket are removed.
const REMEMBERED_MAX: usize = 4096;

impl Stripe {
    fn place(&mut self, ip: IpAddr, burst: f64, now_ms: u64) -> usize {
        if let Some(&place) = self.places.get(&ip) {
            return place;
        }
        if self.addresses.len() >= REMEMBERED_MAX && self.addresses.len().is_power_of_two() {
            self.forget_idle(burst, now_ms);
        }
        let place = self.addresses.insert(Address { ip, open: 0, tokens: burst, filled_ms: now_ms });
        self.places.insert(ip, place);
        place
    }

    /// Adds a connection to an address in the network at `place`, and returns the place of the address.
    fn within(&mut self, place: usize, network: IpAddr, ip: IpAddr) -> usize {
        if ip == network {
            return place;
        }
        let within = match self.places.get(&ip) {
            Some(&within) => within,
            None => {
                let within = self.addresses.insert(Address { ip, open: 0, tokens: 0.0, filled_ms: 0 });
                self.places.insert(ip, within);
                within
            }
        };
        self.addresses[within].open += 1;
        within
    }

    /// Removes a connection from an address in a network, and returns the place of the network.
    fn leave(&mut self, place: usize) -> usize {
        let address = &mut self.addresses[place];
        let ip = address.ip;
        let network = network(ip);
        if ip == network {
            return place;
        }
        address.open -= 1;
        if address.open == 0 {
            self.addresses.remove(place);
            self.places.remove(&ip);
        }
        self.places[&network]
    }

    fn forget_idle(&mut self, burst: f64, now_ms: u64) {
        let places = &mut self.places;
        self.addresses.retain(|_, address| {
            address.fill(burst, now_ms);
            let keep = address.open > 0 || address.tokens < burst;
            if !keep {
                places.remove(&address.ip);
            }
            keep
        });
    }
}

impl Address {
    fn fill(&mut self, rate: f64, now_ms: u64) {
        let elapsed_ms = now_ms.saturating_sub(self.filled_ms);
        self.tokens = (self.tokens + rate * elapsed_ms as f64 / 1000.0).min(rate);
        self.filled_ms = now_ms;
    }
}

fn stripe_of(ip: IpAddr) -> usize {
    let mixed = match ip {
        IpAddr::V4(ip) => ip.octets()[3],
        // Some providers number their customers in the last bits of the network, others in the bits before.
        IpAddr::V6(ip) => ip.octets()[4..8].iter().fold(0, |mixed, octet| mixed ^ octet),
    };
    usize::from(mixed) % STRIPES
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // The locked data is consistent between any two operations, so a poisoned lock can be used.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> SocketAddr {
        ([127, 0, 0, last], 1).into()
    }

    #[test]
    fn an_address_may_have_so_many_connections_and_no_more() {
        let admission = Admission::new(2, 1000);
        let first = admission.enter(address(1)).expect("the first");
        admission.enter(address(1)).expect("the second");
        assert_eq!(admission.enter(address(1)), Err(Excess::Connections));
        admission.enter(address(2)).expect("another address");
        admission.leave(first);
        admission.enter(address(1)).expect("one went");
    }

    #[test]
    fn a_network_of_ipv6_has_one_limit_and_each_connection_in_it_its_own_address() {
        let at = |text: &str| SocketAddr::new(text.parse().expect("an address"), 1);
        for networks_own in ["2001:db8::", "2001:db8::3"] {
            let admission = Admission::new(3, 1000);
            let come = ["2001:db8::1", "2001:db8::2", networks_own];
            let open = come.map(|text| admission.enter(at(text)).expect("there is a place"));
            assert_eq!(admission.enter(at("2001:db8::ffff:1")), Err(Excess::Connections));
            admission.enter(at("2001:db8:0:1::1")).expect("another network");
            assert_eq!(open.map(|index| admission.ip(index)), come.map(|text| at(text).ip()));
            let again = admission.enter_again(at("2001:db8::1"));
            assert_eq!(again, open[0], "it is the same address");
            admission.leave(again);
            open.iter().for_each(|index| admission.leave(*index));
            let new = ["2001:db8::5", "2001:db8::6", "2001:db8::7"];
            let _new = new.map(|text| admission.enter(at(text)).expect("all have gone"));
            let kept: usize = admission.stripes.iter().map(|stripe| lock(stripe).addresses.len()).sum();
            assert_eq!(kept, 6, "two networks, and the four who are there");
        }
    }

    #[test]
    fn a_network_of_ipv6_has_one_rate() {
        let admission = Admission::new(1000, 3);
        let at = |host: u16| {
            SocketAddr::new(std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host).into(), 1)
        };
        for host in 1..=3 {
            admission.leave(admission.enter(at(host)).expect("within the burst"));
        }
        assert_eq!(admission.enter(at(4)), Err(Excess::Rate));
    }

    #[test]
    fn a_visit_is_counted_once_until_its_end() {
        let admission = Arc::new(Admission::new(1, 1000));
        let visit = || Visit::new(admission.clone(), admission.enter(address(1)).expect("the only one"));
        drop(visit());
        let taken_over = visit().take_over().expect("nobody took it before");
        assert_eq!(admission.enter(address(1)), Err(Excess::Connections));
        admission.leave(taken_over);
        admission.enter(address(1)).expect("it went");
    }

    #[test]
    fn a_burst_beyond_the_rate_is_refused_and_not_forgotten() {
        let admission = Admission::new(1000, 3);
        for _ in 0..3 {
            let index = admission.enter(address(1)).expect("within the burst");
            admission.leave(index);
        }
        assert_eq!(admission.enter(address(1)), Err(Excess::Rate));
    }
}
