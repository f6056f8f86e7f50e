//! Axes: the position of a value, and the values that have ticks.

use std::ops::Range;

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart. Values are above 0.
    Logarithmic,
    /// Percentiles: each further nine is equally far from the one before. Values are from 0 to below 100.
    Nines,
}

/// The percentiles that have ticks.
const NINES: [f64; 7] = [0.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999];

impl Scale {
    /// The position of a value.
    pub(super) fn place(self, value: f64) -> f64 {
        match self {
            Scale::Linear => value,
            Scale::Logarithmic => value.log10(),
            Scale::Nines => -(1.0 - value / 100.0).max(1e-9).log10(),
        }
    }

    /// The value at a position.
    pub(super) fn value(self, place: f64) -> f64 {
        match self {
            Scale::Linear => place,
            Scale::Logarithmic => 10_f64.powf(place),
            Scale::Nines => 100.0 * (1.0 - 10_f64.powf(-place)),
        }
    }

    /// True when the scale can show the value.
    pub(super) fn holds(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Scale::Linear => true,
                Scale::Logarithmic => value > 0.0,
                Scale::Nines => (0.0..100.0).contains(&value),
            }
    }

    /// The positions from the least to the greatest of these values, never an empty range. A linear scale has `room`,
    /// a share of the greatest position, above it.
    pub(super) fn range(self, values: &[f64], room: f64) -> Range<f64> {
        let places = values.iter().filter(|value| self.holds(**value)).map(|value| self.place(*value));
        let (least, most) = places.fold((f64::MAX, f64::MIN), |(least, most), at| (least.min(at), most.max(at)));
        if least > most {
            return 0.0..1.0;
        }
        match self {
            Scale::Linear => 0.0_f64.min(least)..(most * (1.0 + room)).max(least + 1e-6),
            Scale::Logarithmic => least - 0.08..most + 0.12,
            Scale::Nines => 0.0..most.max(1.0),
        }
    }

    /// The positions of the ticks, about `most` at most.
    pub(super) fn ticks(self, range: &Range<f64>, most: usize) -> Vec<f64> {
        let inside = |place: &f64| *place >= range.start - 1e-9 && *place <= range.end + 1e-9;
        match self {
            Scale::Linear => linear_ticks(range, most),
            Scale::Logarithmic => logarithmic_ticks(range, most),
            Scale::Nines => NINES.into_iter().map(|value| self.place(value)).filter(inside).collect(),
        }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
#[expect(clippy::cast_precision_loss, reason = "there are few ticks")]
fn linear_ticks(range: &Range<f64>, most: usize) -> Vec<f64> {
    let least_step = (range.end - range.start) / most.max(1) as f64;
    let power = 10_f64.powf(least_step.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|step| *step >= least_step);
    let step = step.unwrap_or(10.0 * power);
    let first = (range.start / step).ceil();
    (0..=most + 1).map(|index| (first + index as f64) * step).take_while(|tick| *tick <= range.end + 1e-9).collect()
}

/// Powers of ten, with 2 and 5 times these where there is room.
#[expect(clippy::cast_possible_truncation, reason = "exponents are small")]
fn logarithmic_ticks(range: &Range<f64>, most: usize) -> Vec<f64> {
    let decades = range.start.floor() as i32..=range.end.ceil() as i32;
    let with = |factors: &[f64]| -> Vec<f64> {
        let ticks =
            decades.clone().flat_map(|decade| factors.iter().map(move |factor| f64::from(decade) + factor.log10()));
        ticks.filter(|tick| *tick >= range.start && *tick <= range.end).collect()
    };
    let choices = [with(&[1.0, 2.0, 3.0, 5.0, 7.0]), with(&[1.0, 2.0, 5.0]), with(&[1.0, 3.0]), with(&[1.0])];
    let [.., tens] = &choices;
    choices.iter().find(|ticks| ticks.len() <= most).unwrap_or(tens).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(scale: Scale, range: Range<f64>, most: usize) -> Vec<f64> {
        scale.ticks(&range, most).into_iter().map(|place| (scale.value(place) * 1e4).round() / 1e4).collect()
    }

    #[test]
    fn round_values_are_named() {
        assert_eq!(named(Scale::Linear, 0.0..9.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(named(Scale::Linear, 0.0..1234.0, 6), [0.0, 500.0, 1000.0]);
        assert_eq!(named(Scale::Logarithmic, 1.9..4.1, 8), [100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0]);
        assert_eq!(named(Scale::Logarithmic, 0.0..6.0, 7), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(named(Scale::Nines, 0.0..3.2, 8), [0.0, 90.0, 99.0, 99.9]);
    }

    #[test]
    fn an_axis_holds_all_of_its_values_and_more_than_nothing() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let range = scale.range(&[5.0, 20.0], 0.1);
            assert!(range.contains(&scale.place(5.0)) && range.contains(&scale.place(20.0)));
            let alone = scale.range(&[7.0], 0.1);
            assert!(alone.start < alone.end && alone.contains(&scale.place(7.0)));
        }
        assert_eq!(Scale::Logarithmic.range(&[0.0, f64::NAN], 0.0), 0.0..1.0);
        assert!(Scale::Linear.range(&[0.0], 0.0).end > 0.0);
    }
}
