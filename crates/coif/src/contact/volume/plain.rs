//! Reference implementation of the contact over an array of structures, without lanes and threads.
//! Tests compare the lanes with it, and `coif bench` measures the speed-up over it.

use glam::{Quat, Vec3};

use super::field::Pressure;
use super::gather::{NO_GRADIENT, Push};
use super::grid::Grid;
use super::row::sane;
use super::{Settings, rest};
use crate::Result;

/// A particle as one structure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Particle {
    /// Position (m).
    pub position: Vec3,
    /// Displacement in the last step over its length (m/s).
    pub motion: Vec3,
    /// Velocity that the next step starts with (m/s).
    pub velocity: Vec3,
    /// Its weight: mass (kg), or length of strand.
    pub mass: f32,
    /// Whether it may be moved.
    pub free: bool,
}

impl Particle {
    fn sane(&self) -> bool {
        sane(self.position, self.motion, self.mass)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Node {
    mass: f32,
    momentum: Vec3,
    velocity: Vec3,
    across: Vec3,
    rest: f32,
    pressure: f32,
}

/// Friction and repulsion without lanes and without threads. Does not leave out stray particles: the cell grows until
/// the box of all particles fits the largest grid.
pub struct PlainVolume {
    settings: Settings,
    nodes: Vec<Node>,
    rest: Vec<f32>,
    mean: f32,
}

impl PlainVolume {
    /// See [`super::Volume::new`].
    pub fn new(settings: &Settings) -> Result<Self> {
        settings.validate()?;
        let settings = settings.clone();
        Ok(Self { settings, nodes: Vec::new(), rest: Vec::new(), mean: 0.0 })
    }

    /// See [`super::Volume::rest`].
    pub fn rest(&mut self, particles: &[Particle]) {
        self.rest = vec![0.0; particles.len()];
        let mut highest = self.rest.clone();
        for (turn, shift) in rest::POSES {
            let turn = Quat::from_scaled_axis(Vec3::from(turn));
            let shift = Vec3::from(shift) * self.settings.cell;
            let turned: Vec<Particle> = particles
                .iter()
                .map(|p| Particle { position: turn * p.position + shift, ..*p })
                .collect();
            let grid = self.fill(&turned);
            for (p, rest) in turned.iter().zip(&mut highest) {
                if p.sane() {
                    let mass = sample(&grid, &self.nodes, p.position).mass;
                    *rest = rest.max(mass / grid.volume());
                }
            }
        }
        self.rest = highest;
        let grid = self.fill(particles);
        for (p, rest) in particles.iter().zip(&mut self.rest) {
            if p.sane() {
                let mut lack = 1.0f32;
                for (node, w) in grid.corners_of_particle(p.position) {
                    let node = &self.nodes[node];
                    if w > 0.0 && node.rest > 0.0 {
                        lack = lack.max(node.mass / grid.volume() / node.rest);
                    }
                }
                *rest *= lack * (1.0 + rest::ROUNDING);
            }
        }
        let count = self.rest.iter().filter(|&&d| d > 0.0).count();
        let sum: f64 = self.rest.iter().map(|&d| f64::from(d)).sum();
        self.mean = (sum / count.max(1) as f64) as f32;
    }

    /// See [`super::Volume::apply`].
    pub fn apply(&mut self, particles: &mut [Particle], dt: f32) {
        if self.rest.len() != particles.len() {
            self.rest(particles);
        }
        let grid = self.fill(particles);
        let Push { friction, repulsion, normalises } = self.settings.push(dt, grid.cell);
        for p in particles.iter_mut().filter(|p| p.free && p.sane()) {
            let mut field = sample(&grid, &self.nodes, p.position);
            if normalises {
                let size = field.across.length();
                let known = size > field.mass * NO_GRADIENT;
                field.across = if known { field.across / size } else { Vec3::ZERO };
            }
            // Friction (eq. 13).
            p.velocity += (field.velocity - p.motion) * friction;
            // Repulsion (eq. 14), along minus the gradient of the pressure.
            p.velocity -= field.across * repulsion;
        }
    }

    fn fill(&mut self, particles: &[Particle]) -> Grid {
        let taking_part = || particles.iter().filter(|p| p.sane());
        let (mut lo, mut hi) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for p in taking_part() {
            lo = lo.min(p.position);
            hi = hi.max(p.position);
        }
        let grid = Grid::fit((lo, hi), self.settings.cell, &[], &[]);
        // Scatter mass and momentum.
        self.nodes.clear();
        self.nodes.resize(grid.len(), Node::default());
        for (p, rest) in particles.iter().zip(&self.rest) {
            if !p.sane() {
                continue;
            }
            for (node, w) in grid.corners_of_particle(p.position) {
                self.nodes[node].mass += w * p.mass;
                self.nodes[node].momentum += p.motion * (w * p.mass);
                self.nodes[node].rest += w * p.mass * rest;
            }
        }
        // Compute velocities and pressures.
        let pressure = Pressure::new(&grid, self.mean, self.settings.rest_density);
        for node in self.nodes.iter_mut().filter(|node| node.mass > 0.0) {
            node.velocity = node.momentum / node.mass;
            node.rest /= node.mass;
            node.pressure = pressure.at(node.mass, node.rest);
        }
        // Take central differences.
        let [width, layer] = [grid.nodes[0], grid.layer()];
        for i in 0..self.nodes.len() {
            if self.nodes[i].mass > 0.0 {
                let across =
                    |step: usize| self.nodes[i + step].pressure - self.nodes[i - step].pressure;
                self.nodes[i].across = Vec3::new(across(1), across(layer), across(width));
            }
        }
        grid
    }
}

fn sample(grid: &Grid, nodes: &[Node], p: Vec3) -> Node {
    let mut out = Node::default();
    for (node, w) in grid.corners_of_particle(p) {
        out.mass += w * nodes[node].mass;
        out.velocity += w * nodes[node].velocity;
        out.across += w * nodes[node].across;
    }
    out
}
