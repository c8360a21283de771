//! Arguments of the presets.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::RunArguments;

/// What the clients speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Dialect {
    /// Phoenix Channels, serializer 2.0.0
    PhoenixV2,
    /// Phoenix Channels, serializer 1.0.0
    PhoenixV1,
    /// Plain messages; the room is the URL's path
    Plain,
}

/// Where a crowd goes and what it speaks.
#[derive(Args, Clone, Debug)]
pub struct Crowd {
    /// The server: a ws or wss URL. A path that ends in /websocket speaks Phoenix V2 unless --dialect says otherwise
    pub url: String,
    /// Protocol of the clients
    #[arg(long, value_enum)]
    pub dialect: Option<Dialect>,
    /// Phoenix: event name of the messages
    #[arg(long, default_value = "new_msg")]
    pub event: String,
    /// Users who arrive per second at the beginning
    #[arg(long, default_value_t = 1000.0, value_name = "USERS/S")]
    pub arrivals: f64,
}

/// `c10k`.
#[derive(Args, Debug)]
pub struct C10k {
    /// Host of the server
    pub host: String,
    /// Port of the server
    pub port: u16,
    /// Number of clients, one per millisecond
    #[arg(long, default_value_t = 10_000)]
    pub clients: u64,
    /// Duration of the test, in seconds
    #[arg(long, default_value_t = 300)]
    pub seconds: u64,
    /// Path of the WebSocket; the original servers had it at the root
    #[arg(long, default_value = "/")]
    pub path: String,
    /// Compute statistics from a uniform sample of 1028, like the original, instead of from all values
    #[arg(long)]
    pub reservoir: bool,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `hold`.
#[derive(Args, Debug)]
pub struct Hold {
    /// The server: a ws or wss URL; with --http an http or https URL for those lines of the file that are paths
    #[arg(required_unless_present = "http")]
    pub url: Option<String>,
    /// Hold waiting HTTP requests instead of WebSockets: a file with one URL per line; each client requests one at a time
    #[arg(long, value_name = "FILE")]
    pub http: Option<PathBuf>,
    /// Number of connections
    #[arg(long, default_value_t = 10_000)]
    pub clients: u64,
    /// Connections opened per second (the original floodtest: 100)
    #[arg(long, default_value_t = 1000.0, value_name = "CLIENTS/S")]
    pub rate: f64,
    /// How long to keep the connections after all are open
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub seconds: u64,
    /// Protocol of the clients [default: phoenix-v2 if the path ends in /websocket, otherwise plain]
    #[arg(long, value_enum)]
    pub dialect: Option<Dialect>,
    /// Phoenix: topic to join
    #[arg(long, default_value = "rooms:lobby")]
    pub topic: String,
    /// Seconds between two lines of the log (time, memory and connections)
    #[arg(long, default_value_t = 6, value_name = "SECONDS")]
    pub every: u64,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `fanout`.
#[derive(Args, Debug)]
pub struct FanOut {
    /// Where and how.
    #[command(flatten)]
    pub crowd: Crowd,
    /// Number of users in the channel
    #[arg(long, default_value_t = 1000)]
    pub users: u64,
    /// Number of messages
    #[arg(long, default_value_t = 20)]
    pub messages: u64,
    /// Messages per second
    #[arg(long, default_value_t = 1.0, value_name = "MESSAGES/S")]
    pub rate: f64,
    /// Size of a message in bytes
    #[arg(long, default_value_t = 128)]
    pub size: u64,
    /// Phoenix: topic to join
    #[arg(long, default_value = "rooms:lobby")]
    pub topic: String,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `rooms`.
#[derive(Args, Debug)]
pub struct Rooms {
    /// Where and how.
    #[command(flatten)]
    pub crowd: Crowd,
    /// Number of rooms
    #[arg(long, default_value_t = 25)]
    pub rooms: u64,
    /// Number of clients per room
    #[arg(long, default_value_t = 16)]
    pub clients: u64,
    /// Messages per second and client
    #[arg(long, default_value_t = 1.0, value_name = "MESSAGES/S")]
    pub rate: f64,
    /// Size of a message in bytes
    #[arg(long, default_value_t = 64)]
    pub size: u64,
    /// How long the clients send, in seconds
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// Hot rooms: clients choose rooms by Zipf's law with this exponent instead of uniformly
    #[arg(long, value_name = "EXPONENT")]
    pub zipf: Option<f64>,
    /// Phoenix: prefix of the topics, followed by the room's number
    #[arg(long, default_value = "rooms:")]
    pub topic_prefix: String,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `churn`.
#[derive(Args, Debug)]
pub struct Churn {
    /// Where and how.
    #[command(flatten)]
    pub crowd: Crowd,
    /// Number of rooms
    #[arg(long, default_value_t = 10)]
    pub rooms: u64,
    /// Mean duration of a visit
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub visit: f64,
    /// Mean time between two messages of a user
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub pause: f64,
    /// How long users keep arriving, in seconds
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// Phoenix: prefix of the topics, followed by the room's number
    #[arg(long, default_value = "rooms:")]
    pub topic_prefix: String,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `storm`.
#[derive(Args, Debug)]
pub struct Storm {
    /// Where and how.
    #[command(flatten)]
    pub crowd: Crowd,
    /// Number of users
    #[arg(long, default_value_t = 1000)]
    pub users: u64,
    /// How often all users are disconnected and reconnect
    #[arg(long, default_value_t = 3)]
    pub storms: u64,
    /// Pause between two storms
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    pub calm: u64,
    /// Phoenix: topic to join
    #[arg(long, default_value = "rooms:lobby")]
    pub topic: String,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `http`.
#[derive(Args, Debug)]
pub struct Http {
    /// URLs of one or more servers, requested in turn; each may have the form of a line of --file
    #[arg(required_unless_present = "file")]
    pub urls: Vec<String>,
    /// A file with one request per line, as for Siege: `URL`, `URL POST body`, or `URL POST <FILE`
    #[arg(long, short, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Method of requests without one [default: POST with --data, otherwise GET]
    #[arg(long)]
    pub method: Option<String>,
    /// Body of requests without a method
    #[arg(long, value_name = "BODY")]
    pub data: Option<String>,
    /// Content type of the bodies
    #[arg(long, default_value = "application/x-www-form-urlencoded", value_name = "TYPE")]
    pub content_type: String,
    /// Number of concurrent users
    #[arg(long, short, default_value_t = 25)]
    pub concurrent: u64,
    /// Duration, in seconds
    #[arg(long, default_value_t = 30)]
    pub seconds: u64,
    /// Number of requests per user, instead of a duration
    #[arg(long, short, conflicts_with = "seconds")]
    pub repetitions: Option<u64>,
    /// Each user pauses for a random time, at most this long, before each request
    #[arg(long, short, default_value_t = 0.0, value_name = "SECONDS")]
    pub delay: f64,
    /// Number of users computed from visits: members who arrive per hour
    #[arg(long, requires = "visit_minutes", conflicts_with = "concurrent")]
    pub members_per_hour: Option<f64>,
    /// Number of users computed from visits: duration of a visit
    #[arg(long, requires = "members_per_hour")]
    pub visit_minutes: Option<f64>,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `chat`.
#[derive(Args, Debug)]
pub struct Chat {
    /// The room: the page of a stored room, such as http://127.0.0.1:4000/c/default/r/lobby (as a guest, or with --token;
    /// /help lists the commands; --json is for scripts), ws://HOST:PORT/ROOM, or a Phoenix socket such as
    /// ws://127.0.0.1:4000/socket/websocket
    pub url: String,
    /// Your name [default: your user name on this machine]
    #[arg(long, short)]
    pub name: Option<String>,
    /// Topic on a Phoenix server [default: rooms:lobby if the URL's path ends in /websocket]; room:COMMUNITY/ROOM is a
    /// stored room
    #[arg(long)]
    pub topic: Option<String>,
    /// Send plain text instead of JSON to a server with a room behind each URL
    #[arg(long)]
    pub plain_text: bool,
    /// Fill the room with simulated users instead of chatting
    #[arg(long)]
    pub load: bool,
    /// Load: number of users
    #[arg(long, default_value_t = 16)]
    pub clients: u64,
    /// Load: messages per second and user
    #[arg(long, default_value_t = 1.0, value_name = "MESSAGES/S")]
    pub rate: f64,
    /// Load: size of a message in bytes
    #[arg(long, default_value_t = 64)]
    pub size: u64,
    /// Load: duration, in seconds
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `search`.
#[derive(Args, Debug)]
pub struct Search {
    /// The scenario; the variable given by --vary is its load
    pub scenario: PathBuf,
    /// Condition to meet, such as 'p99 < 250ms'; can be repeated
    #[arg(long = "until", required = true, value_name = "CONDITION")]
    pub until: Vec<String>,
    /// Variable of the scenario that is the load
    #[arg(long, default_value = "load")]
    pub vary: String,
    /// Load to start with
    #[arg(long, default_value_t = 100)]
    pub from: u64,
    /// Maximum load
    #[arg(long, default_value_t = 1_000_000)]
    pub to: u64,
    /// Factor by which the load grows until a run fails
    #[arg(long, default_value_t = 2.0)]
    pub factor: f64,
    /// Stop when the answer is known to this precision, in per cent
    #[arg(long, default_value_t = 5.0, value_name = "PERCENT")]
    pub precision: f64,
    /// Number of runs of the load that is the answer, to estimate its reliability
    #[arg(long, default_value_t = 3)]
    pub repeats: u32,
    /// Start no further run after this time; the answer is what is known by then
    #[arg(long, value_name = "SECONDS")]
    pub within: Option<u64>,
    /// How to run each.
    #[command(flatten)]
    pub run: RunArguments,
}
