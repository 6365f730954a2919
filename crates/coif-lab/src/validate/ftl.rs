//! `ftl`: the default settings of Follow-The-Leader.
//!
//! Resting: grooms of random curvature whose segments differ by up to a hundred times stay where they are.
//! Swinging: a hanging strand with a style swings at `w^2 = u.(G + S)u / u.u`, with `G` the stiffness of its weight and
//! `S` that of its style, both of a chain of many points. Its decay is half of the damping of the settings, plus the
//! numerical damping of backward Euler (`ln(1 + w^2 dt^2) / (2 dt)`).
//! The same motion: a strand that is shaken, for any number of points and any step.

use std::f64::consts::PI;

use coif::groom::{Fibre, Groom, Strands};
use coif::math::{Random, RigidTransform};
use coif::model::follow_the_leader::{FollowTheLeader, Settings};
use coif::model::{Environment, Model, StepReport};
use coif::simulation::Wind;
use glam::{Quat, Vec3};

use super::chain::{LENGTH, amplitude_of, damping, frequency, hanging};
use super::{Check, Findings, Plot, Row};
use crate::Error;

pub(super) const CHECK: Check = Check {
    name: "ftl",
    about: "the default style: rest of uneven grooms, swing and decay, one motion for any points and steps",
    run,
};

const NAME: &str = "follow-the-leader";
const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

fn run() -> Result<Findings, Error> {
    let mut rows = Vec::new();
    for ratio in [1.0f32, 20.0, 100.0] {
        for steps_per_second in [60, 240, 960] {
            rest(ratio, steps_per_second, &mut rows)?;
        }
    }
    let mut swings = Plot::new("Swing of a styled strand", "time (s)", "amplitude (mm)");
    for style_time in [f32::INFINITY, 2.0, 0.5, 0.2] {
        for steps_per_second in [60, 240, 960] {
            swing(&SMALL, style_time, steps_per_second, &mut rows, &mut swings)?;
            swing(&large(), style_time, steps_per_second, &mut rows, &mut swings)?;
        }
    }
    let mut shaken = Plot::new("Tip of a shaken strand", "time (s)", "x (m)").named("shaken");
    same_motion(&mut rows, &mut shaken)?;
    Ok(Findings { rows, plots: vec![swings, shaken] })
}

/// A random direction.
fn direction(random: &mut Random) -> Vec3 {
    random.vector().normalize_or(Vec3::Y)
}

/// A strand of 2 to 200 points and 1 to 60 cm, of random curvature, whose segments differ by up to `ratio` times.
fn random_line(random: &mut Random, ratio: f32) -> Vec<Vec3> {
    let points = 2 + (random.unit() * random.unit() * 199.0) as usize;
    let length = 0.6 * 60f32.powf(-random.unit());
    let weights: Vec<f32> = (1..points).map(|_| ratio.powf(random.unit())).collect();
    let sum: f32 = weights.iter().sum();
    let (axis, noise) = (direction(random), 0.3 * random.unit());
    let curl = 20.0 * random.unit() * random.unit() / length;
    let mut along = direction(random);
    let mut line = vec![direction(random) * 0.1];
    for weight in weights {
        let step = weight / sum * length;
        line.push(line[line.len() - 1] + along * step);
        let turn = (curl * step).min(1.5) + noise * (random.unit() - 0.5);
        along = (Quat::from_axis_angle(axis, turn) * along).normalize();
    }
    line
}

/// Checks that random grooms stay where they are for five seconds.
fn rest(ratio: f32, steps_per_second: u32, rows: &mut Vec<Row>) -> Result<(), Error> {
    let mut random = Random::new(1, 0);
    let mut strands = Strands::new();
    for _strand in 0..100 {
        strands.push(&random_line(&mut random, ratio));
    }
    let groom = Groom::new(strands, Fibre::default());
    let dt = 1.0 / steps_per_second as f32;
    let mut model = FollowTheLeader::new(&groom, &Settings::default(), dt, GRAVITY)?;
    let roots = vec![RigidTransform::IDENTITY; groom.strands.strand_count()];
    for step in 1..=5 * steps_per_second {
        let time = f64::from(step) * f64::from(dt);
        model.step(&still(time, dt, &roots, &Wind::default()), &mut StepReport::default());
    }
    let mut now = groom.strands.clone();
    model.positions(now.positions_mut());
    let mut velocities = vec![Vec3::ZERO; now.point_count()];
    model.velocities(&mut velocities);
    let drift = |s: usize| {
        let ends = [&now, &groom.strands].map(|g| g.strand(s)[g.strand(s).len() - 1]);
        f64::from(ends[0].distance(ends[1]) / groom.strands.length(s))
    };
    let drift = (0..now.strand_count()).map(drift).fold(0.0, f64::max);
    let speed = velocities.iter().map(|v| f64::from(v.length())).fold(0.0, f64::max);
    let name = |what: &str| format!("ftl/rest-{what}-{ratio}-times-{steps_per_second}-hz");
    rows.push(Row::compare(name("drift"), NAME, "tip drift (of the length)", [drift, 0.0], 0.01));
    rows.push(Row::compare(name("speed"), NAME, "largest speed (m/s)", [speed, 0.0], 0.01));
    Ok(())
}

fn still<'a>(time: f64, dt: f32, roots: &'a [RigidTransform], wind: &'a Wind) -> Environment<'a> {
    Environment {
        time,
        dt,
        gravity: GRAVITY,
        wind,
        world_from_rest: roots,
        colliders: &[],
        field: None,
        gusts: Default::default(),
        pins: Default::default(),
    }
}

/// The slowest swing of a hanging strand with a style: squared angular frequency, the style's contribution to it, and
/// the shape at `points` points.
///
/// Model: a chain of many links; inverse iteration with the tridiagonal stiffness.
fn slowest(settings: &Settings, points: usize) -> (f64, f64, Vec<f64>) {
    let per = 12;
    let n = per * (points - 1);
    let l = LENGTH / n as f64;
    let k = 1.0 / f64::from(settings.style_time.at(0.0)).powi(2);
    let b = k * f64::from(settings.style_length).powi(2);
    let weight = |i: usize| f64::from(-GRAVITY.y) * (LENGTH - (i as f64 - 0.5) * l);
    // Stiffness of link i, over the mass of a link; masses of the points.
    let link = |i: usize| (weight(i) + b) / (l * l);
    let mass = |i: usize| if i == n { 0.5 } else { 1.0 };
    let mut u = vec![1.0; n + 1];
    let mut omega2 = 0.0;
    for _round in 0..60 {
        // Solve (K + k M) w = M u by elimination from the tip; the root is pinned.
        let (mut d, mut r) = (vec![0.0; n + 1], vec![0.0; n + 1]);
        for i in (1..=n).rev() {
            d[i] = link(i) + k * mass(i);
            r[i] = mass(i) * u[i];
            if i < n {
                d[i] += link(i + 1) - link(i + 1) * link(i + 1) / d[i + 1];
                r[i] += link(i + 1) * r[i + 1] / d[i + 1];
            }
        }
        let mut w = vec![0.0; n + 1];
        for i in 1..=n {
            w[i] = (r[i] + link(i) * w[i - 1]) / d[i];
        }
        let size = w[n];
        omega2 = u[n] / size;
        u = w.into_iter().map(|w| w / size).collect();
    }
    let bend: f64 = (1..=n).map(|i| b / (l * l) * (u[i] - u[i - 1]).powi(2)).sum();
    let inertia: f64 = (1..=n).map(|i| mass(i) * u[i] * u[i]).sum();
    (omega2, k + bend / inertia, u.into_iter().step_by(per).collect())
}

/// The start of a swing, and the duration of its measurement.
struct Push {
    /// Part of the name of the row.
    name: &'static str,
    /// Speed of the tip (m/s).
    speed: f64,
    settling_time: f32,
    periods: f64,
}

/// A swing small enough for linear theory, of hair that does not settle.
const SMALL: Push = Push { name: "swing", speed: 0.03, settling_time: f32::INFINITY, periods: 4.0 };

/// A swing of some centimetres, with the default settling time.
fn large() -> Push {
    let settling_time = Settings::default().settling_time;
    Push { name: "large-swing", speed: 0.3, settling_time, periods: 2.5 }
}

/// Frequency and decay of the slowest swing, from limp to the default stiffness, lightly damped.
fn swing(
    push: &Push,
    style_time: f32,
    steps_per_second: u32,
    rows: &mut Vec<Row>,
    plot: &mut Plot,
) -> Result<(), Error> {
    let (points, air, ratio) = (30, 1.0f32, 0.05f32);
    let settings = Settings {
        settling_time: push.settling_time,
        style_time: style_time.into(),
        damping_ratio: ratio,
        damping: air.into(),
        correction: 1.0.into(),
        ..Settings::default()
    };
    let (omega2, style, shape) = slowest(&settings, points);
    // Half of the damping of the settings: of the air, and in proportion to the style.
    let of_style = if style > 0.0 { 2.0 * f64::from(ratio * style_time) * style } else { 0.0 };
    let turn = omega2.sqrt() / f64::from(steps_per_second);
    let rate = 0.5 * (f64::from(air) + of_style)
        + 0.5 * (turn * turn).ln_1p() * f64::from(steps_per_second);
    let omega = (omega2 - rate * rate).max(0.0).sqrt();
    // The groom hangs straight; a push starts the swing.
    let mut strands = Strands::new();
    strands.push(&hanging(&vec![0.0; points], points));
    let groom = Groom::new(strands, Fibre::default());
    let dt = 1.0 / steps_per_second as f32;
    let mut model = FollowTheLeader::new(&groom, &settings, dt, GRAVITY)?;
    let pushed: Vec<Vec3> = shape.iter().map(|u| Vec3::X * (push.speed * u) as f32).collect();
    model.add_velocities(&pushed);
    let mut amplitudes = Vec::new();
    let (mut time, mut now) = (0.0, vec![Vec3::ZERO; points]);
    let roots = [RigidTransform::IDENTITY];
    while time < push.periods * 2.0 * PI / omega {
        model.positions(&mut now);
        amplitudes.push((time, amplitude_of(&shape, &now) * 1e3));
        time += f64::from(dt);
        model.step(&still(time, dt, &roots, &Wind::default()), &mut StepReport::default());
    }
    let name = |what: &str| format!("ftl/{what}-style-{style_time}-s-{steps_per_second}-hz");
    let truth = omega / (2.0 * PI);
    let found = [frequency(&amplitudes), damping(&amplitudes)];
    rows.push(Row::compare(name(push.name), NAME, "frequency (Hz)", [found[0], truth], 0.1));
    let zeta = rate / rate.hypot(omega);
    rows.push(Row::compare(
        name(&push.name.replace("swing", "decay")),
        NAME,
        "damping ratio",
        [found[1], zeta],
        0.1,
    ));
    if steps_per_second == 240 && push.settling_time.is_infinite() {
        plot.line(&format!("style time {style_time} s"), amplitudes);
    }
    Ok(())
}

/// Largest distance between strands with different numbers of points and steps over two seconds of shaking.
fn same_motion(rows: &mut Vec<Row>, plot: &mut Plot) -> Result<(), Error> {
    let reference = shake(60, 960)?;
    for (points, steps_per_second) in [(15, 960), (30, 960), (60, 240), (30, 240), (30, 60)] {
        let line = shake(points, steps_per_second)?;
        let worst = line.iter().zip(&reference).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        rows.push(Row::compare(
            format!("ftl/same-motion-{points}-points-{steps_per_second}-hz"),
            NAME,
            "largest distance of the tip (of the length)",
            [f64::from(worst) / LENGTH, 0.0],
            0.05,
        ));
        let x = line.iter().enumerate().map(|(f, p)| (f as f64 / 60.0, f64::from(p.x)));
        plot.line(&format!("{points} pts, {steps_per_second} Hz"), x.collect());
    }
    Ok(())
}

/// The tip of a strand that leaves the scalp sideways and hangs, sampled 60 times a second while the head shakes.
fn shake(points: usize, steps_per_second: u32) -> Result<Vec<Vec3>, Error> {
    // A quarter circle, then straight down.
    let bend = 0.05;
    let place = |s: f64| {
        let arc = bend * PI / 2.0;
        if s < arc {
            let a = s / bend;
            return Vec3::new((bend * a.sin()) as f32, (bend * (a.cos() - 1.0)) as f32, 0.0);
        }
        Vec3::new(bend as f32, -(bend + s - arc) as f32, 0.0)
    };
    let line: Vec<Vec3> =
        (0..points).map(|i| place(LENGTH * i as f64 / (points - 1) as f64)).collect();
    let mut strands = Strands::new();
    strands.push(&line);
    let groom = Groom::new(strands, Fibre::default());
    let dt = 1.0 / steps_per_second as f32;
    let mut model = FollowTheLeader::new(&groom, &Settings::default(), dt, GRAVITY)?;
    let mut tips = Vec::new();
    let mut now = vec![Vec3::ZERO; points];
    for step in 1..=2 * steps_per_second {
        let time = f64::from(step) / f64::from(steps_per_second);
        let angle = 0.8 * (2.0 * PI * 1.5 * time).sin();
        let pose = RigidTransform {
            rotation: Quat::from_rotation_y(angle as f32),
            translation: Vec3::Z * 0.1 * (2.0 * PI * 1.1 * time).sin() as f32,
        };
        let roots = [pose];
        model.step(&still(time, dt, &roots, &Wind::default()), &mut StepReport::default());
        if step % (steps_per_second / 60) == 0 {
            model.positions(&mut now);
            tips.push(now[points - 1]);
        }
    }
    Ok(tips)
}
