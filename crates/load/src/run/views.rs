//! The views that show a run in progress.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::error::RunError;
use super::job::{Settings, Show};
use crate::live::{Board, dashboard, plain, terminal};

/// Interval of the plain lines if none is given.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// The open views of one run.
pub(super) struct Views {
    screen: Option<JoinHandle<io::Result<()>>>,
    pages: Vec<dashboard::Dashboard>,
}

impl Views {
    /// Binds the pages' ports before the first user arrives: a run whose page cannot be served must not touch its
    /// target.
    pub(super) fn bind(board: &Arc<Board>, settings: &Settings) -> Result<Self, RunError> {
        let mut pages = Vec::new();
        if let Some(address) = settings.dashboard {
            let options = dashboard::Options { address, host_names: Vec::new() };
            let page = dashboard::serve(Arc::clone(board), &options)?;
            eprintln!("dashboard: {}", page.url());
            pages.push(page);
        }
        if let Some(address) = settings.metrics {
            let page = dashboard::serve_metrics(Arc::clone(board), address)?;
            eprintln!("metrics: {}", page.url());
            pages.push(page);
        }
        Ok(Self { screen: None, pages })
    }

    /// Opens the terminal view; called once nothing can prevent the run any more.
    pub(super) fn show(&mut self, board: &Arc<Board>, show: Show) -> Result<(), RunError> {
        self.screen = screen(board, show)?;
        Ok(())
    }

    /// Shows the end on the terminal and closes the view.
    pub(super) fn close_screen(&mut self) {
        if let Some(Ok(Err(error))) = self.screen.take().map(JoinHandle::join) {
            eprintln!("stampede: cannot show the live view: {error}");
        }
    }

    /// Closes the pages once all viewers have received the final state.
    pub(super) fn close(self) {
        self.pages.iter().for_each(dashboard::Dashboard::wait_for_viewers);
    }
}

fn screen(board: &Arc<Board>, show: Show) -> Result<Option<JoinHandle<io::Result<()>>>, RunError> {
    let board = Arc::clone(board);
    let view: Box<dyn FnOnce() -> io::Result<()> + Send> = match show {
        Show::Nothing => return Ok(None),
        Show::View if terminal::is_possible() => Box::new(move || terminal::run(&board)),
        Show::View => Box::new(move || plain::run(&board, &mut io::stderr(), LINE_INTERVAL)),
        Show::Lines(seconds) => {
            Box::new(move || plain::run(&board, &mut io::stderr(), Duration::from_secs(seconds)))
        }
    };
    let thread = thread::Builder::new().name("view".to_owned()).spawn(view).map_err(RunError::Thread)?;
    Ok(Some(thread))
}
