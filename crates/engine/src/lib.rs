//! Sockets, the readiness loop, buffers, ticks, mailboxes and descriptor tables.
