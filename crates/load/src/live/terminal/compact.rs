//! The view for small terminals: one column in order of importance, so that the least important lines are cut off.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::live::figures::{count, share, time_us};
use crate::live::terminal::View;

const HEAD_LINES: u16 = 2;
const FIGURE_LINES: u16 = 6;

impl View<'_> {
    pub(super) fn draw_compact(&self, frame: &mut Frame<'_>, area: Rect) {
        let [head, figures, errors, foot] = Layout::vertical([
            Constraint::Length(HEAD_LINES),
            Constraint::Max(FIGURE_LINES),
            Constraint::Fill(1),
            Constraint::Length(1),
        ])
        .areas(area);
        frame.render_widget(Paragraph::new(self.head_lines(head.width)), head);
        frame.render_widget(Paragraph::new(self.figure_lines(figures.width)), figures);
        frame.render_widget(Paragraph::new(self.error_lines(errors.height)), errors);
        frame.render_widget(Paragraph::new(self.foot_line()), foot);
    }

    fn figure_lines(&self, width: u16) -> Vec<Line<'static>> {
        let (users, row) = (&self.status.users, &self.status.latest);
        let latency = if row.latency.count == 0 {
            "latency   –".to_owned()
        } else {
            let spread = &row.latency;
            let [p50, p95, p99, max] =
                [spread.p50_us, spread.p95_us, spread.p99_us, spread.max_us].map(time_us);
            format!("latency   p50 {p50}  p95 {p95}  p99 {p99}  max {max}")
        };
        vec![
            Line::from(format!("users     {} active of {} wanted", count(users.active), count(users.wanted))),
            self.curve_line(width, "connected", users.connected, |row| row.connected as f64),
            self.curve_line(width, "sent/s", row.sent, |row| row.sent as f64),
            self.curve_line(width, "received/s", row.received, |row| row.received as f64),
            Line::from(latency),
            Line::from(format!(
                "generator lag p99 {}  CPU {:.2} cores  steal {}",
                time_us(row.send_lag.p99_us),
                row.generator_cpu,
                share(row.steal)
            )),
        ]
    }
}
