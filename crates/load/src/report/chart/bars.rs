//! Grouped and stacked bars of counts.

use super::axis::Axis;
use super::canvas::Canvas;
use super::frame::{Entry, Frame, Surroundings, Swatch};
use super::scale::{greatest, ticks_in};
use super::unit::Unit;

/// Counts per configuration, as stacks placed side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct Bars {
    /// Unit of the values.
    pub unit: Unit,
    /// Name and tone of the kinds that make up a stack.
    pub kinds: Vec<(String, Tone)>,
    /// One per configuration.
    pub groups: Vec<Group>,
}

/// The meaning of a kind, which decides its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// The target value.
    Wanted,
    /// As it should be.
    Good,
    /// Not quite as it should be.
    Fair,
    /// Neither good nor bad.
    Neutral,
    /// As it should not be.
    Bad,
}

/// One configuration.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Name of the configuration.
    pub name: String,
    /// Its stacks from left to right; each is a list of (kind index, value), from the bottom up.
    pub stacks: Vec<Vec<(usize, f64)>>,
}

impl Tone {
    fn colour(self) -> &'static str {
        match self {
            Self::Wanted => "s1",
            Self::Good => "s3",
            Self::Fair => "warn",
            Self::Neutral => "s7",
            Self::Bad => "bad",
        }
    }
}

impl Bars {
    pub(super) fn is_empty(&self) -> bool {
        self.groups.iter().flat_map(|group| &group.stacks).flatten().all(|(_, value)| *value <= 0.0)
    }

    pub(super) fn legend(&self) -> Vec<Entry> {
        let entry = |(name, tone): &(String, Tone)| Entry {
            name: name.clone(),
            colour: tone.colour(),
            swatch: Swatch::Area,
        };
        self.kinds.iter().map(entry).collect()
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, around: &Surroundings<'_>) {
        let heights = self.groups.iter().flat_map(|group| &group.stacks);
        let most = greatest(heights.map(|stack| stack.iter().map(|(_, value)| value).sum()));
        let y = Axis::linear(self.unit, 0.0, most, ticks_in(around.size.height));
        let names: Vec<&str> = self.groups.iter().map(|group| group.name.as_str()).collect();
        let (frame, middles, slot) = Frame::with_slots(canvas, around, &names, &y);
        for (group, middle) in self.groups.iter().zip(middles) {
            let width = (slot * 0.7 / group.stacks.len().max(1) as f64).clamp(2.0, 48.0);
            let left = middle - width * group.stacks.len() as f64 / 2.0;
            for (index, stack) in group.stacks.iter().enumerate() {
                self.draw_stack(canvas, &frame, &y, stack, left + width * index as f64, width);
            }
        }
    }

    fn draw_stack(
        &self,
        canvas: &mut Canvas,
        frame: &Frame,
        y: &Axis,
        stack: &[(usize, f64)],
        left: f64,
        width: f64,
    ) {
        let to_pixels = |value: f64| frame.bottom - frame.y(y, value);
        let stack: Vec<(usize, f64)> = stack
            .iter()
            .filter(|(_, value)| *value > 0.0)
            .map(|(kind, value)| (*kind, to_pixels(*value)))
            .collect();
        let mut below = frame.bottom;
        for ((kind, _), height) in stack.iter().zip(seen(&stack)) {
            let Some((_, tone)) = self.kinds.get(*kind) else { continue };
            let class = format!("fill-{}", tone.colour());
            canvas.rectangle(&class, (left + 1.0, below - height), width - 2.0, height);
            below -= height;
        }
    }
}

/// Returns heights at which every part is visible, since losses are often a thousandth of what was sent. The tallest
/// part shrinks by the same amount, so that the stack keeps its height.
fn seen(stack: &[(usize, f64)]) -> Vec<f64> {
    const LEAST: f64 = 1.5;
    let mut heights: Vec<f64> = stack.iter().map(|(_, height)| height.max(LEAST)).collect();
    let excess: f64 = stack.iter().zip(&heights).map(|((_, height), seen)| seen - height).sum();
    if let Some(tallest) = heights.iter_mut().max_by(|a, b| a.total_cmp(b)) {
        *tallest = (*tallest - excess).max(LEAST);
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_part_is_seen_and_the_stack_stays_as_tall() {
        let heights = seen(&[(0, 200.0), (1, 0.01), (2, 3.0)]);
        assert_eq!(heights, [200.0 - 1.49, 1.5, 3.0]);
    }
}
