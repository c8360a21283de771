//! Close codes (RFC 6455 section 7.4, and the IANA registry that it opens).

/// The close codes that this project sends.
#[derive(Clone, Copy, Debug)]
pub struct CloseCode;

impl CloseCode {
    /// The purpose is fulfilled. A phoenix.js client before 1.8.16 does not come back after it.
    pub const NORMAL: u16 = 1000;
    /// The peer goes away, or wants the other away: a page left, a socket disconnected by its id.
    pub const GOING_AWAY: u16 = 1001;
    /// The peer broke the framing rules.
    pub const PROTOCOL: u16 = 1002;
    /// A payload is not what its type says, such as text that is not UTF-8.
    pub const INVALID_DATA: u16 = 1007;
    /// The peer broke a rule that no other code names.
    pub const POLICY: u16 = 1008;
    /// A message is bigger than the receiver takes.
    pub const TOO_BIG: u16 = 1009;
    /// The server met a condition that it cannot serve, such as a message that is no Phoenix message.
    pub const INTERNAL: u16 = 1011;
    /// The server restarts.
    pub const SERVICE_RESTART: u16 = 1012;
    /// The server has too much to do.
    pub const TRY_AGAIN_LATER: u16 = 1013;

    /// Whether a Close frame may carry the code: registered and not reserved for local use, or in the ranges for
    /// libraries and applications (RFC 6455 section 7.4.2).
    pub fn is_legal_on_the_wire(code: u16) -> bool {
        matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}
