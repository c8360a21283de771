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
    /// What the clients speak
    #[arg(long, value_enum)]
    pub dialect: Option<Dialect>,
    /// Phoenix: the event that a message is pushed as
    #[arg(long, default_value = "new_msg")]
    pub event: String,
    /// Users per second who come while the crowd gathers
    #[arg(long, default_value_t = 1000.0, value_name = "USERS/S")]
    pub arrivals: f64,
}

/// `c10k`.
#[derive(Args, Debug)]
pub struct C10k {
    /// Where the server is
    pub host: String,
    /// Its port
    pub port: u16,
    /// Clients, one each millisecond
    #[arg(long, default_value_t = 10_000)]
    pub clients: u64,
    /// How long the test lasts
    #[arg(long, default_value_t = 300)]
    pub seconds: u64,
    /// Path of the WebSocket; the original's servers had it at the root
    #[arg(long, default_value = "/")]
    pub path: String,
    /// Statistics from a uniform sample of 1028, as the original's, instead of from everything
    #[arg(long)]
    pub reservoir: bool,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `hold`.
#[derive(Args, Debug)]
pub struct Hold {
    /// The server: a ws or wss URL; with --http an http or https URL for the lines of the file that are paths
    #[arg(required_unless_present = "http")]
    pub url: Option<String>,
    /// Waiting HTTP requests instead of WebSockets: a file with one URL a line, each asked by one client at a time
    #[arg(long, value_name = "FILE")]
    pub http: Option<PathBuf>,
    /// Connections
    #[arg(long, default_value_t = 10_000)]
    pub clients: u64,
    /// Connections opened per second (the original floodtest: 100)
    #[arg(long, default_value_t = 1000.0, value_name = "CLIENTS/S")]
    pub rate: f64,
    /// How long they are kept once all are open
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    pub seconds: u64,
    /// What the clients speak [default: phoenix-v2 where the path ends in /websocket, else plain]
    #[arg(long, value_enum)]
    pub dialect: Option<Dialect>,
    /// Phoenix: topic to join
    #[arg(long, default_value = "rooms:lobby")]
    pub topic: String,
    /// Seconds between two lines of the log of time, memory and connections
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
    /// Users of the channel
    #[arg(long, default_value_t = 1000)]
    pub users: u64,
    /// Messages
    #[arg(long, default_value_t = 20)]
    pub messages: u64,
    /// Messages per second
    #[arg(long, default_value_t = 1.0, value_name = "MESSAGES/S")]
    pub rate: f64,
    /// Bytes of a message
    #[arg(long, default_value_t = 128)]
    pub size: u64,
    /// Phoenix: topic
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
    /// Rooms
    #[arg(long, default_value_t = 25)]
    pub rooms: u64,
    /// Clients in each room
    #[arg(long, default_value_t = 16)]
    pub clients: u64,
    /// Messages per second of each client
    #[arg(long, default_value_t = 1.0, value_name = "MESSAGES/S")]
    pub rate: f64,
    /// Bytes of a message
    #[arg(long, default_value_t = 64)]
    pub size: u64,
    /// How long they talk
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// Hot rooms: clients choose by Zipf's law with this exponent instead of evenly
    #[arg(long, value_name = "EXPONENT")]
    pub zipf: Option<f64>,
    /// Phoenix: what comes before the room's number in its topic
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
    /// Rooms
    #[arg(long, default_value_t = 10)]
    pub rooms: u64,
    /// Mean length of a visit
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    pub visit: f64,
    /// Mean time between two messages of one user
    #[arg(long, default_value_t = 2.0, value_name = "SECONDS")]
    pub pause: f64,
    /// How long people keep coming
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// Phoenix: what comes before the room's number in its topic
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
    /// Users
    #[arg(long, default_value_t = 1000)]
    pub users: u64,
    /// How often they are cut and come back
    #[arg(long, default_value_t = 3)]
    pub storms: u64,
    /// Between two storms
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    pub calm: u64,
    /// Phoenix: topic
    #[arg(long, default_value = "rooms:lobby")]
    pub topic: String,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `http`.
#[derive(Args, Debug)]
pub struct Http {
    /// URLs, of one or several servers, asked in turn; each may be written as a line of --file
    #[arg(required_unless_present = "file")]
    pub urls: Vec<String>,
    /// A file with one request a line, as Siege has them: `URL`, `URL POST body`, or `URL POST <FILE`
    #[arg(long, short, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Method of the requests that name none [default: POST with --data, else GET]
    #[arg(long)]
    pub method: Option<String>,
    /// Body of the requests that name no method
    #[arg(long, value_name = "BODY")]
    pub data: Option<String>,
    /// Content type of the bodies
    #[arg(long, default_value = "application/x-www-form-urlencoded", value_name = "TYPE")]
    pub content_type: String,
    /// Users at the same time
    #[arg(long, short, default_value_t = 25)]
    pub concurrent: u64,
    /// For how long
    #[arg(long, default_value_t = 30)]
    pub seconds: u64,
    /// Requests of each user, instead of a time
    #[arg(long, short, conflicts_with = "seconds")]
    pub repetitions: Option<u64>,
    /// Each user pauses at random for up to so many seconds before each request
    #[arg(long, short, default_value_t = 0.0, value_name = "SECONDS")]
    pub delay: f64,
    /// Users from visits: members who come per hour
    #[arg(long, requires = "visit_minutes", conflicts_with = "concurrent")]
    pub members_per_hour: Option<f64>,
    /// Users from visits: how long one stays
    #[arg(long, requires = "members_per_hour")]
    pub visit_minutes: Option<f64>,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `chat`.
#[derive(Args, Debug)]
pub struct Chat {
    /// The room: a stored one by its page, such as http://127.0.0.1:4000/c/default/r/lobby (--token or a guest; /help
    /// lists commands; --json for scripts), ws://HOST:PORT/ROOM, or a Phoenix socket such as
    /// ws://127.0.0.1:4000/socket/websocket
    pub url: String,
    /// Your name [default: the user's on this machine]
    #[arg(long, short)]
    pub name: Option<String>,
    /// Topic on a Phoenix server [default: rooms:lobby where the URL's path ends in /websocket]; room:COMMUNITY/ROOM is a
    /// stored room
    #[arg(long)]
    pub topic: Option<String>,
    /// Send the text as typed to a server with rooms by URL, instead of JSON
    #[arg(long)]
    pub plain_text: bool,
    /// Do not talk, play a load of talkers in this room
    #[arg(long)]
    pub load: bool,
    /// Load: talkers
    #[arg(long, default_value_t = 16)]
    pub clients: u64,
    /// Load: messages per second of each talker
    #[arg(long, default_value_t = 1.0, value_name = "MESSAGES/S")]
    pub rate: f64,
    /// Load: bytes of a message
    #[arg(long, default_value_t = 64)]
    pub size: u64,
    /// Load: how long they talk
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `search`.
#[derive(Args, Debug)]
pub struct Search {
    /// The scenario; its load is the variable that --vary names
    pub scenario: PathBuf,
    /// What must hold, such as 'p99 < 250ms'; several may be given
    #[arg(long = "until", required = true, value_name = "CONDITION")]
    pub until: Vec<String>,
    /// The variable of the scenario that is the load
    #[arg(long, default_value = "load")]
    pub vary: String,
    /// The load to begin with
    #[arg(long, default_value_t = 100)]
    pub from: u64,
    /// The load never to go beyond
    #[arg(long, default_value_t = 1_000_000)]
    pub to: u64,
    /// How much larger each step is until one fails
    #[arg(long, default_value_t = 2.0)]
    pub factor: f64,
    /// Stop when the answer is known to so many per cent
    #[arg(long, default_value_t = 5.0, value_name = "PERCENT")]
    pub precision: f64,
    /// Runs of each load near the answer, to tell how sure it is
    #[arg(long, default_value_t = 3)]
    pub repeats: u32,
    /// Begin no further run after so many seconds; the answer is what is known by then
    #[arg(long, value_name = "SECONDS")]
    pub within: Option<u64>,
    /// How to run each.
    #[command(flatten)]
    pub run: RunArguments,
}
