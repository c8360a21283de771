//! Translates NATS errors into failures that name the remedy.

use crate::failure::{Failure, is_about_tls};
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, PublishError, PublishErrorKind, RequestErrorKind,
};
use async_nats::jetstream::stream::{DirectGetError, DirectGetErrorKind, InfoError};
use async_nats::{ClientError, ConnectError, ConnectErrorKind, Event, ServerError};
use std::error::Error;

/// The minimum server version.
pub(crate) const NEEDED: &str = "NATS 2.9";

pub(crate) fn explain_connect(error: &ConnectError, is_encrypted: bool) -> Failure {
    let detail = whole(error);
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            Failure::Unauthenticated("authorization violation".to_owned())
        }
        ConnectErrorKind::Tls => Failure::Tls(detail),
        // A server without TLS may be waiting for the end of what it takes for a line.
        ConnectErrorKind::TimedOut if is_encrypted => Failure::Tls("the handshake timed out".to_owned()),
        ConnectErrorKind::TimedOut => Failure::Late,
        ConnectErrorKind::Io
        | ConnectErrorKind::Dns
        | ConnectErrorKind::ServerParse
        | ConnectErrorKind::MaxReconnects => match is_about_tls(&detail) {
            true => Failure::Tls(detail),
            false => Failure::Unreachable(detail),
        },
    }
}

/// Returns the failure with which an event ends the session, if it does.
pub(crate) fn failure_of(event: Event) -> Option<Failure> {
    match event {
        Event::Disconnected | Event::Closed => {
            Some(Failure::Unreachable("the connection was closed".to_owned()))
        }
        Event::ServerError(ServerError::AuthorizationViolation) => {
            Some(Failure::Unauthenticated("authorization violation".to_owned()))
        }
        Event::ServerError(ServerError::Other(text)) => Some(refused(&text)),
        Event::ServerError(ServerError::SlowConsumer(_)) | Event::SlowConsumer(_) => Some(Failure::Behind),
        Event::ClientError(ClientError::Other(text)) => Some(Failure::Unreachable(text)),
        Event::ClientError(error) => Some(Failure::Unreachable(error.to_string())),
        Event::Connected | Event::LameDuckMode | Event::Draining => None,
    }
}

pub(crate) fn explain_create(error: &CreateStreamError) -> Failure {
    match error.kind() {
        CreateStreamErrorKind::JetStreamUnavailable => no_jetstream(),
        CreateStreamErrorKind::TimedOut => Failure::Late,
        CreateStreamErrorKind::JetStream(error) if is_about_absence(error.error_code()) => no_jetstream(),
        CreateStreamErrorKind::JetStream(error) => Failure::Refused(error.to_string()),
        CreateStreamErrorKind::EmptyStreamName
        | CreateStreamErrorKind::InvalidStreamName
        | CreateStreamErrorKind::DomainAndExternalSet
        | CreateStreamErrorKind::Response
        | CreateStreamErrorKind::NotFound
        | CreateStreamErrorKind::ResponseParse => Failure::Refused(whole(error)),
    }
}

/// Returns whether a stream was refused because there are too few servers for its replicas.
pub(crate) fn is_about_replicas(error: &CreateStreamError) -> bool {
    match error.kind() {
        CreateStreamErrorKind::JetStream(error) => {
            let code = error.error_code();
            code == ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED
                || code == ErrorCode::CLUSTER_NO_PEERS
                || code == ErrorCode::INSUFFICIENT_RESOURCES
        }
        _ => false,
    }
}

pub(crate) fn explain_info(error: &InfoError) -> Failure {
    match error.kind() {
        RequestErrorKind::TimedOut => Failure::Late,
        _ => Failure::Refused(whole(error)),
    }
}

pub(crate) fn explain_get(error: &DirectGetError) -> Failure {
    match error.kind() {
        DirectGetErrorKind::TimedOut => Failure::Late,
        _ => Failure::Refused(whole(error)),
    }
}

pub(crate) fn explain_publish(error: &PublishError) -> Failure {
    match error.kind() {
        PublishErrorKind::TimedOut => Failure::Late,
        PublishErrorKind::StreamNotFound => Failure::Refused("a stream no longer exists".to_owned()),
        _ => Failure::Refused(whole(error)),
    }
}

fn no_jetstream() -> Failure {
    Failure::Lacks(
        "JetStream, which topics with a history need: turn it on (`jetstream {}` in its configuration \
         file)",
    )
}

fn is_about_absence(code: ErrorCode) -> bool {
    code == ErrorCode::JETSTREAM_NOT_ENABLED || code == ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT
}

fn refused(text: &str) -> Failure {
    let says = |what: &str| text.to_lowercase().contains(what);
    if says("permissions violation") {
        Failure::Forbidden(text.to_owned())
    } else if says("authentication") || says("authorization") {
        Failure::Unauthenticated(text.to_owned())
    } else {
        Failure::Refused(text.to_owned())
    }
}

/// Formats an error with its causes.
fn whole(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        next = error.source();
    }
    text
}
