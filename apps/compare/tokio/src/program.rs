// program -- options as name=value, a clock, and one line of JSON as the answer; the same as common/program.hpp.
use std::collections::{HashMap, HashSet};
use std::time::Instant;

pub fn fail(why: &str) -> ! {
    eprintln!("compare: {why}");
    std::process::exit(1)
}

pub fn expect(right: bool, what: &str) {
    if !right {
        fail(&format!("wrong result: {what}"));
    }
}

pub struct Options {
    pub workload: String,
    given: HashMap<String, String>,
    asked: HashSet<String>,
}

impl Options {
    pub fn new() -> Self {
        let mut arguments = std::env::args().skip(1);
        let workload = arguments.next().unwrap_or_else(|| fail("the first argument is the workload"));
        let given = arguments
            .map(|each| match each.split_once('=') {
                Some((name, value)) => (name.to_string(), value.to_string()),
                None => fail(&format!("'{each}' is not name=value")),
            })
            .collect();
        Self { workload, given, asked: HashSet::new() }
    }
    pub fn text(&mut self, name: &str, otherwise: &str) -> String {
        self.asked.insert(name.to_string());
        self.given.get(name).cloned().unwrap_or_else(|| otherwise.to_string())
    }
    pub fn number(&mut self, name: &str, otherwise: u64) -> u64 {
        let given = self.text(name, &otherwise.to_string());
        given.parse().unwrap_or_else(|_| fail(&format!("{name}={given} is not a number")))
    }
    pub fn all_asked(&self) {
        for name in self.given.keys() {
            if !self.asked.contains(name) {
                fail(&format!("the workload {} has no option {name}", self.workload));
            }
        }
    }
    /// Two workers unless told otherwise, everything else as tokio has it.
    pub fn runtime(&mut self) -> tokio::runtime::Runtime {
        let workers = self.number("workers", 2) as usize;
        self.all_asked();
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
    }
}

fn usage() -> libc::rusage {
    unsafe {
        let mut used = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut used);
        used
    }
}
pub fn cpu_seconds() -> f64 {
    let used = usage();
    let of = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    of(used.ru_utime) + of(used.ru_stime)
}
/// Not ru_maxrss: that begins with what the process that started us had.
fn peak_kib() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
pub fn resident_bytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: f64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096.0
}
pub fn percentile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(|a, b| a.partial_cmp(b).unwrap());
    samples[(share * (samples.len() - 1) as f64 + 0.5) as usize]
}

pub fn print(figures: &[(&str, f64)]) {
    let mut all: Vec<String> = figures.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    all.push(format!("\"peak_kib\":{}", peak_kib()));
    println!("{{{}}}", all.join(","));
}

/// Runs it and prints the time for each of `operations`, with the figures that it gives.
pub fn timed(operations: u64, run: impl FnOnce() -> Vec<(&'static str, f64)>) {
    let cpu = cpu_seconds();
    let began = Instant::now();
    let more = run();
    let seconds = began.elapsed().as_secs_f64();
    let mut figures = vec![
        ("seconds", seconds),
        ("cpu_seconds", cpu_seconds() - cpu),
        ("operations", operations as f64),
        ("ns_per_op", seconds * 1e9 / operations as f64),
    ];
    figures.extend(more);
    print(&figures);
}
