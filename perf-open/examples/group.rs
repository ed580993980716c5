//! A group: events that count over exactly the same time, read together, and scaled if the PMU was shared.
//!
//! `cargo run -p perf-open --example group -- 'cycles,instructions'`; without a list, software events.

use perf_open::{CounterGroup, EventSpec, Target, event};

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let list =
        std::env::args().nth(1).unwrap_or_else(|| "task-clock:u,page-faults:u,cpu-migrations:u".to_owned());
    let events: Vec<EventSpec> = event::parse(&list)?.into_iter().flat_map(|group| group.events).collect();
    let names: Vec<String> = events.iter().map(|event| event.name.clone()).collect();
    let events = event::EventGroup::from(events);

    let group = CounterGroup::open_events(&events, &Target::this_thread(), |builder, _| builder)?;
    group.enable()?;
    let sum: u64 = (0..1_000_000_u64).map(core::hint::black_box).sum();
    group.disable()?;

    for (name, count) in names.iter().zip(group.read()?) {
        match count.scaled() {
            Some(scaled) if scaled != count.value => {
                let percent = count.running_ratio().unwrap_or_default() * 100.0;
                println!("{scaled:>16}  {name}  (counted {percent:.1} % of the time)");
            }
            Some(value) => println!("{value:>16}  {name}"),
            None => println!("   never counted  {name}"),
        }
    }
    println!("{sum:>16}  is the sum that was counted");
    Ok(())
}
