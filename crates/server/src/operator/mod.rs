//! The operator's commands: on communities, keys, people, rooms, bans and webhooks of a running server, through its
//! administration API; and on the store's files, which need no server ([`files`]).

pub(crate) mod files;

mod api_request;
mod authorizer;
mod commands;
mod show;

pub(crate) use authorizer::AuthorizerCommand;
pub(crate) use commands::{
    BanCommand, CommunityCommand, KeyCommand, PersonCommand, RoomCommand, StatsCommand, WebhookCommand,
};

use crate::asking::{AskError, Server};
use crate::config::Config;
use api_request::{ApiRequest, Form};
use serde_json::Value;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

/// Which server is asked, and how the answer is shown.
#[derive(clap::Args, Debug)]
pub(crate) struct Asking {
    /// URL of the administration listener, such as http://127.0.0.1:4001 [default: from the configuration]
    #[arg(long, global = true, value_name = "URL")]
    admin: Option<String>,
    /// File with the token of the administration API [default: admin-token in the data directory]
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print the response of the API as JSON
    #[arg(long, global = true)]
    json: bool,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum OperatorError {
    /// The request is invalid.
    Input(String),
    /// The server could not be asked.
    Ask(AskError),
    /// The server refused.
    Refused(String),
    /// The output failed.
    Output(io::Error),
}

impl fmt::Display for OperatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperatorError::Input(what) | OperatorError::Refused(what) => f.write_str(what),
            OperatorError::Ask(error) => error.fmt(f),
            OperatorError::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for OperatorError {}

impl OperatorError {
    /// Returns whether the reader closed the pipe, as `head` does, which is not a failure.
    pub(crate) fn is_end_of_reader(&self) -> bool {
        matches!(
            self,
            OperatorError::Output(error) | OperatorError::Ask(AskError::Output(error))
                if error.kind() == io::ErrorKind::BrokenPipe
        )
    }
}

/// A command that a running server executes.
pub(crate) trait Commanded {
    /// Returns the request for it.
    ///
    /// # Errors
    /// The request is invalid.
    fn request(&self) -> Result<ApiRequest, OperatorError>;
}

/// Has a running server execute a command, and prints the answer.
pub(crate) fn command(
    config: &Config,
    asking: &Asking,
    command: &dyn Commanded,
) -> Result<(), OperatorError> {
    let request = command.request()?;
    let server = Server::of(config, asking.admin.as_deref(), asking.token_file.as_deref());
    let server = server.map_err(OperatorError::Ask)?;
    if let Form::Lines = request.form {
        return stream(&server, &request);
    }
    let body = request.body.as_ref().map(Value::to_string);
    let (status, answer) = server.ask(&request.method, &request.path, body).map_err(OperatorError::Ask)?;
    let answer = read(&server, &answer)?;
    if !status.is_success() {
        return Err(refused(&show::problem(&answer)));
    }
    let text = if asking.json { show::json(&answer) } else { show::text(&request.form, &answer) };
    io::stdout().write_all(text.as_bytes()).map_err(OperatorError::Output)
}

/// Parses an answer; one without a body is `null`.
fn read(server: &Server, answer: &[u8]) -> Result<Value, OperatorError> {
    if answer.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(answer).map_err(|error| refused(&format!("{}: {error}", server.authority())))
}

/// Prints lines of JSON as they arrive. Without the final line they are incomplete.
fn stream(server: &Server, request: &ApiRequest) -> Result<(), OperatorError> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut tail = Vec::new();
    let (status, refusal) = server
        .ask_into(&request.method, &request.path, None, &mut |part| {
            tail.extend_from_slice(part);
            let end = tail.len().saturating_sub(END_OF_LINES.len());
            output.write_all(&tail[..end]).map_err(AskError::Output)?;
            tail.drain(..end);
            Ok(())
        })
        .map_err(OperatorError::Ask)?;
    if !status.is_success() {
        return Err(refused(&show::problem(&read(server, &refusal)?)));
    }
    output.flush().map_err(OperatorError::Output)?;
    if tail == END_OF_LINES { Ok(()) } else { Err(refused("the export is incomplete: see the server's log")) }
}

const END_OF_LINES: &[u8] = b"{\"end\":true}\n";

fn refused(what: &str) -> OperatorError {
    OperatorError::Refused(what.to_owned())
}
