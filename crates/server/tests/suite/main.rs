//! The program from outside, one subject in each file. What it takes of memory is measured by programs of their own.

mod administration;
mod certificates;
#[path = "../client/mod.rs"]
mod client;
mod configuration;
mod doctor;
mod operator;
mod serving;
mod shutdown;
#[path = "../throng/mod.rs"]
mod throng;
#[path = "../tls/mod.rs"]
mod tls;
mod top;
