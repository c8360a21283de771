//! The elements of Tsung's files, with the attributes and children allowed in each.

use super::document::Element;
use super::findings::Findings;
use crate::scenario::suggestion;

/// Maximum nesting depth of elements; recorded sessions have about ten.
const DEPTH_MAX: usize = 64;

/// The attributes and children allowed in an element.
struct Word {
    name: &'static str,
    attributes: &'static [&'static str],
    children: &'static [&'static str],
}

/// Elements allowed in a session and in any element that contains steps.
const STEPS: &[&str] = &[
    "request",
    "thinktime",
    "transaction",
    "setdynvars",
    "for",
    "foreach",
    "repeat",
    "if",
    "change_type",
    "set_option",
    "interaction",
    "abort",
];
const REPEATED_STEPS: &[&str] = &[
    "request",
    "thinktime",
    "transaction",
    "setdynvars",
    "for",
    "foreach",
    "repeat",
    "if",
    "change_type",
    "set_option",
    "interaction",
    "abort",
    "while",
    "until",
];
const CONDITION: &[&str] = &["var", "eq", "neq", "gt", "gte", "lt", "lte"];
const OPTION: &[&str] = &["name", "override", "random", "id", "min", "max", "type", "value"];

/// Requests of unsupported protocols; their contents are not checked.
pub(super) const OTHER_PROTOCOLS: &[&str] =
    &["jabber", "raw", "pgsql", "mysql", "ldap", "fs", "shell", "job", "mqtt", "amqp", "webdav"];

const fn word(
    name: &'static str,
    attributes: &'static [&'static str],
    children: &'static [&'static str],
) -> Word {
    Word { name, attributes, children }
}

const VOCABULARY: &[Word] = &[
    word(
        "tsung",
        &["loglevel", "dumptraffic", "backend", "version"],
        &["information", "clients", "servers", "monitoring", "load", "options", "sessions"],
    ),
    word("information", &[], &["name", "description", "username", "organisation"]),
    word("name", &[], &[]),
    word("description", &[], &[]),
    word("username", &[], &[]),
    word("organisation", &[], &[]),
    word("clients", &[], &["client"]),
    word(
        "client",
        &["host", "cpu", "weight", "maxusers", "use_controller_vm", "type", "batch", "scan_intf"],
        &["ip", "iprange"],
    ),
    word("ip", &["value", "scan"], &[]),
    word("iprange", &["value", "version"], &[]),
    word("servers", &[], &["server"]),
    word("server", &["host", "port", "weight", "type"], &[]),
    word("monitoring", &[], &["monitor"]),
    word("monitor", &["host", "type", "batch"], &["snmp", "munin", "mysqladmin"]),
    word("snmp", &["version", "community", "port"], &["oid"]),
    word("oid", &["value", "name", "type", "eval"], &[]),
    word("munin", &["port"], &[]),
    word("mysqladmin", &["port", "username", "password"], &[]),
    word("load", &["duration", "unit", "loop"], &["arrivalphase", "user"]),
    word(
        "arrivalphase",
        &["phase", "duration", "unit", "wait_all_sessions_end"],
        &["users", "session_setup"],
    ),
    word("users", &["interarrival", "arrivalrate", "unit", "maxnumber"], &[]),
    word("session_setup", &["name", "probability", "weight"], &[]),
    word("user", &["session", "start_time", "unit"], &[]),
    word("options", &[], &["option"]),
    word("option", OPTION, &["user_agent"]),
    word("set_option", OPTION, &["user_agent", "certificate"]),
    word("user_agent", &["probability"], &[]),
    word("certificate", &["cacertfile", "certfile", "keyfile", "keypass"], &[]),
    word("sessions", &[], &["session"]),
    word("session", &["name", "type", "probability", "weight", "persistent", "bidi"], STEPS),
    word("transaction", &["name"], STEPS),
    word("for", &["var", "from", "to", "incr"], STEPS),
    word("foreach", &["name", "in", "include", "exclude"], STEPS),
    word("repeat", &["name", "max_repeat"], REPEATED_STEPS),
    word("if", CONDITION, STEPS),
    word("while", CONDITION, &[]),
    word("until", CONDITION, &[]),
    word("thinktime", &["value", "random", "min", "max"], &[]),
    word("change_type", &["new_type", "host", "port", "server_type", "store", "restore", "bidi"], &[]),
    word("interaction", &["action", "id"], &[]),
    word("abort", &["type"], &[]),
    word(
        "setdynvars",
        &[
            "sourcetype",
            "callback",
            "code",
            "fileid",
            "order",
            "delimiter",
            "length",
            "start",
            "end",
            "from",
            "jsonpath",
            "value",
        ],
        &["var"],
    ),
    word("var", &["name"], &[]),
    word(
        "request",
        &["subst", "tag"],
        &[
            "match",
            "dyn_variable",
            "websocket",
            "http",
            "jabber",
            "raw",
            "pgsql",
            "mysql",
            "ldap",
            "fs",
            "shell",
            "job",
            "mqtt",
            "amqp",
            "webdav",
        ],
    ),
    word(
        "match",
        &[
            "do",
            "when",
            "subst",
            "name",
            "max_loop",
            "sleep_loop",
            "loop_back",
            "max_restart",
            "skip_headers",
            "apply_to_content",
        ],
        &[],
    ),
    word(
        "dyn_variable",
        &["name", "re", "regexp", "xpath", "jsonpath", "pgsql_expr", "header", "decode"],
        &[],
    ),
    word("websocket", &["type", "ack", "frame", "origin", "subprotocols", "path"], &["http_header"]),
    word(
        "http",
        &["url", "method", "version", "contents", "contents_from_file", "content_type", "if_modified_since"],
        &["http_header", "www_authenticate", "add_cookie", "soap", "oauth"],
    ),
    word("http_header", &["name", "value", "encoding"], &[]),
    word(
        "www_authenticate",
        &["userid", "passwd", "type", "realm", "nonce", "opaque", "algorithm", "qop"],
        &[],
    ),
    word("add_cookie", &["key", "value", "domain", "path"], &[]),
    word("soap", &["action"], &[]),
    word(
        "oauth",
        &["consumer_key", "consumer_secret", "access_token", "access_token_secret", "encoding"],
        &[],
    ),
];

/// Reports elements and attributes that Tsung does not have, or not in this place.
///
/// # Errors
/// The document is too deeply nested to be read.
pub(super) fn check(root: Element<'_>, findings: &mut Findings) -> Result<(), TooDeep> {
    check_element(root, 1, findings)
}

/// The elements are too deeply nested, which has been reported.
#[derive(Debug)]
pub(super) struct TooDeep;

fn check_element(element: Element<'_>, depth: usize, findings: &mut Findings) -> Result<(), TooDeep> {
    let Some(word) = VOCABULARY.iter().find(|word| word.name == element.name()) else { return Ok(()) };
    if depth > DEPTH_MAX {
        findings.problem(element, None, format!("more than {DEPTH_MAX} elements within each other"), None);
        return Err(TooDeep);
    }
    for (attribute, _) in element.attributes() {
        if !word.attributes.contains(&attribute) {
            let help = suggestion(attribute, word.attributes.iter().copied());
            findings.problem(
                element,
                Some(attribute),
                format!("`{}` has no such attribute", word.name),
                help,
            );
        }
    }
    for child in element.children() {
        if word.children.contains(&child.name()) {
            check_element(child, depth + 1, findings)?;
        } else {
            let help = suggestion(child.name(), word.children.iter().copied());
            findings.problem(
                child,
                None,
                format!("`{}` cannot stand in `{}`", child.name(), word.name),
                help,
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::VOCABULARY;

    #[test]
    fn the_sample_with_every_element_has_every_element_of_the_vocabulary() {
        let sample = include_str!("samples/everything.xml");
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..roxmltree::ParsingOptions::default() };
        let document = roxmltree::Document::parse_with_options(sample, options).expect("well-formed");
        let missing = |name: &&str| !document.descendants().any(|node| node.has_tag_name(*name));
        let names: Vec<&str> = VOCABULARY.iter().map(|word| word.name).filter(missing).collect();
        assert!(names.is_empty(), "{names:?} stand nowhere in it");
    }
}
