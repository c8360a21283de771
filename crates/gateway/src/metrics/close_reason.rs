//! Why connections end.

/// Why a connection ended, from the server's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloseReason {
    /// The client or its network closed the connection.
    Client,
    /// The socket failed.
    Reset,
    /// Silent for too long (1001).
    Idle,
    /// The client did not read what it was sent (1013).
    SlowConsumer,
    /// An incomplete message exceeded what the memory budget leaves room for (1013).
    MemoryBudget,
    /// The client violated the WebSocket protocol (1002, 1007, 1009).
    Violation,
    /// The client sent an undecodable message, or too much while a join was undecided (1011, 1008).
    Undecodable,
    /// Disconnected by its socket id (1001, or an application-defined code).
    Disconnected,
    /// The server shut down (1012).
    Drained,
    /// The handshake was refused or took too long.
    Handshake,
}

impl CloseReason {
    /// All reasons, in the order of [`Snapshot::closed`](super::Snapshot::closed).
    pub const ALL: [CloseReason; 10] = [
        CloseReason::Client,
        CloseReason::Reset,
        CloseReason::Idle,
        CloseReason::SlowConsumer,
        CloseReason::MemoryBudget,
        CloseReason::Violation,
        CloseReason::Undecodable,
        CloseReason::Disconnected,
        CloseReason::Drained,
        CloseReason::Handshake,
    ];

    /// Returns the metric's label.
    pub fn label(self) -> &'static str {
        match self {
            CloseReason::Client => "client",
            CloseReason::Reset => "reset",
            CloseReason::Idle => "idle",
            CloseReason::SlowConsumer => "slow_consumer",
            CloseReason::MemoryBudget => "memory_budget",
            CloseReason::Violation => "violation",
            CloseReason::Undecodable => "undecodable",
            CloseReason::Disconnected => "disconnected",
            CloseReason::Drained => "drained",
            CloseReason::Handshake => "handshake",
        }
    }
}
