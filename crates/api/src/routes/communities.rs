//! Communities.

use super::paths::After;
use crate::caller::{Caller, Callers};
use crate::input::{Input, Json, NoBody, Nothing};
use crate::operation::{Group, operation};
use crate::problem::{Code, Problem};
use crate::reply::{Found, Made};
use crate::request_context::{RequestContext, cursor};
use crate::shapes::ids::limit_or_default;
use crate::shapes::{Community, CommunityStats, NewCommunity, Page, Scope, Settings};
use axum::http::Method;
use chat::verbs::{
    ChangeCommunity, ChangeOwnSettings, Communities, CountDeadLetters, CreateCommunity, ReadCommunity,
};
use chat::{By, CommunityId};
use schemars::JsonSchema;
use serde::Serialize;

pub(super) fn group() -> Group {
    let one = "/communities/{community}";
    Group {
        name: "Communities",
        about: "The tenants of a server, completely isolated from each other.",
        operations: vec![
            operation(Method::GET, "/communities", "list_communities", "List communities").runs(list),
            operation(Method::POST, "/communities", "create_community", "Create a community").runs(create),
            operation(Method::GET, one, "read_community", "Get a community")
                .by(Callers::keys_and_people(Scope::List))
                .runs(read),
            operation(Method::PUT, one, "change_community", "Change a community's settings")
                .by(Callers::keys_and_people(Scope::ManageSettings))
                .about(
                    "Replaces all settings. Only the operator can change the limits: others must leave them out or \
                     send them unchanged. People need the community-wide role of owner.",
                )
                .runs(change),
            operation(
                Method::GET,
                "/communities/{community}/stats",
                "community_stats",
                "Get a community's statistics",
            )
            .by(Callers::keys(Scope::List))
            .runs(community_stats),
            operation(Method::GET, "/stats", "server_stats", "Get the server's statistics").runs(server_stats),
        ],
    }
}

async fn list(
    context: RequestContext,
    input: Input<Nothing, After>,
) -> Result<Found<Page<Community>>, Problem> {
    let After { after, limit } = input.query;
    let after = cursor("after", after.as_deref(), CommunityId::parse)?;
    let listed =
        context.shared.messenger.perform(Communities { after, limit: limit_or_default(limit) }).await?;
    Ok(Found(Page::of(listed, Community::from, |id| id.to_string())))
}

async fn create(
    context: RequestContext,
    input: Input<Nothing, Nothing, Json<NewCommunity>>,
) -> Result<Made<Community>, Problem> {
    let NewCommunity { id, settings } = input.body.0;
    if context.shared.messenger.counts_in(&id).people > 0 {
        // They belong to a former community of that name, and would end up in the new one.
        let detail = "there are still connections to a community of this name: if it was erased, try again in a moment";
        return Err(Problem::new(Code::NameTaken, detail));
    }
    let context = RequestContext { community: Some(id), ..context };
    let made = context.ask(CreateCommunity { settings: settings.into() }).await?;
    Ok(Made(made.into()))
}

async fn read(context: RequestContext, _: Input) -> Result<Found<Community>, Problem> {
    Ok(Found(context.ask(ReadCommunity).await?.into()))
}

async fn change(
    context: RequestContext,
    input: Input<Nothing, Nothing, Json<Settings>>,
) -> Result<Found<Community>, Problem> {
    let settings = input.body.0;
    let names_limits = settings.names_limits();
    let changed = if matches!(context.caller, Caller::Operator) && context.is_service() {
        context.ask(ChangeCommunity { settings: settings.into() }).await?
    } else {
        context.ask(ChangeOwnSettings { settings: settings.into(), names_limits }).await?
    };
    Ok(Found(changed.community.into()))
}

async fn community_stats(context: RequestContext, _: Input) -> Result<Found<CommunityStats>, Problem> {
    context.ask(ReadCommunity).await?;
    let ring = context.shared.keyring.of(context.community()?, context.now).await?;
    let webhooks_dead = context.ask_as(By::Service, CountDeadLetters).await?;
    let messenger::CommunityCounts { people, devices, rooms_open } =
        context.shared.messenger.counts_in(context.community()?);
    Ok(Found(CommunityStats {
        people_online: people,
        devices_online: devices,
        rooms_open,
        keys: ring.servers_count() as u64,
        webhooks: ring.endpoints().len() as u64,
        webhooks_dead,
    }))
}

/// Statistics of the server.
#[derive(Serialize, JsonSchema)]
struct ServerStats {
    /// Its version.
    version: String,
    /// Seconds since it started.
    uptime_s: u64,
    /// Open client connections.
    connections: u64,
    /// Joined channels.
    joins: u64,
    /// Resident memory of the process, in bytes.
    memory_bytes: u64,
    /// Webhooks delivered since the start.
    webhooks_delivered: u64,
    /// Failed attempts to deliver webhooks since the start.
    webhooks_failed: u64,
    /// Webhooks whose delivery was given up since the start.
    webhooks_dead: u64,
    /// Webhooks rejected since the start: too many were waiting, or the endpoints could not be read from the store.
    webhooks_refused: u64,
    /// Webhooks since the start whose state could not be stored: after a restart a waiting one would be lost, and a
    /// delivered one would be sent again.
    webhooks_unkept: u64,
}

async fn server_stats(
    context: RequestContext,
    _: Input<Nothing, Nothing, NoBody>,
) -> Result<Found<ServerStats>, Problem> {
    let server = context.shared.live.stats();
    let webhooks = context.shared.webhooks.counts();
    Ok(Found(ServerStats {
        version: server.version.to_owned(),
        uptime_s: server.uptime_s,
        connections: server.connections,
        joins: server.joins,
        memory_bytes: server.memory_bytes,
        webhooks_delivered: webhooks.delivered,
        webhooks_failed: webhooks.failed,
        webhooks_dead: webhooks.dead,
        webhooks_refused: context.shared.webhooks.refused(),
        webhooks_unkept: context.shared.webhooks.unkept(),
    }))
}
