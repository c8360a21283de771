//! The kernel memory of one TCP connection, by kind of object.

use super::{page_bytes, text_of};

/// The kinds: the slab cache that holds them, how many a watched TCP socket has, and the bytes of one if the cache is
/// not listed (measured on Linux 6 for x86-64). A merged cache is listed under another one's name.
const OBJECTS: [(&str, u64, u64); 7] = [
    ("TCP", 1, 2_520),
    ("sock_inode_cache", 1, 862),
    ("dentry", 1, 195),
    ("filp", 1, 195),
    ("lsm_file_cache", 1, 24),
    ("eventpoll_epi", 1, 128),
    ("eventpoll_pwq", 1, 128),
];

/// A thread's kernel stack.
const THREAD_STACK_BYTES: u64 = 16 * 1024;

/// Returns the kernel memory of one established TCP socket that a readiness loop watches, in bytes, without its
/// buffers: by the sizes in `/proc/slabinfo` if that can be read, which requires root, else by those of a typical
/// kernel.
#[must_use]
pub fn socket_bytes() -> u64 {
    parse_slabinfo(&text_of("/proc/slabinfo").unwrap_or_default(), page_bytes())
}

/// Returns the kernel memory of a process's threads, in bytes.
#[must_use]
pub fn thread_stack_bytes(threads: u64) -> u64 {
    threads.saturating_mul(THREAD_STACK_BYTES)
}

/// Returns the kernel memory of one socket, by the text of `/proc/slabinfo`. A kind that is not listed has its typical
/// size.
#[must_use]
pub fn parse_slabinfo(text: &str, page_bytes: u64) -> u64 {
    let of = |(name, count, usual): (&str, u64, u64)| {
        count * cache_object_bytes(text, name, page_bytes).unwrap_or(usual)
    };
    OBJECTS.into_iter().map(of).sum()
}

/// Returns the memory of one object of a cache: a slab's pages divided by the objects in them (slabinfo(5)).
fn cache_object_bytes(text: &str, name: &str, page_bytes: u64) -> Option<u64> {
    let line = text.lines().find(|line| line.split_ascii_whitespace().next() == Some(name))?;
    let mut words = line.split_ascii_whitespace().skip(4);
    let objects: u64 = words.next()?.parse().ok().filter(|objects| *objects > 0)?;
    let pages: u64 = words.next()?.parse().ok()?;
    pages.checked_mul(page_bytes).map(|bytes| bytes / objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_counted_with_what_their_pages_waste() {
        let text = "slabinfo - version: 2.1\n# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab>\n\
                    TCPv6                 26     26   2496   13    8 : tunables    0    0    0 : slabdata 2 2 0\n\
                    TCP                   53    117   2368   16    8 : tunables    0    0    0 : slabdata 9 9 0\n\
                    filp                 713    756    192    0    1 : tunables    0    0    0 : slabdata 36 36 0\n";
        let usual = parse_slabinfo("", 4096);
        assert_eq!(usual, 4_052);
        assert_eq!(
            parse_slabinfo(text, 4096),
            usual - 2_520 + 2_048,
            "a cache without objects tells nothing"
        );
    }

    #[test]
    fn this_kernel_keeps_some_kilobytes_for_a_socket() {
        assert!((1_000..20_000).contains(&socket_bytes()), "{}", socket_bytes());
    }
}
