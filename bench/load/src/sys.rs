//! The system calls that the driver and the floor use, as safe functions: the only file with `unsafe`.
//!
//! Owns IPv4 stream sockets, epoll, wake-up descriptors, private descriptor tables and CPU clocks. It must never know
//! what the bytes mean.
//!
//! A thread that has called [`unshare_descriptor_table`] has its own descriptor numbers: a socket created there must be
//! used and closed there.

use std::io;
use std::mem::{size_of, size_of_val, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Maximum number of readiness events that one wait returns.
pub const EVENTS_PER_WAIT: usize = 512;

/// Raises the process's soft limit of descriptors to the hard limit, and returns it. The limit applies per table.
pub fn raise_descriptor_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` outlives both calls, and is of the type that they expect.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    limit.rlim_cur = limit.rlim_max;
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) })?;
    Ok(limit.rlim_max)
}

/// Gives the calling thread its own descriptor table, a copy of the shared one (`unshare(2)`, CLONE_FILES).
pub fn unshare_descriptor_table() -> io::Result<()> {
    // SAFETY: the call takes no pointer. Descriptors keep their numbers, and from here on each table closes its own.
    check(unsafe { libc::unshare(libc::CLONE_FILES) }).map(drop)
}

/// Returns the CPU time, user and system, that all threads of process `pid` have used so far, including ended threads.
pub fn process_cpu(pid: u32) -> io::Result<Duration> {
    // The id of a process's clock is composed as in the kernel (posix-timers.h, CPUCLOCK_SCHED = 2).
    let clock = (!(pid as libc::clockid_t) << 3) | 2;
    // SAFETY: an all-zero timespec is valid, and outlives the call.
    let mut time: libc::timespec = unsafe { zeroed() };
    check(unsafe { libc::clock_gettime(clock, &mut time) })?;
    Ok(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// Creates a listening socket that shares its port with others of its kind (SO_REUSEPORT). Accepted sockets have
/// TCP_NODELAY, which they inherit on Linux.
pub fn listen(address: SocketAddrV4, backlog: i32) -> io::Result<OwnedFd> {
    let socket = stream_socket()?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEPORT, 1)?;
    set_option(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
    bind(&socket, address)?;
    // SAFETY: the descriptor is open, and no pointer is passed.
    check(unsafe { libc::listen(socket.as_raw_fd(), backlog) })?;
    Ok(socket)
}

/// Returns the address that `socket` is bound to.
pub fn local_address(socket: &OwnedFd) -> io::Result<SocketAddrV4> {
    // SAFETY: an all-zero sockaddr_in is valid; address and length outlive the call.
    let mut address: libc::sockaddr_in = unsafe { zeroed() };
    let mut length = size_of::<libc::sockaddr_in>() as libc::socklen_t;
    let pointer = (&raw mut address).cast();
    check(unsafe { libc::getsockname(socket.as_raw_fd(), pointer, &mut length) })?;
    Ok(SocketAddrV4::new(u32::from_be(address.sin_addr.s_addr).into(), u16::from_be(address.sin_port)))
}

/// Accepts the next connection of `listener`, non-blocking; `WouldBlock` if none is waiting.
pub fn accept(listener: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let no_address = std::ptr::null_mut();
    // SAFETY: the kernel takes a null address as "not wanted"; the result is a descriptor that nothing else owns.
    let accepted = unsafe { libc::accept4(listener.as_raw_fd(), no_address, std::ptr::null_mut(), flags) };
    check(accepted).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Starts a connection from `source` (any port) to `target`. On loopback it is usually established on return.
pub fn connect(source: Ipv4Addr, target: SocketAddrV4) -> io::Result<OwnedFd> {
    let socket = stream_socket()?;
    // The port is chosen at connect time, when the whole four-tuple is known, so a source address can serve many
    // targets.
    set_option(&socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
    set_option(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1)?;
    bind(&socket, SocketAddrV4::new(source, 0))?;
    let (address, length) = raw_address(target);
    // SAFETY: `address` is a sockaddr_in of `length` bytes and outlives the call.
    match check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) }) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}

/// Reads what has arrived, at most `buffer`'s length; 0 means that the peer has closed the connection.
pub fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: pointer and length are those of one mutable slice.
    let read = unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

/// Passes `bytes` to the kernel and returns how many it accepted.
pub fn send(socket: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: pointer and length are those of one slice.
    let written = unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    usize::try_from(written).map_err(|_| io::Error::last_os_error())
}

/// Makes closing `socket` send a reset, so that a hundred thousand closed clients leave no TIME_WAIT behind.
pub fn reset_on_close(socket: &OwnedFd) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // If the kernel refuses this, the socket closes in the usual way.
    let _ = set_option(socket, libc::SOL_SOCKET, libc::SO_LINGER, linger);
}

/// A readiness loop (`epoll(7)`), edge-triggered.
#[derive(Debug)]
pub struct Epoll {
    descriptor: OwnedFd,
    events: Vec<libc::epoll_event>,
}

/// One readiness event.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// What the descriptor was added with.
    pub token: u64,
    /// The peer has closed at least its sending side, or the connection has failed.
    pub hung_up: bool,
}

impl Epoll {
    /// Creates an empty loop.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointer is passed; the result is a descriptor that nothing else owns.
        let descriptor = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        Ok(Self { descriptor, events: vec![libc::epoll_event { events: 0, u64: 0 }; EVENTS_PER_WAIT] })
    }

    /// Watches `socket` for data and hang-ups, and with `writable` also for writability.
    pub fn add(&self, socket: &OwnedFd, token: u64, writable: bool) -> io::Result<()> {
        let writable = if writable { libc::EPOLLOUT } else { 0 };
        let interest = libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLET | writable;
        let mut event = libc::epoll_event { events: interest as u32, u64: token };
        let (epoll, socket) = (self.descriptor.as_raw_fd(), socket.as_raw_fd());
        // SAFETY: `event` outlives the call, which copies it.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, socket, &mut event) }).map(drop)
    }

    /// Waits at most `timeout` (forever if `None`) and returns the number of events for [`Epoll::ready`].
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<usize> {
        let milliseconds = timeout.map_or(-1, |t| i32::try_from(t.as_millis()).unwrap_or(i32::MAX));
        let (epoll, room) = (self.descriptor.as_raw_fd(), self.events.len() as i32);
        // SAFETY: the kernel writes at most `room` events, the length of the vector that it is given.
        match check(unsafe { libc::epoll_wait(epoll, self.events.as_mut_ptr(), room, milliseconds) }) {
            Ok(count) => Ok(count as usize),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Returns event `index` of the last wait.
    pub fn ready(&self, index: usize) -> Ready {
        let event = self.events[index];
        let hang_up = (libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR) as u32;
        Ready { token: event.u64, hung_up: event.events & hang_up != 0 }
    }
}

/// A descriptor that one thread raises and another's [`Epoll`] reports (`eventfd(2)`). If it is created before any
/// table is unshared, it has the same number in all of them.
#[derive(Debug)]
pub struct Wakeup(OwnedFd);

impl Wakeup {
    /// Creates a wake-up that is not raised.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointer is passed; the result is a descriptor that nothing else owns.
        let descriptor = check(unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) })?;
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    /// Returns the descriptor to watch.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.0
    }

    /// Adds `count` to what the other side will take.
    pub fn raise(&self, count: u64) -> io::Result<()> {
        // SAFETY: an eventfd takes the 8 bytes of one u64, which outlives the call.
        let written =
            unsafe { libc::write(self.0.as_raw_fd(), (&raw const count).cast(), size_of_val(&count)) };
        if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Takes the sum of what was raised since the last call; 0 if nothing was.
    pub fn take(&self) -> u64 {
        let mut count = 0_u64;
        // SAFETY: an eventfd gives the 8 bytes of one u64, which outlives the call.
        let read = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), size_of_val(&count)) };
        if read < 0 { 0 } else { count }
    }
}

fn stream_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointer is passed; the result is a descriptor that nothing else owns.
    check(unsafe { libc::socket(libc::AF_INET, kind, 0) }).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

fn bind(socket: &OwnedFd, address: SocketAddrV4) -> io::Result<()> {
    let (address, length) = raw_address(address);
    // SAFETY: `address` is a sockaddr_in of `length` bytes and outlives the call.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }).map(drop)
}

fn raw_address(address: SocketAddrV4) -> (libc::sockaddr_in, libc::socklen_t) {
    let raw = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    };
    (raw, size_of::<libc::sockaddr_in>() as libc::socklen_t)
}

fn set_option<T>(socket: &OwnedFd, level: i32, name: i32, value: T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: pointer and length are those of `value`, which outlives the call; callers pass the option's own type.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), length) };
    check(set).map(drop)
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
