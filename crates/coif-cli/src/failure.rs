//! Errors that end a command early, their messages and exit codes.

use crate::talk::print_message;
use std::path::Path;
use std::process::ExitCode;

use coif::contact::ContactSettings;
use coif::model::ModelSettings;
use coif_scene::BuildError;

/// The reason why a command did not finish.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the input, the output or the machine.
    Error {
        /// The error, with file and place where known.
        message: String,
        /// Advice to the user.
        hint: Option<String>,
    },
    /// A complete report with the line of the file.
    Report(String),
    /// A check failed; its rows were printed.
    CheckFailed,
    /// The user pressed Ctrl-C.
    Interrupted {
        /// What remains of the output.
        message: String,
    },
    /// The reader of stdout has closed the pipe: the command ends without a message.
    ReaderGone,
}

impl Failure {
    /// An error with a hint.
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Error { message: message.into(), hint: Some(hint.into()) }
    }

    /// Adds the name of the file of the error.
    pub(crate) fn in_file(self, file: &Path) -> Self {
        match self {
            Self::Error { message, hint } => {
                Self::Error { message: format!("{}: {message}", file.display()), hint }
            }
            other => other,
        }
    }

    /// The error and its hint in one line.
    pub(crate) fn message(&self) -> String {
        let text = match self {
            Self::Error { message, hint: Some(hint) } => format!("{message}; hint: {hint}"),
            Self::Error { message, hint: None } | Self::Interrupted { message } => message.clone(),
            Self::Report(text) => text.clone(),
            Self::CheckFailed => "a check failed".into(),
            Self::ReaderGone => "stdout is closed".into(),
        };
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Prints it on stderr.
    pub(crate) fn report(&self) {
        match self {
            Self::Error { message, hint } => {
                print_message(format_args!("error: {message}"));
                if let Some(hint) = hint {
                    print_message(format_args!("hint: {hint}"));
                }
            }
            Self::Report(text) => print_message(text),
            Self::Interrupted { message } => print_message(format_args!("interrupted: {message}")),
            Self::CheckFailed | Self::ReaderGone => {}
        }
    }

    /// 1 if a check failed, 2 for an error, 130 if interrupted.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Error { .. } | Self::Report(_) => 2,
            Self::CheckFailed => 1,
            Self::Interrupted { .. } => 130,
            Self::ReaderGone => 0,
        })
    }
}

impl From<coif_io::Error> for Failure {
    fn from(error: coif_io::Error) -> Self {
        Self::new(error.to_string(), hint_for_file(&error))
    }
}

/// The hint for an error of a reader or writer.
fn hint_for_file(error: &coif_io::Error) -> String {
    if let Some(hint) = error.hint() {
        return hint.into();
    }
    match error {
        coif_io::Error::Malformed { expected, .. } if expected.contains("finite") => {
            "export the file again; this value was lost in the program that wrote it".into()
        }
        coif_io::Error::Malformed { .. } => {
            "the file is damaged, cut off, or not what its name says; copy or export it again"
                .into()
        }
        coif_io::Error::UnknownExtension { known, .. } => format!("use one of {known}"),
        _ => "check the path, its permissions and the room on the disk".into(),
    }
}

impl From<coif_scene::SceneError> for Failure {
    fn from(error: coif_scene::SceneError) -> Self {
        let mut report = error.report();
        if error.hint().is_none() {
            report.push_str("\nhint: 'coif scenes --reference' lists every key and its limits");
        }
        Self::Report(report)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let hint = error.hint().or_else(|| match &error {
            BuildError::File(error) => Some(hint_for_file(error)),
            BuildError::Invalid { source, .. } => Some(hint_for(source)),
            _ => None,
        });
        Self::Error { message: error.to_string(), hint }
    }
}

impl From<coif_render::Error> for Failure {
    fn from(error: coif_render::Error) -> Self {
        use coif_render::Error as E;
        if let E::File(error) = error {
            return error.into();
        }
        // The second line of the message is its hint, if it has one.
        let text = error.to_string();
        if let Some((message, hint)) = text.split_once("\nhint: ") {
            return Self::new(message, hint);
        }
        let hint = match &error {
            E::Stopped => return Self::Interrupted { message: "nothing was written".into() },
            E::EmptyFilm { .. } => Some("give a scene or a folder with at least one frame"),
            E::SliceLength { .. } | E::VertexIndex { .. } => {
                Some("the file is damaged or not what its name says; export it again")
            }
            _ => None,
        };
        Self::new(
            text,
            hint.unwrap_or("check the room on the disk, or choose another kind of file"),
        )
    }
}

impl From<coif_lab::Error> for Failure {
    fn from(error: coif_lab::Error) -> Self {
        use coif_lab::Error as E;
        match error {
            E::Core(error) => error.into(),
            E::Scene(error) => error.into(),
            E::Build(error) => error.into(),
            E::Render(error) => error.into(),
            E::WrongModel { .. } => Self::new(error.to_string(), "write model.name in the scene"),
            _ => Self::Error { message: error.to_string(), hint: None },
        }
    }
}

impl From<coif::Error> for Failure {
    fn from(error: coif::Error) -> Self {
        Self::new(error.to_string(), hint_for(&error))
    }
}

/// The hint for an error of the library.
fn hint_for(error: &coif::Error) -> String {
    if let coif::Error::NoContact { contact, .. } = error {
        return hint_for_contact(contact);
    }
    fixed_hint(error).into()
}

/// The models that take a contact, from the table of models and contacts.
fn hint_for_contact(contact: &str) -> String {
    let taking = ContactSettings::by_name(contact).map(|contact| ModelSettings::taking(&contact));
    let models: Vec<&str> = taking.iter().flatten().map(|(model, _)| *model).collect();
    format!("take [contact] out of the scene, or set model.name to one of {}", models.join(", "))
}

fn fixed_hint(error: &coif::Error) -> &'static str {
    use coif::Error as E;
    match error {
        E::EmptyGroom => "give a groom with at least one strand",
        E::NotFinite { .. } | E::VertexNotFinite { .. } => {
            "export the file again; this value was lost in the program that wrote it"
        }
        E::ShortStrand { .. } | E::ZeroSegment { .. } => {
            "'coif convert IN OUT --points N' resamples the points"
        }
        E::OutOfRange { name, .. } if name == "number of strips" => {
            "lower groom.strip_density or groom.strip_layers; if the scalp is larger than it should be, \
             remove vertices that lie far away or set body.scale"
        }
        E::NoTriangles | E::Unbound => "the body needs triangles that hair can grow on",
        E::Unstable { .. } => {
            "raise model.substeps or lower model.stretch_modulus; model.substeps=0 takes as many as it \
             needs, up to 1000; 'coif convert IN OUT --points N' spaces the points evenly"
        }
        E::OneWayStyle => {
            "set model.backward = true, or model.style_time = 1000 and model.hold_shape = false"
        }
        E::OneWayRamp => "set model.backward = true, or give each of them one number",
        E::UnevenStrand { .. } => {
            "'coif convert IN OUT --points N' spaces the points evenly; or set model.name to \
             follow-the-leader (with model.backward = true) or mass-spring"
        }
        E::BadCheckpoint(_) => "simulate again with --overwrite, or choose another folder",
        E::Threads { .. } => "ask for fewer with --threads",
        _ => "'coif scenes --reference' lists every value and its limits",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_has_a_hint_for_every_writer() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let path = || std::path::PathBuf::from("film.gif");
        for failure in [
            Failure::from(coif_render::Error::File(coif_io::Error::Io {
                file: path(),
                action: "write",
                source: full(),
            })),
            Failure::from(coif_render::Error::Encode { path: path(), message: "no room".into() }),
        ] {
            let Failure::Error { hint: Some(hint), message } = failure else { panic!("no hint") };
            assert!(hint.contains("room on the disk"), "{message}: {hint}");
        }
    }
}
