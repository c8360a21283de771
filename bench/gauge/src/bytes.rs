//! Bytes per connection, join and topic: the heap's growth from a small number of connections to a large one.
//!
//! The numbers are powers of two, at which lists that double are full and tables that grow by 1,024 slots have none
//! free, so that a figure is the cost of one more and nothing else.

use crate::heap::{Figures, Heap, each, rounded};
use crate::room::TOPIC;
use crate::server::{Failure, Server, make_room};
use crate::shard::Shard;

/// Number of simulated connections.
const FEW: u32 = 4096;
const MANY: u32 = 32_768;
/// Number of connections on sockets, whose descriptors must fit into one table.
const FEW_SOCKETS: u32 = 1024;
const MANY_SOCKETS: u32 = 4096;

/// Returns all figures of this group, by name.
pub(crate) fn measure(planted: bool) -> Result<Figures, Failure> {
    make_room(2 * MANY_SOCKETS)?;
    let mut figures = of_the_hub(planted);
    figures.append(&mut of_echo_sockets(planted)?);
    figures.append(&mut of_members(planted)?);
    Ok(figures)
}

fn of_the_hub(planted: bool) -> Figures {
    let opened = |crowd| {
        let mut shard = Shard::new(planted);
        shard.open(0..crowd);
        shard
    };
    let per_connection = slope(opened);
    let joined = |crowd| {
        let mut shard = opened(crowd);
        shard.join(0..crowd, TOPIC);
        shard
    };
    let per_joined = slope(joined);
    let twice = slope(|crowd| {
        let mut shard = joined(crowd);
        shard.join(0..crowd, "room:second");
        shard
    });
    let apart = slope(|crowd| {
        let mut shard = opened(crowd);
        for slot in 0..crowd {
            shard.join(slot..slot + 1, &format!("room:{slot:08}"));
        }
        shard
    });
    Figures::from([
        ("hub_bytes_per_connection", per_connection),
        ("hub_bytes_per_join", rounded(per_joined - per_connection)),
        ("hub_bytes_per_further_join", rounded(twice - per_joined)),
        ("hub_bytes_per_topic", rounded(apart - per_joined)),
    ])
}

/// Returns what one more connection adds to the result of `make`.
fn slope<T>(make: impl Fn(u32) -> T) -> f64 {
    let held = |crowd| {
        let before = Heap::now();
        let made = make(crowd);
        let bytes = Heap::now().bytes - before.bytes;
        drop(made);
        bytes
    };
    each(held(MANY), held(FEW), MANY - FEW)
}

fn of_echo_sockets(planted: bool) -> Result<Figures, Failure> {
    let server = Server::start(planted)?;
    let mut clients = Vec::with_capacity(MANY_SOCKETS as usize);
    let mut grow = |crowd: u32| {
        while clients.len() < crowd as usize {
            clients.push(server.echo()?);
        }
        Ok::<_, Failure>(Heap::at_rest())
    };
    let (few, many) = (grow(FEW_SOCKETS)?, grow(MANY_SOCKETS)?);
    let bytes = many.bytes_each(few, MANY_SOCKETS - FEW_SOCKETS);
    Ok(Figures::from([("server_bytes_per_websocket", bytes)]))
}

fn of_members(planted: bool) -> Result<Figures, Failure> {
    let server = Server::start(planted)?;
    let mut clients = Vec::with_capacity(MANY_SOCKETS as usize);
    let mut grow = |crowd: u32| {
        while clients.len() < crowd as usize {
            clients.push(server.member()?);
        }
        Ok::<_, Failure>(Heap::at_rest())
    };
    let (few, many) = (grow(FEW_SOCKETS)?, grow(MANY_SOCKETS)?);
    let more = MANY_SOCKETS - FEW_SOCKETS;
    Ok(Figures::from([
        ("server_bytes_per_member", many.bytes_each(few, more)),
        ("server_blocks_per_member", many.blocks_each(few, more)),
    ]))
}
