//! A crowd: connections spread over threads, each with its own descriptor table.
//!
//! Owns the threads and the communication between them and the caller; stops them on drop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::worker::{Census, Miscount, Tally, Worker};
use crate::{Target, sys};

/// Maximum number of connections per thread: a hard limit of 20,000 descriptors, less a reserve.
pub const CONNECTIONS_PER_THREAD_MAX: usize = 19_000;

/// Connections to one target, spread evenly over threads.
#[derive(Debug)]
pub struct Crowd {
    members: Vec<Member>,
    stop: Arc<AtomicBool>,
}

/// The result of opening connections.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Opened {
    /// Open (joined, if the target requires it) when all had succeeded or failed, or at the deadline.
    pub open: usize,
    /// Refused, reset, or given another response, before they were open.
    pub failed: usize,
    /// Closed by the server after they had opened.
    pub closed: usize,
    /// Seconds from the first connection to the last response.
    pub seconds: f64,
}

#[derive(Debug)]
struct Member {
    commands: Option<Sender<Command>>,
    answers: Receiver<Answer>,
    tally: Arc<Tally>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

#[derive(Clone, Debug)]
enum Command {
    Open { quota: usize, deadline: Instant },
    Census,
    Receive { every: Option<Duration> },
    Echo { frame: Vec<u8>, in_flight: usize },
    Miscount { expected: u32 },
}

#[derive(Clone, Copy, Debug)]
enum Answer {
    Census(Census),
    Stopped,
    Miscount(Miscount),
}

impl Crowd {
    /// Starts `threads` threads, or more if `connections_max` connections need them.
    pub fn start(target: Target, threads: usize, connections_max: usize) -> io::Result<Self> {
        sys::raise_descriptor_limit()?;
        let threads = threads.max(connections_max.div_ceil(CONNECTIONS_PER_THREAD_MAX));
        let (target, stop) = (Arc::new(target), Arc::new(AtomicBool::new(false)));
        let epoch = Instant::now();
        let members = (0..threads).map(|index| Member::spawn(index, &target, epoch, &stop)).collect();
        Ok(Self { members, stop })
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.members.len()
    }

    /// Opens connections until `total` have been attempted, including those of earlier calls.
    pub fn open_until(&mut self, total: usize, patience: Duration) -> io::Result<Opened> {
        let start = Instant::now();
        let (deadline, threads) = (start + patience, self.members.len());
        for (index, member) in self.members.iter().enumerate() {
            let quota = total * (index + 1) / threads - total * index / threads;
            member.tell(Command::Open { quota, deadline })?;
        }
        self.gather_census(start)
    }

    /// Returns the current state of the connections.
    pub fn census(&mut self) -> io::Result<Opened> {
        self.tell_all(&Command::Census)?;
        self.gather_census(Instant::now())
    }

    /// Starts counting messages, until [`Crowd::stop`]: as soon as they arrive, or, with `every`, that often. If the server
    /// is on the same machine, threads that wait for messages cost it a wake-up for each, or for a few, depending on how
    /// often the scheduler lets them run; those that read at set times cost it none.
    pub fn receive(&mut self, every: Option<Duration>) -> io::Result<()> {
        self.tell_all(&Command::Receive { every })
    }

    /// Starts sending `in_flight` copies of `frame` on each connection, and one for each message that comes back, until
    /// [`Crowd::stop`].
    pub fn echo(&mut self, frame: &[u8], in_flight: usize) -> io::Result<()> {
        self.tell_all(&Command::Echo { frame: frame.to_vec(), in_flight })
    }

    /// Stops what [`Crowd::receive`] or [`Crowd::echo`] started.
    pub fn stop(&mut self) -> io::Result<()> {
        self.stop.store(true, Ordering::Release);
        for member in &self.members {
            member.answer()?;
        }
        self.stop.store(false, Ordering::Release);
        Ok(())
    }

    /// Returns the number of messages received on open connections so far.
    pub fn messages(&self) -> u64 {
        self.members.iter().map(|member| member.tally.messages()).sum()
    }

    /// Returns the time of the latest message.
    pub fn last_message_at(&self) -> Option<Instant> {
        self.members.iter().map(|member| member.tally.last_message_at()).max()
    }

    /// Returns the messages (lost, extra) compared with `expected` on each connection since it opened.
    pub fn miscount(&mut self, expected: u32) -> io::Result<(u64, u64)> {
        self.tell_all(&Command::Miscount { expected })?;
        let mut sum = (0, 0);
        for member in &self.members {
            let Answer::Miscount(miscount) = member.answer()? else { return Err(ended()) };
            sum = (sum.0 + miscount.lost, sum.1 + miscount.extra);
        }
        Ok(sum)
    }

    fn tell_all(&self, command: &Command) -> io::Result<()> {
        self.members.iter().try_for_each(|member| member.tell(command.clone()))
    }

    fn gather_census(&self, start: Instant) -> io::Result<Opened> {
        let mut sum = Opened { open: 0, failed: 0, closed: 0, seconds: 0.0 };
        for member in &self.members {
            let Answer::Census(census) = member.answer()? else { return Err(ended()) };
            sum.open += census.open;
            sum.failed += census.failed;
            sum.closed += census.closed;
        }
        sum.seconds = start.elapsed().as_secs_f64();
        Ok(sum)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for member in &mut self.members {
            member.commands = None;
        }
        for member in &mut self.members {
            // The failure of a thread was reported when its answer was missing.
            let _ = member.thread.take().map(JoinHandle::join);
        }
    }
}

impl Member {
    fn spawn(index: usize, target: &Arc<Target>, epoch: Instant, stop: &Arc<AtomicBool>) -> Self {
        let (commands, inbox) = channel();
        let (outbox, answers) = channel();
        let tally = Arc::new(Tally::new(epoch));
        let (target, stop, own_tally) = (Arc::clone(target), Arc::clone(stop), Arc::clone(&tally));
        let thread = thread::spawn(move || {
            sys::unshare_descriptor_table()?;
            let worker = Worker::new(index, target, own_tally)?;
            obey(worker, &inbox, &outbox, &stop)
        });
        Self { commands: Some(commands), answers, tally, thread: Some(thread) }
    }

    fn tell(&self, command: Command) -> io::Result<()> {
        self.commands.as_ref().and_then(|commands| commands.send(command).ok()).ok_or_else(ended)
    }

    fn answer(&self) -> io::Result<Answer> {
        self.answers.recv().map_err(|_| ended())
    }
}

fn obey(
    mut worker: Worker,
    inbox: &Receiver<Command>,
    outbox: &Sender<Answer>,
    stop: &AtomicBool,
) -> io::Result<()> {
    while let Ok(command) = inbox.recv() {
        let answer = match command {
            Command::Open { quota, deadline } => Answer::Census(worker.open_until(quota, deadline)?),
            Command::Census => Answer::Census(worker.census()?),
            Command::Receive { every } => worker.receive(every, stop).map(|()| Answer::Stopped)?,
            Command::Echo { frame, in_flight } => {
                worker.echo(&frame, in_flight, stop).map(|()| Answer::Stopped)?
            }
            Command::Miscount { expected } => Answer::Miscount(worker.miscount(expected)),
        };
        if outbox.send(answer).is_err() {
            break;
        }
    }
    Ok(())
}

fn ended() -> io::Error {
    io::Error::other(
        "a client thread ended: it may not be allowed to have its own descriptor table, or there are too few \
         descriptors",
    )
}
