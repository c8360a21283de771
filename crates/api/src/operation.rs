//! Operations: one table that says of each where it is, who may call it, what it takes and answers, and what it does. Both
//! the routes and the OpenAPI document are made of it, so neither can say what the other does not do.

use crate::caller::Callers;
use crate::desk::Desk;
use crate::input::{Content, Input, Raw};
use crate::problem::Problem;
use crate::reply::{Reply, Success};
use axum::http::Method;
use axum::response::Response;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use std::pin::Pin;
use std::sync::Arc;

/// Operations about one kind of things.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) operations: Vec<Operation>,
}

/// See the module.
pub(crate) struct Operation {
    pub(crate) id: &'static str,
    pub(crate) method: Method,
    /// Below `/api/v1`; names stand in braces.
    pub(crate) path: &'static str,
    /// What it does, in a few words.
    pub(crate) summary: &'static str,
    /// What else is to be known.
    pub(crate) about: &'static str,
    pub(crate) callers: Callers,
    pub(crate) repetition: Repetition,
    /// Whether it can be asked of a community that is being erased.
    pub(crate) goes_on: bool,
    pub(crate) shape: Shape,
    pub(crate) run: Run,
}

/// What the header `Idempotency-Key` is to an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repetition {
    /// Nothing: twice is as once, or there is nothing that could be there twice.
    Harmless,
    /// The name of what it stores, by which it knows a repetition itself and for ever.
    Stored,
    /// That by which its answer is kept, for the same request again.
    Kept(AnswerKept),
}

/// For how long an answer is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AnswerKept {
    /// As long as that it was done.
    Long,
    /// Shorter, since it holds a secret.
    Briefly,
}

/// What an operation takes and answers, for its documentation.
pub(crate) struct Shape {
    pub(crate) path: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) query: fn(&mut SchemaGenerator) -> Schema,
    pub(crate) body: fn(&mut SchemaGenerator) -> Option<Schema>,
    pub(crate) successes: fn(&mut SchemaGenerator) -> Vec<Success>,
}

/// Does it.
pub(crate) type Run = Arc<dyn Fn(Desk, Raw) -> Running + Send + Sync>;

/// The answer that comes of it.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Response, Problem>> + Send>>;

/// An operation of which it is not said yet what it does.
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

/// Begins an operation. A `POST` is done once under the same `Idempotency-Key`, unless the rest says otherwise.
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
    /// Who may call it, beside the operator.
    pub(crate) fn by(self, callers: Callers) -> Self {
        Self { callers, ..self }
    }

    /// What else is to be known.
    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// It knows a repetition by what it stores.
    pub(crate) fn knows_repetitions(self) -> Self {
        Self { repetition: Repetition::Stored, ..self }
    }

    /// Its answer holds a secret.
    pub(crate) fn tells_a_secret(self) -> Self {
        Self { repetition: Repetition::Kept(AnswerKept::Briefly), ..self }
    }

    /// It stores nothing that could be there twice.
    pub(crate) fn stores_nothing(self) -> Self {
        Self { repetition: Repetition::Harmless, ..self }
    }

    /// It can be asked of a community that is being erased, too.
    pub(crate) fn goes_on(self) -> Self {
        Self { goes_on: true, ..self }
    }

    /// What it does. Its types say the rest.
    pub(crate) fn runs<P, Q, B, R, F, Fut>(self, act: F) -> Operation
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        B: Content + 'static,
        R: Reply + 'static,
        F: Fn(Desk, Input<P, Q, B>) -> Fut + Copy + Send + Sync + 'static,
        Fut: Future<Output = Result<R, Problem>> + Send + 'static,
    {
        let Self { id, method, path, summary, about, callers, repetition, goes_on } = self;
        let run: Run = Arc::new(move |desk, raw| {
            Box::pin(async move {
                let input = Input::read(raw).await?;
                act(desk, input).await.map(Reply::into_response)
            })
        });
        let shape =
            Shape { path: fields_of::<P>, query: fields_of::<Q>, body: B::schema, successes: R::successes };
        Operation { id, method, path, summary, about, callers, repetition, goes_on, shape, run }
    }
}

/// The schema of a path's or a query's fields, in place.
fn fields_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}
