//! How large a picture is, and where it stands.

/// Width and height of a picture, in pixels.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Size {
    /// The width of a page.
    pub const WIDE: Self = Self { width: 1040.0, height: 340.0 };
    /// Half a page: two stand side by side.
    pub const HALF: Self = Self { width: 510.0, height: 320.0 };
    /// A telephone.
    pub const NARROW: Self = Self { width: 360.0, height: 300.0 };
    /// A file of its own.
    pub const ALONE: Self = Self { width: 960.0, height: 420.0 };
}

/// Where a picture stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a page, which has the heading as text and defines colours and classes ([`by_variables`](super::by_variables)).
    Page,
    /// In a file of its own, on white.
    Alone,
}
