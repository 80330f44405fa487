// compare_tokio -- tokio's side of the comparison: runs one workload and prints one line of JSON.
mod files;
mod messages;
mod program;
mod responder;
mod tasks;
mod time;

fn main() {
    let mut wanted = program::Options::new();
    match wanted.workload.clone().as_str() {
        "spawn_await" => tasks::spawn_await(&mut wanted),
        "yield" => tasks::yields(&mut wanted),
        "chain" => tasks::chain(&mut wanted),
        "inject" => tasks::inject(&mut wanted),
        "wake" => tasks::wake(&mut wanted),
        "idle" => tasks::idle(&mut wanted),
        "ping_pong" => messages::ping_pong(&mut wanted),
        "ask" => messages::ask(&mut wanted),
        "channel" => messages::channel(&mut wanted),
        "mutex" => messages::mutex(&mut wanted),
        "sleeps" => time::sleeps(&mut wanted),
        "sleepers" => time::sleepers(&mut wanted),
        "file_reads" => files::file_reads(&mut wanted),
        "responder" => responder::responder(&mut wanted),
        other => program::fail(&format!("no workload {other}")),
    }
}
