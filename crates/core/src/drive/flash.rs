//! A flash device: channels, dies, fixed latencies, no head.
//!
//! Models: pages spread over channels first and then dies; a channel moves one page at a time, a die reads, programs or
//! erases one at a time (the closed forms are in the tests).
//! Rule: when a command arrives, all its places in the schedules of channels and dies are taken at once, each the
//! earliest that is free; so it has one event, its end. A write is done when its pages are programmed, or when
//! `cache_pages` of protected memory have taken it; a read when its last page has crossed the channel.
//! Leaves out: garbage collection and mapping (a page lies where its sector says), suspended programs, reads from the
//! protected memory, the interface to the host.

use alloc::vec::Vec;

use super::zone::Zones;
use super::{Cmd, command_view};
use crate::bus::Bus;
use crate::config::FlashConfig;
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::snapshot::{CommandView, FlashChannelView, FlashDieView, FlashView};
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, Op, SECTOR_BYTES};

/// A command's stay at a channel or a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stay {
    cmd: CommandView,
    pages: u32,
    from: SimTime,
    until: SimTime,
}

/// The schedule of what does one thing at a time: stays that are not over, in order, without overlap.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Schedule {
    stays: Fifo<Stay>,
    /// Nothing stays between then and the first.
    idle_from: SimTime,
    /// Time from there to the end of the last that nobody has.
    gaps_ns: SimDuration,
}

impl Schedule {
    /// Takes the earliest `ns` from `ready` on; returns when they begin.
    fn take(&mut self, now: SimTime, ready: SimTime, ns: SimDuration, pages: u32, cmd: CommandView) -> SimTime {
        if ns == 0 {
            return ready;
        }
        while let Some(first) = self.stays.front()
            && first.until <= now
        {
            self.gaps_ns -= first.from - self.idle_from;
            self.idle_from = first.until;
            self.stays.pop_front();
        }
        if self.stays.is_empty() {
            self.idle_from = now;
        }
        let end = self.stays.back().map_or(now, |s| s.until);
        if ready < end
            && ns <= self.gaps_ns
            && let Some((at, from)) = self.gap(ready, ns)
        {
            self.gaps_ns -= ns;
            self.stays.insert(at, Stay { cmd, pages, from, until: from + ns });
            return from;
        }
        let from = ready.max(end);
        self.gaps_ns += from - end;
        self.stays.push_back(Stay { cmd, pages, from, until: from + ns });
        from
    }

    /// The first gap that leaves `ns` from `ready` on: whom it is before, and when the stay begins.
    fn gap(&self, ready: SimTime, ns: SimDuration) -> Option<(usize, SimTime)> {
        let first = self.stays.partition_point(|s| s.from <= ready);
        (first..self.stays.len()).find_map(|at| {
            let before = at.checked_sub(1).map_or(self.idle_from, |i| self.stays[i].until);
            let from = ready.max(before);
            (from + ns <= self.stays[at].from).then_some((at, from))
        })
    }

    /// What it does now, and the pages that wait for it.
    fn view(&self, now: SimTime) -> (Option<(CommandView, SimTime, SimTime)>, u32) {
        let busy = self.stays.iter().find(|s| s.from <= now && now < s.until);
        let waiting = self.stays.iter().filter(|s| s.from > now).map(|s| s.pages).sum();
        (busy.map(|s| (s.cmd, s.from, s.until)), waiting)
    }

    fn heap_bytes(&self) -> usize {
        size_of::<Self>() + self.stays.capacity() * size_of::<Stay>()
    }
}

/// What does not change during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rates {
    channels: u64,
    dies: u64,
    page_bytes: u64,
    read_ns: SimDuration,
    program_ns: SimDuration,
    erase_ns: SimDuration,
    channel_rate: u64,
    command_ns: SimDuration,
    cache_pages: u64,
}

impl Rates {
    fn transfer_ns(&self, bytes: u64) -> SimDuration {
        let ns = (u128::from(bytes) * 1_000_000_000).checked_div(u128::from(self.channel_rate));
        ns.unwrap_or(0) as SimDuration
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Flash {
    dev: DevIdx,
    rates: Rates,
    zones: Option<Zones>,
    channels: Vec<Schedule>,
    /// Those of the first channel, then those of the next.
    dies: Vec<Schedule>,
    /// Protected memory: when pages are programmed, in order of that, and how many.
    cached: Fifo<(SimTime, u32)>,
    /// Their sum.
    held: u64,
}

/// Pages of a command on one channel: they follow each other, each on the next die.
#[derive(Clone, Copy)]
struct OnChannel {
    channel: u64,
    /// Die of the first.
    die: u64,
    pages: u64,
    /// Time to cross the channel, ns.
    transfer_ns: SimDuration,
}

impl Flash {
    /// Idle.
    pub fn new(dev: DevIdx, cfg: &FlashConfig) -> Self {
        let rates = Rates {
            channels: u64::from(cfg.channels.max(1)),
            dies: u64::from(cfg.dies.max(1)),
            page_bytes: u64::from(cfg.page_bytes).max(SECTOR_BYTES),
            read_ns: cfg.read_ns,
            program_ns: cfg.program_ns,
            erase_ns: cfg.erase_ns,
            channel_rate: cfg.channel_rate,
            command_ns: cfg.command_ns,
            cache_pages: u64::from(cfg.cache_pages),
        };
        Self {
            dev,
            rates,
            zones: cfg.zones.as_ref().map(Zones::of_config),
            channels: alloc::vec![Schedule::default(); rates.channels as usize],
            dies: alloc::vec![Schedule::default(); (rates.channels * rates.dies) as usize],
            cached: Fifo::new(),
            held: 0,
        }
    }

    /// Its zones, where it has any.
    pub fn zones(&self) -> Option<&Zones> {
        self.zones.as_ref()
    }
    /// Its zones to change.
    pub fn zones_mut(&mut self) -> Option<&mut Zones> {
        self.zones.as_mut()
    }
    /// Overhead of each command, ns.
    pub fn command_ns(&self) -> SimDuration {
        self.rates.command_ns
    }

    /// Takes a command in; a zone append is told where it goes in `cmd.sector`.
    pub fn submit(&mut self, bus: &mut Bus, cmd: &mut Cmd) {
        let erased = self.zones_to_erase(cmd);
        let status = self.zones.as_mut().map_or(BlkStatus::Ok, |z| z.carry_out(cmd));
        let start = bus.now + self.rates.command_ns;
        let until = match cmd.op {
            _ if status != BlkStatus::Ok => start,
            Op::Read => self.read(bus.now, start, cmd),
            Op::Write | Op::ZoneAppend => self.write(bus.now, start, cmd),
            Op::ZoneReset | Op::ZoneResetAll => self.erase(bus.now, start, cmd, erased),
            _ => start,
        };
        bus.after(until - bus.now, Event::Done(self.dev, cmd.rq, status));
    }

    /// Zones with data that a command erases.
    fn zones_to_erase(&self, cmd: &Cmd) -> u64 {
        let Some(zones) = &self.zones else { return 0 };
        match cmd.op {
            Op::ZoneReset => u64::from(zones.report(cmd.zone).wp > 0),
            Op::ZoneResetAll => u64::from(zones.nr_written()),
            _ => 0,
        }
    }

    /// The pages that a command touches, by channel; with `whole`, without a last one that it does not fill.
    fn pages(&self, cmd: &Cmd, whole: bool) -> impl Iterator<Item = OnChannel> + use<> {
        let r = self.rates;
        let (from, bytes) = (cmd.sector * SECTOR_BYTES, u64::from(cmd.nr_sectors) * SECTOR_BYTES);
        let first = from / r.page_bytes;
        let to = from + bytes;
        let end = if whole { to / r.page_bytes } else { to.div_ceil(r.page_bytes) };
        (first..end.min(first + r.channels)).map(move |page| {
            let pages = (end - page).div_ceil(r.channels);
            let last = page + (pages - 1) * r.channels;
            // Of the first and the last page only what is asked for crosses.
            let head = if whole { 0 } else { from.saturating_sub(page * r.page_bytes) };
            let tail = ((last + 1) * r.page_bytes).saturating_sub(to);
            OnChannel {
                channel: page % r.channels,
                die: page / r.channels % r.dies,
                pages,
                transfer_ns: r.transfer_ns(pages * r.page_bytes - head - tail),
            }
        })
    }

    /// Where the pages on a channel are: die, pages on it, and the place of the first of them among those of the channel.
    fn on_dies(&self, on: OnChannel) -> impl Iterator<Item = (usize, u64, u64)> + use<> {
        let dies = self.rates.dies;
        (0..on.pages.min(dies)).map(move |place| {
            let die = on.channel * dies + (on.die + place) % dies;
            (die as usize, (on.pages - place).div_ceil(dies), place)
        })
    }

    /// Each page crosses its channel, then its die programs it. Returns when the write is acknowledged.
    fn write(&mut self, now: SimTime, start: SimTime, cmd: &Cmd) -> SimTime {
        let r = self.rates;
        let view = command_view(cmd);
        let page_ns = r.transfer_ns(r.page_bytes);
        let (mut done, mut programmed) = (start, 0);
        // In protected memory a page is collected until it is full.
        for on in self.pages(cmd, r.cache_pages > 0) {
            let from = self.channels[on.channel as usize].take(now, start, on.transfer_ns, on.pages as u32, view);
            for (die, pages, place) in self.on_dies(on) {
                let arrived = |page: u64| from + (page_ns * (page + 1)).min(on.transfer_ns);
                let last = arrived(place + (pages - 1) * r.dies);
                let first = self.dies[die].take(now, arrived(place), r.program_ns * pages, pages as u32, view);
                done = done.max(first + r.program_ns * pages).max(last + r.program_ns);
            }
            programmed += on.pages;
        }
        if r.cache_pages == 0 { done } else { self.cache(now, start, done, programmed) }
    }

    /// Protected memory takes pages that are programmed at `done`. Returns when it has room for them.
    fn cache(&mut self, now: SimTime, start: SimTime, done: SimTime, pages: u64) -> SimTime {
        while let Some((until, n)) = self.cached.front().copied()
            && until <= now
        {
            self.held -= u64::from(n);
            self.cached.pop_front();
        }
        let (mut held, mut room) = (self.held, start);
        for (until, n) in &self.cached {
            if held + pages <= self.rates.cache_pages {
                break;
            }
            held -= u64::from(*n);
            room = room.max(*until);
        }
        let at = self.cached.partition_point(|(until, _)| *until <= done);
        self.cached.insert(at, (done, pages as u32));
        self.held += pages;
        if held + pages <= self.rates.cache_pages { room.min(done) } else { done }
    }

    /// Each die reads its page, then it crosses the channel, in the order of the pages. Returns when the last one has.
    fn read(&mut self, now: SimTime, start: SimTime, cmd: &Cmd) -> SimTime {
        let r = self.rates;
        let view = command_view(cmd);
        let page_ns = r.transfer_ns(r.page_bytes);
        let mut done = start;
        for on in self.pages(cmd, false) {
            // The transfers as one stay, which begins so late that each page is there when its turn comes.
            let mut ready = start;
            for (die, pages, place) in self.on_dies(on) {
                let from = self.dies[die].take(now, start, r.read_ns * pages, pages as u32, view);
                let late = |n: u64| (from + r.read_ns * (n + 1)).saturating_sub(page_ns * (place + n * r.dies));
                ready = ready.max(late(0)).max(late(pages - 1));
            }
            let from = self.channels[on.channel as usize].take(now, ready, on.transfer_ns, on.pages as u32, view);
            done = done.max(from + on.transfer_ns);
        }
        done
    }

    /// All dies erase their blocks of the zones. Returns when the last one has.
    fn erase(&mut self, now: SimTime, start: SimTime, cmd: &Cmd, zones: u64) -> SimTime {
        let ns = self.rates.erase_ns * zones;
        if ns == 0 {
            return start;
        }
        let view = command_view(cmd);
        self.dies.iter_mut().map(|die| die.take(now, start, ns, 1, view) + ns).fold(start, SimTime::max)
    }

    /// A copy for pictures.
    pub fn view(&self, now: SimTime) -> FlashView {
        let die = |d: &Schedule| {
            let (busy, waiting) = d.view(now);
            FlashDieView { busy, waiting }
        };
        let channel = |(c, dies): (&Schedule, &[Schedule])| {
            let (bus, waiting) = c.view(now);
            FlashChannelView { bus, waiting, dies: dies.iter().map(die).collect() }
        };
        let dies = self.dies.chunks(self.rates.dies as usize);
        let held: u32 = self.cached.iter().filter(|(until, _)| *until > now).map(|(_, n)| n).sum();
        FlashView {
            channels: self.channels.iter().zip(dies).map(channel).collect(),
            cached_pages: held.min(self.rates.cache_pages as u32),
            cache_pages: self.rates.cache_pages as u32,
        }
    }

    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        self.channels.iter().chain(&self.dies).map(Schedule::heap_bytes).sum::<usize>()
            + self.cached.capacity() * size_of::<(SimTime, u32)>()
            + self.zones.as_ref().map_or(0, Zones::heap_bytes)
    }
}
