//! The switches and wake-ups of threads, as Perfetto has them from ftrace.

use std::io;

use perf_profile::sched::{SchedEvent, SchedSample, SchedTrace, SwitchEvent, WakeupEvent, WakeupKind};
use perf_profile::text::OneLine;

use super::PacketWriter;
use super::messages::{FtraceEvent, FtraceEventBundle, SchedSwitch, SchedWakeup, TracePacket};

/// Trace processor refuses a trace in which ftrace has more CPUs.
const CPUS: u32 = 1024;

/// The largest number of events of a packet.
const EVENTS: usize = 1 << 10;

/// Writes the events of each CPU, those of CPUs that Perfetto refuses left out.
///
/// # Errors
///
/// Those of the output.
pub(super) fn write(trace: &SchedTrace, sequence: u32, out: &mut PacketWriter<'_>) -> io::Result<()> {
    let samples = trace.events().filter(|sample| sample.cpu < CPUS);
    write_by(EVENTS, samples.filter_map(|sample| Some((sample.cpu, event(&sample)?))), sequence, out)
}

/// Writes events, each with its CPU, in packets of one CPU with at most so many of them.
fn write_by(
    most: usize,
    events: impl Iterator<Item = (u32, FtraceEvent)>,
    sequence: u32,
    out: &mut PacketWriter<'_>,
) -> io::Result<()> {
    let mut waiting: Vec<(u32, FtraceEventBundle)> = Vec::new();
    for (cpu, event) in events {
        let place = match waiting.binary_search_by_key(&cpu, |(cpu, _)| *cpu) {
            Ok(place) => place,
            Err(place) => {
                waiting.insert(place, (cpu, FtraceEventBundle { cpu: Some(cpu), event: Vec::new() }));
                place
            }
        };
        let Some((_, bundle)) = waiting.get_mut(place) else { continue };
        bundle.event.push(event);
        if bundle.event.len() >= most {
            let event = core::mem::take(&mut bundle.event);
            write_bundle(FtraceEventBundle { event, ..*bundle }, sequence, out)?;
        }
    }
    for (_, bundle) in waiting.into_iter().filter(|(_, bundle)| !bundle.event.is_empty()) {
        write_bundle(bundle, sequence, out)?;
    }
    Ok(())
}

fn write_bundle(bundle: FtraceEventBundle, sequence: u32, out: &mut PacketWriter<'_>) -> io::Result<()> {
    out.push(TracePacket {
        trusted_packet_sequence_id: sequence,
        ftrace_events: Some(bundle),
        ..TracePacket::default()
    })
}

fn event(sample: &SchedSample<'_>) -> Option<FtraceEvent> {
    let event = FtraceEvent { timestamp: Some(sample.time), ..FtraceEvent::default() };
    let name = |comm: &[u8]| Some(OneLine(comm).to_string());
    match sample.event {
        SchedEvent::Switch(SwitchEvent {
            prev_tid,
            prev_comm,
            prev_prio,
            prev_state,
            next_tid,
            next_comm,
            next_prio,
            ..
        }) => Some(FtraceEvent {
            pid: Some(prev_tid.cast_unsigned()),
            sched_switch: Some(SchedSwitch {
                prev_comm: name(prev_comm),
                prev_pid: Some(prev_tid),
                prev_prio: Some(prev_prio.unwrap_or(0)),
                prev_state: Some(prev_state),
                next_comm: name(next_comm),
                next_pid: Some(next_tid),
                next_prio: Some(next_prio.unwrap_or(0)),
            }),
            ..event
        }),
        SchedEvent::Wakeup(WakeupEvent { kind, tid, comm, target_cpu, .. }) => {
            let wakeup = SchedWakeup {
                comm: name(comm),
                pid: Some(tid),
                success: Some(1),
                target_cpu: target_cpu.and_then(|cpu| i32::try_from(cpu).ok()),
            };
            let event = FtraceEvent { pid: Some(sample.tid.cast_unsigned()), ..event };
            Some(match kind {
                WakeupKind::Waking => FtraceEvent { sched_waking: Some(wakeup), ..event },
                WakeupKind::Wakeup => FtraceEvent { sched_wakeup: Some(wakeup), ..event },
                WakeupKind::New => FtraceEvent { sched_wakeup_new: Some(wakeup), ..event },
                _ => return None,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use prost::Message;

    use super::*;
    use crate::perfetto::messages::PerfettoTrace;

    #[test]
    fn the_events_of_a_cpu_do_not_depend_on_the_size_of_packets() {
        // CPU 3 has two of three, and CPU 1 the others.
        let events = (0..60_u64).map(|number| {
            let cpu = if number % 3 == 0 { 1 } else { 3 };
            (cpu, FtraceEvent { timestamp: Some(number), ..FtraceEvent::default() })
        });
        let written = |most| {
            let mut bytes = Vec::new();
            let mut out = PacketWriter { out: &mut bytes, buffer: Vec::new() };
            write_by(most, events.clone(), 1, &mut out).unwrap();
            let mut by_cpu: BTreeMap<u32, Vec<FtraceEvent>> = BTreeMap::new();
            for packet in PerfettoTrace::decode(&*bytes).unwrap().packet {
                let bundle = packet.ftrace_events.unwrap();
                assert!((1..=most).contains(&bundle.event.len()));
                by_cpu.entry(bundle.cpu.unwrap()).or_default().extend(bundle.event);
            }
            by_cpu
        };
        for most in [1, 2, 7, 39, 40, 41, EVENTS] {
            let by_cpu = written(most);
            assert_eq!(by_cpu.keys().copied().collect::<Vec<_>>(), [1, 3], "{most}");
            for (cpu, of_cpu) in by_cpu {
                assert!(
                    events.clone().filter(|event| event.0 == cpu).map(|event| event.1).eq(of_cpu),
                    "{most}"
                );
            }
        }
    }
}
