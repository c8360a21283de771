//! The memory limit that control groups set for the process, by both versions of the kernel's interface
//! (`cgroup-v2.rst`, `cgroup-v1/memory.rst`).

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::text_of;

/// A limit of at least this is none: control groups of version 1 write a number near 2^63, in bytes, for "no limit".
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// The lowest memory limit of the control groups that a process is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryLimit {
    /// The limit, in bytes. Past `memory.max` and `memory.limit_in_bytes` the kernel kills a process of the group; past
    /// `memory.high` it throttles all of them.
    pub bytes: u64,
    /// The file that sets it.
    pub file: PathBuf,
}

/// Returns the lowest memory limit of the control groups that the process is in, as far up as they are visible from
/// here; `None` if they set none.
///
/// # Errors
/// If `/proc/self/cgroup` or `/proc/self/mountinfo` cannot be read.
pub fn memory_limit() -> io::Result<Option<MemoryLimit>> {
    memory_limit_below(Path::new("/"))
}

/// Does the same for a file tree that has `proc` and the mounts below `root`.
fn memory_limit_below(root: &Path) -> io::Result<Option<MemoryLimit>> {
    let text = |path: &str| text_of(&root.join(path).display().to_string());
    let files = limit_files(&text("proc/self/cgroup")?, &text("proc/self/mountinfo")?);
    let limit = |file: PathBuf| {
        let said = fs::read_to_string(root.join(file.strip_prefix("/").unwrap_or(&file))).ok()?;
        Some(MemoryLimit { bytes: parse_limit(&said)?, file })
    };
    Ok(files.into_iter().filter_map(limit).min_by_key(|limit| limit.bytes))
}

/// The interface of a hierarchy. On a machine with both, memory is in one of them only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    One,
    Two,
}

impl Version {
    /// Returns the files of a group that limit its memory.
    fn files(self) -> &'static [&'static str] {
        match self {
            Version::One => &["memory.limit_in_bytes"],
            Version::Two => &["memory.max", "memory.high"],
        }
    }
}

/// Returns the limit files of the process's groups and their parents, by `/proc/self/cgroup` and
/// `/proc/self/mountinfo`.
fn limit_files(groups: &str, mounts: &str) -> Vec<PathBuf> {
    let mounts: Vec<Mount<'_>> = mounts.lines().filter_map(Mount::parse).collect();
    let mut files = Vec::new();
    for (version, group) in groups.lines().filter_map(parse_group) {
        for mount in mounts.iter().filter(|mount| mount.version == version) {
            for folder in mount.folders(group) {
                files.extend(version.files().iter().map(|name| folder.join(name)));
            }
        }
    }
    files
}

/// Parses a line of `/proc/self/cgroup`, such as `4:memory:/docker/1` or `0::/system.slice`; `None` for other
/// controllers.
fn parse_group(line: &str) -> Option<(Version, &Path)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let version = match parts.next()? {
        "" => Version::Two,
        controllers => one_if_memory(controllers)?,
    };
    parts.next().map(|path| (version, Path::new(path)))
}

fn one_if_memory(controllers: &str) -> Option<Version> {
    controllers.split(',').any(|controller| controller == "memory").then_some(Version::One)
}

/// A mounted hierarchy, or a mounted part of one.
struct Mount<'a> {
    version: Version,
    /// The group whose directory is mounted.
    root: &'a Path,
    place: &'a Path,
}

impl<'a> Mount<'a> {
    /// Parses a line of `/proc/self/mountinfo`; `None` if something else is mounted there.
    fn parse(line: &'a str) -> Option<Mount<'a>> {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut kind = kind.split(' ');
        let version = match kind.next()? {
            "cgroup2" => Version::Two,
            "cgroup" => one_if_memory(kind.nth(1)?)?,
            _ => return None,
        };
        Some(Mount { version, root: Path::new(place.next()?), place: Path::new(place.next()?) })
    }

    /// Returns the directories of a group and of its parents. A container often sees its own group at the top, whatever
    /// its path is elsewhere.
    fn folders(&self, group: &Path) -> Vec<PathBuf> {
        let below = group.strip_prefix(self.root).ok();
        let below = below.filter(|path| !path.components().any(|part| part == Component::ParentDir));
        below.unwrap_or(Path::new("")).ancestors().map(|part| self.place.join(part)).collect()
    }
}

fn parse_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < NO_LIMIT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIFIED: &str = "24 1 0:21 / /proc rw shared:5 - proc proc rw\n\
                           30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    const OLDER: &str = "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                         31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                         32 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    const OLDER_GROUPS: &str = "4:cpu:/\n3:cpuset,memory:/docker/1\n0::/docker/1\n";

    /// Returns the limit on a machine with these files.
    fn limit_of(groups: &str, mounts: &str, files: &[(&str, &str)]) -> Option<(u64, String)> {
        let machine = tempfile::tempdir().expect("a folder");
        let own = [("proc/self/cgroup", groups), ("proc/self/mountinfo", mounts)];
        for (path, text) in own.iter().chain(files) {
            let path = machine.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        let limit = memory_limit_below(machine.path()).expect("both files are there");
        limit.map(|limit| (limit.bytes, limit.file.display().to_string()))
    }

    #[test]
    fn the_least_limit_of_a_group_and_its_parents_counts() {
        let groups = "0::/system.slice/throng.service\n";
        let own = "sys/fs/cgroup/system.slice/throng.service/memory.max";
        let high = "sys/fs/cgroup/system.slice/throng.service/memory.high";
        let parent = "sys/fs/cgroup/system.slice/memory.max";
        for (files, expected) in [
            (vec![(own, "1000\n")], Some((1000, own))),
            (vec![(own, "1000\n"), (high, "900\n")], Some((900, high))),
            (vec![(own, "max\n"), (high, "max\n"), (parent, "800\n")], Some((800, parent))),
            (vec![(own, "700\n"), (parent, "800\n")], Some((700, own))),
            (vec![(own, "max\n"), (high, "max\n")], None),
            (vec![(own, "much\n"), (high, ""), (parent, "-1\n")], None),
            (vec![(own, "99999999999999999999\n")], None),
            (vec![], None),
        ] {
            let expected = expected.map(|(bytes, file)| (bytes, format!("/{file}")));
            assert_eq!(limit_of(groups, UNIFIED, &files), expected, "{files:?}");
        }
    }

    #[test]
    fn the_older_version_is_read_where_memory_is_in_it() {
        let own = "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes";
        let top = "sys/fs/cgroup/memory/memory.limit_in_bytes";
        let none = "9223372036854771712\n";
        for (files, expected) in [
            (vec![(own, "1000\n"), (top, none)], Some((1000, own))),
            (vec![(own, none), (top, none)], None),
            // A container sees its own group at the top, but its path is the one on the host.
            (vec![(top, "500\n")], Some((500, top))),
        ] {
            let expected = expected.map(|(bytes, file)| (bytes, format!("/{file}")));
            assert_eq!(limit_of(OLDER_GROUPS, OLDER, &files), expected, "{files:?}");
        }
    }

    #[test]
    fn a_part_of_a_hierarchy_may_be_all_that_is_mounted() {
        let mounts = "31 24 0:27 /docker/1 /groups rw - cgroup2 none rw\n";
        for (group, file) in [
            ("/docker/1", "groups/memory.max"),
            ("/docker/1/worker", "groups/worker/memory.max"),
            ("/docker/12", "groups/memory.max"),
            ("/", "groups/memory.max"),
        ] {
            let found = limit_of(&format!("0::{group}\n"), mounts, &[(file, "1000\n")]);
            assert_eq!(found, Some((1000, format!("/{file}"))), "{group}");
        }
        let outside = limit_of("0::/../other\n", UNIFIED, &[("sys/fs/cgroup/memory.max", "1000\n")]);
        assert_eq!(outside, Some((1000, "/sys/fs/cgroup/memory.max".to_owned())));
    }

    #[test]
    fn what_makes_no_sense_sets_no_limit() {
        let file = [("sys/fs/cgroup/memory.max", "1000\n")];
        for (groups, mounts) in [
            ("", UNIFIED),
            ("nonsense\n0:\n", UNIFIED),
            ("0::/\n", ""),
            ("0::/\n", "30 24 - cgroup2\n30 24 0:26 / /x rw - cgroup cgroup\n - \n"),
            ("4:cpu:/\n", UNIFIED),
        ] {
            assert_eq!(limit_of(groups, mounts, &file), None, "{groups:?} with {mounts:?}");
        }
    }

    #[test]
    fn this_machine_can_be_read() {
        assert!(memory_limit().expect("the process is in groups").is_none_or(|limit| limit.bytes > 0));
    }
}
