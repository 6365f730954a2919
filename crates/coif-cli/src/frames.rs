//! Frames as input: those of a simulation, or numbered files (`NAME.####.hair`, `NAME.%04d.obj`).

use std::path::{Path, PathBuf};

use coif::groom::Groom;
use coif_io::{Cache, FileKind, Loaded, ReadOptions, SequenceName};

use crate::failure::Failure;
use crate::talk::Talk;

/// Numbered files of one kind, without a gap.
pub(crate) struct NumberedFiles {
    path: PathBuf,
    sequence: SequenceName,
    /// First and last number.
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) kind: FileKind,
}

impl NumberedFiles {
    /// `None` if the path has no placeholder for a number, or is the name of a file.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, Failure> {
        let Some(sequence) = SequenceName::parse(path).filter(|_| !path.exists()) else {
            return Ok(None);
        };
        let shown = path.display();
        let numbers = sequence.existing().map_err(|e| {
            let message = format!("{shown}: cannot read the folder: {e}");
            Failure::new(message, "check the path and its permissions")
        })?;
        let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
            return Err(Failure::new(
                format!("{shown}: there are no files of this name with a number"),
                "#### and %04d stand for at least four digits, ## for two, %d for any number of them",
            ));
        };
        if let Some(gap) = numbers.windows(2).find(|pair| pair[1] != pair[0] + 1) {
            let missing = sequence.file(gap[0] + 1);
            return Err(Failure::new(
                format!("{}: is missing between others of {shown}", missing.display()),
                "export the missing file, or move the later ones away",
            ));
        }
        let kind = FileKind::of(sequence.file(first))?;
        Ok(Some(Self { path: path.into(), sequence, first, last, kind }))
    }

    /// The file with this number.
    pub(crate) fn file(&self, number: u64) -> PathBuf {
        self.sequence.file(number)
    }
}

/// The grooms of frames, read one by one.
pub(crate) enum Frames {
    /// Of a simulation.
    Cache(Cache),
    /// Of numbered files. Unit and axes are those of the first file that is read, whose warnings are printed.
    Files { files: NumberedFiles, options: ReadOptions, is_known: bool },
}

impl Frames {
    pub(crate) fn of_files(files: NumberedFiles, options: &ReadOptions) -> Self {
        Self::Files { files, options: *options, is_known: false }
    }

    /// The numbers of the first and the last frame.
    pub(crate) fn range(&self) -> Result<(u64, u64), Failure> {
        match self {
            Self::Cache(cache) => match cache.frame_count()? {
                0 => Err(Failure::new(
                    format!("{}: holds no frame yet", cache.folder().display()),
                    "continue the simulation: coif simulate SCENE -o FOLDER --resume",
                )),
                count => Ok((0, count - 1)),
            },
            Self::Files { files, .. } => Ok((files.first, files.last)),
        }
    }

    /// The part of the frames that the options select: `frame` alone, or those from A to B.
    pub(crate) fn selected(
        &self,
        frame: Option<u64>,
        frames: Option<(u64, u64)>,
    ) -> Result<(u64, u64), Failure> {
        let (first, last) = self.range()?;
        let (a, b) = frames.or(frame.map(|frame| (frame, frame))).unwrap_or((first, last));
        match [a, b].iter().find(|n| !(first..=last).contains(n)) {
            None => Ok((a, b)),
            Some(missing) => Err(Failure::new(
                format!("there is no frame {missing}, {} holds {first} to {last}", self.name()),
                format!("choose some of them: --frames {first}..{last}"),
            )),
        }
    }

    /// The groom of a frame.
    pub(crate) fn read(&mut self, number: u64, talk: &Talk) -> Result<Groom, Failure> {
        match self {
            Self::Cache(cache) => Ok(cache.read_frame(number)?),
            Self::Files { files, options, is_known } => {
                let Loaded { value, warnings, scale_m, up } =
                    coif_io::read_groom(files.file(number), options)?;
                if !*is_known {
                    warnings.iter().for_each(|w| talk.warn(w));
                    (*options, *is_known) =
                        (ReadOptions { scale_m: Some(scale_m), up: Some(up) }, true);
                }
                Ok(value)
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Cache(cache) => cache.folder().display().to_string(),
            Self::Files { files, .. } => files.path.display().to_string(),
        }
    }
}
