//! The scripts that an instance runs atomically.
//!
//! Those with the flag `allow-oom` write even if the server is full: what they write is small, and proportional to the
//! number of nodes and people. Those that write histories and places do not have it.

use super::channels::Channels;
use ::redis::{Cmd, Script, cmd};

macro_rules! scripts {
    ($($name:ident),+ $(,)?) => {
        pub(crate) struct Scripts {
            $(pub(crate) $name: Script,)+
        }

        impl Scripts {
            pub(crate) fn new(channels: Channels) -> Scripts {
                Scripts { $($name: Script::new(&channels.in_script(source::$name)),)+ }
            }
        }

        /// Returns the sources that an instance has to load.
        pub(crate) fn sources(channels: Channels) -> Vec<String> {
            vec![$(channels.in_script(source::$name)),+]
        }

        #[allow(non_upper_case_globals, reason = "a script's name")]
        mod source {
            $(pub(super) const $name: &str = include_str!(concat!("scripts/", stringify!($name), ".lua"));)+
        }
    };
}

scripts!(marks, append, head, history, lease, present, people, who, rights);

/// Creates a call of a loaded script; its other arguments follow the keys.
pub(crate) fn call(script: &Script, keys: &[String]) -> Cmd {
    let mut call = cmd("EVALSHA");
    call.arg(script.get_hash()).arg(keys.len()).arg(keys);
    call
}
