//! The events in the lives of a capture's threads.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use perf_abi::record::Misc;
use perf_parse::Record;
use perf_session::{Session, Thread};

use super::context::Context;
use super::rows::TableRows;
use super::task::TaskRow;
use super::{processes, threads};

/// Number of threads that are kept. When there are more, those that have exited are written.
const LIMIT: usize = 1 << 16;

/// The threads of a capture, by their keys.
#[derive(Debug, Default)]
pub(super) struct TaskTable {
    tasks: HashMap<u64, TaskRow>,
    /// The thread of the samples since the last other one, and their number.
    last: Option<(u64, u64)>,
}

impl TaskTable {
    /// Counts a sample of a thread.
    #[inline]
    pub(super) fn sample(&mut self, thread: &Thread) {
        match &mut self.last {
            Some((key, samples)) if *key == thread.key() => *samples += 1,
            _ => {
                self.count();
                self.see(thread);
                self.last = Some((thread.key(), 1));
            }
        }
    }

    /// Adds the samples of the last thread.
    fn count(&mut self) {
        if let Some((key, samples)) = self.last.take()
            && let Some(task) = self.tasks.get_mut(&key)
        {
            task.samples += samples;
        }
    }

    fn see(&mut self, thread: &Thread) -> &mut TaskRow {
        let task = self.tasks.entry(thread.key()).or_insert_with(|| TaskRow {
            process_key: thread.process_key(),
            pid: thread.pid(),
            tid: thread.tid(),
            comm: Vec::new(),
            start: None,
            end: None,
            parent_pid: None,
            execs: 0,
            samples: 0,
        });
        task.process_key = thread.process_key();
        task.pid = thread.pid();
        if *task.comm != *thread.comm() {
            task.comm = thread.comm().to_vec();
        }
        task
    }

    /// Adds a decoded record, after the session.
    pub(super) fn record(&mut self, misc: Misc, decoded: &Record<'_>, session: &Session) {
        match decoded {
            Record::Comm(it) => {
                if let Some(thread) = session.thread(it.tid) {
                    let task = self.see(thread);
                    task.execs = task.execs.saturating_add(misc.contains(Misc::COMM_EXEC).into());
                }
            }
            Record::Fork(it) => {
                if let Some(thread) = session.thread(it.tid) {
                    let task = self.see(thread);
                    task.start = Some(it.time);
                    task.parent_pid = Some(it.ppid);
                }
            }
            Record::Exit(it) => {
                if let Some(thread) = session.thread(it.tid) {
                    self.see(thread).end = Some(it.time);
                }
            }
            _ => {}
        }
    }

    /// Writes the threads that have exited if there are many, with those of their processes that are known.
    pub(super) fn write_if_many(
        &mut self,
        context: &Context,
        threads: &mut TableRows,
        processes: &mut TableRows,
    ) {
        if self.tasks.len() >= LIMIT {
            self.write(context, threads, processes, |task| task.end.is_some());
            // All are alive: nothing else bounds them.
            if self.tasks.len() >= LIMIT {
                self.write(context, threads, processes, |_| true);
            }
        }
    }

    /// Writes the threads that are wanted, and forgets them.
    pub(super) fn write(
        &mut self,
        context: &Context,
        threads: &mut TableRows,
        processes: &mut TableRows,
        is_wanted: impl Fn(&TaskRow) -> bool,
    ) {
        self.count();
        let mut of_process: BTreeMap<u64, Vec<(u64, TaskRow)>> = BTreeMap::new();
        for (key, task) in self.tasks.extract_if(|_, task| is_wanted(task)) {
            of_process.entry(task.process_key).or_default().push((key, task));
        }
        for (process_key, mut tasks) in of_process {
            tasks.sort_unstable_by_key(|(key, _)| *key);
            for (key, task) in &tasks {
                threads::push(threads, context, *key, task);
            }
            let tasks: Vec<_> = tasks.iter().map(|(_, task)| task).collect();
            processes::push(processes, context, process_key, &tasks);
        }
    }
}
