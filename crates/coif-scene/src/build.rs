//! Builds the groom and the body that a scene describes.

use std::path::Path;
use std::sync::Arc;

use coif::body::distance_field;
use coif::body::{Body, Collider, TriangleMesh};
use coif::groom::hair_mesh::FitSettings;
use coif::groom::{Groom, HairMesh};
use coif::simulation::{Simulation, Surface, World};
use coif_io::{ReadOptions, Up};
use glam::Vec3;
use thiserror::Error;

use crate::body_file;
use crate::bust::Bust;
use crate::creature::Creature;
use crate::figure::{self, Figure};
use crate::file::{
    BodyShape, BodySource, Collide, FitTo, GroomFile, GroomSource, GroomStyle, Resolution, Scene,
    UpAxis,
};
use crate::girl::Girl;
use crate::hair_mesh::{self, Filling};
use crate::hound::Hound;
use crate::mesh_figure::FittedMesh;
use crate::monster::Monster;
use crate::motion::until;
use crate::placing::{self, FAR_ROOT, Place, Placement, Target};
use crate::style::{self, StyleRequest};
use crate::suggestion;

/// Errors when building a scene.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A file of the scene could not be read.
    #[error(transparent)]
    File(#[from] coif_io::Error),
    /// The groom or the body cannot be simulated.
    #[error("{what}: {source}")]
    Invalid {
        /// Which file, or which part of the scene.
        what: String,
        /// The error.
        source: coif::Error,
    },
    /// The body's file has no group or material of the requested name.
    #[error("{file}: there is no group or material '{group}', which body.{key} names")]
    NoGroup {
        /// The body's file.
        file: String,
        /// The key that names it.
        key: &'static str,
        /// The requested group.
        group: String,
        /// The available objects, groups and materials.
        groups: Vec<String>,
    },
    /// The groups and materials of a key have no triangles.
    #[error("{file}: the groups and materials that body.{key} names leave no triangle of the body")]
    EmptyPart {
        /// The body's file.
        file: String,
        /// The key that names them.
        key: &'static str,
    },
    /// The body has no neck where the scene says.
    #[error("{file}: the body has no neck {what}")]
    NoNeck {
        /// The body's file.
        file: String,
        /// Where.
        what: String,
    },
    /// The hair that a style grew on a body from a file is not a valid groom.
    #[error("{file}: the style cannot grow on this body: {source}")]
    StyleDoesNotFit {
        /// The body's file.
        file: String,
        /// The error of the hair.
        source: coif::Error,
    },
    /// The scalp has no area.
    #[error(
        "{0}: the scalp has no area within {MAX_SCALP_COORDINATE} m of the origin, so no hair can grow on it"
    )]
    EmptyScalp(String),
}

impl BuildError {
    /// A hint for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(error) => error.hint().map(str::to_owned),
            Self::Invalid { source, .. } => match source {
                coif::Error::NotFinite { .. } => {
                    Some("export the groom again, or drop the strand that is named".into())
                }
                coif::Error::TooFar { .. } => {
                    Some("set groom.scale to the length of the file's unit in metres".into())
                }
                coif::Error::ZeroSegment { .. } => {
                    Some("all points of every strand coincide: export the groom again".into())
                }
                coif::Error::EmptyGroom => Some("the file contains no strands".into()),
                _ => None,
            },
            Self::NoGroup { groups, .. } if groups.is_empty() => Some(
                "the mesh has no groups: put the faces into a group (OBJ: 'g scalp')".into(),
            ),
            Self::NoGroup { key, group, groups, .. } => {
                let names: Vec<&str> = groups.iter().map(String::as_str).collect();
                let near = suggestion(group.trim_start_matches('!'), &names);
                let more = groups.len().saturating_sub(MAX_LISTED);
                let mut list = names[..groups.len() - more].join(", ");
                if more > 0 {
                    list += &format!(" and {more} more ('coif inspect' lists them)");
                }
                Some(format!(
                    "{near}set body.{key} to one or more of: {list}; '*' stands for any characters, '!' leaves a name out"
                ))
            }
            Self::EmptyPart { key, .. } => Some(format!(
                "name something that is not taken away again, or leave out body.{key} for the whole body"
            )),
            Self::NoNeck { .. } => Some(
                "set body.neck_height to a height within the body ('coif inspect' shows its bounds), or body.neck to \
                 auto, none or a group"
                    .into(),
            ),
            Self::StyleDoesNotFit { .. } => Some(
                "remove vertices that lie far away from the rest of the body ('coif inspect' shows its \
                 size), or set body.scale to the length of the file's unit in metres"
                    .into(),
            ),
            Self::EmptyScalp(_) => Some(
                "put faces with an area into the scalp's group; remove vertices that lie far away from \
                 the rest of the body"
                    .into(),
            ),
        }
    }
}

/// The groom and the body of a scene, ready to simulate.
pub struct Built {
    /// The scene they were built from.
    pub scene: Scene,
    /// The groom, with its roots bound to the body.
    pub groom: Arc<Groom>,
    /// The body, with its motion and colliders.
    pub body: Arc<Body>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// How a groom from a file was put on the body.
    pub placement: Placement,
    /// By how much pictures draw strands wider, for a groom of which only some strands are simulated.
    pub widening: f32,
    /// The triangles of the body that pictures show; all if absent.
    shown: Option<Arc<[[u32; 3]]>>,
    figure: Option<Arc<dyn Figure>>,
}

/// Default number of cells of a distance field along the largest extent of the body.
const FIELD_CELLS: f32 = 60.0;

/// Limits of the default cell size (m): a face needs no less, limbs no more.
const FIELD_CELL_LIMITS: (f32, f32) = (0.002, 0.02);

/// Default number of points of a strand grown in a hair mesh from a file.
const DEFAULT_POINTS: usize = 30;

/// Scalp faces with a coordinate beyond this (m) are left out: hair on them would exceed the limit of a groom.
pub(crate) const MAX_SCALP_COORDINATE: f32 = coif::limits::MAX_GROOM_COORDINATE;

/// Builds the groom and the body of a scene; relative paths start at `folder`.
pub fn build(scene: &Scene, folder: &Path) -> Result<Built, BuildError> {
    let mut warnings = scene.warnings.clone();
    // Build the body: mesh, motion and colliders.
    let (body, figure, file_body) = match &scene.body.source {
        BodySource::BuiltIn(source) => {
            let figure: Arc<dyn Figure> = match source.shape {
                BodyShape::Creature => Arc::new(Creature),
                BodyShape::Monster => Arc::new(Monster::new()),
                BodyShape::Hound => Arc::new(Hound::new()),
                BodyShape::Girl => Arc::new(Girl::new()),
                _ => Arc::new(Bust),
            };
            let mesh = figure::mesh(&*figure, source.resolution);
            let mut colliders = body_file::colliders(scene, None);
            if scene.body.collide == Collide::Primitives {
                let friction = scene.fibre.friction;
                colliders
                    .extend(figure.colliders().into_iter().map(|c| Collider { friction, ..c }));
            }
            let motion = figure.motion(scene.body.motion, scene.body.speed);
            let motion = until(motion, scene.body.stop);
            let body = figure::body(&*figure, mesh, motion, colliders).map_err(|source| {
                BuildError::Invalid { what: "the built-in body".into(), source }
            })?;
            (body, Some(figure), None)
        }
        BodySource::File(file) => {
            let loaded = body_file::read(scene, file, folder, &mut warnings)?;
            (loaded.body.clone(), None, Some(loaded))
        }
    };
    let (mut placement, mut widening) = (Placement::default(), 1.0);
    // Grow or read the groom, and bind its roots to the body.
    let groom = match &scene.groom {
        GroomSource::Style(source) => {
            let request = style_request(source, scene);
            let file = match &scene.body.source {
                BodySource::File(file) => Some(folder.join(&file.path).display().to_string()),
                _ => None,
            };
            let mut coarsened = Vec::new();
            let scalp = file_body.as_ref().and_then(|loaded| loaded.scalp.as_deref());
            let grown = match (&figure, scalp) {
                (Some(figure), _) => style::groom(&**figure, body.rest(), &request, &mut coarsened),
                (None, Some(scalp)) => grow_on_mesh(body.rest(), scalp, &request, &mut coarsened),
                (None, None) => Ok(None),
            };
            let of = file.as_ref().map_or_else(String::new, |file| format!("{file}: "));
            warnings.extend(coarsened.into_iter().map(|text| format!("{of}{text}")));
            let what = "groom".to_owned();
            let grown = grown.map_err(|source| BuildError::Invalid { what, source })?;
            let body = || file.clone().unwrap_or_else(|| "body".into());
            let grown = grown.ok_or_else(|| BuildError::EmptyScalp(body()))?;
            if let Some(file) = file {
                grown.validate().map_err(|source| BuildError::StyleDoesNotFit { file, source })?;
            }
            grown
        }
        GroomSource::File(source) if is_hair_mesh(&folder.join(&source.path)) => {
            hair_mesh_from_file(scene, source, folder, &body, figure.as_deref(), &mut warnings)?
        }
        GroomSource::File(source) => {
            let path = folder.join(&source.path);
            let options = ReadOptions { scale_m: source.scale, up: source.up.map(up) };
            let loaded = coif_io::read_groom(&path, &options)?;
            warnings.extend(loaded.warnings);
            let mut groom = loaded.value;
            let invalid = |source| BuildError::Invalid { what: path.display().to_string(), source };
            let (points, strands) = groom.drop_degenerate();
            if groom.strands.is_empty() && strands > 0 {
                return Err(invalid(coif::Error::ZeroSegment { strand: 0, point: 0 }));
            }
            if points > 0 {
                warnings.push(format!(
                    "{}: dropped {points} repeated points and {strands} strands without length",
                    path.display()
                ));
            }
            if let Some(points) = source.points {
                groom = groom.resampled(points as usize).map_err(invalid)?;
            }
            let radius = groom.fibre.radius;
            groom.fibre = scene.fibre;
            groom.fibre.radius = radius;
            let fitted = figure.as_ref().filter(|_| source.fit == FitTo::Body);
            let hairy = fitted.map(|figure| hairy_triangles(&**figure, body.rest()));
            let of_file = file_body.as_ref().map(|body| match &body.scalp {
                Some(scalp) => (scalp.as_slice(), Target::Scalp),
                None => (body.head.as_slice(), Target::Surface),
            });
            let of_figure = hairy.as_ref().map(|hairy| (hairy.as_slice(), Target::Scalp));
            let (fit, target) = of_file.or(of_figure).unwrap_or((&[], Target::Surface));
            let name = match &scene.body.source {
                BodySource::File(file) => file.path.clone(),
                BodySource::BuiltIn(_) => "the built-in body".into(),
            };
            let place = Place { mesh: body.rest(), scalp: body.scalp(), fit, target, name };
            (placement, widening) =
                placing::place(&mut groom, source, &path, &place, &mut warnings)
                    .map_err(invalid)?;
            groom.validate().map_err(invalid)?;
            groom
        }
    };
    // Fit a hair mesh to a groom without one if the model needs it.
    let mut groom = groom;
    if scene.model.name() == "hair-mesh" && groom.hair_mesh.is_none() {
        warnings.push(fit_hair_mesh(scene, &mut groom, &body)?);
    }
    let shown = file_body.and_then(|loaded| loaded.shown);
    let shown = shown.map(|shown| body.rest().part(&shown).triangles.into());
    Ok(Built {
        scene: scene.clone(),
        groom: Arc::new(groom),
        body: Arc::new(body),
        warnings,
        placement,
        widening,
        shown,
        figure,
    })
}

/// The triangles of a built-in body that grow hair.
fn hairy_triangles(figure: &dyn Figure, mesh: &TriangleMesh) -> Vec<u32> {
    let is_hairy = |t: &u32| {
        let corners = mesh.corners(*t as usize);
        corners.iter().all(|&p| figure.hair_density(p) > 0.5)
    };
    (0..mesh.triangles.len() as u32).filter(is_hairy).collect()
}

/// Number of groups that a hint lists.
const MAX_LISTED: usize = 40;

/// Whether a groom file is a hair mesh.
fn is_hair_mesh(path: &Path) -> bool {
    matches!(coif_io::FileKind::of(path), Ok(coif_io::FileKind::HairMesh))
}

/// Grows hair in a hair mesh that is read from a file.
fn hair_mesh_from_file(
    scene: &Scene,
    source: &GroomFile,
    folder: &Path,
    body: &Body,
    figure: Option<&dyn Figure>,
    warnings: &mut Vec<String>,
) -> Result<Groom, BuildError> {
    let path = folder.join(&source.path);
    let options = ReadOptions { scale_m: source.scale, up: source.up.map(up) };
    let loaded = coif_io::read_hair_mesh(&path, &options)?;
    warnings.extend(loaded.warnings);
    let moves = [source.rotate, source.translate].iter().any(|v| *v != Vec3::ZERO);
    if moves || source.fit != FitTo::None {
        warnings.push(format!(
            "{}: is a hair mesh, which groom.fit, groom.rotate and groom.translate do not move",
            path.display()
        ));
    }
    let filling = Filling {
        strands: source.strands.unwrap_or(scene.hair_mesh.strands) as usize,
        points: source.points.map_or(DEFAULT_POINTS, |n| n as usize),
        seed: source.seed,
        fibre: scene.fibre,
        look: &scene.hair_mesh,
    };
    let grown = hair_mesh::filled(loaded.value, body.rest(), None, figure, &filling);
    let groom = grown.ok_or_else(|| BuildError::EmptyScalp(path.display().to_string()))?;
    // Strands were moved to the skin; the mesh's own roots have the positions of the file.
    let roots = groom.hair_mesh.iter().flat_map(|mesh| &mesh.roots);
    let farthest = roots.map(|root| root.offset.length()).fold(0.0, f32::max);
    warnings.extend(far_roots(&path, farthest));
    Ok(groom)
}

/// A warning if the farthest root of a file is more than [`FAR_ROOT`] away from the body (m).
fn far_roots(path: &Path, farthest: f32) -> Option<String> {
    (farthest > FAR_ROOT).then(|| {
        format!(
            "{}: roots are up to {farthest:.3} m away from the body; hint: set body.file to the groom's \
             own body, or groom.scale and groom.up to the file's unit and axis",
            path.display()
        )
    })
}

/// Points outside of a fitted mesh (%) above which there is a warning; well-fitted grooms have 2 to 8.
const MAX_PERCENT_OUTSIDE: f32 = 12.0;

/// Fits a hair mesh to a groom that has none, and returns a message with the error of the fit.
fn fit_hair_mesh(scene: &Scene, groom: &mut Groom, body: &Body) -> Result<String, BuildError> {
    let invalid = |source| BuildError::Invalid { what: "groom as a hair mesh".into(), source };
    let settings = match scene.hair_mesh.resolution {
        Resolution::Low => FitSettings { bundles: 40, layers: 8 },
        Resolution::Medium => FitSettings { bundles: 90, layers: 11 },
        _ => FitSettings { bundles: 180, layers: 15 },
    };
    let (mut mesh, report) =
        HairMesh::fit_on(groom, &settings, body.rest(), body.colliders()).map_err(invalid)?;
    mesh.bind(body.rest()).map_err(invalid)?;
    let percent_outside = 100.0 * report.outside as f32 / report.points.max(1) as f32;
    let mut message = format!(
        "the groom is simulated in a fitted hair mesh of {} vertices; {percent_outside:.1} % of its points lie outside \
         of it, the farthest by {:.1} mm",
        mesh.vertex_count(),
        1000.0 * report.farthest
    );
    if percent_outside > MAX_PERCENT_OUTSIDE {
        message += ", and follow it only roughly; hint: try another groom.hair_mesh.resolution, or simulate \
                 every strand with model.name=follow-the-leader";
    }
    groom.hair_mesh = Some(Arc::new(mesh));
    Ok(message)
}

fn style_request(source: &GroomStyle, scene: &Scene) -> StyleRequest {
    StyleRequest {
        style: source.style,
        strands: source.strands as usize,
        points: source.points as usize,
        particles: source.particles.map(|n| n as usize),
        seed: source.seed,
        length: source.length,
        strips: source.strips,
        fibre: scene.fibre,
        hair_mesh: scene.hair_mesh,
    }
}

pub(crate) fn up(axis: UpAxis) -> Up {
    match axis {
        UpAxis::Z => Up::Z,
        _ => Up::Y,
    }
}

fn grow_on_mesh(
    mesh: &TriangleMesh,
    scalp: &[u32],
    request: &StyleRequest,
    warnings: &mut Vec<String>,
) -> coif::Result<Option<Groom>> {
    let Some(fitted) = FittedMesh::new(mesh, scalp) else { return Ok(None) };
    let Some(figure) = fitted.figure() else { return Ok(None) };
    let mut groom = style::groom(&figure, fitted.mesh(), request, warnings)?;
    if let Some(groom) = &mut groom {
        fitted.carry_back(groom, mesh);
    }
    Ok(groom)
}

impl Built {
    /// A simulation of the hair on the body, at time 0.
    pub fn simulation(&self) -> coif::Result<Simulation> {
        let (groom, body) = (self.groom.clone(), self.body.clone());
        let mut simulation = Simulation::new(groom, body, &self.scene.model, self.world())?;
        for pin in &self.scene.pins {
            crate::pins::tie(&mut simulation, pin)?;
        }
        Ok(simulation)
    }

    /// The world of the simulation, with the surface of the body if hair collides with it.
    pub fn world(&self) -> World {
        let field = &self.scene.body.field;
        let surface = (self.scene.body.collide == Collide::DistanceField).then(|| {
            let surface = Surface::default();
            let (lo, hi) = self.body.rest().bounds().unwrap_or_default();
            let (finest, coarsest) = FIELD_CELL_LIMITS;
            let fitting = ((hi - lo).max_element() / FIELD_CELLS).clamp(finest, coarsest);
            Surface {
                field: distance_field::Settings {
                    cell: field.cell.unwrap_or(fitting),
                    ..surface.field
                },
                friction: field.friction,
                restitution: field.restitution,
            }
        });
        World { surface, ..self.scene.world() }
    }

    /// The triangles of the body that pictures show.
    pub fn shown_triangles(&self) -> &[[u32; 3]] {
        self.shown.as_deref().unwrap_or(&self.body.rest().triangles)
    }

    /// The bounds of the body at rest (m), of what pictures show.
    fn shown_bounds(&self) -> Option<(Vec3, Vec3)> {
        let rest = self.body.rest();
        let Some(shown) = &self.shown else { return rest.bounds() };
        let mesh = TriangleMesh { positions: rest.positions.clone(), triangles: shown.to_vec() };
        mesh.bounds_of_triangles()
    }

    /// Linear albedo of the body per vertex: skin, lips, and a scalp tinted by the hair.
    pub fn surface_colors(&self, hair_root_color: Vec3) -> Vec<Vec3> {
        let positions = &self.body.rest().positions;
        match &self.figure {
            Some(figure) => positions.iter().map(|&p| figure.color(p, hair_root_color)).collect(),
            None => vec![Vec3::new(0.55, 0.42, 0.36); positions.len()],
        }
    }

    /// The bounds that a static camera should show (m): the hair and the upper part of the body
    /// over the whole motion.
    pub fn film_bounds(&self) -> (Vec3, Vec3) {
        let (mut lo, mut hi) = self.groom.strands.bounds().unwrap_or_default();
        // Leave room for hair to swing: 12 % of its largest extent on each side.
        let swing = Vec3::new(0.12, 0.0, 0.12) * (hi - lo).max_element();
        (lo, hi) = (lo - swing, hi + swing);
        if let Some((body_lo, body_hi)) = self.shown_bounds() {
            let shown = self.figure.as_ref().map_or(0.30, |figure| figure.shown());
            let head = body_hi.y - shown * (body_hi.y - body_lo.y);
            lo.y = lo.y.min(head);
            hi.y = hi.y.max(body_hi.y);
        }
        // Follow one vertex on top of the body through the motion.
        let positions = &self.body.rest().positions;
        let higher = |a: &usize, b: &usize| positions[*a].y.total_cmp(&positions[*b].y);
        let top = match &self.shown {
            Some(shown) => shown.iter().flatten().map(|&v| v as usize).max_by(higher),
            None => (0..positions.len()).max_by(higher),
        };
        let (mut up, mut down) = (0.0f32, 0.0f32);
        if let Some(top) = top {
            for frame in 0..self.scene.time.frames.min(2000) {
                let time = f64::from(frame) / f64::from(self.scene.time.fps);
                let mut at = Vec::with_capacity(1);
                self.body.vertices_at(std::iter::once(top), time, &mut at);
                let moved = at[0].y - positions[top].y;
                (up, down) = (up.max(moved), down.min(moved));
            }
        }
        (lo + Vec3::Y * down, hi + Vec3::Y * up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(text: &str) -> Scene {
        Scene::from_toml(text, "test.toml", &[]).unwrap()
    }

    #[test]
    fn a_style_on_the_built_in_head_moves_without_trouble() {
        let text = "[groom]\nstrands = 200\n[body]\nmotion = \"spin\"\nresolution = 0.008";
        let built = build(&scene(text), Path::new(".")).unwrap();
        let mut simulation = built.simulation().unwrap();
        simulation.advance_to(0.5);
        let health = simulation.health();
        assert!(health.stretch_max < 1e-4 && health.penetration_max < 1e-3, "{health:?}");
        let (lo, hi) = built.film_bounds();
        let (hair_lo, hair_hi) = built.groom.strands.bounds().unwrap();
        assert!(lo.cmple(hair_lo).all() && hi.cmpge(hair_hi).all());
        assert_eq!(built.surface_colors(Vec3::ZERO).len(), built.body.rest().positions.len());
    }

    #[test]
    fn a_hair_mesh_far_from_the_body_is_warned_about() {
        let folder = tempfile::tempdir().unwrap();
        let crown = figure::mesh(&Bust, 0.012).positions.into_iter();
        let crown = crown.max_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
        for (above, warned) in [(0.0, false), (5.0, true)] {
            let mut mesh = HairMesh::block([2, 2], 3, Vec3::new(0.02, 0.1, 0.02), false);
            for p in mesh.columns.positions_mut() {
                *p += crown + Vec3::Y * above;
            }
            coif_io::write_hair_mesh(folder.path().join("mesh.obj"), &mesh).unwrap();
            let text = "[groom]\nfile = \"mesh.obj\"\n[groom.hair_mesh]\nstrands = 50\n\
                        [model]\nname = \"hair-mesh\"\n[body]\nresolution = 0.012";
            let built = build(&scene(text), folder.path()).unwrap();
            let away = built.warnings.iter().filter(|w| w.contains("m away from the body")).count();
            assert_eq!(away, usize::from(warned), "{:?}", built.warnings);
        }
    }

    #[test]
    fn a_style_grows_on_the_scalp_of_a_file_and_needs_its_group() {
        let folder = tempfile::tempdir().unwrap();
        // Export the bust at twice its size and at another place.
        let mut mesh = figure::mesh(&Bust, 0.012);
        let scalp: Vec<bool> = (0..mesh.triangles.len())
            .map(|t| Bust.hair_density(mesh.corners(t)[0]) > 0.5)
            .collect();
        for p in &mut mesh.positions {
            *p = *p * 2.0 + Vec3::new(0.0, 1.5, 0.0);
        }
        let mut text = String::new();
        for p in &mesh.positions {
            text += &format!("v {} {} {}\n", p.x, p.y, p.z);
        }
        for (wanted, name) in [(true, "scalp"), (false, "skin")] {
            text += &format!("g {name}\n");
            for (t, corners) in mesh.triangles.iter().enumerate() {
                if scalp[t] == wanted {
                    let [a, b, c] = corners.map(|v| v + 1);
                    text += &format!("f {a} {b} {c}\n");
                }
            }
        }
        std::fs::write(folder.path().join("actor.obj"), text).unwrap();
        let with = |group: &str| {
            let text = format!(
                "[groom]\nstrands = 60\nstyle = \"short\"\n\
                 [body]\nfile = \"actor.obj\"\nscale = 1\nscalp = \"{group}\""
            );
            build(&scene(&text), folder.path())
        };
        let built = with("scalp").unwrap();
        assert_eq!(built.groom.strands.strand_count(), 60);
        assert!(built.groom.strands.iter().all(|s| s[0].y > 1.3), "roots are on the head");
        assert!(built.warnings.iter().any(|w| w.contains("collider")), "{:?}", built.warnings);
        built.simulation().unwrap().step();
        let error = with("hair").err().unwrap();
        assert!(error.hint().unwrap().contains("scalp, skin"), "{error} {:?}", error.hint());
    }
}
