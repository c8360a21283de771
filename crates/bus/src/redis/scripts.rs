//! The scripts that an instance runs, each in one step.

use ::redis::{Cmd, Script, cmd};

pub(crate) struct Scripts {
    pub(crate) marks: Script,
    pub(crate) append: Script,
    pub(crate) head: Script,
    pub(crate) history: Script,
    pub(crate) lease: Script,
    pub(crate) present: Script,
    pub(crate) people: Script,
    pub(crate) who: Script,
    pub(crate) rights: Script,
}

impl Scripts {
    pub(crate) fn new() -> Scripts {
        Scripts {
            marks: Script::new(include_str!("scripts/marks.lua")),
            append: Script::new(include_str!("scripts/append.lua")),
            head: Script::new(include_str!("scripts/head.lua")),
            history: Script::new(include_str!("scripts/history.lua")),
            lease: Script::new(include_str!("scripts/lease.lua")),
            present: Script::new(include_str!("scripts/present.lua")),
            people: Script::new(include_str!("scripts/people.lua")),
            who: Script::new(include_str!("scripts/who.lua")),
            rights: Script::new(include_str!("scripts/rights.lua")),
        }
    }

    pub(crate) fn all(&self) -> [(&Script, &'static str); 9] {
        [
            (&self.marks, include_str!("scripts/marks.lua")),
            (&self.append, include_str!("scripts/append.lua")),
            (&self.head, include_str!("scripts/head.lua")),
            (&self.history, include_str!("scripts/history.lua")),
            (&self.lease, include_str!("scripts/lease.lua")),
            (&self.present, include_str!("scripts/present.lua")),
            (&self.people, include_str!("scripts/people.lua")),
            (&self.who, include_str!("scripts/who.lua")),
            (&self.rights, include_str!("scripts/rights.lua")),
        ]
    }
}

/// A call of a script that the instance has loaded; its other arguments follow the keys.
pub(crate) fn call(script: &Script, keys: &[String]) -> Cmd {
    let mut call = cmd("EVALSHA");
    call.arg(script.get_hash()).arg(keys.len()).arg(keys);
    call
}
