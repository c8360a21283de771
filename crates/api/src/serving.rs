//! The path of a request: authentication, authorization, rate limits, the page's origin, idempotency; then the
//! operation.

use crate::addresses::Remote;
use crate::caller::{self, Caller, Credentials};
use crate::input::Raw;
use crate::openapi::BASE;
use crate::operation::{Operation, Repetition};
use crate::pages::Page;
use crate::problem::{Code, Problem};
use crate::request_context::RequestContext;
use crate::{Shared, idempotency, pages, reference, routes};
use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, any, get};
use bytes::Bytes;
use chat::verbs::ReadCommunity;
use chat::{By, CommunityId, Moment};
use identity::{ServerKey, Token, UnixSeconds};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The address that a request came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entrance {
    /// Callers identify themselves with a key or a token.
    Public,
    /// The operator: the server admits nobody else to this address.
    Operators,
}

/// The requests that count towards one rate limit.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Asker(CommunityId, String);

/// Returns the routes of all operations, the document, and the reference page.
pub(crate) fn router(shared: Arc<Shared>, entrance: Entrance) -> Router {
    let document = shared.document.clone();
    let mut by_path: BTreeMap<&'static str, Vec<Operation>> = BTreeMap::new();
    for operation in routes::all().into_iter().flat_map(|group| group.operations) {
        by_path.entry(operation.path).or_default().push(operation);
    }
    let mut router = Router::new()
        .route(&format!("{BASE}/openapi.json"), get(move || async move { json(document) }))
        .route(&format!("{BASE}/{{*rest}}"), any(|| async { Problem::not_found() }))
        .merge(reference::router());
    for (path, operations) in by_path {
        router = router.route(&format!("{BASE}{path}"), methods(&shared, entrance, operations));
    }
    router
}

fn json(document: Bytes) -> Response {
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-cache")], document).into_response()
}

fn methods(shared: &Arc<Shared>, entrance: Entrance, operations: Vec<Operation>) -> MethodRouter {
    let allow: Vec<&str> = operations.iter().map(|operation| operation.method.as_str()).collect();
    let allow = allow.join(", ");
    let mut methods = MethodRouter::new();
    for operation in operations {
        let filter = filter(&operation.method);
        let (shared, operation) = (shared.clone(), Arc::new(operation));
        methods = methods.on(filter, move |params: RawPathParams, request: Request| {
            let (shared, operation) = (shared.clone(), operation.clone());
            async move {
                match entrance {
                    Entrance::Operators => serve(shared, entrance, &operation, params, request)
                        .await
                        .unwrap_or_else(Problem::into_response),
                    Entrance::Public => serve_pages(shared, &operation, params, request).await,
                }
            }
        });
    }
    if entrance == Entrance::Public {
        let (shared, allow) = (shared.clone(), allow.clone());
        methods = methods.on(MethodFilter::OPTIONS, move |params: RawPathParams, request: Request| {
            let (shared, allow) = (shared.clone(), allow.clone());
            async move {
                let answered = pages::preflight(&shared, named_community(&params), request, &allow).await;
                let mut response = answered.unwrap_or_else(Problem::into_response);
                pages::differ_by_page(&mut response);
                response
            }
        });
    }
    methods.fallback(move || async move { Problem::method_not_allowed(allow) })
}

/// Serves the public address, including pages in browsers.
async fn serve_pages(
    shared: Arc<Shared>,
    operation: &Operation,
    params: RawPathParams,
    request: Request,
) -> Response {
    let (page, community) = (Page::of(&request), named_community(&params));
    let served = serve(shared.clone(), Entrance::Public, operation, params, request).await;
    let mut response = served.unwrap_or_else(Problem::into_response);
    if let (Some(page), Some(community)) = (page, community) {
        page.let_read(&shared, &community, &mut response).await;
    }
    pages::differ_by_page(&mut response);
    response
}

/// Returns the community in the path, if it is a valid id.
fn named_community(params: &RawPathParams) -> Option<CommunityId> {
    params.iter().find(|(name, _)| *name == "community").and_then(|(_, text)| CommunityId::parse(text).ok())
}

/// All methods in the table have a filter.
fn filter(method: &Method) -> MethodFilter {
    MethodFilter::try_from(method.clone()).expect("the table's methods are those of HTTP")
}

async fn serve(
    shared: Arc<Shared>,
    entrance: Entrance,
    operation: &Operation,
    params: RawPathParams,
    request: Request,
) -> Result<Response, Problem> {
    let page = Page::of(&request);
    let (head, body) = request.into_parts();
    let (now, begun) = (messenger::now(), Instant::now());
    let remote = head.extensions.get::<Remote>().copied();
    let mut path: Vec<(String, String)> =
        params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let community = take_community(&mut path)?;
    let caller = match entrance {
        Entrance::Operators => Caller::Operator,
        Entrance::Public => {
            shared.strangers.admit(remote, begun)?;
            let caller = identify(&shared, operation, community.as_ref(), &head.headers, now).await;
            if caller
                .as_ref()
                .map_or_else(Problem::is_of_credentials, |caller| matches!(caller, Caller::Anonymous))
            {
                shared.strangers.count(remote, begun)?;
            }
            caller?
        }
    };
    operation.callers.admit(&caller)?;
    // This comes first: a request refused by its caller's limit takes nothing from the others at the address.
    if let Some(community) = &community {
        take_turn(&shared, community, &caller, begun)?;
    }
    // Not for keys: a site may use all of its keys from one address.
    if matches!(caller, Caller::Person { .. }) {
        shared.addresses.count(remote, begun)?;
    }
    // The operator has no origin to check, and a key is not used by pages.
    if matches!(caller, Caller::Person { .. } | Caller::Anonymous)
        && let (Some(page), Some(community)) = (&page, &community)
    {
        page.admit(&shared, community).await?;
    }
    let acting = caller::acting(&head.headers)?;
    if acting.is_some() && matches!(caller, Caller::Person { .. } | Caller::Anonymous) {
        let detail = format!("only a server key can act as a person: leave out `{}`", caller::ACTING_HEADER);
        return Err(Problem::new(Code::CallerRefused, detail));
    }
    let context = RequestContext { shared, caller, acting, community, now };
    if !context.rooms().are_all() && !is_about_rooms(operation) {
        return Err(Problem::new(Code::CallerRefused, "this token is valid only for certain rooms"));
    }
    if entrance == Entrance::Operators && context.community.is_some() && !operation.goes_on {
        // Nothing else checks that a community named by the operator exists: its lists would just be empty.
        context.ask_as(By::Service, ReadCommunity).await?;
    }
    let raw = Raw { path, uri: head.uri, headers: head.headers, body: Body::new(body) };
    if let Repetition::Kept(answer_kept) = operation.repetition
        && let Some(key) = idempotency::key_of(&raw.headers)?
    {
        let idempotency = context.shared.idempotency.clone();
        return idempotency.once(key, answer_kept, operation, context, raw).await;
    }
    (operation.run)(context, raw).await
}

/// A token for some rooms is accepted by operations that look up their conversation with [`RequestContext::find`].
fn is_about_rooms(operation: &Operation) -> bool {
    operation.path.contains("{conversation}") && !operation.path.contains("/people/")
}

fn shows_nothing(headers: &HeaderMap) -> bool {
    !headers.contains_key(AUTHORIZATION)
}

/// Takes the community out of the path. An invalid id is an invalid field, like every other name in the path.
fn take_community(path: &mut Vec<(String, String)>) -> Result<Option<CommunityId>, Problem> {
    let Some(place) = path.iter().position(|(name, _)| name == "community") else {
        return Ok(None);
    };
    let (_, text) = path.remove(place);
    CommunityId::parse(&text).map(Some).map_err(|problem| Problem::field(problem.at("community")))
}

async fn identify(
    shared: &Shared,
    operation: &Operation,
    community: Option<&CommunityId>,
    headers: &HeaderMap,
    now: Moment,
) -> Result<Caller, Problem> {
    let Some(community) = community else {
        // Operations outside of communities are the operator's only, who does not use this address.
        Credentials::of(headers)?;
        let detail = "this operation is only available to the operator, on the administration address";
        return Err(Problem::new(Code::CallerRefused, detail));
    };
    if operation.callers.strangers && shows_nothing(headers) {
        return Ok(Caller::Anonymous);
    }
    match Credentials::of(headers)? {
        Credentials::Key(key) => identify_key(shared, community, &key, now).await,
        Credentials::Token(token) => identify_person(shared, community, token).await,
    }
}

async fn identify_key(
    shared: &Shared,
    community: &CommunityId,
    key: &ServerKey,
    now: Moment,
) -> Result<Caller, Problem> {
    let ring = shared.keyring.of(community, now).await?;
    // A community that does not exist has no keys, so that nobody learns which exist.
    let stored = ring.server(key, UnixSeconds(now.millis() / 1_000)).ok_or_else(|| {
        Problem::new(
            Code::KeyInvalid,
            "this key does not belong to this community or is no longer valid: create a \
             new one",
        )
    })?;
    Ok(Caller::Key { prefix: stored.prefix.clone(), scopes: stored.scopes })
}

async fn identify_person(shared: &Shared, community: &CommunityId, token: Token) -> Result<Caller, Problem> {
    let admitted = shared.messenger.identify(community, &token).await?;
    Ok(Caller::Person { id: admitted.person.id().clone(), rooms: admitted.rooms })
}

fn take_turn(shared: &Shared, community: &CommunityId, caller: &Caller, now: Instant) -> Result<(), Problem> {
    let name = match caller {
        // They are not limited as callers: strangers count by their address.
        Caller::Operator | Caller::Anonymous => return Ok(()),
        // A person's id contains no slash, so none can collide with a key.
        Caller::Key { prefix, .. } => format!("/{prefix}"),
        Caller::Person { id, .. } => id.to_string(),
    };
    let spent = shared.callers.spend(Asker(community.clone(), name), 1, shared.rate, now);
    spent.map_err(|wait_ms| {
        shared.refused.fetch_add(1, Ordering::Relaxed);
        Problem::rate_limited(wait_ms)
    })
}
