//! Which life of its orders a stream is in: an epoch, and up to where the server had loaded the stream when it started.
//! A server that starts again without its newest is found out by who was told that something newer is kept.

use crate::failure::Failure;
use crate::witness::Witness;
use async_nats::jetstream::kv::Store;
use hub::Epoch;

/// Writers of one stream's marks that may be ahead of us.
const TRIES_MAX: usize = 10;

#[derive(Clone, PartialEq, Eq, Debug)]
struct Marks {
    epoch: String,
    run: String,
    /// The stream's last sequence when this run was first seen.
    loaded: u64,
}

/// Agrees with the other nodes on a stream's epoch. `key` names the stream, whose last sequence is `newest`.
pub(crate) async fn agree(
    bucket: &Store,
    key: &str,
    (run, newest): (&str, u64),
    witness: &Witness,
) -> Result<Epoch, Failure> {
    for _ in 0..TRIES_MAX {
        let (known, revision) = read(bucket, key).await?;
        let next = next(known.as_ref(), run, newest, witness)?;
        if known.as_ref() == Some(&next) || write(bucket, key, &next, revision).await {
            return Epoch::new(&next.epoch).ok_or_else(|| refused("an epoch that is none"));
        }
    }
    Err(refused("too many nodes write their marks at the same time"))
}

/// The epoch as it is now.
pub(crate) async fn current(bucket: &Store, key: &str) -> Result<Option<Epoch>, Failure> {
    Ok(read(bucket, key).await?.0.and_then(|marks| Epoch::new(&marks.epoch)))
}

fn next(known: Option<&Marks>, run: &str, newest: u64, witness: &Witness) -> Result<Marks, Failure> {
    let mut fresh = [0; 9];
    getrandom::fill(&mut fresh).map_err(|error| refused(&error.to_string()))?;
    let fresh: String = fresh.iter().map(|byte| format!("{byte:02x}")).collect();
    let Some(known) = known else { return Ok(Marks { epoch: fresh, run: run.to_owned(), loaded: newest }) };
    let mut next = known.clone();
    if next.run != run {
        (next.run, next.loaded) = (run.to_owned(), newest);
    }
    let lost = witness.seen().is_some_and(|seen| {
        seen.epoch.as_str() == next.epoch && *seen.run != *run && seen.offset > next.loaded
    });
    if lost {
        next.epoch = fresh;
    }
    Ok(next)
}

async fn read(bucket: &Store, key: &str) -> Result<(Option<Marks>, u64), Failure> {
    let entry = bucket.entry(key).await.map_err(|error| refused(&error.to_string()))?;
    let Some(entry) = entry else { return Ok((None, 0)) };
    let text = std::str::from_utf8(&entry.value).unwrap_or_default();
    let mut words = text.split(' ');
    let marks = match (words.next(), words.next(), words.next().and_then(|word| word.parse().ok())) {
        (Some(epoch), Some(run), Some(loaded)) => {
            Some(Marks { epoch: epoch.to_owned(), run: run.to_owned(), loaded })
        }
        _ => None,
    };
    Ok((marks, entry.revision))
}

/// `false` if another node was faster.
async fn write(bucket: &Store, key: &str, marks: &Marks, revision: u64) -> bool {
    let text = format!("{} {} {}", marks.epoch, marks.run, marks.loaded);
    bucket.update(key, text.into(), revision).await.is_ok()
}

fn refused(detail: &str) -> Failure {
    Failure::Refused(detail.to_owned())
}
