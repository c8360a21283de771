//! A connection to an engine that can be cut, while other connections to it continue.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) struct Proxy {
    pub(crate) port: u16,
    ways: Arc<Mutex<Ways>>,
}

#[derive(Default)]
struct Ways {
    are_cut: bool,
    /// Both ends of each connection.
    open: Vec<TcpStream>,
}

impl Proxy {
    /// Forwards to a port of this machine for as long as the test program runs.
    pub(crate) fn start(to: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let ways = Arc::<Mutex<Ways>>::default();
        let kept = ways.clone();
        std::thread::spawn(move || {
            for here in listener.incoming().flatten() {
                // If nobody listens any more, the caller notices by the end of its connection.
                let _ = lead(here, to, &kept);
            }
        });
        Proxy { port, ways }
    }

    /// Ends all connections, and new ones until it is healed.
    pub(crate) fn cut(&self) {
        let mut ways = self.ways.lock().expect("no test panics with it");
        ways.are_cut = true;
        for end in ways.open.drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn heal(&self) {
        self.ways.lock().expect("no test panics with it").are_cut = false;
    }
}

fn lead(here: TcpStream, to: u16, ways: &Mutex<Ways>) -> io::Result<()> {
    let mut ways = ways.lock().expect("no test panics with it");
    if ways.are_cut {
        return Ok(());
    }
    let there = TcpStream::connect(("127.0.0.1", to))?;
    for (mut from, mut into) in
        [(here.try_clone()?, there.try_clone()?), (there.try_clone()?, here.try_clone()?)]
    {
        std::thread::spawn(move || {
            let _ = io::copy(&mut from, &mut into);
            let _ = into.shutdown(Shutdown::Both);
        });
    }
    ways.open.extend([here, there]);
    Ok(())
}
