//! Checks whether the addresses that the server listens at are free.

use crate::config::Config;
use ::doctor::{Check, State};
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

/// Checks each address of the configuration.
pub(super) fn check(config: &Config) -> Vec<Check> {
    let tls = config.tls.as_ref().map(|tls| tls.listen);
    let bus = config.bus.as_ref().and_then(|bus| bus.listen);
    let addresses = [
        ("listen", Some(config.listen)),
        ("admin.listen", config.admin_listen),
        ("tls.listen", tls),
        ("bus.listen", bus),
    ];
    addresses.into_iter().filter_map(|(key, address)| Some(check_one(key, address?))).collect()
}

/// Checks an address by binding it briefly.
fn check_one(key: &str, address: SocketAddr) -> Check {
    let check = |state, text: String| Check::new(key, state, text);
    match TcpListener::bind(address) {
        Ok(_) => check(State::Ok, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            let port = address.port();
            check(State::Stop, format!("{address} is in use, by a running server or another program")).with(
                format!(
                    "find it with: ss -ltnp 'sport = :{port}'; stop it, or set `{key}` to another address"
                ),
            )
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            check(State::Stop, format!("{address} needs a privilege that this program does not have")).with(
                "AmbientCapabilities=CAP_NET_BIND_SERVICE in the systemd unit, or a port number of at least \
                     1024",
            )
        }
        Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
            check(State::Stop, format!("{} is not an address of this machine", address.ip())).with(format!(
                "set `{key}` to one of its addresses (list them with: ip address), or to 0.0.0.0 for \
                     all"
            ))
        }
        Err(error) => check(State::Stop, format!("cannot listen on {address}: {error}"))
            .with(format!("set `{key}` to another address")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_free_or_it_is_said_what_to_do() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
        assert_eq!(check_one("listen", taken).state, State::Ok, "it was closed again");
        let holder = TcpListener::bind(taken).expect("it is free");
        let check = check_one("listen", taken);
        assert_eq!(check.state, State::Stop);
        assert!(check.remedy.is_some_and(|remedy| remedy.contains("ss -ltnp")), "{}", check.text);
        drop(holder);
        // A network for documentation (RFC 5737): not assigned to anybody.
        let check = check_one("admin.listen", ([192, 0, 2, 1], 4001).into());
        assert_eq!(
            (check.state, check.text.as_str()),
            (State::Stop, "192.0.2.1 is not an address of this machine")
        );
    }
}
