//! The operator's commands: communities, keys, people, rooms, bans and webhooks of a running server, by its
//! administration's API; and the store's files, which need no server ([`files`]).

pub(crate) mod files;

mod authorizer;
mod commands;
mod errand;
mod show;

pub(crate) use authorizer::AuthorizerCommand;
pub(crate) use commands::{
    BanCommand, CommunityCommand, KeyCommand, PersonCommand, RoomCommand, StatsCommand, WebhookCommand,
};

use crate::asking::{AskError, Server};
use crate::config::Config;
use errand::{Errand, Form};
use serde_json::Value;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

/// Which server is asked, and how the answer is shown.
#[derive(clap::Args, Debug)]
pub(crate) struct Asking {
    /// URL of the administration listener, such as http://127.0.0.1:4001 [default: that of the configuration]
    #[arg(long, global = true, value_name = "URL")]
    admin: Option<String>,
    /// File with the token of the administration API [default: admin-token in the data directory]
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// As JSON, as the API answers
    #[arg(long, global = true)]
    json: bool,
}

/// Why a command was not done.
#[derive(Debug)]
pub(crate) enum OperatorError {
    /// The configuration names no administration listener, and nobody named one.
    NoAddress,
    /// What was asked for cannot be.
    Wish(String),
    /// The server cannot be asked.
    Ask(AskError),
    /// The server refused.
    Refused(String),
    /// The output failed.
    Output(io::Error),
}

impl fmt::Display for OperatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperatorError::NoAddress => f.write_str(
                "`admin.listen` is \"off\": turn it on, or give the URL of an administration listener with --admin",
            ),
            OperatorError::Wish(what) | OperatorError::Refused(what) => f.write_str(what),
            OperatorError::Ask(error) => error.fmt(f),
            OperatorError::Output(error) => write!(f, "cannot show it: {error}"),
        }
    }
}

impl std::error::Error for OperatorError {}

impl OperatorError {
    /// Whether whoever read the lines went away, as `head` does: no failure of ours.
    pub(crate) fn is_end_of_reader(&self) -> bool {
        matches!(
            self,
            OperatorError::Output(error) | OperatorError::Ask(AskError::Output(error))
                if error.kind() == io::ErrorKind::BrokenPipe
        )
    }
}

/// A command that a running server does.
pub(crate) trait Commanded {
    /// What is to be asked for it.
    ///
    /// # Errors
    /// What was asked for cannot be.
    fn errand(&self) -> Result<Errand, OperatorError>;
}

/// Has a command done by the running server, and shows what it answers.
pub(crate) fn command(
    config: &Config,
    asking: &Asking,
    command: &dyn Commanded,
) -> Result<(), OperatorError> {
    let errand = command.errand()?;
    let server = server(config, asking)?;
    if let Form::Lines = errand.form {
        return stream(&server, &errand);
    }
    let body = errand.body.as_ref().map(Value::to_string);
    let (status, answer) = server.ask(&errand.method, &errand.path, body).map_err(OperatorError::Ask)?;
    let answer: Value = if answer.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(&answer)
            .map_err(|error| refused(&format!("{}: {error}", server.authority())))?
    };
    if !status.is_success() {
        return Err(refused(&show::problem(&answer)));
    }
    let text = if asking.json { show::json(&answer) } else { show::text(&errand.form, &answer) };
    io::stdout().write_all(text.as_bytes()).map_err(OperatorError::Output)
}

fn server(config: &Config, asking: &Asking) -> Result<Server, OperatorError> {
    let configured = config.admin_listen.map(|address| format!("http://{address}"));
    let url = asking.admin.clone().or(configured).ok_or(OperatorError::NoAddress)?;
    let token_file = asking.token_file.clone().unwrap_or_else(|| config.data_dir.join("admin-token"));
    Server::new(&url, &token_file).map_err(OperatorError::Ask)
}

/// Lines of JSON go out as they come. Without the line that ends them, they are not all.
fn stream(server: &Server, errand: &Errand) -> Result<(), OperatorError> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut tail = Vec::new();
    let status = server
        .ask_into(&errand.method, &errand.path, None, &mut |part| {
            tail.extend_from_slice(part);
            let end = tail.len().saturating_sub(END_OF_LINES.len());
            output.write_all(&tail[..end]).map_err(AskError::Output)?;
            tail.drain(..end);
            Ok(())
        })
        .map_err(OperatorError::Ask)?;
    output.flush().map_err(OperatorError::Output)?;
    if !status.is_success() {
        return Err(refused(&format!(
            "the export was refused with status {status}: is there such a community?"
        )));
    }
    if tail == END_OF_LINES { Ok(()) } else { Err(refused("the export was cut: the server's log says why")) }
}

const END_OF_LINES: &[u8] = b"{\"end\":true}\n";

fn refused(what: &str) -> OperatorError {
    OperatorError::Refused(what.to_owned())
}
