//! Tools at their pinned versions, installed when missing and found in the cache ever after.
//!
//! Models: nothing.
//! Rule: each tool lives in a folder named after its version, so a raised version is installed beside the old one and
//! a folder that exists needs no further look. Nothing is installed system-wide, but for the browsers on a Debian
//! machine where we are root.
//! Leaves out: what the README asks for: the Rust toolchain, a C compiler, Node.

use crate::shell::{Result, cache, cargo, command, find_on_path, output, root, run, timed};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WASM_TARGETS: [&str; 2] = ["wasm32-unknown-unknown", "wasm32v1-none"];

/// A build tool from crates.io. Built without optimisation: it compiles in a third of the time and
/// runs for a second.
struct CargoTool {
    package: &'static str,
    binary: &'static str,
    version: &'static str,
    flags: &'static [&'static str],
    about: &'static str,
}

/// Newer versions want a newer Rust.
const TRUNK: CargoTool = CargoTool {
    package: "trunk",
    binary: "trunk",
    version: "0.21.14",
    flags: &["--locked", "--no-default-features", "--features", "rustls"],
    about: "bundles the page; compiling it takes about 3 minutes, once",
};

/// Must equal the workspace's `wasm-bindgen`. Not `--locked`: its lock file names a yanked crate.
const WASM_BINDGEN: CargoTool = CargoTool {
    package: "wasm-bindgen-cli",
    binary: "wasm-bindgen",
    version: "0.2.130",
    flags: &[],
    about: "joins WebAssembly to JavaScript; compiling it takes about 2 minutes, once",
};

/// Makes the book of docs/. Without `serve` and `watch` it compiles a third of the crates.
const MDBOOK: CargoTool = CargoTool {
    package: "mdbook",
    binary: "mdbook",
    version: "0.5.4",
    flags: &["--locked", "--no-default-features", "--features", "search"],
    about: "makes the book; compiling it takes about a minute, once",
};

impl CargoTool {
    fn folder(&self) -> Result<PathBuf> {
        Ok(cache()?.join("tools").join(format!("{}-{}", self.binary, self.version)))
    }

    fn bin(&self) -> Result<PathBuf> {
        Ok(self.folder()?.join("bin"))
    }

    fn ensure(&self) -> Result<()> {
        if self.bin()?.join(self.binary).is_file() {
            return Ok(());
        }
        timed(&format!("install {} {}: {}", self.package, self.version, self.about), || self.install())
    }

    fn install(&self) -> Result<()> {
        let build = cache()?.join("tools").join(format!("build-{}", self.binary));
        let mut install = cargo(&["install", self.package, "--version", self.version, "--debug", "--quiet"]);
        install.args(self.flags).arg("--root").arg(self.folder()?).env("CARGO_TARGET_DIR", &build);
        // Dependencies' debug information is a third of the work and of no use here.
        install.env("CARGO_PROFILE_DEV_DEBUG", "0");
        let result = run(&mut install);
        // Half a gigabyte that nobody needs again; a leftover is no reason to fail.
        let _ = fs::remove_dir_all(&build);
        result
    }
}

/// What the code needs to compile: for `test --fast`.
pub fn targets() -> Result<()> {
    let sysroot = PathBuf::from(output(&mut command("rustc", &["--print", "sysroot"]))?);
    let installed = |target: &&str| sysroot.join("lib/rustlib").join(target).join("lib").is_dir();
    let missing: Vec<&str> = WASM_TARGETS.into_iter().filter(|target| !installed(target)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    timed(&format!("add Rust targets {}", missing.join(", ")), || {
        run(command("rustup", &["target", "add"]).args(&missing))
            .map_err(|error| format!("{error}\nadd the targets to the toolchain by hand: {}", missing.join(" ")))
    })
}

/// What the page needs to be built and served.
pub fn page_tools() -> Result<()> {
    targets()?;
    TRUNK.ensure()?;
    WASM_BINDGEN.ensure()?;
    MDBOOK.ensure()?;
    node_packages()
}

/// What the whole test needs.
pub fn everything() -> Result<()> {
    page_tools()?;
    for browser in [CHROMIUM, FIREFOX] {
        println!("{}: {}", browser.name, browser.ensure()?.display());
    }
    Ok(())
}

/// `npm ci`, unless node_modules was made from this very lock file.
fn node_packages() -> Result<()> {
    let lock_file = root().join("package-lock.json");
    let stamp = root().join("node_modules/.bioscope-lock");
    let lock = fs::read(&lock_file).map_err(|error| format!("{}: {error}", lock_file.display()))?;
    if fs::read(&stamp).is_ok_and(|stamped| stamped == lock) {
        return Ok(());
    }
    timed("npm ci: wasm-opt, playwright-core, puppeteer-core, axe-core", || {
        if find_on_path(&["npm"]).is_none() {
            return Err("npm is not on PATH: Node 20 or later is needed".into());
        }
        run(&mut command("npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"]))?;
        fs::write(&stamp, &lock).map_err(|error| format!("{}: {error}", stamp.display()))
    })
}

/// PATH with the pinned tools before everything else.
pub fn tool_path() -> Result<OsString> {
    let mut folders = vec![TRUNK.bin()?, WASM_BINDGEN.bin()?, MDBOOK.bin()?, root().join("node_modules/.bin")];
    folders.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    env::join_paths(folders).map_err(|error| format!("PATH: {error}"))
}

/// A browser of the tests: named by the user, found on PATH, or Debian's package.
struct Browser {
    name: &'static str,
    /// Environment variable with its path.
    variable: &'static str,
    /// Programs on PATH, the first one wins.
    programs: &'static [&'static str],
    /// Debian's packages, what it needs to show text included.
    packages: &'static [&'static str],
}

const CHROMIUM: Browser = Browser {
    name: "Chromium",
    variable: "BIOSCOPE_CHROMIUM",
    programs: &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    packages: &["chromium", "fonts-liberation"],
};

const FIREFOX: Browser = Browser {
    name: "Firefox",
    variable: "BIOSCOPE_FIREFOX",
    programs: &["firefox-esr", "firefox"],
    packages: &["firefox-esr", "fonts-liberation"],
};

impl Browser {
    fn ensure(&self) -> Result<PathBuf> {
        let Browser { name, variable, programs, packages } = *self;
        if let Some(named) = env::var_os(variable) {
            let path = PathBuf::from(named);
            return if path.is_file() { Ok(path) } else { Err(format!("{variable}: no file {}", path.display())) };
        }
        if let Some(path) = find_on_path(programs) {
            return Ok(path);
        }
        let packages = packages.join(" ");
        if !Path::new("/etc/debian_version").is_file() || !is_root()? {
            return Err(format!(
                "no {name}: install it (sudo apt-get install {packages}), or set {variable} to its path"
            ));
        }
        timed(&format!("apt-get install {packages}"), || {
            run(&mut apt_get(&["update"]))?;
            run(apt_get(&["install", "--yes", "--no-install-recommends"]).args(self.packages))
        })?;
        find_on_path(programs).ok_or_else(|| format!("apt-get installed {packages}, but no {name} is on PATH"))
    }
}

/// The browser of nearly all tests.
pub fn chromium() -> Result<PathBuf> {
    CHROMIUM.ensure()
}

/// The second browser, for one flow.
pub fn firefox() -> Result<PathBuf> {
    FIREFOX.ensure()
}

fn apt_get(args: &[&str]) -> Command {
    let mut apt_get = command("apt-get", &["--quiet=2"]);
    // A line per package, hundreds of them; errors go to standard error.
    apt_get.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
    apt_get
}

fn is_root() -> Result<bool> {
    Ok(output(&mut command("id", &["-u"]))? == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trunk stops when the command line tool differs from the crate.
    #[test]
    fn wasm_bindgen_is_pinned_alike() {
        let version = WASM_BINDGEN.version;
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains(&format!("wasm-bindgen = \"={version}\"")));
        let trunk = fs::read_to_string(root().join("Trunk.toml")).unwrap();
        assert!(trunk.contains(&format!("wasm_bindgen = \"{version}\"")));
    }

    #[test]
    fn wasm_opt_is_pinned_alike() {
        let package = fs::read_to_string(root().join("package.json")).unwrap();
        let trunk = fs::read_to_string(root().join("Trunk.toml")).unwrap();
        assert!(package.contains("\"binaryen\": \"132.0.0\"") && trunk.contains("wasm_opt = \"version_132\""));
    }
}
