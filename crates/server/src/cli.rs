//! The command line. Flags that set a key become [`Flag`]s, so that they are checked like every other source.

use crate::config::{ConfigErrors, Flag, Sources};
use crate::operator::files::{BackupCommand, StoreCommand};
use crate::operator::{
    Asking, AuthorizerCommand, BanCommand, CommunityCommand, KeyCommand, PersonCommand, RoomCommand,
    StatsCommand, WebhookCommand,
};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// A realtime channel server that speaks the Phoenix Channels protocol.
#[derive(Parser)]
#[command(name = "throng", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What `throng` can be asked to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the server until SIGTERM or SIGINT; a second signal exits at once.
    Serve(Settings),
    /// Monitor a running server: rates, shards, memory, largest topics, slow clients.
    Top(TopFlags),
    /// Examine this machine: how many connections it can hold, what limits them, and which settings to change.
    Doctor(DoctorFlags),
    /// Create, list, change and erase communities of a running server.
    Community(Operating<CommunityCommand>),
    /// Create, list and revoke the keys of a community.
    Key(Operating<KeyCommand>),
    /// List, show, export and erase people, and revoke their tokens.
    Person(Operating<PersonCommand>),
    /// List, show and create rooms.
    Room(Operating<RoomCommand>),
    /// Ban and mute people, and lift bans and mutes.
    Ban(Operating<BanCommand>),
    /// Manage the webhook endpoints of a community, and show failed deliveries.
    Webhook(Operating<WebhookCommand>),
    /// Let a community's own site decide whether people may connect, join or send.
    Authorizer(Operating<AuthorizerCommand>),
    /// Show statistics of a running server or of a community.
    Stats(StatsFlags),
    /// Export, import and compact the store.
    Store(Filing),
    /// Copy the SQLite database, even while the server is running.
    Backup(BackupFlags),
    /// Check and print the configuration.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Print the version.
    Version,
}

/// What is to be watched, and how.
#[derive(Args)]
pub(crate) struct TopFlags {
    #[command(flatten)]
    pub(crate) options: crate::top::TopOptions,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// What the doctor is asked.
#[derive(Args)]
pub(crate) struct DoctorFlags {
    /// Number of connections to check for [default: limits.connections, or 10000]
    #[arg(long)]
    pub(crate) clients: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// A command that a running server does.
#[derive(Args)]
pub(crate) struct Operating<C: Subcommand> {
    #[command(subcommand)]
    pub(crate) command: C,
    #[command(flatten)]
    pub(crate) asking: Asking,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Whose numbers are asked for.
#[derive(Args)]
pub(crate) struct StatsFlags {
    #[command(flatten)]
    pub(crate) command: StatsCommand,
    #[command(flatten)]
    pub(crate) asking: Asking,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// What is done with the store.
#[derive(Args)]
pub(crate) struct Filing {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Where the copy goes.
#[derive(Args)]
pub(crate) struct BackupFlags {
    #[command(flatten)]
    pub(crate) command: BackupCommand,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// What can be asked about the configuration.
#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the configuration, and report every error with its location.
    Check(Settings),
    /// Print every effective setting and where it comes from.
    Print(Settings),
    /// Print a commented configuration file with all defaults.
    Default,
}

/// Where settings come from, and the settings of the command line. Environment variables are named after the
/// keys: `limits.outbox_bytes` is THRONG_LIMITS_OUTBOX_BYTES.
#[derive(Args)]
pub(crate) struct Settings {
    /// Configuration file [default: throng/throng.toml in the XDG configuration directory] [env: THRONG_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A set of defaults: standard or load-test [env: THRONG_PROFILE]
    #[arg(long, global = true, value_name = "NAME")]
    profile: Option<String>,
    /// Address for HTTP and WebSocket [env: THRONG_LISTEN]
    #[arg(long, global = true, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Address for metrics and administration, or off [env: THRONG_ADMIN_LISTEN]
    #[arg(long, global = true, value_name = "ADDRESS")]
    admin_listen: Option<String>,
    /// Directory for data that must survive a restart [env: THRONG_DATA_DIR]
    #[arg(long, global = true, value_name = "FOLDER")]
    data_dir: Option<String>,
    /// Memory that the server may use, including the kernel's memory for its connections, such as 16GiB
    /// [env: THRONG_LIMITS_MEMORY_BUDGET]
    #[arg(long, global = true, value_name = "SIZE")]
    memory_budget: Option<String>,
    /// Set any key of the configuration file; can be given several times
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_and_value)]
    set: Vec<(String, String)>,
}

impl Settings {
    /// Reads the file and the environment that go with these flags.
    pub(crate) fn sources(self) -> Result<Sources, ConfigErrors> {
        let named = [
            ("--profile", "profile", self.profile),
            ("--listen", "listen", self.listen),
            ("--admin-listen", "admin.listen", self.admin_listen),
            ("--data-dir", "data_dir", self.data_dir),
            ("--memory-budget", "limits.memory_budget", self.memory_budget),
        ];
        let flag = |name: &str, key: &str, value| Flag { name: name.into(), key: key.into(), value };
        let set = self.set.into_iter().map(|(key, value)| flag("--set", &key, value));
        let named = named.into_iter().filter_map(|(name, key, value)| Some(flag(name, key, value?)));
        Sources::collect(self.config, set.chain(named).collect())
    }
}

fn key_and_value(argument: &str) -> Result<(String, String), String> {
    let (key, value) = argument.split_once('=').ok_or("write KEY=VALUE, such as limits.outbox_bytes=2MiB")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}
