//! The machine's name, and the platform that it runs on.

use std::io;
use std::path::Path;

use super::{processor, text_of};

/// The virtualization between the process and the hardware, as far as it can be detected; the rest is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hypervisor {
    /// Whether the processor reports that it is a virtual machine's.
    pub virtual_machine: bool,
    /// The product name in the firmware, such as `Amazon EC2 c5.large` or `QEMU Standard PC`.
    pub product: Option<String>,
    /// The kind of container, if one is detected: `docker` or `podman`.
    pub container: Option<&'static str>,
}

/// Returns the machine's host name.
#[must_use]
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns the kernel's name and release, such as `Linux 6.18.44`.
#[must_use]
pub fn kernel_release() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy())
}

/// Returns the kernel's clock source: `tsc`, `kvm-clock`, `hpet` and so on.
///
/// # Errors
/// If the kernel does not report it.
pub fn clock_source() -> io::Result<String> {
    text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        .map(|text| text.trim().to_owned())
}

/// Detects the virtualization between the process and the hardware.
///
/// # Errors
/// If `/proc/cpuinfo` cannot be read.
pub fn hypervisor() -> io::Result<Hypervisor> {
    let named = |path| text_of(path).ok().map(|text| text.trim().to_owned()).filter(|name| !name.is_empty());
    let parts = [named("/sys/class/dmi/id/sys_vendor"), named("/sys/class/dmi/id/product_name")];
    let product = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let containers = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    Ok(Hypervisor {
        virtual_machine: processor()?.virtual_machine,
        product: (!product.is_empty()).then_some(product),
        container: containers.into_iter().find(|(mark, _)| Path::new(mark).exists()).map(|(_, name)| name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_name_and_a_kernel() {
        assert!(!host_name().is_empty());
        assert!(kernel_release().starts_with("Linux "), "{}", kernel_release());
        hypervisor().expect("the machine has a processor");
    }
}
