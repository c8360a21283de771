//! The parts that the memory is divided into.

/// Whose memory a part is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// The process's own: its resident memory.
    Process,
    /// The kernel's, for this process: no part of its resident memory.
    Kernel,
}

/// One part of the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Component {
    /// The program's code and data and its libraries, as far as they are in memory: measured by the kernel.
    Program,
    /// What heap and stacks took at the start, before the first connection: threads, runtimes, tables.
    Runtime,
    /// The engine's slots of connections, taken or free.
    ConnectionSlots,
    /// The hub's slots of connections, taken or free, with the first join of each.
    ConnectionStates,
    /// What only some connections have: a socket id, assigns, further joins, waiting frames, the bookkeeping of an
    /// outbox or of TLS.
    ConnectionExtras,
    /// Messages of which the rest has not come yet.
    PartialMessages,
    /// TLS sessions: their number, times what one was measured to take.
    TlsSessions,
    /// What slow clients have not taken yet. What waits for several is there once.
    Outboxes,
    /// The channels of joins that stand, without what they point to.
    Channels,
    /// Topics, their names, and the directory.
    Topics,
    /// The topics' lists of members.
    TopicMembers,
    /// Publications that wait in topics.
    Publications,
    /// The people who are present.
    Presence,
    /// The histories of recoverable topics.
    Histories,
    /// Long-poll sessions, with what waits in them.
    LongpollSessions,
    /// Connections of the control plane: their number, times what one was measured to take.
    HttpConnections,
    /// The table of client addresses.
    Addresses,
    /// Mail that waits for shards, without what it points to.
    Mailboxes,
    /// The shards' own buffers.
    Buffers,
    /// What was read lately of a store; only a program that has one enters it.
    StoreCache,
    /// What is kept of people who are here, wherever they have joined: sessions, presence, what they follow. Only a program that
    /// knows people enters it.
    People,
    /// Sockets with their files and entries in readiness loops: their number, times what the kernel takes for one.
    Sockets,
    /// Bytes that the kernel holds for sockets: of those of the machine, the part of the server's share of its sockets.
    SocketBuffers,
    /// The tables of the process's pages.
    PageTables,
    /// The kernel's stacks of the process's threads.
    ThreadStacks,
}

impl Component {
    /// Its name in metrics.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Component::Program => "program",
            Component::Runtime => "runtime",
            Component::ConnectionSlots => "connection_slots",
            Component::ConnectionStates => "connection_states",
            Component::ConnectionExtras => "connection_extras",
            Component::PartialMessages => "partial_messages",
            Component::TlsSessions => "tls_sessions",
            Component::Outboxes => "outboxes",
            Component::Channels => "channels",
            Component::Topics => "topics",
            Component::TopicMembers => "topic_members",
            Component::Publications => "publications",
            Component::Presence => "presence",
            Component::Histories => "histories",
            Component::LongpollSessions => "longpoll_sessions",
            Component::HttpConnections => "http_connections",
            Component::Addresses => "addresses",
            Component::Mailboxes => "mailboxes",
            Component::Buffers => "buffers",
            Component::StoreCache => "store_cache",
            Component::People => "people",
            Component::Sockets => "sockets",
            Component::SocketBuffers => "socket_buffers",
            Component::PageTables => "page_tables",
            Component::ThreadStacks => "thread_stacks",
        }
    }

    /// Whose memory it is.
    #[must_use]
    pub fn space(self) -> Space {
        match self {
            Component::Sockets
            | Component::SocketBuffers
            | Component::PageTables
            | Component::ThreadStacks => Space::Kernel,
            Component::Program
            | Component::Runtime
            | Component::ConnectionSlots
            | Component::ConnectionStates
            | Component::ConnectionExtras
            | Component::PartialMessages
            | Component::TlsSessions
            | Component::Outboxes
            | Component::Channels
            | Component::Topics
            | Component::TopicMembers
            | Component::Publications
            | Component::Presence
            | Component::Histories
            | Component::LongpollSessions
            | Component::HttpConnections
            | Component::Addresses
            | Component::Mailboxes
            | Component::Buffers
            | Component::StoreCache
            | Component::People => Space::Process,
        }
    }

    /// Whether it is there without any connection, so that dividing it by them would say nothing.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        match self {
            Component::Program
            | Component::Runtime
            | Component::Mailboxes
            | Component::Buffers
            | Component::StoreCache
            | Component::ThreadStacks => true,
            Component::ConnectionSlots
            | Component::ConnectionStates
            | Component::ConnectionExtras
            | Component::PartialMessages
            | Component::TlsSessions
            | Component::Outboxes
            | Component::Channels
            | Component::Topics
            | Component::TopicMembers
            | Component::Publications
            | Component::Presence
            | Component::Histories
            | Component::LongpollSessions
            | Component::HttpConnections
            | Component::Addresses
            | Component::People
            | Component::Sockets
            | Component::SocketBuffers
            | Component::PageTables => false,
        }
    }
}
