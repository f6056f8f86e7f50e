//! A chart: lines over two axes, as SVG that takes its colours from the page.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::axis::Scale;
use super::markup::escaped;

/// Placeholders for the page's colours, which differ between the light and the dark scheme.
const INK: RGBColor = RGBColor(1, 1, 1);
const GRID: RGBColor = RGBColor(2, 2, 2);
const BOUND: RGBColor = RGBColor(3, 3, 3);
const LINES: [RGBColor; 6] = [
    RGBColor(11, 11, 11),
    RGBColor(12, 12, 12),
    RGBColor(13, 13, 13),
    RGBColor(14, 14, 14),
    RGBColor(15, 15, 15),
    RGBColor(16, 16, 16),
];

/// The size of a chart: one for wide screens, one for narrow ones, on which letters of the same size must fit.
#[derive(Debug, Clone, Copy)]
struct Canvas {
    class: &'static str,
    width: u32,
    height: u32,
    x_ticks: usize,
    y_ticks: usize,
    y_labels: u32,
}

const CANVASES: [Canvas; 2] = [
    Canvas { class: "wide", width: 920, height: 320, x_ticks: 10, y_ticks: 7, y_labels: 72 },
    Canvas { class: "narrow", width: 380, height: 300, x_ticks: 5, y_ticks: 6, y_labels: 62 },
];

/// The size of letters, in pixels.
const LETTERS: u32 = 15;

/// Half of the width of the widest last tick, `99.999 %`, half of which is to the right of the plot.
const LAST_TICK_ROOM: u32 = 40;

/// The function that formats a value.
pub(super) type Name = fn(f64) -> String;

/// An axis.
#[derive(Clone)]
pub(super) struct Axis {
    pub(super) scale: Scale,
    /// The quantity that the axis shows, with its unit where the values have none.
    pub(super) title: String,
    pub(super) name: Name,
    /// The only values that have ticks, where these are few.
    pub(super) only: Option<Vec<f64>>,
}

/// A line.
#[derive(Debug, Clone)]
pub(super) struct ChartLine {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// True when the points are marked.
    pub(super) dots: bool,
    /// True when the points are joined by a line.
    pub(super) joined: bool,
}

/// A chart.
#[derive(Clone)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<ChartLine>,
    /// A value of the y axis that is marked, with its name.
    pub(super) bound: Option<(f64, String)>,
}

/// The area in which a chart is drawn.
type Area<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<NamedTicks, NamedTicks>>;

/// The result of drawing. Drawing into a string cannot fail, but the library has other targets as well.
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A range with its ticks.
#[derive(Clone)]
struct NamedTicks {
    range: std::ops::Range<f64>,
    ticks: Vec<f64>,
}

impl Ranged for NamedTicks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[expect(clippy::cast_possible_truncation, reason = "pixels are few")]
    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for NamedTicks {
    fn format(value: &f64) -> String {
        value.to_string()
    }
}

impl Axis {
    fn named(&self, values: &[f64], room: f64, most: usize) -> NamedTicks {
        let range = self.scale.range(values, room);
        let ticks = match &self.only {
            Some(only) => only.iter().map(|value| self.scale.place(*value)).collect(),
            None => self.scale.ticks(&range, most),
        };
        NamedTicks { range, ticks }
    }
}

impl Chart {
    /// The chart with its title and its legend, in both sizes; the page shows one.
    pub(super) fn figure(&self) -> String {
        let pictures: String = CANVASES.iter().map(|canvas| self.svg(*canvas)).collect();
        let (title, legend) = (escaped(&self.title), self.legend());
        let axes = escaped(&format!("↑ {}   → {}", self.y.title, self.x.title));
        format!("<figure><figcaption><b>{title}</b><span>{axes}</span></figcaption>{legend}{pictures}</figure>\n")
    }

    fn legend(&self) -> String {
        let key = |(index, line): (usize, &ChartLine)| {
            format!(
                "<span><i style=\"background:var(--line-{})\"></i>{}</span>",
                index % LINES.len(),
                escaped(&line.name)
            )
        };
        let mut keys: Vec<String> = match self.lines.len() {
            1 if self.bound.is_none() => Vec::new(),
            _ => self.lines.iter().enumerate().map(key).collect(),
        };
        let bound = |(_, name): &(f64, String)| {
            format!("<span><i style=\"background:var(--bound)\"></i>{}</span>", escaped(name))
        };
        keys.extend(self.bound.as_ref().map(bound));
        if keys.is_empty() { String::new() } else { format!("<p class=\"legend\">{}</p>", keys.concat()) }
    }

    fn svg(&self, canvas: Canvas) -> String {
        let mut svg = String::new();
        self.draw(&mut svg, canvas).expect("drawing into a string cannot fail");
        let body = svg.find('>').map_or("", |end| &svg[end + 1..]);
        let Canvas { class, width, height, .. } = canvas;
        let label = escaped(&self.title);
        let head =
            format!("<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">");
        with_colours_of_the_page(&format!("{head}{body}"))
    }

    fn draw(&self, svg: &mut String, canvas: Canvas) -> Drawn {
        let of_x = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).collect::<Vec<_>>();
        let of_y = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
        let of_y = of_y.chain(self.bound.iter().map(|bound| bound.0)).collect::<Vec<_>>();
        let (x, y) = (self.x.named(&of_x, 0.0, canvas.x_ticks), self.y.named(&of_y, 0.08, canvas.y_ticks));
        let root = SVGBackend::with_string(svg, (canvas.width, canvas.height)).into_drawing_area();
        let mut builder = ChartBuilder::on(&root);
        builder.margin(6).margin_right(LAST_TICK_ROOM).x_label_area_size(30).y_label_area_size(canvas.y_labels);
        let mut area = builder.build_cartesian_2d(x, y)?;
        self.draw_grid(&mut area)?;
        self.draw_bound(&mut area)?;
        // The first line is drawn last, on top of the others.
        for (line, colour) in self.lines.iter().zip(LINES.into_iter().cycle()).collect::<Vec<_>>().into_iter().rev() {
            self.draw_line(&mut area, line, colour)?;
        }
        root.present()?;
        Ok(())
    }

    fn draw_grid(&self, area: &mut Area<'_, '_>) -> Drawn {
        let letters = ("sans-serif", LETTERS).into_font().color(&INK);
        let (x_name, y_name) = (|place: &f64| name(&self.x, *place), |place: &f64| name(&self.y, *place));
        let mut mesh = area.configure_mesh();
        mesh.light_line_style(TRANSPARENT).bold_line_style(GRID).axis_style(GRID).label_style(letters);
        mesh.x_label_formatter(&x_name).y_label_formatter(&y_name).draw()?;
        Ok(())
    }

    fn draw_bound(&self, area: &mut Area<'_, '_>) -> Drawn {
        if let Some((bound, _)) = &self.bound {
            let (x, at) = (area.x_range(), self.y.scale.place(*bound));
            area.draw_series(LineSeries::new([(x.start, at), (x.end, at)], BOUND.stroke_width(2)))?;
        }
        Ok(())
    }

    fn draw_line(&self, area: &mut Area<'_, '_>, line: &ChartLine, colour: RGBColor) -> Drawn {
        let points = self.places(line);
        if line.joined {
            area.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?;
        }
        if line.dots {
            area.draw_series(points.iter().map(|point| Circle::new(*point, 4, colour.filled())))?;
        }
        Ok(())
    }

    /// The positions of a line's points; those that the scales cannot show are left out.
    fn places(&self, line: &ChartLine) -> Vec<(f64, f64)> {
        let shown = line.points.iter().filter(|(x, y)| self.x.scale.holds(*x) && self.y.scale.holds(*y));
        shown.map(|(x, y)| (self.x.scale.place(*x), self.y.scale.place(*y))).collect()
    }
}

fn name(axis: &Axis, place: f64) -> String {
    (axis.name)(axis.scale.value(place))
}

/// Replaces the placeholders by the page's colours.
fn with_colours_of_the_page(svg: &str) -> String {
    let hexadecimal = |RGBColor(red, green, blue): RGBColor| format!("\"#{red:02X}{green:02X}{blue:02X}\"");
    let mut svg = svg.to_owned();
    for (colour, variable) in [(INK, "ink"), (GRID, "grid"), (BOUND, "bound")] {
        svg = svg.replace(&hexadecimal(colour), &format!("\"var(--{variable})\""));
    }
    for (index, colour) in LINES.into_iter().enumerate() {
        svg = svg.replace(&hexadecimal(colour), &format!("\"var(--line-{index})\""));
    }
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        let axis =
            |scale| Axis { scale, title: "time & more".to_owned(), name: |value| format!("{value:.0}"), only: None };
        let line = |name: &str| ChartLine { name: name.to_owned(), points: points.clone(), dots: false, joined: true };
        let lines = vec![line("p50 <now>"), line("p99")];
        Chart { title: "Latency".to_owned(), x: axis(Scale::Linear), y: axis(Scale::Logarithmic), lines, bound: None }
    }

    #[test]
    fn a_picture_has_a_line_for_each_and_only_colours_of_the_page() {
        let figure = chart(vec![(0.0, 10.0), (1.0, 100.0), (2.0, 50.0)]).figure();
        assert_eq!(figure.matches("<svg").count(), 2);
        assert_eq!(figure.matches("stroke=\"var(--line-0)\"").count(), 2, "{figure}");
        assert_eq!(figure.matches("stroke=\"var(--line-1)\"").count(), 2);
        assert!(!figure.contains("\"#") && figure.contains("p50 &lt;now&gt;") && figure.contains("time &amp; more"));
    }

    #[test]
    fn a_picture_of_nothing_or_of_one_point_is_drawn() {
        assert!(chart(Vec::new()).figure().contains("</svg>"));
        assert!(chart(vec![(5.0, 5.0)]).figure().contains("</svg>"));
        assert!(chart(vec![(5.0, 0.0)]).figure().contains("</svg>"), "a value that the axis cannot show");
    }
}
