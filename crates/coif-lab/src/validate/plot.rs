//! Line plots as SVG.

use std::fmt::Write as _;

/// A plot of one or more lines.
pub struct Plot {
    /// Suffix of its file name; none for the first plot of a check.
    name: Option<&'static str>,
    /// Whether both axes have the same scale.
    to_scale: bool,
    /// Whether each point of a line has a dot.
    is_marked: bool,
    title: String,
    x_label: String,
    y_label: String,
    lines: Vec<(String, Vec<(f64, f64)>)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
/// Limits of the height of a plot to scale.
const HEIGHTS: (f64, f64) = (260.0, 640.0);
/// Space for labels: left, top, right, bottom.
const MARGIN: [f64; 4] = [84.0, 44.0, 160.0, 56.0];
/// Colours that are distinguishable with any colour vision (Okabe and Ito).
const COLORS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

impl Plot {
    /// A plot without lines.
    pub fn new(title: &str, x_label: &str, y_label: &str) -> Self {
        Self {
            name: None,
            to_scale: false,
            is_marked: false,
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            lines: Vec::new(),
        }
    }

    /// Sets the suffix of a further plot of a check.
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Draws both axes with the same scale, for shapes.
    pub(crate) fn drawn_to_scale(self) -> Self {
        Self { to_scale: true, ..self }
    }

    /// Draws a dot at each point, for lines of few points.
    pub fn marked(self) -> Self {
        Self { is_marked: true, ..self }
    }

    /// The name of its file for a check.
    pub fn file_name(&self, check: &str) -> String {
        match self.name {
            Some(name) => format!("{check}-{name}.svg"),
            None => format!("{check}.svg"),
        }
    }

    /// Adds a line. Lines of the same name have the same colour and one entry in the legend.
    pub fn line(&mut self, name: &str, points: Vec<(f64, f64)>) {
        let finite = points.into_iter().filter(|p| p.0.is_finite() && p.1.is_finite());
        self.lines.push((name.into(), finite.collect()));
    }

    /// The plot as SVG.
    pub fn svg(&self) -> String {
        let [left, top, right, bottom] = MARGIN;
        let points = || self.lines.iter().flat_map(|l| &l.1);
        let mut x_axis = Axis::around(points().map(|p| p.0));
        let mut y_axis = Axis::around(points().map(|p| p.1));
        let plot_width = WIDTH - left - right;
        let mut height = HEIGHT;
        if self.to_scale {
            // Adapt the height to the shapes within limits; beyond them leave space.
            let wanted = plot_width * y_axis.size() / x_axis.size() + top + bottom;
            height = wanted.clamp(HEIGHTS.0, HEIGHTS.1);
            let scale = (x_axis.size() / plot_width).max(y_axis.size() / (height - top - bottom));
            x_axis.widen(scale * plot_width);
            y_axis.widen(scale * (height - top - bottom));
        }
        let plot_height = height - top - bottom;
        let x_at = |x: f64| left + plot_width * x_axis.fraction(x);
        let y_at = |y: f64| top + plot_height * (1.0 - y_axis.fraction(y));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let text = |out: &mut String, x: f64, y: f64, more: &str, text: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\"{more}>{}</text>", escaped(text));
        };
        text(&mut out, left, 26.0, " font-size=\"16\" font-weight=\"bold\"", &self.title);

        // Draw the grid with its numbers.
        for x in x_axis.ticks() {
            let at = x_at(x);
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {top}V{:.1}\" stroke=\"#ddd\"/>",
                height - bottom
            );
            let below = height - bottom + 18.0;
            text(&mut out, at, below, " text-anchor=\"middle\"", &x_axis.label(x));
        }
        for y in y_axis.ticks() {
            let at = y_at(y);
            let _ =
                writeln!(out, "<path d=\"M{left} {at:.1}H{:.1}\" stroke=\"#ddd\"/>", WIDTH - right);
            text(&mut out, left - 6.0, at + 4.0, " text-anchor=\"end\"", &y_axis.label(y));
        }
        let middle = " text-anchor=\"middle\"";
        text(&mut out, left + plot_width * 0.5, height - 14.0, middle, &self.x_label);
        let (x, y) = (18.0, top + plot_height * 0.5);
        let turned = format!("{middle} transform=\"rotate(-90 {x:.1} {y:.1})\"");
        text(&mut out, x, y, &turned, &self.y_label);

        // Draw the lines and their names.
        let mut names: Vec<&str> = Vec::new();
        for (name, line) in &self.lines {
            let known = names.iter().position(|n| n == name);
            let i = known.unwrap_or(names.len());
            let color = COLORS[i % COLORS.len()];
            let mut path = String::new();
            for (k, &(x, y)) in line.iter().enumerate() {
                let _ =
                    write!(path, "{}{:.1} {:.1}", if k == 0 { 'M' } else { 'L' }, x_at(x), y_at(y));
            }
            let _ = writeln!(
                out,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\"/>"
            );
            if self.is_marked {
                for &(x, y) in line {
                    let (x, y) = (x_at(x), y_at(y));
                    let _ = writeln!(
                        out,
                        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{color}\"/>"
                    );
                }
            }
            if known.is_some() {
                continue;
            }
            names.push(name);
            let y = top + 14.0 + 20.0 * i as f64;
            let x = WIDTH - right + 12.0;
            let _ = writeln!(
                out,
                "<path d=\"M{x} {:.1}h18\" stroke=\"{color}\" stroke-width=\"3\"/>",
                y - 4.0
            );
            text(&mut out, x + 24.0, y, "", name);
        }
        out.push_str("</svg>\n");
        out
    }
}

/// A range with round ticks.
struct Axis {
    lo: f64,
    hi: f64,
    step: f64,
}

impl Axis {
    fn around(values: impl Iterator<Item = f64>) -> Self {
        let (lo, hi) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        let (lo, hi) = if lo < hi {
            (lo, hi)
        } else if lo == hi {
            // A single value is in the middle.
            let half = if lo == 0.0 { 1.0 } else { 0.5 * lo.abs() };
            (lo - half, hi + half)
        } else {
            (0.0, 1.0)
        };
        // About five steps of 1, 2 or 5 times a power of ten.
        let rough = (hi - lo) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
        let step = step.into_iter().find(|s| *s >= rough).unwrap_or(rough);
        Self { lo: (lo / step).floor() * step, hi: (hi / step).ceil() * step, step }
    }

    fn size(&self) -> f64 {
        self.hi - self.lo
    }

    /// Makes the range larger about its middle.
    fn widen(&mut self, size: f64) {
        let more = 0.5 * (size - self.size());
        (self.lo, self.hi) = (self.lo - more, self.hi + more);
    }

    fn fraction(&self, value: f64) -> f64 {
        (value - self.lo) / (self.hi - self.lo)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        // Rounding must not lose the tick at either end.
        let first = (self.lo / self.step - 1e-6).ceil();
        let count = (self.hi / self.step + 1e-6).floor() - first;
        let step = self.step;
        (0..=count as u32).map(move |i| step * (first + f64::from(i)))
    }

    fn label(&self, value: f64) -> String {
        if value == 0.0 || value.abs() < self.step * 1e-6 {
            "0".into()
        } else if self.step < 1e-3 || self.step >= 1e5 {
            format!("{value:.1e}")
        } else {
            let digits = (-self.step.log10().floor()).max(0.0) as usize;
            format!("{value:.digits$}")
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_round_and_contain_everything() {
        for (lo, hi) in [(0.0, 1.0), (-0.37, 12.9), (1e-7, 3e-6), (5.0, 5.0), (0.0, 0.0)] {
            let axis = Axis::around([lo, hi].into_iter());
            assert!(axis.lo <= lo && axis.hi >= hi, "{lo} {hi}");
            let ticks = axis.ticks().count();
            assert!((3..=12).contains(&ticks), "{lo} {hi}: {ticks}");
        }
    }

    #[test]
    fn a_plot_has_its_lines_and_names() {
        let mut plot = Plot::new("a < b", "x", "y");
        plot.line("one", vec![(0.0, 0.0), (1.0, 2.0), (f64::NAN, 1.0)]);
        plot.line("none", vec![]);
        let svg = plot.svg();
        assert!(svg.contains("a &lt; b") && svg.contains(">one<") && !svg.contains("NaN"));
        assert!(svg.ends_with("</svg>\n"));
        assert_eq!(plot.file_name("length"), "length.svg");
        assert_eq!(plot.named("more").file_name("length"), "length-more.svg");
    }

    /// A square stays square, and two lines of one name have one entry in the legend.
    #[test]
    fn shapes_keep_their_proportions() {
        let mut plot = Plot::new("", "", "").drawn_to_scale();
        plot.line("square", vec![(0.0, 0.0), (1.0, 0.0)]);
        plot.line("square", vec![(0.0, 0.0), (0.0, 1.0)]);
        let svg = plot.svg();
        let size: Vec<f64> = svg
            .lines()
            .filter_map(|l| l.strip_prefix("<path d=\"M")?.split_once("\" fill"))
            .map(|(path, _)| {
                let numbers: Vec<f64> =
                    path.split([' ', 'L']).filter_map(|n| n.parse().ok()).collect();
                (numbers[2] - numbers[0]).hypot(numbers[3] - numbers[1])
            })
            .collect();
        assert_eq!(size.len(), 2);
        assert!((size[0] - size[1]).abs() < 0.2 && size[0] > 100.0, "{size:?}");
        assert_eq!(svg.matches(">square<").count(), 1);
    }
}
