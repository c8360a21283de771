//! The port, the socket that listens there, and the descriptors that its connections need.

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpSocket};

const BACKLOG: u32 = 8192;

pub fn port_from_arguments() -> Result<u16, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [flag, port] if flag == "--port" => Ok(port.parse()?),
        _ => Err("usage: --port PORT".into()),
    }
}

pub fn raise_descriptor_limit() -> nix::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)
}

pub fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    socket.listen(BACKLOG)
}
