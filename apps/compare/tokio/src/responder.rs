// responder -- a TCP server: a task for each connection, which reads a request and writes the reply.
use crate::program::{print, Options};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const REPLY: &[u8; 52] = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";

fn compute_for_a_millisecond() {
    let until = Instant::now() + Duration::from_millis(1);
    let mut work = 0u64;
    while Instant::now() < until {
        for _ in 0..1000 {
            unsafe { std::ptr::write_volatile(&mut work, work + 1) }; // kept, whatever the optimiser thinks of it
        }
    }
}

async fn serve(mut client: TcpStream) {
    let mut room = [0u8; 4096];
    loop {
        let got = match client.read(&mut room).await {
            Ok(got) if got > 0 => got,
            _ => return,
        };
        let bytes = &room[..got];
        if !bytes.ends_with(b"\r\n\r\n") {
            continue;
        }
        if bytes.starts_with(b"GET /c") {
            compute_for_a_millisecond();
        }
        if client.write_all(REPLY).await.is_err() {
            return;
        }
    }
}

pub fn responder(wanted: &mut Options) {
    let port = wanted.number("port", 0) as u16;
    let runtime = wanted.runtime();
    let all = runtime.spawn(async move {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        print(&[("port", listener.local_addr().unwrap().port() as f64)]);
        loop {
            let (client, _) = listener.accept().await.unwrap();
            client.set_nodelay(true).unwrap();
            tokio::spawn(serve(client));
        }
    });
    runtime.block_on(all).unwrap();
}
