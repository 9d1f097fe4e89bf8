//! The page: built by Trunk into dist/, served from there.
//!
//! Models: nothing.
//! Rule: one way to build and one server (tests/browser/server.mjs), so that what a developer sees, what the tests
//! drive and what is published are the same files.
//! Leaves out: rebuilding on change.

use crate::setup;
use crate::shell::{Result, cargo, command, find_on_path, out_dir, root, run, timed};
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Set-up, then all of dist/ in the profile that is published.
pub fn build(base_url: Option<&str>) -> Result<()> {
    timed("set-up", setup::page_tools)?;
    timed("build the page into dist/", trunk_build)?;
    timed("pages and pictures of the presets into dist/p/", || presets(base_url))?;
    timed("build the book into dist/book/", book)
}

/// Builds dist/, unless it was built from exactly these sources: wasm-opt takes its time on every call.
pub fn trunk_build() -> Result<()> {
    from_sources("dist/", "index.html", &SOURCES, "", || {
        let mut trunk = command("trunk", &["build", "--log=warn"]);
        // Trunk reads NO_COLOR=1, which CI systems set, as a malformed flag; its backtraces hide the message.
        trunk.env("PATH", setup::tool_path()?).env_remove("NO_COLOR").env_remove("RUST_BACKTRACE");
        run(&mut trunk)
    })
}

/// Pages, previews and posters of the presets into dist/p/. After the page: Trunk empties dist/.
pub fn presets(base_url: Option<&str>) -> Result<()> {
    from_sources("dist/p/", "presets.js", &["Cargo.lock", "Cargo.toml", "crates"], base_url.unwrap_or(""), || {
        let folder = root().join("dist/p");
        // Pages of presets that are gone.
        let _ = fs::remove_dir_all(&folder);
        let mut site = cargo(&["run", "--quiet", "--release", "--bin=bioscope", "--", "site", "--output"]);
        site.arg(&folder);
        if let Some(url) = base_url {
            site.args(["--base-url", url]);
        }
        run(&mut site)
    })
}

/// The book into dist/book/, after the page. The command draws its pictures.
pub fn book() -> Result<()> {
    from_sources("dist/book/", "index.html", &["Cargo.lock", "Cargo.toml", "crates", "docs"], "", || {
        let mut mdbook = command("mdbook", &["build", "docs", "--dest-dir"]);
        // It tells every step otherwise.
        mdbook.arg(root().join("dist/book")).env("PATH", setup::tool_path()?).env("MDBOOK_LOG", "warn");
        run(&mut mdbook)?;
        run(command("node", &["crates/xtask/js/book.mjs", "dist/book"]).arg(bioscope()?))
    })
}

/// No dead link in dist/, and every scenario in it opens.
pub fn links() -> Result<()> {
    run(command("node", &["crates/xtask/js/links.mjs", "dist"]).arg(bioscope()?))
}

/// The `bioscope` command, built.
fn bioscope() -> Result<PathBuf> {
    run(&mut cargo(&["build", "--quiet", "--release", "--bin=bioscope"]))?;
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/bioscope"))
}

/// Does the work that fills `folder`, unless its `last` file is there and it was done with exactly these sources and
/// this `option`.
fn from_sources(
    folder: &str,
    last: &str,
    sources: &[&str],
    option: &str,
    work: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let stamp = out_dir()?.join(format!("{}-sources", folder.trim_end_matches('/').replace('/', "-")));
    let sources = listing(&sources.iter().map(|name| root().join(name)).collect::<Vec<_>>())?;
    let sources = format!("{option}\n{sources}");
    if root().join(folder).join(last).is_file() && fs::read_to_string(&stamp).is_ok_and(|built| built == sources) {
        println!("{folder} is up to date");
        return Ok(());
    }
    // What stops half-way must not be taken for whole.
    let _ = fs::remove_file(&stamp);
    work()?;
    fs::write(&stamp, sources).map_err(|error| format!("{}: {error}", stamp.display()))
}

/// What the page is made of, in the repository's root.
const SOURCES: [&str; 11] = [
    "Cargo.lock",
    "Cargo.toml",
    "Trunk.toml",
    "crates",
    "embed.html",
    "index.html",
    "package-lock.json",
    "rust-toolchain.toml",
    "static",
    "sw.js",
    "web",
];

/// Every file under `paths` with its size and time of change, a line each.
fn listing(paths: &[PathBuf]) -> Result<String> {
    let mut lines = Vec::new();
    let mut waiting = paths.to_vec();
    while let Some(path) = waiting.pop() {
        let explain = |error: std::io::Error| format!("{}: {error}", path.display());
        let about = fs::metadata(&path).map_err(explain)?;
        if about.is_dir() {
            for entry in fs::read_dir(&path).map_err(explain)? {
                waiting.push(entry.map_err(explain)?.path());
            }
        } else {
            lines.push(format!("{} {} {:?}\n", path.display(), about.len(), about.modified().map_err(explain)?));
        }
    }
    lines.sort();
    Ok(lines.concat())
}

/// `cargo xtask dist [--base-url URL]`.
pub fn dist(args: &[String]) -> Result<()> {
    build(base_url(args)?)
}

fn base_url(args: &[String]) -> Result<Option<&str>> {
    match args {
        [] => Ok(None),
        // Before anything is built or deleted; `bioscope site` holds it against the same rule.
        [flag, url] if flag == "--base-url" && !is_folder_address(url) => {
            Err(format!("--base-url {url}: must be the http or https address of a folder"))
        }
        [flag, url] if flag == "--base-url" => Ok(Some(url)),
        [flag] if flag == "--base-url" => Err("--base-url needs an address".into()),
        _ => Err(format!("dist: unexpected arguments {args:?}")),
    }
}

fn is_folder_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && !url.contains(|c: char| c.is_whitespace() || "\"'<>?#".contains(c))
}

/// Writes web/later.txt anew, from a build that notes what is reached.
pub fn later() -> Result<()> {
    timed("set-up", setup::everything)?;
    let mut trunk = command("trunk", &["build", "--log=warn", "--dist", "target/later"]);
    trunk.env("PATH", setup::tool_path()?).env_remove("NO_COLOR").env("BIOSCOPE_COUNT_CALLS", "1");
    run(&mut trunk)?;
    let mut node = command("node", &["crates/xtask/js/later.mjs", "target/later"]);
    node.env("PATH", setup::tool_path()?).env("BIOSCOPE_CHROMIUM", setup::chromium()?);
    run(&mut node)
}

pub fn size() -> Result<()> {
    build(None)?;
    weigh()
}

/// Holds what lies in dist/ against the size budget; Node's zlib compresses.
pub fn weigh() -> Result<()> {
    run(&mut command("node", &["crates/xtask/js/size.mjs"]))
}

#[derive(Debug, PartialEq)]
pub struct ServeOptions {
    /// None: 8080, or the next free one.
    port: Option<u16>,
    once: bool,
}

impl ServeOptions {
    pub fn parse(args: &[String]) -> Result<Self> {
        let mut options = ServeOptions { port: None, once: false };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--once" => options.once = true,
                "--port" => {
                    let value = args.next().ok_or("--port needs a number")?;
                    options.port = Some(value.parse().map_err(|_| format!("--port: {value:?} is no port number"))?);
                }
                other => return Err(format!("serve: unexpected argument {other:?}")),
            }
        }
        Ok(options)
    }
}

pub fn serve(options: &ServeOptions) -> Result<()> {
    build(None)?;
    let mut server = server(options.port);
    if options.once {
        return timed("serve, fetch the page once", || fetch_once(server.stdout(Stdio::piped())));
    }
    // The server takes this process's place, so that ending the one ends the other.
    Err(format!("node: {}", server.exec()))
}

fn server(port: Option<u16>) -> Command {
    let mut server = command("node", &["tests/browser/server.mjs", "dist"]);
    if let Some(port) = port {
        server.arg("--port").arg(port.to_string());
    }
    server
}

fn fetch_once(server: &mut Command) -> Result<()> {
    if find_on_path(&["node"]).is_none() {
        return Err("node is not on PATH: Node 20 or later is needed".into());
    }
    let mut child = server.spawn().map_err(|error| format!("node: {error}"))?;
    let result = announced_address(&mut child).and_then(|address| fetch_index(&address));
    child.kill().and_then(|()| child.wait()).map_err(|error| format!("end the server: {error}"))?;
    result
}

/// The `host:port` of the server's first line, `Bioscope is served at http://127.0.0.1:8080/`.
fn announced_address(child: &mut Child) -> Result<String> {
    let stdout = child.stdout.take().expect("standard output is piped");
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).map_err(|error| format!("server: {error}"))?;
    print!("{line}");
    let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once('/')).map(|(address, _)| address);
    address.map(str::to_string).ok_or_else(|| "the server did not start".to_string())
}

/// Fetches / and checks that it is the built page, in full.
fn fetch_index(address: &str) -> Result<()> {
    let io = |error: std::io::Error| format!("http://{address}/: {error}");
    let mut stream = TcpStream::connect(address).map_err(io)?;
    stream.set_read_timeout(Some(Duration::from_secs(10))).map_err(io)?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").map_err(io)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(io)?;
    let index = fs::read_to_string(root().join("dist/index.html")).map_err(io)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    if !answer.starts_with("HTTP/1.1 200 ") || body != index {
        return Err(format!("http://{address}/ is not the built page: {:?}", answer.lines().next().unwrap_or("")));
    }
    println!("http://{address}/: 200, {} bytes", body.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<ServeOptions> {
        ServeOptions::parse(&words.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn listing_notices_a_change() {
        let folder = std::env::temp_dir().join(format!("xtask-listing-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(folder.join("inner/a"), "1").unwrap();
        let before = listing(std::slice::from_ref(&folder)).unwrap();
        assert_eq!(listing(std::slice::from_ref(&folder)).unwrap(), before);
        fs::write(folder.join("inner/a"), "12").unwrap();
        let after = listing(std::slice::from_ref(&folder)).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(after != before && after.lines().count() == 1);
    }

    #[test]
    fn dist_options() {
        let words = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        assert_eq!(base_url(&[]), Ok(None));
        assert_eq!(base_url(&words("--base-url https://example.org/")), Ok(Some("https://example.org/")));
        assert_eq!(base_url(&words("--base-url")), Err("--base-url needs an address".into()));
        for url in [
            "garbage",
            "",
            "https://",
            "http:///path",
            "ftp://example.org/",
            "https://a/?b",
            "https://a/<b>",
            "https://a b/",
        ] {
            let refused = base_url(&["--base-url".to_string(), url.to_string()]).unwrap_err().to_string();
            assert_eq!(refused, format!("--base-url {url}: must be the http or https address of a folder"));
        }
        assert_eq!(base_url(&words("--fast")), Err("dist: unexpected arguments [\"--fast\"]".into()));
    }

    #[test]
    fn serve_options() {
        assert_eq!(parse(""), Ok(ServeOptions { port: None, once: false }));
        assert_eq!(parse("--once --port 9000"), Ok(ServeOptions { port: Some(9000), once: true }));
        assert_eq!(parse("--port"), Err("--port needs a number".into()));
        assert_eq!(parse("--port many"), Err("--port: \"many\" is no port number".into()));
        assert_eq!(parse("--fast"), Err("serve: unexpected argument \"--fast\"".into()));
    }
}
