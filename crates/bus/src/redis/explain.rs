//! Translates Redis errors into failures that name the remedy.

use crate::failure::{Failure, is_about_tls};
use ::redis::{ErrorKind, RedisError, ServerError, Value};

/// The minimum server version.
pub(crate) const NEEDED: &str = "Redis 7.0 or Valkey";

pub(crate) fn explain(error: &RedisError) -> Failure {
    if let Some(code) = error.code() {
        return refused(code, error.detail().unwrap_or_default());
    }
    let detail = error.to_string();
    match error.kind() {
        ErrorKind::AuthenticationFailed => Failure::Unauthenticated(detail),
        ErrorKind::RESP3NotSupported => {
            Failure::TooOld { found: "it does not support RESP3".to_owned(), needed: NEEDED }
        }
        ErrorKind::Io if is_about_tls(&detail) => Failure::Tls(detail),
        ErrorKind::Io if error.is_timeout() => Failure::Late,
        // Text where TLS was expected, or the other way round, cannot be parsed.
        ErrorKind::Parse => Failure::Tls(format!("its response is not in the Redis protocol ({detail})")),
        ErrorKind::InvalidClientConfig => Failure::Tls(detail),
        _ => Failure::Unreachable(detail),
    }
}

/// Explains an error among the answers.
pub(crate) fn explain_refusal(error: &ServerError) -> Failure {
    refused(error.code(), error.details().unwrap_or_default())
}

/// Returns the answer, or a failure if it is an error.
pub(crate) fn sound(value: Value) -> Result<Value, Failure> {
    match value {
        Value::ServerError(error) => Err(explain_refusal(&error)),
        value => Ok(value),
    }
}

/// Returns whether it is an error because the server is full.
pub(crate) fn is_full(value: &Value) -> bool {
    matches!(value, Value::ServerError(error) if error.code() == "OOM")
}

fn refused(code: &str, detail: &str) -> Failure {
    let text = format!("{code} {detail}").trim_end().to_owned();
    // A script's error names the command that was refused.
    let says = |what: &str| text.contains(what);
    if says("WRONGPASS") || says("NOAUTH") || says("AUTH failed") || says("AUTH <password>") {
        Failure::Unauthenticated(text)
    } else if says("NOPERM")
        || says("ACL failure")
        || says("has no permissions")
        || says("user executing the script can't")
    {
        Failure::Forbidden(text)
    } else if ["MOVED", "ASK", "TRYAGAIN"].contains(&code) {
        Failure::Moved(text)
    } else if says("cluster support disabled") {
        Failure::IsNoCluster
    } else if says("NOPROTO") || says("unknown command") {
        Failure::TooOld { found: text, needed: NEEDED }
    } else {
        Failure::Refused(text)
    }
}
