//! Sizes of pictures, and where they are shown.

/// Width and height of a picture, in pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Size {
    /// The full width of a page.
    pub const WIDE: Self = Self { width: 1040.0, height: 340.0 };
    /// Half the width of a page: two fit side by side.
    pub const HALF: Self = Self { width: 510.0, height: 320.0 };
    /// The width of a phone.
    pub const NARROW: Self = Self { width: 360.0, height: 300.0 };
    /// A separate file.
    pub const ALONE: Self = Self { width: 960.0, height: 420.0 };
}

/// Where a picture is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a page, which has the heading as text and defines colours and classes
    /// ([`by_variables`](super::by_variables)).
    Page,
    /// In a separate file, on white.
    Alone,
}
