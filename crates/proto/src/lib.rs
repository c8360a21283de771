//! Bytes to messages and back, on both sides, without IO: RFC 6455 frames, permessage-deflate, Phoenix Channels V1 and V2.
