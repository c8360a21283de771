//! Reads the notation of scripts, line by line.

use std::iter::Peekable;
use std::time::Duration;
use std::vec::IntoIter;

use crate::bytes::Bytes;
use crate::http::Headers;
use crate::pattern::Pattern;
use crate::script::{Action, BodyContent, BodyLine, Check, Deed, Expected, Order, Step};
use crate::websocket::{Shape, opcode};

/// A line and those that continue it.
struct Line<'a> {
    text: &'a str,
    headers: Headers,
    body: Vec<BodyLine>,
}

pub(crate) fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut lines = join_continuations(text)?.into_iter().peekable();
    let steps = parse_block(&mut lines)?;
    match lines.next() {
        Some(line) => Err(format!("`{}` closes nothing", line.text)),
        None => Ok(steps),
    }
}

fn join_continuations(text: &str) -> Result<Vec<Line<'_>>, String> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for text in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let header = text.strip_prefix('|');
        let body = parse_body_line(text)?;
        match (lines.last_mut(), header, body) {
            (Some(line), Some(header), _) => line.headers.push(parse_header(header)?),
            (Some(line), None, Some(body)) => line.body.push(body),
            (None, Some(_), _) | (None, None, Some(_)) => return Err(format!("`{text}` continues nothing")),
            (_, None, None) => lines.push(Line { text, headers: Vec::new(), body: Vec::new() }),
        }
    }
    Ok(lines)
}

fn parse_header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or_else(|| format!("`{text}` is no header"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// `> text`, `101> text` or `>base64 bytes`; anything else is no line of a body.
fn parse_body_line(text: &str) -> Result<Option<BodyLine>, String> {
    let Some((times, content)) = text.split_once('>') else { return Ok(None) };
    let times = match times {
        "" => 1,
        count => match count.parse() {
            Ok(times) => times,
            Err(_) => return Ok(None),
        },
    };
    let content = match content.strip_prefix("base64 ") {
        Some(bytes) => BodyContent::Base64(Bytes::parse(bytes)?),
        None => BodyContent::Text(content.strip_prefix(' ').unwrap_or(content).to_owned()),
    };
    Ok(Some(BodyLine { times, content }))
}

fn parse_block(lines: &mut Peekable<IntoIter<Line<'_>>>) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    while let Some(line) = lines.next_if(|line| line.text != "end") {
        let text = line.text.to_owned();
        let deed = parse_deed(line, lines).map_err(|error| format!("`{text}`: {error}"))?;
        if let Some(step) = append_to_run(&mut steps, Step { text, deed }) {
            steps.push(step);
        }
    }
    Ok(steps)
}

/// Expectations of one client in no given order, one after the other, are one step. Gives back all else.
fn append_to_run(steps: &mut [Step], step: Step) -> Option<Step> {
    if let (
        Some(Step { text, deed: Deed::Act(who, Action::Receive(order, run)) }),
        Deed::Act(next_who, Action::Receive(next_order, next)),
    ) = (steps.last_mut(), &step.deed)
        && who == next_who
        && order == next_order
        && *order != Order::Given
    {
        run.extend_from_slice(next);
        text.push_str("\n        ");
        text.push_str(&step.text);
        return None;
    }
    Some(step)
}

fn parse_deed(line: Line<'_>, rest: &mut Peekable<IntoIter<Line<'_>>>) -> Result<Deed, String> {
    let (word, arguments) = split_word(line.text);
    Ok(match word {
        "repeat" => {
            let (name, range) = split_word(arguments);
            let (first, last) = range.split_once("..").ok_or("a range is written 1..100")?;
            let (first, last) = (number(first)?, number(last)?);
            Deed::Repeat { name: name_of(name)?, first, last, steps: parse_nested(rest)? }
        }
        "eventually" => Deed::Eventually(parse_nested(rest)?),
        "broadcast" => {
            let (topic, arguments) = split_word(arguments);
            let (event, payload) = split_word(arguments);
            Deed::Broadcast { topic: topic.into(), event: event.into(), payload: payload.into() }
        }
        "drain" => Deed::Drain,
        "exits" => Deed::Exits,
        "live" => Deed::Live(number(arguments)?),
        "differ" => {
            let (left, right) = split_word(arguments);
            Deed::Differ(name_of(left)?, name_of(right)?)
        }
        _ => match word.as_bytes() {
            [letter @ b'a'..=b'z'] => {
                Deed::Act(char::from(*letter), parse_action(arguments, line.headers, line.body)?)
            }
            _ => return Err("no such step".into()),
        },
    })
}

fn parse_nested(rest: &mut Peekable<IntoIter<Line<'_>>>) -> Result<Vec<Step>, String> {
    let steps = parse_block(rest)?;
    rest.next().map(|_| steps).ok_or_else(|| "its `end` is missing".into())
}

fn parse_action(text: &str, headers: Headers, body: Vec<BodyLine>) -> Result<Action, String> {
    let (verb, arguments) = split_word(text);
    let argument = || arguments.to_owned();
    Ok(match verb {
        "opens" => Action::Open { target: argument(), headers },
        "upgrades" => Action::Upgrade { target: argument(), headers },
        "GET" | "HEAD" | "POST" | "PUT" | "OPTIONS" => {
            Action::Request { method: verb.into(), target: argument(), headers, body }
        }
        "joins" => {
            let (topic, payload) = split_word(arguments);
            let or = |text: &str, default: &str| if text.is_empty() { default } else { text }.to_owned();
            Action::Join { topic: or(topic, "$room"), payload: or(payload, "{}") }
        }
        "cuts" => Action::Cut,
        "status" => Action::Check(Check::Status(number(arguments)?)),
        "body" => match arguments.strip_prefix("mentions ") {
            Some(words) => Action::Check(Check::BodyMentions(words.to_lowercase())),
            None => Action::Check(Check::Body(argument())),
        },
        "header" => {
            let (name, value) = parse_header(arguments)?;
            Action::Check(Check::Header { name, value })
        }
        "lacks" => Action::Check(Check::NoHeader(argument())),
        "json" => Action::Check(Check::Json(Pattern::parse(arguments)?)),
        "took" => parse_took(arguments)?,
        "starts" if arguments == "polling" => Action::StartPoll,
        "polled" => Action::Polled(number(arguments)?),
        "polls" => Action::Poll(number(arguments)?),
        "posts" => Action::Post { status: number(arguments)?, headers, body },
        _ => parse_frame(verb, arguments)?,
    })
}

fn parse_frame(arrow: &str, arguments: &str) -> Result<Action, String> {
    let expect = |expected| Action::Receive(Order::Given, vec![expected]);
    let text = || Pattern::parse(arguments);
    Ok(match arrow {
        "->" => Action::Send(arguments.to_owned()),
        "->bytes" => Action::SendFrame(Shape::whole(opcode::BINARY), Bytes::parse(arguments)?),
        "->close" => {
            let code: u16 = number(arguments)?;
            let [high, low] = code.to_be_bytes();
            Action::SendFrame(Shape::whole(opcode::CLOSE), Bytes::parse(&format!("{high:02X} {low:02X}"))?)
        }
        "->frame" => parse_any_frame(arguments)?,
        "<-" => expect(Expected::Text(text()?)),
        "<~" => Action::Receive(Order::Any, vec![Expected::Text(text()?)]),
        "<?" => Action::Receive(Order::GivenByOurs, vec![Expected::Text(text()?)]),
        "<<" => Action::ReadOn(text()?),
        "<-bytes" => expect(Expected::Bytes(Bytes::parse(arguments)?)),
        "<-pong" => expect(Expected::Pong(Bytes::parse(arguments)?)),
        "<-close" => {
            let mut codes = arguments.split('/').map(|code| number(code.trim()));
            let code = codes.next().ok_or("a close has a code")??;
            expect(Expected::Close { code, permitted: codes.collect::<Result<_, _>>()? })
        }
        "<-end" => expect(Expected::End),
        "<-nothing" => Action::Nothing,
        _ => return Err("no such action".into()),
    })
}

/// `opcode [more] [unmasked] [rsv1] bytes`
fn parse_any_frame(text: &str) -> Result<Action, String> {
    let (name, mut rest) = split_word(text);
    let mut shape = Shape::whole(match name {
        "continuation" => opcode::CONTINUATION,
        "text" => opcode::TEXT,
        "binary" => opcode::BINARY,
        "ping" => opcode::PING,
        "pong" => opcode::PONG,
        other => number(other)?,
    });
    loop {
        let (flag, after) = split_word(rest);
        match flag {
            "more" => shape.more = true,
            "unmasked" => shape.unmasked = true,
            "rsv1" => shape.rsv1 = true,
            _ => return Ok(Action::SendFrame(shape, Bytes::parse(rest)?)),
        }
        rest = after;
    }
}

fn parse_took(text: &str) -> Result<Action, String> {
    let range = text.strip_suffix(" ms").and_then(|range| range.split_once(".."));
    let (least, most) = range.ok_or("a time is written 100..400 ms, or 200.. ms")?;
    let most = if most.is_empty() { Duration::MAX } else { Duration::from_millis(number(most)?) };
    Ok(Action::Took(Duration::from_millis(number(least)?)..=most))
}

fn split_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word, rest.trim_start())
}

fn name_of(text: &str) -> Result<String, String> {
    text.strip_prefix('$').map(str::to_owned).ok_or_else(|| format!("`{text}` is no $name"))
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number that fits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_in_no_given_order_are_one_step() {
        let steps = parse("a <~ [1]\na <~ [2]\nb <~ [3]\na <- [4]\na <- [5]").expect("well formed");
        assert_eq!(steps.len(), 4);
        assert!(matches!(&steps[0].deed, Deed::Act('a', Action::Receive(Order::Any, run)) if run.len() == 2));
    }

    #[test]
    fn headers_and_bodies_continue_a_line() {
        let steps = parse("a POST /x\n | A: b\n > one\n 3> two $i\n >base64 00").expect("well formed");
        let Deed::Act('a', Action::Request { headers, body, .. }) = &steps[0].deed else {
            panic!("{:?}", steps[0])
        };
        assert_eq!(headers[..], [("A".to_owned(), "b".to_owned())]);
        assert_eq!(body.iter().map(|line| line.times).collect::<Vec<_>>(), [1, 3, 1]);
    }

    #[test]
    fn blocks_nest_and_must_be_closed() {
        let steps = parse("repeat $i 1..3\neventually\na <-end\nend\nend\ndrain").expect("well formed");
        assert_eq!(steps.len(), 2);
        assert!(parse("eventually\ndrain").is_err());
        assert!(parse("drain\nend").is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_line() {
        for line in ["nonsense", "a dances", "a <- {", "a status x", "| A: b", "live", "a took 5"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
