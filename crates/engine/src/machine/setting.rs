//! Kernel settings by their sysctl names.

use std::io;

use super::text_of;

/// Reads the setting with this name, such as `net.ipv4.tcp_syncookies`.
///
/// # Errors
/// `NotFound` if the kernel has no such setting, or the error that prevents reading it.
pub fn setting(name: &str) -> io::Result<String> {
    text_of(&format!("/proc/sys/{}", name.replace('.', "/"))).map(|text| text.trim().to_owned())
}

/// Reads a setting of `N` numbers.
///
/// # Errors
/// As [`setting`], and `InvalidData` if it has another format.
pub fn setting_numbers<const N: usize>(name: &str) -> io::Result<[u64; N]> {
    let text = setting(name)?;
    numbers(&text).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "{name} is \"{text}\", but {N} whole numbers are \
             expected"
            ),
        )
    })
}

fn numbers<const N: usize>(text: &str) -> Option<[u64; N]> {
    let numbers: Vec<u64> =
        text.split_ascii_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_as_many_numbers_as_are_asked_for() {
        assert_eq!(numbers("287901\t383869\t575802"), Some([287_901, 383_869, 575_802]));
        assert_eq!(numbers("1"), Some([1]));
        assert_eq!(numbers::<2>("1"), None);
        assert_eq!(numbers::<1>("1 2"), None);
        assert_eq!(numbers::<1>("many"), None);
        assert_eq!(numbers::<1>(""), None);
    }

    #[test]
    fn a_setting_that_is_not_there_is_not_found_by_name() {
        let error = setting("net.ipv4.tcp_tw_recycle").expect_err("removed in Linux 4.12");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("tcp_tw_recycle"), "{error}");
        assert!(setting_numbers::<1>("fs.nr_open").expect("every Linux has it")[0] > 0);
    }
}
