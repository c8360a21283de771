//! The process's own descriptor limit.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Sets the soft limit to `wanted`, or to the hard limit where that is lower or nothing is wanted.
pub fn limit_descriptors(wanted: Option<u64>) {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("every process has the limit");
    let soft = wanted.map_or(hard, |wanted| wanted.min(hard));
    setrlimit(Resource::RLIMIT_NOFILE, soft, hard).expect("up to the hard limit it is free");
}
