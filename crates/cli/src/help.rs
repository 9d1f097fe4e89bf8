//! Help texts.
//!
//! Models: nothing.
//! Rule: one text a command, every option named, with an example that works.
//! Leaves out: parameters; `bioscope params` prints them from their table.

/// Shown without a command.
pub const OVERVIEW: &str = "\
bioscope: the Linux block I/O path and an SMR disk, simulated.

  bioscope run SCENARIO        simulate and print the figures
  bioscope iostat SCENARIO     what each device did, as iostat -x prints it
  bioscope gaps SCENARIO       how far apart the devices' commands are
  bioscope debugfs SCENARIO    tags and scheduler at a moment, as the kernel's debugfs prints them
  bioscope sweep SCENARIO      one setting against throughput
  bioscope trace SCENARIO      print the trace as blkparse does
  bioscope render SCENARIO     draw a moment as SVG or PNG
  bioscope validate [TABLE]    compare with published measurements
  bioscope params              all parameters
  bioscope attributes          the files of /sys/block/X/queue, and what can be written to them
  bioscope presets             all presets
  bioscope url SCENARIO        the link of a scenario
  bioscope site                pages, previews and posters of the presets
  bioscope words               the texts that the page fetches

SCENARIO is a preset (bioscope presets), a .bioscope file, a link, or the part of a link behind #.
Every command has --help. Exit status: 0 done, 1 a run could not be made or a limit was passed, 2 bad input.
";

/// Commands and their help.
pub const COMMANDS: &[(&str, &str)] = &[
    (
        "run",
        "\
bioscope run SCENARIO [--set KEY=VALUE]... [--side a|b|both] [--json]

Simulates a scenario to its end and prints bandwidth, latency, where the time went, and the hash of the trace.

  --set KEY=VALUE   change a parameter (bioscope params lists them); b.KEY changes run B only, job1.KEY one job,
                    b.at=TIME makes run B a fork of A at that time
  --side a|b|both   which run (a)
  --json            figures as JSON: one object, or a list of two with --side both

  bioscope run smr-seq-write --set iodepth=128 --side both
",
    ),
    (
        "iostat",
        "\
bioscope iostat SCENARIO [--set KEY=VALUE]... [--side a|b|both] [--reads] [-m]

Simulates a scenario to its end and prints the counters of all devices over the measured window in iostat's columns.

  -m, --megabytes  MB instead of kB a second (both are binary, as iostat's)
  --reads          only the columns of reads, aqu-sz and %util
  --set KEY=VALUE  as in run
  --side a|b|both  which runs (a)

  bioscope iostat raid5-dd --side both --reads -m
",
    ),
    (
        "gaps",
        "\
bioscope gaps SCENARIO [--set KEY=VALUE]... [--side a|b|both] [--device NAME]

Simulates a scenario to its end and prints how far the start of each command is from the end of the one before it on the
same device, as a histogram. A gap belongs to the row whose upper bound it does not pass: 64 KiB is in 32 .. 64.

  --device NAME    only this device (sda); left out, all together
  --set KEY=VALUE  as in run
  --side a|b|both  which runs (a)

  bioscope gaps raid5-dd --side both
",
    ),
    (
        "debugfs",
        "\
bioscope debugfs SCENARIO [FILE] [--at TIME] [--set KEY=VALUE]... [--side a|b]

Prints what the files of /sys/kernel/debug/block would say at a moment: hctx0/tags, tags_bitmap, sched_tags,
sched_tags_bitmap, dispatch, and the scheduler's under sched. bfq has none in the kernel; sched/queues is this
program's own.

  FILE             a path or the end of one (sda/hctx0/tags, tags_bitmap, sched/queued), or a folder (sda, sched);
                   left out, all files of all devices
  --at TIME        the moment (10ms, 1.5s; +k for the k-th record at it; left out, that of the scenario)
  --set KEY=VALUE  as in run
  --side a|b       which run (a)

  bioscope debugfs smr-seq-write sched_tags --at 1.05s
",
    ),
    (
        "sweep",
        "\
bioscope sweep SCENARIO [--over KEY=VALUES]... [--seeds N] [--set KEY=VALUE]... [--side a|b|both] [--csv]

Runs a scenario for every value of a setting and prints the mean bandwidth in MiB/s. A preset is run with the length,
ramp and zones of its published table instead of those of the shown run.

  --over KEY=VALUES  values: 1,2,4 or 1..128*2 (doubling) or 4..32+4; given twice, every combination is run;
                     left out, the sweeps of the scenario (sw, sw2), else the preset's
  --seeds N          runs per point, with N seeds from the scenario's own (seeds of the scenario, else 1)
  --set KEY=VALUE    as in run
  --side a|b|both    which runs (both if there is a run B)
  --csv              comma-separated: swept keys, side, seeds, mean, sd, unit

  bioscope sweep smr-seq-write --over iodepth=1..128*2 --csv
",
    ),
    (
        "trace",
        "\
bioscope trace SCENARIO [--set KEY=VALUE]... [--until TIME] [--actions LIST] [--side a|b]

Prints the trace in blkparse's default text format.

  --until TIME     stop at this simulated time (10ms, 1.5s; a bare number is seconds)
  --actions LIST   letters (GD), or words and letters with commas (ZP,ZU,seek);
                   all adds the drive's and the jobs' own words to what blktrace knows;
                   fail: only the C of bios that had no request
  --set KEY=VALUE  as in run
  --side a|b       which run (a)

  bioscope trace smr-seq-write --until 10ms --actions GD
",
    ),
    (
        "render",
        "\
bioscope render SCENARIO -o FILE [--at TIME] [--view PANELS] [--side a|b|both] [--theme light|dark|grey]
                [--title TEXT] [--width N] [--height N] [--set KEY=VALUE]...

Simulates a scenario and draws one moment of it as the page shows it, with its settings, readouts and link.

  -o, --output FILE  where to: a name that ends in .svg or .png
  --at TIME          the moment (10ms, 3.48s; a bare number is seconds), 3.48s+2 for the second record at that time;
                     left out, the scenario's own
  --view PANELS      jobs,zwplugs,tags,drive,strip for the lanes, biolist,order,members,listing,strip where a device
                     is made of others, tagmap,waiters,sched,drive,strip for a queue whose wait queues and scheduler
                     matter (the presets from hdd-async-depth on), throughput,time,why for the cards below;
                     left out, the scenario's own, which is all unless it says otherwise
  --side a|b|both    which runs (both if there is a run B)
  --title TEXT       the picture's heading (the preset's title, or the file's name)
  --theme THEME      light, dark, or grey for print (light)
  --width N          pixels, 200 to 4000 (960)
  --height N         pixels, 200 to 4000; left out, as high as it needs to be
  --set KEY=VALUE    as in run

  bioscope render smr-seq-write --at 1.2s --view zwplugs,drive --theme grey -o figure.svg
",
    ),
    (
        "validate",
        "\
bioscope validate [TABLE]... [--json] [--check FILE]

Simulates published measurements and prints, for each cell, the published figure, the simulated one (mean over six
seeds where there is chance), the spread over the seeds and the error; below them means and worst errors, why cells are
far off, rules of shape, and what is not modelled.

  TABLE         only these tables (seed-000 seed-001 seed-002 seed-003 02 05 06 09 11 12 13 18 20 21 27 29 33)
  --json        a list of cells: table, row, variant, unit, published, simulated, spread, error_pct, calibration
  --check FILE  exit with 1 where a limit of FILE is passed: a JSON list of objects with mean and worst
                (of |error_pct|) and, optionally, table, row and variant, which choose the cells

  bioscope validate seed-000
",
    ),
    (
        "params",
        "\
bioscope params [--fitted] [--json | --markdown]

Prints every parameter with its default, the values it takes and what it means.

  --fitted    only the fitted numbers of the drive profile, with their calibration cells
  --json      as JSON
  --markdown  as the reference page of the documentation
",
    ),
    (
        "attributes",
        "\
bioscope attributes

Prints the files of /sys/block/X/queue: mode, which queues have each, the setting that it is here, what may be written.
Those with a setting can be written during a run: --set change=1.2s:zoned_qd1_writes:1,3s:scheduler:bfq.

  bioscope attributes
",
    ),
    (
        "presets",
        "\
bioscope presets [--json]

Prints the presets and what to look for in each.
",
    ),
    (
        "url",
        "\
bioscope url SCENARIO [--set KEY=VALUE]... [--file]

Prints the fragment of a scenario's link, in canonical form.

  --set KEY=VALUE  as in run
  --file           a .bioscope file instead

  bioscope url smr-seq-write --set iodepth=128
",
    ),
    (
        "site",
        "\
bioscope site -o FOLDER [--base-url URL]

Writes what a web site shows of each preset before the simulator is loaded: NAME.html with title, description and
preview for mails and chats, forwarding to the simulator one folder up; NAME.png, 1200 by 630; the posters
NAME-dark.svg and NAME-light.svg; and presets.js, which embeds read.

  -o, --output FOLDER  where to; made if it is not there
  --base-url URL       the address under which the folder above is published; without it the pages have no og:url
                       and og:image

  bioscope site --base-url https://example.org/bioscope/ -o dist/p
",
    ),
    (
        "words",
        "\
bioscope words

Prints static/words.json: what the page shows but does not need to run, and fetches therefore. Help of the parameters,
guides of the presets, published figures.
",
    ),
];

/// Help of a command.
pub fn of(name: &str) -> Option<&'static str> {
    COMMANDS.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
