//! Close codes (RFC 6455 section 7.4, and the IANA registry that it opens).

/// The close codes that this project sends.
#[derive(Clone, Copy, Debug)]
pub struct CloseCode;

impl CloseCode {
    /// The purpose is fulfilled. phoenix.js clients before 1.8.16 do not reconnect after it.
    pub const NORMAL: u16 = 1000;
    /// The peer goes away, or wants the other side to: a page was left, or a socket was disconnected by its id.
    pub const GOING_AWAY: u16 = 1001;
    /// The peer violated the framing rules.
    pub const PROTOCOL: u16 = 1002;
    /// A payload does not match its type, such as text that is not UTF-8.
    pub const INVALID_DATA: u16 = 1007;
    /// The peer violated a rule that no other code covers.
    pub const POLICY: u16 = 1008;
    /// A message is larger than the receiver accepts.
    pub const TOO_BIG: u16 = 1009;
    /// The server met a condition that it cannot handle, such as a message that is not a Phoenix message.
    pub const INTERNAL: u16 = 1011;
    /// The server is restarting.
    pub const SERVICE_RESTART: u16 = 1012;
    /// The server is overloaded.
    pub const TRY_AGAIN_LATER: u16 = 1013;

    /// Returns whether a Close frame may carry the code: registered and not reserved for local use, or in the ranges
    /// for libraries and applications (RFC 6455 section 7.4.2).
    pub fn is_legal_on_the_wire(code: u16) -> bool {
        matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
    }
}
