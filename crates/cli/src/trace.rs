//! `bioscope trace`.

use std::io::Write;
use std::sync::Arc;

use bioscope_core::observe::trace::{TraceRecord, TraceSink};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_formats::blkparse::{Blkparse, Filter};
use bioscope_scenario::value::{self, S, Value};

use crate::Failure;
use crate::args::{Args, configs, warn_of_b};

/// Events between two writes to standard output: a reader that has gone is noticed soon.
const SLICE: u64 = 2_000;

/// Collects lines.
struct Lines {
    format: Blkparse,
    text: String,
}

impl TraceSink for Lines {
    fn record(&mut self, r: &TraceRecord) {
        self.format.line(r, &mut self.text);
    }
}

/// Runs one side and prints its trace as it comes.
pub fn trace(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let (s, _) = args.scenario()?;
    let sides = args.sides(&s, "a")?;
    if sides.len() > 1 {
        return Err(Failure::bad("--side both: a trace is of one run, a or b"));
    }
    let until = match &args.until {
        None => u64::MAX,
        Some(text) => match value::parse(S, text) {
            Ok(Value::Int(ns)) => ns,
            Ok(_) => u64::MAX,
            Err(p) => return Err(Failure::bad(format!("--until {text}: {}", p.message()))),
        },
    };
    let filter = match &args.actions {
        None => Filter::Blktrace,
        Some(text) => Filter::parse(text).map_err(|e| Failure::bad(format!("--actions {text}: {e}")))?,
    };
    warn_of_b(&s, &sides);
    for cfg in configs(&s, &sides, &mut Vec::new())? {
        let mut lines = Lines { format: Blkparse::new(&cfg, filter.clone()), text: String::new() };
        let mut sim = Simulation::new(Arc::new(cfg));
        loop {
            let state = sim.advance(until, SLICE, &mut lines);
            out.write_all(lines.text.as_bytes())?;
            lines.text.clear();
            if state != Advance::Budget {
                break;
            }
        }
    }
    Ok(())
}
