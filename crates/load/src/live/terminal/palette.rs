//! The text styles of the terminal views, with and without colour.

use ratatui::style::{Color, Modifier, Style};

/// Colours are used only if the user wants them (<https://no-color.org>); their meaning is always also given in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Palette {
    colored: bool,
}

impl Palette {
    /// Returns a palette without colours if `NO_COLOR` is set and not empty.
    pub(crate) fn of_environment() -> Self {
        Self { colored: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { colored: false }
    }

    /// Style of headings and names.
    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Style of explanations.
    pub(crate) fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Style of bars and sparklines.
    pub(crate) fn accent(self) -> Style {
        self.with(Color::Cyan)
    }

    /// Style of what is as it should be.
    pub(crate) fn good(self) -> Style {
        self.with(Color::Green)
    }

    /// Style of what deserves attention.
    pub(crate) fn warning(self) -> Style {
        self.with(Color::Yellow)
    }

    /// Style of failures.
    pub(crate) fn bad(self) -> Style {
        self.with(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Returns one of a few colours, always the same one for a name.
    pub(crate) fn of_name(self, name: &str) -> Style {
        const COLORS: [Color; 6] =
            [Color::Cyan, Color::Green, Color::Magenta, Color::Yellow, Color::Blue, Color::LightRed];
        // FNV-1a.
        let hash = name
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        self.with(COLORS[hash as usize % COLORS.len()]).add_modifier(Modifier::BOLD)
    }

    fn with(self, color: Color) -> Style {
        if self.colored { Style::new().fg(color) } else { Style::new() }
    }
}
