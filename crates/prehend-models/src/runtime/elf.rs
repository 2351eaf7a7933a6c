//! Whether a file can be a shared library of this machine, by its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Why a file is no library that can be loaded here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotALibrary {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// A folder, a pipe or a device.
    #[error("it is not a file")]
    NotAFile,
    /// Its first bytes are not those of an ELF file.
    #[error("it is not an ELF file")]
    NotElf,
    /// It is an ELF file, but a program or an object.
    #[error("it is an ELF file, but not a shared library")]
    NotShared,
    /// It is for another processor.
    #[error("it is a library for another processor (ELF machine {found}, this one is {expected})")]
    Machine {
        /// Machine number in the file.
        found: u16,
        /// Machine number of this process.
        expected: u16,
    },
}

/// `e_type` of a shared library (ELF specification, figure 1-3).
const SHARED: u16 = 3;

/// `e_machine` of this process, where it is known.
const MACHINE: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(62)
} else if cfg!(target_arch = "aarch64") {
    Some(183)
} else {
    None
};

/// Reads the header only; nothing of the file is run.
///
/// Errors: [`NotALibrary`].
pub(super) fn check(path: &Path) -> Result<(), NotALibrary> {
    let unreadable = |error: std::io::Error| NotALibrary::Unreadable(error.to_string());
    // Asked before opening: opening a pipe waits for its other end.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(NotALibrary::NotAFile);
    }
    let mut header = Vec::new();
    File::open(path).map_err(unreadable)?.take(20).read_to_end(&mut header).map_err(unreadable)?;
    let little_endian = header.get(5) == Some(&1);
    let number = |at: usize| {
        let bytes = [*header.get(at)?, *header.get(at + 1)?];
        Some(if little_endian { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    let (Some(kind), Some(machine)) = (number(16), number(18)) else { return Err(NotALibrary::NotElf) };
    if !header.starts_with(b"\x7fELF") {
        return Err(NotALibrary::NotElf);
    }
    if kind != SHARED {
        return Err(NotALibrary::NotShared);
    }
    match MACHINE {
        Some(expected) if expected != machine => Err(NotALibrary::Machine { found: machine, expected }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: u16, machine: u16) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(16, 0);
        bytes.extend(kind.to_le_bytes());
        bytes.extend(machine.to_le_bytes());
        bytes
    }

    #[test]
    fn only_libraries_of_this_machine_pass() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("libonnxruntime.so");
        let check = |bytes: &[u8]| {
            std::fs::write(&file, bytes).expect("the file");
            super::check(&file)
        };
        let own = MACHINE.unwrap_or(62);
        assert_eq!(check(&header(SHARED, own)), Ok(()));
        assert_eq!(check(b"INPUT ( libonnxruntime.so.1 )"), Err(NotALibrary::NotElf));
        assert_eq!(check(b""), Err(NotALibrary::NotElf));
        assert_eq!(check(&header(SHARED, own)[..12]), Err(NotALibrary::NotElf));
        assert_eq!(check(&header(1, own)), Err(NotALibrary::NotShared));
        if MACHINE.is_some() {
            let other = Err(NotALibrary::Machine { found: 40, expected: own });
            assert_eq!(check(&header(SHARED, 40)), other);
        }
        assert_eq!(super::check(folder.path()), Err(NotALibrary::NotAFile));
        assert!(matches!(super::check(&folder.path().join("none")), Err(NotALibrary::Unreadable(_))));
    }
}
