//! Observations for tests.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

use crate::observe::{Kind, NO_LABEL, NO_ROOM, Nanos, Observation, Outcome};

/// Returns an observation with default values.
pub(crate) fn observation() -> Observation {
    Observation {
        at: 0,
        intended: 0,
        began: 0,
        message: 0,
        user: 0,
        room: NO_ROOM,
        bytes: 0,
        count: 0,
        label: NO_LABEL,
        source: 0,
        code: 0,
        kind: Kind::Arrival,
        outcome: Outcome::Ok,
    }
}

/// Returns a stream that contains every kind of event: this many events over this many seconds, each message with its
/// receipts, ordered by time. The same seed gives the same stream.
pub(crate) fn stream(seed: u64, things: u32, seconds: u64) -> Vec<Observation> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut stream = Vec::new();
    for thing in 0..things {
        let began = random.random_range(0..seconds.max(1) * 1_000_000_000);
        let at = began + 10_u64.pow(random.random_range(0..10)) * random.random_range(1..10);
        let seen = Observation {
            at,
            intended: began.saturating_sub(random.random_range(0..1_000_000)),
            began,
            message: u64::from(thing) << 32 | 1,
            user: thing,
            room: if random.random() { random.random_range(0..3) } else { NO_ROOM },
            bytes: random.random_range(0..2000),
            count: random.random_range(0..4),
            label: if random.random() { random.random_range(0..4) } else { NO_LABEL },
            source: random.random_range(0..3),
            code: random.random_range(0..2),
            kind: Kind::ALL[random.random_range(0..Kind::ALL.len())],
            outcome: outcome(&mut random),
        };
        stream.push(seen);
        if seen.kind == Kind::Send && seen.outcome == Outcome::Ok {
            let receivers = random.random_range(0..=seen.count);
            stream.extend((0..receivers).map(|user| receipt(&seen, user, &mut random)));
        }
    }
    stream.sort_by_key(|seen| seen.at);
    stream
}

fn outcome(random: &mut Xoshiro256PlusPlus) -> Outcome {
    if random.random() { Outcome::Ok } else { Outcome::ALL[random.random_range(0..Outcome::ALL.len())] }
}

fn receipt(send: &Observation, user: u32, random: &mut Xoshiro256PlusPlus) -> Observation {
    let latency: Nanos = random.random_range(0..2_000_000_000);
    Observation {
        kind: Kind::Receive,
        at: send.at + latency,
        began: send.at,
        user,
        label: NO_LABEL,
        count: 0,
        ..*send
    }
}
