//! Kernel interfaces that no library wraps: leaving the process's descriptor table, socket options, and a thread's time
//! slice. Apart from one call of SQLite in `store`, the only `unsafe` code of the server.
//!
//! A descriptor is a number, and Rust's types assume that a number means the same file on every thread. A thread with
//! its own table breaks that. The conditions that keep it sound are written down here and upheld by the module `start`,
//! the only one that deals with such tables: a shard's thread owns nothing that holds a number outside `keep`, nothing
//! that it opens later leaves the thread except through a socket, and each number in `keep` is either owned by the
//! thread alone or, like a bell's, never closed while anyone uses it.
#![allow(unsafe_code, reason = "each block has its proof")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::io::Errno;

/// Gives the calling thread its own descriptor table, in which only standard input, output and error and the numbers in
/// `keep` are open.
pub(crate) fn leave_shared_table(keep: &[RawFd]) -> io::Result<()> {
    // SAFETY: `unshare` takes no pointer. With CLONE_FILES the calling thread's table becomes a copy: every number that
    // the thread knows still refers to the same file, until one of the two tables changes.
    if unsafe { libc::unshare(libc::CLONE_FILES) } != 0 {
        return Err(io::Error::last_os_error());
    }
    for (first, last) in gaps(keep) {
        // SAFETY: `close_range` takes no pointer. The table is this thread's own by now, and the thread owns nothing
        // that holds one of these numbers, so no Rust value is left with a number that was closed under it.
        let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        if closed != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Closes the calling thread's copies of descriptors that moved to threads which have since left the table.
pub(crate) fn close_copies(moved: &[RawFd]) {
    for number in moved {
        // SAFETY: the value that owned this number was moved to a thread that has its own table by now, so it closes
        // the number there and never here. In this table nothing else owns the number: it was open when the thread
        // left, and nobody has closed it since.
        drop(unsafe { OwnedFd::from_raw_fd(*number) });
    }
}

/// Lets `connect` choose the port of a socket that is bound to port 0 (IP_BIND_ADDRESS_NO_PORT, ip(7)). The port then
/// has to be free towards one peer only, instead of towards all. Applies to both IP versions.
pub(crate) fn leave_port_to_connect(socket: &OwnedFd) -> Result<(), Errno> {
    let on: libc::c_int = 1;
    // SAFETY: the option is a number.
    unsafe { set_option(socket, libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, &on) }
}

/// Has the kernel choose at random among those listeners of the group that shares this one's port that have the indices
/// `chosen` (SO_ATTACH_REUSEPORT_CBPF, socket(7)): the order in which they began to listen. An index that does not exist any
/// more leaves the choice to the kernel's hash.
pub(crate) fn choose_listeners(listener: impl AsFd, chosen: &[u32]) -> Result<(), Errno> {
    let step = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let draw = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32),
        step(libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K, chosen.len() as u32),
    ];
    // Each number that can be drawn, and its listener, past which all others jump.
    let answer = |(drawn, index): (u32, &u32)| {
        let compare = libc::sock_filter { jf: 1, ..step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, drawn) };
        [compare, step(libc::BPF_RET | libc::BPF_K, *index)]
    };
    let none = step(libc::BPF_RET | libc::BPF_K, u32::MAX);
    let answers = (0..).zip(chosen).flat_map(answer);
    let mut program: Vec<libc::sock_filter> = draw.into_iter().chain(answers).chain([none]).collect();
    let length = u16::try_from(program.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: the option is a pointer to as many steps as its length says, which outlive the call and are only read.
    unsafe { set_option(listener, libc::SOL_SOCKET, libc::SO_ATTACH_REUSEPORT_CBPF, &program) }
}

/// Undoes [`choose_listeners`]: the kernel chooses by its hash (SO_DETACH_REUSEPORT_BPF, socket(7)).
pub(crate) fn choose_no_listeners(listener: impl AsFd) -> Result<(), Errno> {
    let ignored: libc::c_int = 0;
    // SAFETY: the option is a number.
    match unsafe { set_option(listener, libc::SOL_SOCKET, libc::SO_DETACH_REUSEPORT_BPF, &ignored) } {
        // None were chosen.
        Err(Errno::NOENT) => Ok(()),
        outcome => outcome,
    }
}

/// Sets a socket option that no library knows.
///
/// # Safety
/// `value` has the form that the option has, and pointers in it are valid for what the kernel does with them.
unsafe fn set_option<T>(socket: impl AsFd, level: i32, name: i32, value: &T) -> Result<(), Errno> {
    // SAFETY: during the call, the kernel reads as many bytes from the pointer as the length says, which is the size of
    // `value`; `value` outlives the call, and the borrowed socket is open. For what it contains, the caller vouches.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of_val(value) as libc::socklen_t,
        )
    };
    if outcome != 0 {
        return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL));
    }
    Ok(())
}

/// Returns how much memory the kernel uses for what the peer of a TCP socket has not acknowledged, in bytes, including
/// its own overhead (SO_MEMINFO; SK_MEMINFO_WMEM_QUEUED, uapi/linux/sock_diag.h). Returns 0 if the kernel does not
/// report it.
pub fn send_queue_bytes(socket: impl AsFd) -> u64 {
    const WMEM_QUEUED: usize = 5;
    let mut numbers = [0u32; 9];
    let mut length = size_of_val(&numbers) as libc::socklen_t;
    // SAFETY: during the call, the kernel writes at most as many bytes to the first pointer as the number behind the
    // second says, which is the size of `numbers`; both outlive the call, any bytes make valid numbers, and the
    // borrowed socket is open.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if outcome == 0 { u64::from(numbers[WMEM_QUEUED]) } else { 0 }
}

/// Sets the calling thread's time slice (sched_setattr(2)) and leaves its other scheduling attributes unchanged.
pub(crate) fn set_slice(slice: Duration) -> io::Result<()> {
    let mut attributes = libc::sched_attr {
        size: 0,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: during the call, the kernel writes at most as many bytes to the pointer as the size says, which is that
    // of `attributes`; `attributes` outlives the call, and any bytes make a valid value of its type.
    let got = unsafe {
        libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size_of_val(&attributes), 0)
    };
    if got != 0 {
        return Err(io::Error::last_os_error());
    }
    attributes.sched_runtime = u64::try_from(slice.as_nanos()).unwrap_or(u64::MAX);
    // SAFETY: during the call, the kernel reads as many bytes from the pointer as the size in `attributes` says, which
    // the kernel wrote there itself: at most that of `attributes`.
    let set = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if set != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns the ranges of numbers above standard error that are not in `keep`.
fn gaps(keep: &[RawFd]) -> Vec<(u32, u32)> {
    let mut kept: Vec<u32> = keep.iter().filter_map(|number| u32::try_from(*number).ok()).collect();
    kept.sort_unstable();
    kept.dedup();
    let mut gaps = Vec::with_capacity(kept.len() + 1);
    let mut first = 3;
    for number in kept {
        if number > first {
            gaps.push((first, number - 1));
        }
        first = first.max(number + 1);
    }
    gaps.push((first, u32::MAX));
    gaps
}

#[cfg(test)]
mod tests {
    use super::gaps;

    #[test]
    fn everything_but_what_is_kept_lies_in_a_gap() {
        assert_eq!(gaps(&[]), [(3, u32::MAX)]);
        assert_eq!(gaps(&[3, 4]), [(5, u32::MAX)]);
        assert_eq!(gaps(&[9, 5, 5, 1]), [(3, 4), (6, 8), (10, u32::MAX)]);
    }
}
