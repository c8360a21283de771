//! What a programmer writes with the `gateway` crate; each program is a file beside this one.
