//! A moment of a scenario as one picture that stands alone: what it is, when, with which settings, and its link.
//!
//! Models: nothing.
//! Rule: lanes, bars and charts are the page's own display lists and functions; this only puts them on a sheet. What
//! is asked for and does not fit is refused, not shrunk.
//! Leaves out: files and pixels.

use std::sync::Arc;

use bioscope_core::observe::stats::Stats;
use bioscope_lab::chart::{Chart, axis_unit};
use bioscope_lab::published::seed000_row;
use bioscope_lab::sweep::run_point;
use bioscope_lab::threads;
use bioscope_scenario::view::{Panel, Panels};
use bioscope_scenario::{KEYS, Moment, Param, Scenario, Side, encode};
use bioscope_session::{self as session, Frame, MAX_EVENTS, Session, SideFrame};
use bioscope_stage::lane::drive::Window;
use bioscope_stage::lane::pen::{Area, Colours, Lit, Pen};
use bioscope_stage::shape::{Align, DisplayList, Font, Ink, Shape};
use bioscope_stage::{
    Lane, LaneInput, Layout, Palette, charts, gaps, iostat, lane, parts, readouts, svg, table, text, why,
};
use plotters::prelude::SVGBackend;

use crate::Failure;
use crate::args::configs;

/// Engine events between two looks at whether a run is over.
const SLICE: u64 = 1 << 16;
/// Simulated ns a second where no preset says more: the page's.
const SPEED: u64 = 20_000_000;
/// Distance from the edge and between cards.
const MARGIN: f32 = 12.0;
/// A lane is this much higher than it has to be, if the height is left open.
const ROOMY: f32 = 60.0;
/// Panels below each other need this width.
const NARROWEST: f32 = 320.0;
/// Reasons in a card.
const REASONS: usize = 14;

/// A scenario, run to its end and standing at a moment.
pub struct Shown {
    /// The preset's title, the file's name, or what was asked for.
    title: String,
    /// What was run; its `t` is the moment, its view what the picture shows.
    scenario: Scenario,
    /// The moment.
    frame: Frame,
    /// Figures of the whole runs.
    ends: [Option<Stats>; 2],
    tools: [&'static str; 2],
    /// What is shown, of both runs.
    pub subject: lane::Subject,
    speed: u64,
}

fn letter(side: Side) -> &'static str {
    match side {
        Side::A => "A",
        Side::B => "B",
    }
}

fn session_side(side: Side) -> session::Side {
    match side {
        Side::A => session::Side::A,
        Side::B => session::Side::B,
    }
}

fn index(side: Side) -> usize {
    usize::from(side == Side::B)
}

impl Shown {
    /// Runs both sides as the page does, and goes to `at`, the scenario's own moment where that is not given.
    pub fn of(scenario: &Scenario, name: &str, at: Option<Moment>) -> Result<Self, Failure> {
        let sides: &[Side] = if scenario.has_b() { &[Side::A, Side::B] } else { &[Side::A] };
        let mut tools = ["fio"; 2];
        let mut runs = Vec::new();
        for (cfg, tool) in configs(scenario, sides, &mut Vec::new())?.into_iter().zip(&mut tools) {
            *tool = lane::tool(&cfg);
            runs.push(Arc::new(cfg));
        }
        let subjects = runs.iter().map(|cfg| lane::Subject::of_config(cfg));
        let subject = subjects.reduce(lane::Subject::with).expect("a run");
        let b = runs.get(1).cloned();
        let mut session = Session::load(runs[0].clone(), b);
        let speed = scenario.preset.map_or(SPEED, |p| p.speed_ns);
        session.set_speed(speed);
        loop {
            match session.presimulate(SLICE) {
                Ok(progress) if progress.done => break,
                Ok(_) => {}
                Err(long) => {
                    let reached = text::seconds(long.reached);
                    let words = format!("more than {} events, after {reached}", text::thousands(MAX_EVENTS));
                    return Err(Failure::Failed(vec![format!("error: {words}: shorten the run (runtime, size)")]));
                }
            }
        }
        let moment = at.or(scenario.t).or(scenario.preset.map(|p| p.t)).unwrap_or_default();
        if moment.ns > session.known() {
            let (asked, end) = (text::seconds(moment.ns), text::seconds(session.known()));
            return Err(Failure::bad(format!("no moment at {asked}: the run ends at {end}")));
        }
        let mut standing = scenario.clone();
        standing.t = Some(moment);
        session.seek_moment(session::Moment { time: moment.ns, k: (moment.k > 0).then_some(moment.k) });
        Ok(Self {
            title: scenario.preset.map_or_else(|| name.to_string(), |p| p.title.to_string()),
            scenario: standing,
            frame: session.frame(),
            ends: [Side::A, Side::B].map(|side| session.end(session_side(side)).map(|e| e.stats.clone())),
            tools,
            subject,
            speed,
        })
    }
    /// With another title, if there is one.
    pub fn titled(mut self, title: Option<&str>) -> Self {
        if let Some(title) = title {
            self.title = title.to_string();
        }
        self
    }

    /// True if the jobs submit to a device that is made of others.
    pub fn stacked(&self) -> bool {
        self.frame.a.order.is_some()
    }

    /// The frame of a run.
    pub fn side(&self, side: Side) -> &SideFrame {
        match side {
            Side::A => &self.frame.a,
            Side::B => self.frame.b.as_ref().unwrap_or(&self.frame.a),
        }
    }

    /// One lane, drawn.
    fn lane(&self, side: Side, panels: lane::Panels, width: f32, height: f32) -> Lane {
        let stage_side = session_side(side).into();
        let input = LaneInput::of(self.side(side), stage_side, self.speed, self.tools[index(side)]);
        lane::lane(&LaneInput { panels, ..input }, width, height, Layout::of(width, panels))
    }

    /// What sets this side apart from the other one.
    fn difference(&self, side: Side) -> String {
        let s = &self.scenario;
        let mut words: Vec<String> = s.b().iter().map(|(key, _)| setting(s, side, *key)).collect();
        for own in s.own().filter(|own| own.side == Side::B) {
            let name = own.name();
            let value = Param::of(own.key).print(s.value_of(side, Some(own.of), own.key));
            words.push([name.strip_prefix("b.").unwrap_or(&name), "=", &value].concat());
        }
        if let Some(ns) = s.fork.filter(|_| side == Side::B) {
            words.extend(["from".into(), text::seconds(ns)]);
        }
        words.join(" ")
    }

    /// Everything of run A that is not a default.
    fn settings(&self) -> String {
        let s = &self.scenario;
        let changed = KEYS.iter().filter(|k| *s.value(Side::A, **k) != s.default_value(Side::A, **k));
        let own = s.own().filter(|own| own.side == Side::A).map(|own| [&own.name(), "=", &own.text()].concat());
        let words = changed.map(|k| setting(s, Side::A, *k)).chain(own).collect::<Vec<_>>().join(" ");
        if words.is_empty() { "all settings at their defaults".into() } else { words }
    }

    fn clock(&self) -> String {
        let steps = self.frame.steps.unwrap_or(self.frame.step);
        let (step, steps) = (text::thousands(self.frame.step), text::thousands(steps));
        ["t = ", &text::seconds(self.frame.time), ", event ", &step, " of ", &steps].concat()
    }

    fn description(&self, sides: &[Side]) -> String {
        let side = |side: &Side| {
            [letter(*side), ": ", &table::summary(&self.side(*side).snapshot, self.side(*side).order.as_ref())].concat()
        };
        let lanes: Vec<String> = sides.iter().map(side).collect();
        [&self.clock(), ". ", &lanes.join(" ")].concat()
    }
}

fn setting(s: &Scenario, side: Side, key: bioscope_scenario::Key) -> String {
    [Param::of(key).key, "=", &s.text(side, key)].concat()
}

/// What to draw, and how large.
pub struct Choice<'a> {
    /// Lanes, top to bottom.
    pub sides: &'a [Side],
    /// Panels of the lanes, and cards below them.
    pub panels: Panels,
    /// Colours.
    pub palette: &'a Palette,
    /// CSS pixels.
    pub width: f32,
    /// `None`: as high as it needs to be.
    pub height: Option<f32>,
}

/// A lane as it stands in a picture.
pub struct Placed {
    side: Side,
    /// Its width and height.
    pub size: (f32, f32),
    /// What is painted.
    pub shapes: DisplayList,
}

/// What stands in a picture, and where.
pub struct Plan {
    /// The lanes, top to bottom.
    pub lanes: Vec<Placed>,
    cards: Vec<Card>,
    grid: Grid,
    /// Added to the cards where there is no lane to take what is left.
    stretch: f32,
    link: Vec<String>,
}

/// The panels of a lane that the words name, as far as the scenario's device has them.
pub fn lane_panels(panels: Panels, subject: lane::Subject) -> lane::Panels {
    let all = lane::Panels {
        jobs: panels.has(Panel::Jobs),
        zwplugs: panels.has(Panel::Zwplugs),
        tags: panels.has(Panel::Tags),
        drive: panels.has(Panel::Drive),
        strip: panels.has(Panel::Strip),
        biolist: panels.has(Panel::Biolist),
        order: panels.has(Panel::Order),
        members: panels.has(Panel::Members),
        listing: panels.has(Panel::Listing),
        tagmap: panels.has(Panel::Tagmap),
        waiters: panels.has(Panel::Waiters),
        sched: panels.has(Panel::Sched),
        timeline: panels.has(Panel::Timeline),
        zonemap: panels.has(Panel::Zonemap),
        flash: panels.has(Panel::Flash),
        qos: panels.has(Panel::Qos),
        freeze: panels.has(Panel::Freeze),
    };
    all.of_device(subject)
}

/// Finds room for everything; an error says how much is needed.
pub fn plan(shown: &Shown, choice: &Choice) -> Result<Plan, Failure> {
    let on = lane_panels(choice.panels, shown.subject);
    let layout = Layout::of(choice.width, on);
    let least = lane::min_height(layout, on);
    if layout == Layout::Narrow && choice.width < NARROWEST {
        let needed = format!("these panels need a width of {NARROWEST}; --view chooses fewer");
        return Err(Failure::bad(needed));
    }
    let cards = cards(shown, choice);
    let grid = Grid::of(choice.width, &cards);
    let link = chunks(&["#", &encode(&shown.scenario)].concat(), choice.width - 2.0 * MARGIN);

    // What is left for each lane once everything else has its room.
    let mut sheet = Sheet::new(choice.palette, choice.width);
    sheet.header(shown);
    let heads: f32 = choice.sides.iter().map(|side| sheet.lane_head(shown, *side, on, false)).sum();
    let fixed = sheet.y + heads + grid.height() + footer_height(&link);
    let lanes = if least > 0.0 { choice.sides.len() as f32 } else { 0.0 };
    let needed = fixed + lanes * least;
    if choice.height.is_some_and(|h| h < needed) {
        let needed = needed.ceil();
        return Err(Failure::bad(format!("these panels need a height of {needed}; --view chooses fewer")));
    }
    let rest = choice.height.map(|h| h - fixed);
    let roomy = if layout == Layout::Wide { least + ROOMY } else { least };
    let height = rest.map_or(roomy, |rest| rest / lanes.max(1.0)).floor();
    let place = |side: &Side| {
        let shapes = shown.lane(*side, on, choice.width, height).shapes;
        Placed { side: *side, size: (choice.width, height), shapes }
    };
    let lanes: Vec<Placed> = choice.sides.iter().filter(|_| lanes > 0.0).map(place).collect();
    let stretch = rest.filter(|_| lanes.is_empty()).unwrap_or(0.0);
    Ok(Plan { lanes, cards, grid, stretch, link })
}

/// Draws it.
pub fn picture(shown: &Shown, choice: &Choice, plan: &Plan) -> String {
    let on = lane_panels(choice.panels, shown.subject);
    let mut sheet = Sheet::new(choice.palette, choice.width);
    sheet.header(shown);
    for lane in &plan.lanes {
        sheet.lane_head(shown, lane.side, on, true);
        sheet.put(0.0, sheet.y, &lane.shapes);
        sheet.y += lane.size.1;
    }
    for (card, area) in plan.cards.iter().zip(plan.grid.areas(sheet.y, plan.stretch)) {
        sheet.card(shown, card, area);
    }
    sheet.y += plan.grid.height() + plan.stretch;
    sheet.footer(&plan.link);
    let height = choice.height.unwrap_or(sheet.y.ceil());
    let start = svg::start(choice.width, height, choice.palette, &shown.title, &shown.description(choice.sides));
    [&start, &sheet.finish(), "</svg>\n"].concat()
}

/// The picture of a preset for its embeds and for link previews: both drives beside each other.
pub fn poster(shown: &Shown, palette: &Palette, (width, height): (f32, f32), titled: bool) -> String {
    let mut sheet = Sheet::new(palette, width);
    if titled {
        sheet.title(&shown.title, width - 110.0);
        sheet.pen.text_right(width - MARGIN, sheet.y + 26.0, "Bioscope", Ink::Dim, Font::Title, 90.0);
        sheet.y += 32.0;
    }
    let sides: &[Side] = if shown.scenario.has_b() { &[Side::A, Side::B] } else { &[Side::A] };
    let kind = shown.subject.kind;
    let queue = matches!(kind, lane::Kind::Queue { .. });
    let (timeline, flash) = (kind == lane::Kind::NullBlk, matches!(kind, lane::Kind::Flash { .. }));
    let drive = kind == lane::Kind::Zones;
    let on = lane::Panels { drive, timeline, flash, order: true, strip: true, sched: queue, ..lane::Panels::NONE };
    let on = on.of_device(shown.subject);
    let column = width / sides.len() as f32;
    for (n, side) in sides.iter().enumerate() {
        let x = n as f32 * column;
        sheet.badge(x + MARGIN, sheet.y + 6.0, *side);
        let end = shown.ends[index(*side)].as_ref().map(|stats| readouts::bandwidth(stats.bytes_per_sec()).mib);
        let end = end.unwrap_or_default();
        let (right, y) = (x + column - MARGIN, sheet.y + 19.0);
        let used = sheet.pen.text_right(right, y, &end, Ink::Text, Font::Title, 110.0) + 6.0;
        let words = shown.difference(*side);
        let room = column - 2.0 * MARGIN - 26.0 - used - 10.0;
        // The number is the whole run's, not the moment's.
        let label = if end.is_empty() { "" } else { "mean of the run" };
        let label = Pen::fitting(Font::Small, room - Font::Title.width(&words), &[label, "mean"]);
        let labelled = sheet.pen.text_right(right - used, y, label, Ink::Dim, Font::Small, 110.0);
        sheet.pen.text(x + MARGIN + 26.0, y, &words, Ink::Text, Font::Title, room - labelled);
        let top = sheet.y + 26.0;
        let drawn = shown.lane(*side, on, column, height - top);
        sheet.put(x, top, &drawn.shapes);
    }
    let start = svg::start(width, height, palette, &shown.title, &shown.description(sides));
    [&start, &sheet.finish(), "</svg>\n"].concat()
}

/// A card below the lanes.
enum Card {
    Throughput(Box<Chart>),
    Time(Vec<(lane::Side, parts::PerMib)>),
    Gaps(Vec<Side>),
    Iostat(Vec<Side>),
    Why(Side),
}

impl Card {
    fn height(&self) -> f32 {
        match self {
            Card::Time(sides) => parts::height(sides.len()) + 62.0,
            Card::Throughput(chart) if chart.numbers.is_none() => chart.texts.len() as f32 * 18.0 + 78.0,
            Card::Iostat(sides) => sides.len() as f32 * 36.0 + 80.0,
            Card::Throughput(_) | Card::Why(_) | Card::Gaps(_) => 230.0,
        }
    }
}

fn cards(shown: &Shown, choice: &Choice) -> Vec<Card> {
    let mut cards = Vec::new();
    if choice.panels.has(Panel::Throughput)
        && let Some(mut chart) = Chart::of(0, &shown.scenario)
    {
        chart.publish(&shown.scenario, &seed000_row);
        let jobs = chart.jobs(&shown.scenario);
        for result in threads::map(&jobs, |job| (job.0, run_point(&job.1))) {
            chart.take(&result);
        }
        cards.push(Card::Throughput(Box::new(chart)));
    }
    if choice.panels.has(Panel::Time) && shown.stacked() {
        cards.extend([Card::Gaps(choice.sides.to_vec()), Card::Iostat(choice.sides.to_vec())]);
    } else if choice.panels.has(Panel::Time) {
        let end =
            |side: &Side| Some((session_side(*side).into(), parts::per_mib(&shown.ends[index(*side)].as_ref()?.drive)));
        cards.push(Card::Time(choice.sides.iter().filter_map(end).collect()));
    }
    if choice.panels.has(Panel::Why) {
        cards.extend(choice.sides.iter().map(|side| Card::Why(*side)));
    }
    cards
}

/// Where the cards stand: rows as high as their highest card.
struct Grid {
    columns: usize,
    width: f32,
    rows: Vec<f32>,
    cards: usize,
}

impl Grid {
    fn of(width: f32, cards: &[Card]) -> Self {
        let room = width - 2.0 * MARGIN;
        let fit = (((room + MARGIN) / (280.0 + MARGIN)) as usize).clamp(1, cards.len().max(1));
        // As many rows as that makes, evenly filled.
        let columns = cards.len().div_ceil(cards.len().div_ceil(fit).max(1)).max(1);
        let rows = cards.chunks(columns).map(|row| row.iter().map(Card::height).fold(0.0, f32::max)).collect();
        Self { columns, width: (room + MARGIN) / columns as f32 - MARGIN, rows, cards: cards.len() }
    }
    fn height(&self) -> f32 {
        self.rows.iter().map(|h| h + MARGIN).sum()
    }
    /// Places from `y` on, `stretch` added to all rows together.
    fn areas(&self, y: f32, stretch: f32) -> Vec<Area> {
        let more = stretch / self.rows.len().max(1) as f32;
        let place = |n: usize| {
            let (row, column) = (n / self.columns, n % self.columns);
            let above: f32 = self.rows[..row].iter().map(|h| h + more + MARGIN).sum();
            let x = MARGIN + column as f32 * (self.width + MARGIN);
            Area::new(x, y + above, self.width, self.rows[row] + more)
        };
        (0..self.cards).map(place).collect()
    }
}

fn footer_height(link: &[String]) -> f32 {
    20.0 + 14.0 * link.len() as f32
}

/// A text without spaces in pieces that fit.
fn chunks(text: &str, room: f32) -> Vec<String> {
    let mut lines = vec![String::new()];
    for c in text.chars() {
        let last = lines.len() - 1;
        lines[last].push(c);
        if Font::Mono.width(&lines[last]) > room {
            lines[last].pop();
            lines.push(c.to_string());
        }
    }
    lines
}

/// A picture being put together, top to bottom.
struct Sheet<'a> {
    palette: &'a Palette,
    width: f32,
    /// Where the next thing stands.
    y: f32,
    pen: Pen,
    body: String,
}

impl<'a> Sheet<'a> {
    fn new(palette: &'a Palette, width: f32) -> Self {
        let colours = Colours::of(&Default::default());
        let pen = Pen { out: Lane::default(), colours, lit: Lit::default() };
        Self { palette, width, y: 0.0, pen, body: String::new() }
    }
    /// Paints what the pen has drawn so far.
    fn flush(&mut self) {
        self.body += &svg::shapes(&std::mem::take(&mut self.pen.out).shapes, self.palette);
    }
    /// A list with its origin at a place.
    fn put(&mut self, x: f32, y: f32, shapes: &[Shape]) {
        self.flush();
        self.body += &format!(r#"<g transform="translate({x} {y})">{}</g>"#, svg::shapes(shapes, self.palette));
    }
    fn finish(mut self) -> String {
        self.flush();
        self.body
    }

    /// Larger than any font of a lane, where there is room.
    fn title(&mut self, words: &str, room: f32) {
        let scale = (room / Font::Title.width(words)).clamp(1.0, 1.4);
        let max = room / scale + 0.1;
        let (ink, font, align) = (Ink::Text, Font::Title, Align::Left);
        let shape = Shape::Text { x: 0.0, y: 0.0, text: font.cut(words, max), ink, font, align, max };
        self.flush();
        let shape = svg::shapes(&[shape], self.palette);
        let y = self.y + 26.0;
        self.body += &format!(r#"<g transform="translate({MARGIN} {y}) scale({scale:.2})">{shape}</g>"#);
    }

    /// What it is, when, and with which settings.
    fn header(&mut self, shown: &Shown) {
        let room = self.width - 2.0 * MARGIN;
        self.title(&shown.title, room);
        self.pen.text(MARGIN, 46.0, &shown.clock(), Ink::Text, Font::Body, room);
        let words = shown.settings();
        self.y = self.pen.wrapped((MARGIN, 63.0), &words, Ink::Dim, Font::Small, room, 4) - 4.0;
    }

    fn badge(&mut self, x: f32, y: f32, side: Side) {
        let stage_side: lane::Side = session_side(side).into();
        self.pen.rect(Area::new(x, y, 18.0, 18.0), 4.0, stage_side.ink(), 1.0);
        let text = letter(side).to_string();
        let (ink, font, align, max) = (Ink::Panel, Font::Title, Align::Center, 18.0);
        self.pen.out.shapes.push(Shape::Text { x: x + 9.0, y: y + 13.5, text, ink, font, align, max });
    }

    /// Letter, difference and readouts of a lane, and its zones where no jobs panel names them; returns its height.
    fn lane_head(&mut self, shown: &Shown, side: Side, on: lane::Panels, draw: bool) -> f32 {
        if on == lane_panels_none() {
            return 0.0;
        }
        let room = self.width - 2.0 * MARGIN - 26.0;
        let frame = shown.side(side);
        let r = &frame.readouts;
        let both = |v: f64| readouts::bandwidth(v);
        let dash = "–".to_string();
        let mean = r.mean_bytes_per_sec.map(both);
        let mean_mib = mean.as_ref().map_or(dash.clone(), |m| m.mib.clone());
        let mean_all = mean.map_or(dash, |m| [&m.mib, " (", &m.mb, ")"].concat());
        let (now, p99) = (both(r.now_bytes_per_sec).mib, readouts::p99(&frame.snapshot.stats));
        let say = |mean: &str| ["now ", &now, " · mean so far ", mean, " · p99 ", &p99].concat();
        let (long, short) = (say(&mean_all), say(&mean_mib));
        let shortest = ["now ", &now, " · mean ", &mean_mib].concat();
        let (long, short, shortest) = match readouts::stacked(frame) {
            Some(all) => {
                let [rate, size, sequential] = all.map(|(name, value)| [name, " ", &value].concat());
                let most = [rate.as_str(), " · ", &size].concat();
                ([&most, " · ", &sequential].concat(), most, rate)
            }
            None => (long, short, shortest),
        };
        // Jobs that differ have figures of their own; where they do not fit in a line, a line each.
        let kinds = readouts::kinds(&frame.snapshot.stats);
        let kinds: Vec<String> = kinds.into_iter().map(|(name, value)| [&name, " ", &value].concat()).collect();
        let all = kinds.join(" · ");
        let (long, short, shortest) = match kinds.is_empty() {
            true => (long, short, shortest),
            false => (["now ", &now, " · ", &all].concat(), all.clone(), all),
        };
        let words = shown.difference(side);
        let left = room - Font::Title.width(&words) - 20.0;
        // One line if the readouts fit beside the setting.
        let beside = Font::Small.width(&shortest) <= left;
        let chosen = Pen::fitting(Font::Small, if beside { left } else { room }, &[&long, &short, &shortest]);
        let lines = match Font::Small.width(chosen) <= room || kinds.is_empty() {
            true => vec![chosen],
            false => kinds.iter().map(String::as_str).collect(),
        };
        let line = if beside { 26.0 } else { 26.0 + 16.0 * lines.len() as f32 };
        let zones = frame.order.is_none()
            && frame.snapshot.devices.first().is_some_and(|d| d.drive.zoned)
            && !on.jobs
            && frame.snapshot.devices.first().is_some_and(|d| !Window::of(d).zones.is_empty());
        let height = line + if zones { 18.0 } else { 0.0 };
        if !draw {
            return height;
        }
        self.badge(MARGIN, self.y + 5.0, side);
        let y = self.y + 18.0;
        self.pen.text(MARGIN + 26.0, y, &words, Ink::Text, Font::Title, room);
        if beside {
            self.pen.text_right(self.width - MARGIN, y, chosen, Ink::Text, Font::Small, left);
        } else {
            for (n, words) in (1..).zip(lines) {
                self.pen.text(MARGIN + 26.0, y + 16.0 * n as f32, words, Ink::Text, Font::Small, room);
            }
        }
        if zones {
            self.zones(frame, self.y + line + 8.0);
        }
        self.y += height;
        height
    }

    /// Which colour is which zone.
    fn zones(&mut self, frame: &SideFrame, y: f32) {
        let Some(device) = frame.snapshot.devices.first() else { return };
        self.pen.colours = Colours::of(&frame.snapshot);
        let mut x = MARGIN + 26.0;
        x += self.pen.text(x, y, "zones", Ink::Dim, Font::Small, 60.0) + 10.0;
        let zones = Window::of(device).zones;
        for (n, zone) in zones.iter().enumerate() {
            let label = zone.to_string();
            let w = 14.0 + Font::Mono.width(&label) + 12.0;
            if x + w + 40.0 > self.width && n + 1 < zones.len() {
                let more = ["+", &(zones.len() - n).to_string()].concat();
                self.pen.text(x, y, &more, Ink::Dim, Font::Small, 40.0);
                break;
            }
            self.pen.cell(Area::new(x, y - 8.0, 9.0, 9.0), Some(*zone), 1.0);
            self.pen.text(x + 14.0, y, &label, Ink::Text, Font::Mono, w);
            x += w;
        }
    }

    fn card(&mut self, shown: &Shown, card: &Card, area: Area) {
        match card {
            Card::Throughput(chart) => self.throughput(chart, area),
            Card::Time(sides) => {
                let inner = self.pen.panel(area, "Where a MiB's time goes", "drive time in ms per MiB, whole run");
                self.put(inner.x, inner.y + 8.0, &parts::bars(sides, inner.w));
            }
            Card::Gaps(sides) => {
                let words = "% of commands, disks together, so far";
                let inner = self.pen.panel(area, "Gap between commands of one disk", words).below(4.0);
                let orders =
                    sides.iter().filter_map(|s| Some((session_side(*s).into(), shown.side(*s).order.as_ref()?)));
                let orders: Vec<_> = orders.collect();
                let runs: Vec<gaps::Run> = orders.iter().map(|(side, o)| (*side, &o.gaps, &[][..])).collect();
                self.put(inner.x, inner.y, &gaps::bars(&runs, inner.w, inner.h));
            }
            Card::Iostat(sides) => self.iostat(shown, sides, area),
            Card::Why(side) => self.why(shown, *side, area),
        }
    }

    /// Columns of iostat, a row the disks and a row the array.
    fn iostat(&mut self, shown: &Shown, sides: &[Side], area: Area) {
        let inner = self.pen.panel(area, "iostat -x", "since the start; sd* is the mean of the disks").below(4.0);
        let runs = sides.iter().filter_map(|s| {
            let (frame, side) = (shown.side(*s), shown.scenario.has_b().then(|| session_side(*s).into()));
            Some((side, frame.order.as_ref()?, &frame.snapshot))
        });
        let table = iostat::table(&runs.collect::<Vec<_>>());
        let column = (inner.w - 44.0) / (table.head.len() - 1) as f32;
        let head = table.head.iter().map(|h| h.to_string()).collect();
        for (n, row) in std::iter::once(&head).chain(&table.rows).enumerate() {
            let y = inner.y + 12.0 + n as f32 * 16.0;
            let ink = if n == 0 { Ink::Dim } else { Ink::Text };
            self.pen.text(inner.x, y, &row[0], ink, Font::Mono, 44.0);
            for (i, cell) in row.iter().enumerate().skip(1) {
                let font = if n == 0 { Font::Small } else { Font::Mono };
                self.pen.text_right(inner.x + 44.0 + i as f32 * column, y, cell, ink, font, column - 3.0);
            }
        }
    }

    fn throughput(&mut self, chart: &Chart, area: Area) {
        let key = Param::of(chart.key).key;
        let published = chart.published.iter().flatten().any(Option::is_some);
        let kinds = match (chart.numbers.is_some(), published) {
            (true, true) => ": lines simulated, rings published",
            (false, true) => ", simulated and published",
            _ => ", simulated",
        };
        let unit = axis_unit(chart.key).map_or(String::new(), |unit| [" (", unit, ")"].concat());
        let legend = ["MiB/s by ", key, &unit, kinds].concat();
        let inner = self.pen.panel(area, "Throughput", &legend).below(4.0);
        let Some(settings) = &chart.numbers else { return self.throughput_table(chart, inner) };
        let points = |of: &[Vec<Option<f64>>; 2]| -> Vec<(lane::Side, usize, f64)> {
            let side = |(side, values): (lane::Side, &Vec<Option<f64>>)| {
                values.iter().enumerate().filter_map(move |(i, v)| Some((side, i, (*v)?))).collect::<Vec<_>>()
            };
            [lane::Side::A, lane::Side::B].into_iter().zip(of).flat_map(side).collect()
        };
        let data = charts::Sweep {
            settings,
            points: &points(&chart.simulated),
            published: &points(&chart.published),
            current: chart.current,
        };
        let mut plot = String::new();
        let size = (inner.w as u32, inner.h as u32);
        // Drawing into a string does not fail.
        drop(charts::sweep(SVGBackend::with_string(&mut plot, size), &data, self.palette, 1.0));
        self.flush();
        self.body += &plot.replacen("<svg ", &format!(r#"<svg x="{}" y="{}" "#, inner.x, inner.y), 1);
    }

    /// A sweep over words has no axis: its figures in lines.
    fn throughput_table(&mut self, chart: &Chart, area: Area) {
        let columns = [(0.40, "A"), (0.59, "published"), (0.81, "B"), (1.0, "published")];
        let at = |part: f32| area.x + area.w * part;
        let room = area.w * 0.17;
        let mut y = area.y + 14.0;
        for (part, words) in columns {
            let words = Pen::fitting(Font::Small, room, &[words, "publ."]);
            self.pen.text_right(at(part), y, words, Ink::Dim, Font::Small, room);
        }
        for (i, setting) in chart.texts.iter().enumerate() {
            y += 18.0;
            self.pen.text(area.x, y, setting, Ink::Text, Font::Mono, area.w * 0.24);
            let cells = [&chart.simulated[0], &chart.published[0], &chart.simulated[1], &chart.published[1]];
            for ((part, _), values) in columns.iter().zip(cells) {
                let words = values[i].map_or_else(|| "–".to_string(), |v| text::fixed(v, 1));
                self.pen.text_right(at(*part), y, &words, Ink::Text, Font::Mono, room);
            }
        }
    }

    /// The latest reasons in words, as many as there is room for.
    fn why(&mut self, shown: &Shown, side: Side, area: Area) {
        let title = if shown.scenario.has_b() { ["Why, run ", letter(side)].concat() } else { "Why".into() };
        let inner = self.pen.panel(area, &title, "at this moment, latest first").below(4.0);
        let mut y = inner.y + 12.0;
        let column = Font::Mono.width("00.000 000 s") + 8.0;
        for (record, n) in why::latest(&shown.side(side).snapshot.why, REASONS) {
            let mut words: String = why::why_segments(record).into_iter().map(|s| s.text).collect();
            if n > 1 {
                words += &format!(" ×{n}");
            }
            let lines = lines_of(&words, inner.w - column);
            if y + (lines - 1) as f32 * 14.0 > inner.bottom() {
                break;
            }
            self.pen.text(inner.x, y, &text::seconds(record.time), Ink::Dim, Font::Mono, column);
            y = self.pen.wrapped((inner.x + column, y), &words, Ink::Text, Font::Small, inner.w - column, lines) + 4.0;
        }
    }

    fn footer(&mut self, link: &[String]) {
        let model = ["Bioscope, model version ", &bioscope_core::MODEL_VERSION.to_string()].concat();
        self.pen.text(MARGIN, self.y + 12.0, &model, Ink::Dim, Font::Small, self.width - 2.0 * MARGIN);
        for (n, line) in link.iter().enumerate() {
            let y = self.y + 26.0 + n as f32 * 14.0;
            self.pen.text(MARGIN, y, line, Ink::Dim, Font::Mono, self.width);
        }
        self.y += footer_height(link);
    }
}

fn lane_panels_none() -> lane::Panels {
    lane::Panels::NONE
}

/// Lines of small text that words take.
fn lines_of(words: &str, room: f32) -> usize {
    let mut pen = Pen { out: Lane::default(), colours: Colours::of(&Default::default()), lit: Lit::default() };
    pen.wrapped((0.0, 0.0), words, Ink::Text, Font::Small, room, 8);
    pen.out.shapes.len()
}
