//! Parses typed lines.

/// A command with its help text.
pub(super) struct Explained {
    pub(super) name: &'static str,
    pub(super) takes: &'static str,
    pub(super) does: &'static str,
}

const fn explained(name: &'static str, takes: &'static str, does: &'static str) -> Explained {
    Explained { name, takes, does }
}

/// All commands, in the order of the help.
pub(super) const COMMANDS: [Explained; 31] = [
    explained(
        "help",
        "[COMMAND]",
        "list the commands, or explain one; a line that begins with // is sent with one /",
    ),
    explained("list", "", "list your conversations with unread counts"),
    explained(
        "open",
        "NAME",
        "show a conversation: #room, a person, a group's title, or its number in /list",
    ),
    explained("dm", "NAME [| TEXT]", "talk to one person, by name or id; optionally send a first message"),
    explained("group", "NAME, NAME … [| TITLE]", "start a group"),
    explained("rooms", "", "list the rooms that you can see"),
    explained("join", "ROOM [INVITATION]", "enter another room"),
    explained("create", "ROOM [TITLE]", "create a public room and enter it"),
    explained("leave", "", "leave the current conversation permanently"),
    explained("history", "[SEQ]", "show messages before that number, or before those shown"),
    explained(
        "search",
        "[WORDS]",
        "search the current conversation; without words: the next page of results",
    ),
    explained("find", "WORDS", "search all of your conversations"),
    explained("reply", "[#SEQ] TEXT", "reply to a message (default: the newest of another person)"),
    explained("edit", "[#SEQ] TEXT", "change the text of your message (default: your newest)"),
    explained("delete", "[#SEQ]", "delete a message (default: your newest)"),
    explained("react", "[#SEQ] EMOJI", "react to a message (default: the newest)"),
    explained("unreact", "[#SEQ] EMOJI", "remove your reaction"),
    explained("read", "", "mark the current conversation as read"),
    explained("who", "", "list who has the room open"),
    explained("members", "", "list the members of the current conversation"),
    explained("invite", "NAME", "invite somebody to the current conversation"),
    explained("invitations", "", "list your invitations"),
    explained("mute", "", "mute the current conversation"),
    explained("unmute", "", "unmute it"),
    explained("archive", "", "archive the current conversation: it moves to the end of the list"),
    explained("unarchive", "", "unarchive it"),
    explained("block", "NAME", "block direct messages between you and somebody; /unblock NAME undoes this"),
    explained("unblock", "NAME", "allow direct messages with somebody again"),
    explained("status", "auto|busy|invisible", "set the status that others see"),
    explained("whoami", "", "show who you are, and in which community"),
    explained("quit", "", "leave"),
];

/// A parsed line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Typed {
    Nothing,
    Say(String),
    Reply { to: Option<u64>, text: String },
    Edit { seq: Option<u64>, text: String },
    Delete { seq: Option<u64> },
    React { seq: Option<u64>, emoji: String, on: bool },
    History { before: Option<u64> },
    Search { words: Option<String>, everywhere: bool },
    Read,
    List,
    Open(String),
    Direct { name: String, text: Option<String> },
    Group { names: Vec<String>, title: String },
    Rooms,
    Join { room: String, invitation: Option<String> },
    Create { room: String, title: Option<String> },
    Leave,
    Who,
    Members,
    Invite(String),
    Invitations,
    Keep { muted: Option<bool>, archived: Option<bool> },
    Block { name: String, on: bool },
    Status(String),
    Whoami,
    Help(Option<String>),
    Quit,
}

impl Typed {
    /// # Errors
    /// What is wrong, for the person who typed it.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let Some(command) = line.strip_prefix('/') else {
            let text = line.trim();
            return Ok(if text.is_empty() { Typed::Nothing } else { Typed::Say(text.to_owned()) });
        };
        if command.starts_with('/') {
            return Ok(Typed::Say(command.trim_end().to_owned()));
        }
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        let Some(explained) = COMMANDS.iter().find(|each| each.name == name) else {
            return Err(unknown(name));
        };
        let usage = || format!("usage: /{} {}", explained.name, explained.takes);
        let parsed = arguments(name, rest).ok_or_else(usage)?;
        let is_without = explained.takes.is_empty();
        if is_without && !rest.is_empty() { Err(usage().trim_end().to_owned()) } else { Ok(parsed) }
    }
}

impl Typed {
    /// Returns whether the lines after it are meant for another conversation.
    pub(super) fn goes_elsewhere(&self) -> bool {
        match self {
            Typed::Open(_)
            | Typed::Direct { .. }
            | Typed::Group { .. }
            | Typed::Join { .. }
            | Typed::Create { .. } => true,
            Typed::Nothing
            | Typed::Say(_)
            | Typed::Reply { .. }
            | Typed::Edit { .. }
            | Typed::Delete { .. }
            | Typed::React { .. }
            | Typed::History { .. }
            | Typed::Search { .. }
            | Typed::Read
            | Typed::List
            | Typed::Rooms
            | Typed::Leave
            | Typed::Who
            | Typed::Members
            | Typed::Invite(_)
            | Typed::Invitations
            | Typed::Keep { .. }
            | Typed::Block { .. }
            | Typed::Status(_)
            | Typed::Whoami
            | Typed::Help(_)
            | Typed::Quit => false,
        }
    }
}

/// Parses a command's arguments; `None` if they are invalid.
fn arguments(name: &str, rest: &str) -> Option<Typed> {
    let one = || (!rest.is_empty()).then(|| rest.to_owned());
    let keep = |muted, archived| Some(Typed::Keep { muted, archived });
    let (seq, behind) = place(rest);
    let text = || (!behind.is_empty()).then(|| behind.to_owned());
    match name {
        "help" => Some(Typed::Help(one())),
        "list" => Some(Typed::List),
        "open" => one().map(Typed::Open),
        "dm" => {
            let (name, text) = split_bar(rest)?;
            Some(Typed::Direct { name: name.to_owned(), text: text.map(str::to_owned) })
        }
        "group" => {
            let (names, title) = split_bar(rest)?;
            let names: Vec<String> =
                names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
            let title = title.unwrap_or_default().to_owned();
            (!names.is_empty()).then_some(Typed::Group { names, title })
        }
        "rooms" => Some(Typed::Rooms),
        "join" => {
            let (room, invitation) = first_word(rest)?;
            (!invitation.contains(' '))
                .then(|| Typed::Join { room: bare_room(room), invitation: some(invitation) })
        }
        "create" => {
            let (room, title) = first_word(rest)?;
            Some(Typed::Create { room: bare_room(room), title: some(title) })
        }
        "leave" => Some(Typed::Leave),
        "history" if rest.is_empty() => Some(Typed::History { before: None }),
        "history" => {
            rest.trim_start_matches('#').parse().ok().map(|seq| Typed::History { before: Some(seq) })
        }
        "search" => Some(Typed::Search { words: one(), everywhere: false }),
        "find" => one().map(|words| Typed::Search { words: Some(words), everywhere: true }),
        "reply" => text().map(|text| Typed::Reply { to: seq, text }),
        "edit" => text().map(|text| Typed::Edit { seq, text }),
        "delete" if rest.is_empty() => Some(Typed::Delete { seq: None }),
        "delete" => rest.trim_start_matches('#').parse().ok().map(|seq| Typed::Delete { seq: Some(seq) }),
        "react" => text().map(|emoji| Typed::React { seq, emoji, on: true }),
        "unreact" => text().map(|emoji| Typed::React { seq, emoji, on: false }),
        "read" => Some(Typed::Read),
        "who" => Some(Typed::Who),
        "members" => Some(Typed::Members),
        "invite" => one().map(Typed::Invite),
        "invitations" => Some(Typed::Invitations),
        "mute" => keep(Some(true), None),
        "unmute" => keep(Some(false), None),
        "archive" => keep(None, Some(true)),
        "unarchive" => keep(None, Some(false)),
        "block" => one().map(|name| Typed::Block { name, on: true }),
        "unblock" => one().map(|name| Typed::Block { name, on: false }),
        "status" => ["auto", "busy", "invisible"].contains(&rest).then(|| Typed::Status(rest.to_owned())),
        "whoami" => Some(Typed::Whoami),
        "quit" => Some(Typed::Quit),
        _ => None,
    }
}

/// Splits `#42 text` into a sequence number and the rest.
fn place(rest: &str) -> (Option<u64>, &str) {
    let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match word.strip_prefix('#').and_then(|digits| digits.parse().ok()) {
        Some(seq) => (Some(seq), behind.trim_start()),
        None => (None, rest),
    }
}

/// Splits `one | other`; `None` if the first part is empty.
fn split_bar(rest: &str) -> Option<(&str, Option<&str>)> {
    let (one, other) = match rest.split_once('|') {
        Some((one, other)) => (one.trim(), Some(other.trim()).filter(|other| !other.is_empty())),
        None => (rest, None),
    };
    (!one.is_empty()).then_some((one, other))
}

fn first_word(rest: &str) -> Option<(&str, &str)> {
    let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (!word.is_empty()).then_some((word, behind.trim()))
}

fn bare_room(room: &str) -> String {
    room.trim_start_matches('#').to_owned()
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn unknown(name: &str) -> String {
    let near = COMMANDS
        .iter()
        .map(|each| (strsim::jaro_winkler(name, each.name), each.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match near {
        Some((_, near)) => format!("unknown command /{name}; did you mean /{near}? /help lists all commands"),
        None => format!("unknown command /{name}; /help lists all commands"),
    }
}

/// Returns the help text of all commands or of one.
pub(super) fn help(about: Option<&str>) -> Result<Vec<String>, String> {
    let about = about.map(|name| name.trim_start_matches('/'));
    let line = |each: &Explained| {
        let usage = format!("/{} {}", each.name, each.takes);
        format!("{}: {}", usage.trim_end(), each.does)
    };
    let lines: Vec<String> =
        COMMANDS.iter().filter(|each| about.is_none_or(|name| name == each.name)).map(line).collect();
    if lines.is_empty() { Err(unknown(about.unwrap_or_default())) } else { Ok(lines) }
}

/// Completes a command name, to the only match or to the common prefix of all matches.
pub(super) fn completed(start: &str) -> Option<String> {
    common(COMMANDS.iter().map(|each| each.name).filter(|name| name.starts_with(start)))
}

/// Returns the longest common prefix.
pub(super) fn common<'a>(mut all: impl Iterator<Item = &'a str>) -> Option<String> {
    let first = all.next()?.to_owned();
    Some(all.fold(first, |common, each| {
        common.chars().zip(each.chars()).take_while(|(one, other)| one == other).map(|(one, _)| one).collect()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_mean_what_they_say() {
        let table = [
            ("hello /dm", Typed::Say("hello /dm".into())),
            ("  ", Typed::Nothing),
            ("//dm is a command", Typed::Say("/dm is a command".into())),
            ("/dm Ann Lee", Typed::Direct { name: "Ann Lee".into(), text: None }),
            ("/dm ann | hi | you", Typed::Direct { name: "ann".into(), text: Some("hi | you".into()) }),
            (
                "/group ann, bob | Us",
                Typed::Group { names: vec!["ann".into(), "bob".into()], title: "Us".into() },
            ),
            ("/edit #42 new", Typed::Edit { seq: Some(42), text: "new".into() }),
            ("/edit 42 apples", Typed::Edit { seq: None, text: "42 apples".into() }),
            ("/delete 42", Typed::Delete { seq: Some(42) }),
            ("/delete", Typed::Delete { seq: None }),
            ("/react #7 👍", Typed::React { seq: Some(7), emoji: "👍".into(), on: true }),
            ("/history 90", Typed::History { before: Some(90) }),
            ("/search", Typed::Search { words: None, everywhere: false }),
            ("/find two words", Typed::Search { words: Some("two words".into()), everywhere: true }),
            ("/join #den 01J", Typed::Join { room: "den".into(), invitation: Some("01J".into()) }),
            ("/status busy", Typed::Status("busy".into())),
            ("/quit ", Typed::Quit),
        ];
        for (line, typed) in table {
            assert_eq!(Typed::parse(line), Ok(typed), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_the_way_to_write_it() {
        for (line, part) in [
            ("/serach words", "did you mean /search?"),
            ("/xyzzy", "/help lists"),
            ("/dm", "usage: /dm NAME"),
            ("/edit #42", "usage: /edit [#SEQ] TEXT"),
            ("/delete soon", "usage: /delete [#SEQ]"),
            ("/history x", "usage: /history [SEQ]"),
            ("/status asleep", "auto|busy|invisible"),
            ("/who is it", "usage: /who"),
            ("/group , | x", "usage: /group"),
        ] {
            let error = Typed::parse(line).expect_err(line);
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn each_command_that_is_explained_is_one() {
        for Explained { name, takes, .. } in COMMANDS {
            let arguments = match name {
                "status" => "busy",
                "history" | "delete" => "1",
                _ if takes.is_empty() => "",
                _ => "#1 word",
            };
            let parsed = Typed::parse(&format!("/{name} {arguments}"));
            assert!(parsed.is_ok(), "/{name}: {parsed:?}");
            assert_eq!(help(Some(name)).map(|lines| lines.len()), Ok(1));
        }
        assert_eq!(completed("un").as_deref(), Some("un"));
        assert_eq!(completed("hist").as_deref(), Some("history"));
        assert_eq!(completed("xyz"), None);
    }
}
