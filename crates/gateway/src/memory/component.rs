//! The components that the memory is divided into.

/// The owner of a component's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// The process: part of its resident memory.
    Process,
    /// The kernel, on behalf of this process: not part of its resident memory.
    Kernel,
}

/// One component of the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Component {
    /// The program's code and data and its libraries, as far as they are resident: measured by the kernel.
    Program,
    /// Heap and stacks at the start, before the first connection: threads, runtimes, tables.
    Runtime,
    /// The engine's connection slots, occupied or not.
    ConnectionSlots,
    /// The hub's connection slots, occupied or not, with the first join of each.
    ConnectionStates,
    /// State that only some connections have: a socket id, assigns, further joins, waiting frames, the bookkeeping of
    /// an outbox or of TLS.
    ConnectionExtras,
    /// Incomplete messages.
    PartialMessages,
    /// TLS sessions: their number times the measured size of one.
    TlsSessions,
    /// Data that slow clients have not read yet. Data that waits for several clients counts once.
    Outboxes,
    /// The channels of established joins, without what they point to.
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
    /// Long-poll sessions, including their queues.
    LongpollSessions,
    /// Connections of the control plane: their number times the measured size of one.
    HttpConnections,
    /// The table of client addresses.
    Addresses,
    /// Mailbox messages that wait for shards, without what they point to.
    Mailboxes,
    /// The shards' own buffers.
    Buffers,
    /// A store's cache; only a program with a store enters it.
    StoreCache,
    /// The page caches of a store in a file; 0 with a database elsewhere. Only a program with a store enters it.
    StorePages,
    /// State of the people who are connected, wherever they have joined: sessions, presence, what they follow. Only a
    /// program that knows people enters it.
    People,
    /// What the allocator holds beyond what it has handed out: the free part of pages in use, what it keeps for its
    /// threads, and its own records. Only a program whose allocator says so enters it.
    Allocator,
    /// Sockets with their files and entries in readiness loops: their number times what the kernel takes for one.
    Sockets,
    /// The kernel's socket buffers: of the machine's total, the part that corresponds to the server's share of its
    /// sockets.
    SocketBuffers,
    /// The process's page tables.
    PageTables,
    /// The kernel stacks of the process's threads.
    ThreadStacks,
}

impl Component {
    /// Returns its name in metrics.
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
            Component::StorePages => "store_pages",
            Component::People => "people",
            Component::Allocator => "allocator",
            Component::Sockets => "sockets",
            Component::SocketBuffers => "socket_buffers",
            Component::PageTables => "page_tables",
            Component::ThreadStacks => "thread_stacks",
        }
    }

    /// Returns the owner of its memory.
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
            | Component::StorePages
            | Component::People
            | Component::Allocator => Space::Process,
        }
    }

    /// Returns whether it exists without any connection, so that a value per connection would be meaningless.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        match self {
            Component::Program
            | Component::Runtime
            | Component::Mailboxes
            | Component::Buffers
            | Component::StoreCache
            | Component::StorePages
            | Component::Allocator
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
