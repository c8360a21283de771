//! What peers do wrong, against gateways inside this process, one for each test.

mod admission;
mod adoption;
mod channels;
mod drain;
mod frames;
mod longpoll;
mod nodes;
mod opening;
mod proxies;
mod silence;
mod slow_readers;
