//! The view for terminals of the usual size and larger.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::live::figures::{bytes, clock, count, share, time_us};
use crate::live::terminal::View;
use crate::live::terminal::sparkline::{bar, sparkline};
use crate::live::{Stage, Stop};
use crate::statistics::{SeriesRow, Spread};

const BODY_LINES: u16 = 11;
const NAME_COLUMNS: usize = 10;
const FIGURE_COLUMNS: usize = 13;
const SERVERS_SHOWN_MAX: usize = 4;
const SERVERS_HEIGHT: u16 = 30;

impl View<'_> {
    pub(super) fn draw_full(&self, frame: &mut Frame<'_>, area: Rect) {
        let area = area.inner(ratatui::layout::Margin::new(1, 0));
        let mut servers = if area.height >= SERVERS_HEIGHT { self.server_lines() } else { Vec::new() };
        servers.truncate(SERVERS_SHOWN_MAX + 2);
        let [head, body, sums, servers_area, errors, foot] = Layout::vertical([
            Constraint::Length(3),
            Constraint::Length(BODY_LINES + 1),
            Constraint::Length(1),
            Constraint::Length(servers.len() as u16),
            Constraint::Min(2),
            Constraint::Length(1),
        ])
        .areas(area);
        let [left, right] =
            Layout::horizontal([Constraint::Fill(1), Constraint::Length(38)]).spacing(2).areas(body);

        frame.render_widget(Paragraph::new(self.head_lines(head.width)), head);
        frame.render_widget(Paragraph::new(self.curve_lines(left.width)), left);
        frame.render_widget(Paragraph::new(self.time_lines()), right);
        frame.render_widget(Paragraph::new(self.sum_line()), sums);
        frame.render_widget(Paragraph::new(servers), servers_area);
        frame.render_widget(Paragraph::new(self.error_lines(errors.height)), errors);
        frame.render_widget(Paragraph::new(self.foot_line()), foot);
    }

    /// Returns the name and the verdict, then the progress through the plan.
    pub(super) fn head_lines(&self, width: u16) -> Vec<Line<'static>> {
        let (verdict, style) = self.verdict();
        let title = format!("Stampede  {}", self.status.scenario);
        let target = format!("  {}", self.status.target);
        let used = title.chars().count() + verdict.chars().count();
        let target = clip(&target, usize::from(width).saturating_sub(used + 2));
        let gap = usize::from(width).saturating_sub(used + target.chars().count());
        let name = Line::from(vec![
            Span::styled(title, self.palette.strong()),
            Span::styled(target, self.palette.quiet()),
            Span::raw(" ".repeat(gap)),
            Span::styled(verdict, style),
        ]);
        vec![name, self.progress_line(width)]
    }

    fn progress_line(&self, width: u16) -> Line<'static> {
        let status = self.status;
        let mut told = match (&status.phase, status.stage) {
            (Some(phase), Stage::Running) => format!("phase {} of {} {}", phase.number, phase.of, phase.name),
            (_, stage) => stage.name().to_owned(),
        };
        told += &format!("  {}", clock(status.elapsed_seconds));
        if let Some(remaining) = status.remaining_seconds {
            told += &format!(", {} left", clock(remaining));
        }
        let Some(progress) = status.progress else { return Line::from(told) };
        told = format!("{:>5}  {told}", share(progress));
        let columns = usize::from(width).saturating_sub(told.chars().count() + 1).min(60);
        let (done, left) = bar(progress, columns);
        Line::from(vec![
            Span::styled(done, self.palette.accent()),
            Span::styled(left, self.palette.quiet()),
            Span::raw(format!(" {told}")),
        ])
    }

    fn verdict(&self) -> (String, Style) {
        if self.status.verdict.valid {
            ("VALID so far".into(), self.palette.good())
        } else {
            ("INVALID so far".into(), self.palette.bad())
        }
    }

    /// Returns users and rates, each with a sparkline.
    fn curve_lines(&self, width: u16) -> Vec<Line<'static>> {
        let (users, row) = (&self.status.users, &self.status.latest);
        let line = |name, figure, of: fn(&SeriesRow) -> f64| self.curve_line(width, name, figure, of);
        let errors = line("errors", row.errors, |row| row.errors as f64);
        let busy = if row.http > 0 {
            line("http", row.http, |row| row.http as f64)
        } else {
            line("connects", row.connects, |row| row.connects as f64)
        };
        vec![
            self.heading("Users"),
            line("wanted", users.wanted, |row| row.users_wanted as f64),
            line("active", users.active, |row| row.users as f64),
            line("connected", users.connected, |row| row.connected as f64),
            line("joined", users.joined, |row| row.joined as f64),
            Line::default(),
            self.heading("Per second"),
            line("sent", row.sent, |row| row.sent as f64),
            line("received", row.received, |row| row.received as f64),
            busy,
            if row.errors > 0 { errors.style(self.palette.warning()) } else { errors },
        ]
    }

    pub(super) fn curve_line(
        &self,
        width: u16,
        name: &'static str,
        figure: u64,
        of: fn(&SeriesRow) -> f64,
    ) -> Line<'static> {
        let columns = usize::from(width).saturating_sub(NAME_COLUMNS + FIGURE_COLUMNS + 2);
        let values: Vec<f64> = self.rows.iter().map(of).collect();
        Line::from(vec![
            Span::raw(format!("{name:<NAME_COLUMNS$}{:>FIGURE_COLUMNS$}  ", count(figure))),
            Span::styled(sparkline(&values, columns), self.palette.accent()),
        ])
    }

    /// Returns the times of the last second next to those of the run, then the generator.
    fn time_lines(&self) -> Vec<Line<'static>> {
        let (row, times) = (&self.status.latest, &self.status.times);
        let pair = |name: &str, now: Spread, run: Spread, of: fn(&Spread) -> u64| {
            let shown =
                |spread: Spread| if spread.count == 0 { "–".to_owned() } else { time_us(of(&spread)) };
            Line::from(format!("{name:<14}{:>12}{:>12}", shown(now), shown(run)))
        };
        let latency = |name, of| pair(name, row.latency, times.latency, of);
        let second = if row.http_time.count > 0 {
            pair("http p99", row.http_time, times.http, |spread| spread.p99_us)
        } else {
            pair("connect p99", row.connect, times.connect, |spread| spread.p99_us)
        };
        vec![
            Line::from(vec![
                Span::styled(format!("{:<14}", "Latency"), self.palette.strong()),
                Span::styled(format!("{:>12}{:>12}", "last second", "run so far"), self.palette.quiet()),
            ]),
            latency("p50", |spread| spread.p50_us),
            latency("p95", |spread| spread.p95_us),
            latency("p99", |spread| spread.p99_us),
            latency("max", |spread| spread.max_us),
            second,
            Line::default(),
            self.heading("Generator"),
            pair("send lag p99", row.send_lag, times.send_lag, |spread| spread.p99_us),
            Line::from(format!("CPU {:.2} cores, steal {}", row.generator_cpu, share(row.steal))),
            Line::from(format!("busiest thread {}", share(row.generator_thread_cpu_max))),
        ]
    }

    /// Returns the message totals.
    fn sum_line(&self) -> Line<'static> {
        let totals = &self.status.totals;
        let mut spans = vec![
            Span::styled("Messages  ", self.palette.strong()),
            Span::raw(format!(
                "{} expected, {} delivered, ",
                count(totals.expected),
                count(totals.delivered)
            )),
        ];
        let lost = format!("{} lost", count(totals.lost));
        spans.push(if totals.lost > 0 { Span::styled(lost, self.palette.bad()) } else { Span::raw(lost) });
        let again = [(totals.duplicates, "twice"), (totals.reordered, "out of order"), (totals.late, "late")];
        for (figure, name) in again.into_iter().filter(|(figure, _)| *figure > 0) {
            spans.push(Span::styled(format!(", {} {name}", count(figure)), self.palette.warning()));
        }
        Line::from(spans)
    }

    fn server_lines(&self) -> Vec<Line<'static>> {
        let servers = &self.status.latest.servers;
        if servers.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![Line::default(), self.heading("Servers")];
        for server in servers {
            let mut told = format!("{:<28}", clip(&server.name, 28));
            if let Some(cpu) = server.cpu {
                told += &format!("  CPU {cpu:.2}");
            }
            if let Some(resident) = server.rss_bytes {
                told += &format!("  memory {}", bytes(resident));
            }
            if let Some(connections) = server.connections {
                told += &format!("  connections {}", count(connections));
            }
            if server.failed_scrapes > 0 {
                told += "  scrape failed";
            }
            lines.push(Line::from(told));
        }
        lines
    }

    /// Returns the errors, or the reasons why the run is invalid, as many as fit.
    pub(super) fn error_lines(&self, height: u16) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for reason in &self.status.verdict.reasons {
            lines.push(Line::styled(format!("INVALID: {reason}"), self.palette.bad()));
        }
        let errors = &self.status.errors;
        lines.push(Line::default());
        lines.push(if errors.is_empty() {
            Line::from(vec![Span::styled("Errors  ", self.palette.strong()), Span::raw("none")])
        } else {
            Line::from(vec![
                Span::styled("Errors  ", self.palette.strong()),
                Span::styled(count(self.status.totals.errors), self.palette.bad()),
            ])
        });
        for error in errors {
            let what = match error.code {
                0 => format!("{} {}", error.kind, error.outcome),
                code => format!("{} {} {code}", error.kind, error.outcome),
            };
            lines.push(Line::from(vec![
                Span::raw(format!("{:>9}  {what:<24}  ", count(error.count))),
                Span::styled(error.example.clone(), self.palette.quiet()),
            ]));
        }
        let room = usize::from(height);
        if lines.len() > room && room > 0 {
            let hidden = lines.len() - room + 1;
            lines.truncate(room - 1);
            lines
                .push(Line::styled(format!("{:>9}  more kinds", count(hidden as u64)), self.palette.quiet()));
        }
        lines
    }

    pub(super) fn foot_line(&self) -> Line<'static> {
        match (self.stop, self.status.stage) {
            (Stop::No, _) => Line::styled("q stops the run", self.palette.quiet()),
            (Stop::Orderly, Stage::Draining) => Line::styled(
                "stopping: waiting for what is on its way · q again does not wait",
                self.palette.warning(),
            ),
            (Stop::Orderly, _) => Line::styled("stopping · q again does not wait", self.palette.warning()),
            (Stop::AtOnce, _) => {
                Line::styled("stopping at once · q again leaves it behind", self.palette.warning())
            }
        }
    }

    pub(super) fn heading(&self, name: &'static str) -> Line<'static> {
        Line::styled(name, self.palette.strong())
    }
}

/// Truncates the text to `chars_max` characters, with an ellipsis if anything was cut.
fn clip(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max.saturating_sub(1)).chain((chars_max > 0).then_some('…')).collect()
}
