//! `agent`: plays users for a controller on another machine.

use super::exit::{Done, Exit, Failure};
use crate::agent::{self, AgentOptions, Token};
use crate::cli;

pub(super) fn agent(flags: cli::Agent) -> Done {
    let cli::Agent { listen, token, certificate, key, weight, out } = flags;
    let is_encrypted = certificate.is_some();
    let options =
        AgentOptions { listen, token: token.map(Token::new), identity: certificate.zip(key), weight, out };
    let ready = |address| {
        let how = if is_encrypted { "TLS" } else { "not encrypted" };
        eprintln!("stampede: waiting for a controller on {address} ({how})");
    };
    agent::serve(options, ready).map_err(Failure::usage)?;
    Ok(Exit::Success)
}
