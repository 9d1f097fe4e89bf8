//! Which panels of the simulator a link shows.
//!
//! Models: nothing.
//! Rule: the words are part of links; a word is added, never changed.
//! Leaves out: where a panel stands and what it draws.

use crate::diagnostic::{Diagnostic, nearest};

/// One panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// Jobs and what they wait for.
    Jobs,
    /// Zone write plugs.
    Zwplugs,
    /// Tags and the scheduler.
    Tags,
    /// Queue, cache, platter and head.
    Drive,
    /// Commands over time.
    Strip,
    /// The sweep chart.
    Throughput,
    /// Where the time went.
    Time,
    /// Reasons in words.
    Why,
    /// `current->bio_list` and the plug of a submission to a stacked device.
    Biolist,
    /// The order at the member disks.
    Order,
    /// The map of the member disks.
    Members,
    /// The first member's G records.
    Listing,
    /// Tag bitmaps by word.
    Tagmap,
    /// The eight wait queues of the tags.
    Waiters,
    /// The scheduler's own lists.
    Sched,
    /// Commands of null_blk over time, from D to the end of their timer.
    Timeline,
    /// Zones, their conditions and limits.
    Zonemap,
    /// Channels and dies of a flash device.
    Flash,
    /// Policies of rq_qos.
    Qos,
    /// Settings written during the run, and the freeze each took.
    Freeze,
}

/// The words of links, in the order of [`Panel`].
pub const WORDS: [&str; 20] = [
    "jobs",
    "zwplugs",
    "tags",
    "drive",
    "strip",
    "throughput",
    "time",
    "why",
    "biolist",
    "order",
    "members",
    "listing",
    "tagmap",
    "waiters",
    "sched",
    "timeline",
    "zonemap",
    "flash",
    "qos",
    "freeze",
];

/// A set of panels, never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panels(u32);

impl Panels {
    /// All of them: what a link without `view=` shows.
    pub const ALL: Panels = Panels((1 << WORDS.len()) - 1);

    /// True if the panel is in the set.
    pub fn has(self, panel: Panel) -> bool {
        self.0 >> panel as u8 & 1 == 1
    }
    /// Reads words with commas; their order does not matter.
    pub fn parse(text: &str) -> Result<Panels, Diagnostic> {
        let mut set = 0;
        for word in text.split(',').map(str::trim) {
            let Some(i) = WORDS.iter().position(|w| *w == word) else {
                let d = Diagnostic::error("view", word, "no such panel").allow(WORDS.join(", "));
                return Err(match nearest(word, WORDS.into_iter()) {
                    Some(near) => d.suggest(near),
                    None => d,
                });
            };
            set |= 1 << i;
        }
        Ok(Panels(set))
    }
    /// Canonical text.
    pub fn text(self) -> String {
        let shown: Vec<&str> = (0..WORDS.len()).filter(|i| self.0 >> i & 1 == 1).map(|i| WORDS[i]).collect();
        shown.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_there_and_back() {
        let set = Panels::parse("drive, jobs,drive").unwrap();
        assert_eq!(set.text(), "jobs,drive");
        assert!(set.has(Panel::Jobs) && set.has(Panel::Drive) && !set.has(Panel::Why));
        assert_eq!(Panels::parse(&Panels::ALL.text()), Ok(Panels::ALL));
        assert!(Panels::ALL.has(Panel::Why));
        for bad in ["", ",", "jobs,", "platter"] {
            assert!(Panels::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Panels::parse("strap").unwrap_err().suggestion.as_deref(), Some("strip"));
    }
}
