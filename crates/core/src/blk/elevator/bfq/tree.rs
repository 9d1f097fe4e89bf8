//! B-WF2Q+: who is served next, in virtual time.
//!
//! Models: block/bfq-wf2q.c without the hierarchy of groups (kernel 4.5).
//! Rule: virtual time runs at 1/(sum of weights) per sector served. A queue starts at max(V, its old finish) and
//! finishes budget/weight later; of the queues whose start has come the one that finishes first is served. What was
//! served, not what was promised, moves the start of the next turn. A queue that leaves early keeps its place until V
//! has reached its finish: coming and going gains nothing.
//! Leaves out: groups; the augmented tree (a scan over the queues of a run's jobs costs less than its code).

use alloc::vec::Vec;

/// Fixed point of virtual times: sectors/weight times 2^22.
const SHIFT: u32 = 22;

/// Where a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum On {
    /// Nowhere: its finish is in the past.
    #[default]
    Out,
    /// On the idle tree: no requests, its finish is still to come.
    Idle,
    /// On the active tree.
    Active,
    /// In service.
    Served,
}

/// A queue as the tree sees it (`bfq_entity`).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct Entity {
    pub on: On,
    /// S and F, fixed point.
    pub start: u64,
    pub finish: u64,
    /// Sectors.
    pub budget: u32,
    /// Sectors of it that were served (charged).
    pub service: u32,
    pub weight: u32,
    /// 0 RT, 1 BE, 2 IDLE.
    pub class: usize,
    /// Equal finishes: first come first served.
    order: u64,
}

impl Entity {
    /// Sectors left of the budget.
    pub fn left(&self) -> u32 {
        self.budget.saturating_sub(self.service)
    }
}

/// One class (`bfq_service_tree`).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct Class {
    /// V, fixed point.
    pub vtime: u64,
    /// Weights of everything on its trees or in service.
    pub wsum: u64,
}

/// See the module. Queues are numbered from 0 in order of [`Tree::add`].
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Tree {
    pub classes: [Class; 3],
    pub entities: Vec<Entity>,
    pub in_service: Option<usize>,
    order: u64,
}

fn delta(service: u32, weight: u64) -> u64 {
    (u64::from(service) << SHIFT) / weight.max(1)
}

impl Tree {
    /// A new queue, idle.
    pub fn add(&mut self, class: usize, weight: u32) {
        self.entities.push(Entity { class: class.min(2), weight, ..Default::default() });
    }

    /// Another weight from now on (`__bfq_entity_update_weight_prio`).
    pub fn set_weight(&mut self, i: usize, weight: u32) {
        let e = &mut self.entities[i];
        if e.on != On::Out {
            let wsum = &mut self.classes[e.class].wsum;
            *wsum = (*wsum - u64::from(e.weight)) + u64::from(weight);
        }
        e.weight = weight;
    }

    fn enqueue(&mut self, i: usize) {
        self.order += 1;
        let e = &mut self.entities[i];
        e.finish = e.start + delta(e.budget, e.weight.into());
        e.order = self.order;
        e.on = On::Active;
    }

    /// `__bfq_activate_entity`: requests came. `recovers`: it had to wait for them only because its earlier ones were
    /// still being served, so it goes on where it was even if V went past that; then it finishes at V at the latest,
    /// a raised queue a `coeff`-th of that earlier.
    pub fn activate(&mut self, i: usize, weight: u32, recovers: bool, coeff: u32) {
        if matches!(self.entities[i].on, On::Active | On::Served) {
            return;
        }
        let e = self.entities[i];
        let vtime = self.classes[e.class].vtime;
        let back = recovers && vtime > e.finish;
        let from = if back { e.finish } else { vtime };
        if e.on == On::Idle {
            self.entities[i].start = from.max(e.finish);
        } else {
            self.entities[i].start = from;
            self.classes[e.class].wsum += u64::from(e.weight);
            self.entities[i].on = On::Active;
        }
        self.set_weight(i, weight);
        self.enqueue(i);
        let e = &mut self.entities[i];
        if back && vtime > e.finish {
            let up = (vtime - e.finish) / u64::from(coeff.max(1));
            e.start += up;
            e.finish += up;
        }
    }

    /// `__bfq_requeue_entity`: out of service with requests left, or with another budget while it waits.
    pub fn requeue(&mut self, i: usize, weight: u32) {
        if self.in_service == Some(i) {
            let e = &mut self.entities[i];
            e.start += delta(e.service, e.weight.into());
            self.in_service = None;
        } else if self.entities[i].on != On::Active {
            return;
        }
        self.set_weight(i, weight);
        self.enqueue(i);
    }

    /// `__bfq_deactivate_entity`: no requests left.
    pub fn deactivate(&mut self, i: usize) {
        let e = &mut self.entities[i];
        if matches!(e.on, On::Out | On::Idle) {
            return;
        }
        if self.in_service == Some(i) {
            e.finish = e.start + delta(e.service, e.weight.into());
            self.in_service = None;
        }
        e.on = On::Idle;
        let class = e.class;
        self.forget(class);
    }

    /// Idle queues whose finish has come no longer count (`bfq_forget_idle`).
    fn forget(&mut self, class: usize) {
        let c = &mut self.classes[class];
        for e in self.entities.iter_mut().filter(|e| e.class == class && e.on == On::Idle && e.finish <= c.vtime) {
            e.on = On::Out;
            c.wsum -= u64::from(e.weight);
        }
    }

    /// `bfq_bfqq_served`: charges sectors.
    pub fn served(&mut self, i: usize, sectors: u32) {
        let e = &mut self.entities[i];
        e.service = e.service.saturating_add(sectors);
        let class = e.class;
        let c = &mut self.classes[class];
        c.vtime += delta(sectors, c.wsum);
        self.forget(class);
    }

    /// A class has queues waiting for service.
    pub fn waits(&self, class: usize) -> bool {
        self.entities.iter().any(|e| e.class == class && e.on == On::Active)
    }

    /// Puts the next queue in service, classes from `class` downward; nobody is in service.
    pub fn serve_next(&mut self, class: usize) -> Option<usize> {
        let class = (class..3).find(|c| self.waits(*c))?;
        let waiting = |e: &&Entity| e.class == class && e.on == On::Active;
        let first = self.entities.iter().filter(waiting).map(|e| e.start).min()?;
        // Nobody has started: V jumps to the first start, for the disk must not idle.
        let vtime = &mut self.classes[class].vtime;
        *vtime = (*vtime).max(first);
        let eligible = |e: &Entity| e.class == class && e.on == On::Active && e.start <= *vtime;
        let all = self.entities.iter().enumerate().filter(|(_, e)| eligible(e));
        let (i, _) = all.min_by_key(|(_, e)| (e.finish, e.order))?;
        self.entities[i].on = On::Served;
        self.in_service = Some(i);
        Some(i)
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.entities.capacity() * size_of::<Entity>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn tree(weights: &[u32]) -> Tree {
        let mut t = Tree::default();
        for (i, w) in weights.iter().enumerate() {
            t.add(1, *w);
            t.entities[i].budget = 100;
            t.activate(i, *w, false, 1);
        }
        t
    }

    #[test]
    fn section_4_5_start_finish_and_the_eligible_queue_that_finishes_first() {
        let mut t = tree(&[10, 20]);
        assert_eq!([t.entities[0].finish, t.entities[1].finish], [10 << SHIFT, 5 << SHIFT]);
        assert_eq!(t.serve_next(0), Some(1));
        t.served(1, 60);
        assert_eq!(t.classes[1].vtime, 2 << SHIFT);
        t.requeue(1, 20);
        // It was served 60 of 100: the next turn starts where those end, which V has not reached.
        assert_eq!((t.entities[1].start, t.entities[1].finish), (3 << SHIFT, 8 << SHIFT));
        assert_eq!(t.serve_next(0), Some(0));
    }

    #[test]
    fn section_4_5_weights_are_shares() {
        let mut t = tree(&[100, 10, 40]);
        let mut served = [0u64; 3];
        for _ in 0..3000 {
            let i = t.serve_next(0).unwrap();
            t.entities[i].service = 0;
            t.served(i, 100);
            served[i] += 100;
            let w = t.entities[i].weight;
            t.requeue(i, w);
        }
        let total: u64 = served.iter().sum();
        for (i, w) in [(0, 100), (1, 10), (2, 40)] {
            assert!(served[i].abs_diff(total * w / 150) <= 200, "{served:?}");
        }
    }

    #[test]
    fn section_4_5_classes_in_order() {
        let mut t = Tree::default();
        for class in [2, 1, 0] {
            t.add(class, 10);
        }
        for i in 0..3 {
            t.activate(i, 10, false, 1);
        }
        let mut order = [0; 3];
        for place in &mut order {
            *place = t.serve_next(0).unwrap();
            t.deactivate(*place);
        }
        assert_eq!(order, [2, 1, 0]);
        t.activate(1, 10, false, 1);
        t.activate(0, 10, false, 1);
        assert_eq!(t.serve_next(2), Some(0), "asked from the idle class downward");
    }

    #[test]
    fn section_4_5_laws_of_the_tree() {
        let mut rng = Rng::stream(5, "bfq tree", 0);
        let mut t = Tree::default();
        for _ in 0..9 {
            t.add(rng.below(3) as usize, 1 + rng.below(1000) as u32);
        }
        let mut vtime = [0; 3];
        for _ in 0..20_000 {
            let i = rng.below(9) as usize;
            let w = t.entities[i].weight;
            match rng.below(6) {
                0 => {
                    t.entities[i].budget = rng.below(16_384) as u32;
                    t.activate(i, w, rng.below(2) == 0, 1 + rng.below(30) as u32);
                }
                1 => t.deactivate(i),
                2 => t.requeue(i, 1 + rng.below(1000) as u32),
                3 if t.in_service.is_none() => {
                    if let Some(i) = t.serve_next(rng.below(2) as usize) {
                        t.entities[i].service = 0;
                        let e = t.entities[i];
                        assert!(e.start <= t.classes[e.class].vtime);
                    }
                }
                _ => {
                    if let Some(i) = t.in_service {
                        t.served(i, rng.below(2048) as u32);
                    }
                }
            }
            for (c, was) in vtime.iter_mut().enumerate() {
                let now = t.classes[c];
                assert!(now.vtime >= *was);
                *was = now.vtime;
                let on = t.entities.iter().filter(|e| e.class == c && e.on != On::Out);
                assert_eq!(on.map(|e| u64::from(e.weight)).sum::<u64>(), now.wsum);
            }
        }
    }
}
