//! Stampede against Throng and against the servers of others: `make stampede`. Each of these tests is ignored in a quick
//! run, since it needs programs that are not of this package, or time.

mod c10k;
mod chat;
mod floor;
mod messenger;
mod others;
mod reports;
mod throng;
mod tsung;
