//! Operations: one table that defines for each its path, who may call it, its input and answer, and its implementation.
//! Both the routes and the OpenAPI document are generated from it, so they cannot disagree.

use crate::caller::Callers;
use crate::input::{Content, Input, Raw};
use crate::problem::Problem;
use crate::reply::{Reply, Success};
use crate::request_context::RequestContext;
use axum::http::Method;
use axum::response::Response;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use std::pin::Pin;
use std::sync::Arc;

/// Operations on one kind of object.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) operations: Vec<Operation>,
}

/// See the module.
pub(crate) struct Operation {
    pub(crate) id: &'static str,
    pub(crate) method: Method,
    /// Below `/api/v1`; parameters are in braces.
    pub(crate) path: &'static str,
    /// A short summary.
    pub(crate) summary: &'static str,
    /// Further documentation.
    pub(crate) about: &'static str,
    pub(crate) callers: Callers,
    pub(crate) repetition: Repetition,
    /// Whether it is available for a community that is being erased.
    pub(crate) goes_on: bool,
    pub(crate) shape: Shape,
    pub(crate) run: Run,
}

/// How an operation treats the header `Idempotency-Key`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repetition {
    /// Ignores it: a repetition has no further effect, or nothing could be stored twice.
    Harmless,
    /// As the name of what it stores, by which it detects repetitions itself, for ever.
    Stored,
    /// As the key of its answer, which is returned again for the same request.
    Kept(AnswerKept),
}

/// How long an answer is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AnswerKept {
    /// As long as the request is remembered.
    Long,
    /// Shorter, because it contains a secret.
    Briefly,
}

/// The input and answers of an operation, for its documentation.
pub(crate) struct Shape {
    pub(crate) path: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) query: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) body: fn(&mut SchemaGenerator) -> Option<Schema>,
    pub(crate) successes: fn(&mut SchemaGenerator) -> Vec<Success>,
}

/// Runs it.
pub(crate) type Run = Arc<dyn Fn(RequestContext, Raw) -> Running + Send + Sync>;

/// The pending response.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Response, Problem>> + Send>>;

/// An operation that has no implementation yet.
pub(crate) struct Draft {
    id: &'static str,
    method: Method,
    path: &'static str,
    summary: &'static str,
    about: &'static str,
    callers: Callers,
    repetition: Repetition,
    goes_on: bool,
}

/// Begins an operation. With an `Idempotency-Key` a `POST` runs once, unless one of the methods says otherwise.
pub(crate) fn operation(
    method: Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
) -> Draft {
    let repetition = match method {
        Method::POST => Repetition::Kept(AnswerKept::Long),
        _ => Repetition::Harmless,
    };
    Draft { id, method, path, summary, about: "", callers: Callers::OPERATOR, repetition, goes_on: false }
}

impl Draft {
    /// Sets who may call it, beside the operator.
    pub(crate) fn by(self, callers: Callers) -> Self {
        Self { callers, ..self }
    }

    /// Sets further documentation.
    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// It detects repetitions by what it stores.
    pub(crate) fn knows_repetitions(self) -> Self {
        Self { repetition: Repetition::Stored, ..self }
    }

    /// Its answer contains a secret.
    pub(crate) fn tells_a_secret(self) -> Self {
        Self { repetition: Repetition::Kept(AnswerKept::Briefly), ..self }
    }

    /// It stores nothing that could be stored twice.
    pub(crate) fn stores_nothing(self) -> Self {
        Self { repetition: Repetition::Harmless, ..self }
    }

    /// It is also available for a community that is being erased.
    pub(crate) fn goes_on(self) -> Self {
        Self { goes_on: true, ..self }
    }

    /// Sets the implementation, whose types define input and answers.
    pub(crate) fn runs<P, Q, B, R, F, Fut>(self, act: F) -> Operation
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        B: Content + 'static,
        R: Reply + 'static,
        F: Fn(RequestContext, Input<P, Q, B>) -> Fut + Copy + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Problem>> + Send + 'static,
    {
        let Self { id, method, path, summary, about, callers, repetition, goes_on } = self;
        let run: Run = Arc::new(move |context, raw| {
            Box::pin(async move {
                let input = Input::read(raw).await?;
                act(context, input).await.map(Reply::into_response)
            })
        });
        let shape =
            Shape { path: fields_of::<P>, query: fields_of::<Q>, body: B::schema, successes: R::successes };
        Operation { id, method, path, summary, about, callers, repetition, goes_on, shape, run }
    }
}

/// Returns the schema of a path's or a query's fields, inlined.
fn fields_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}
