// tokio -- tasks, a time limit, a task that is aborted.
use std::time::Duration;
use tokio::time::{sleep, timeout};

async fn square(n: u32) -> u32 {
    sleep(Duration::from_millis(1)).await;
    n * n
}

async fn tick_forever() {
    loop {
        sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::main]
async fn main() {
    let handle = tokio::spawn(square(3));
    let (a, b) = tokio::join!(square(1), square(2));
    let sum = handle.await.unwrap() + a + b;

    let late = timeout(Duration::from_millis(5), sleep(Duration::from_secs(3600))).await;

    let forever = tokio::spawn(tick_forever());
    forever.abort();
    let stopped = forever.await;

    println!("{}, late: {}", sum, late.is_err());
    assert!(sum == 14 && late.is_err() && stopped.unwrap_err().is_cancelled());
}
