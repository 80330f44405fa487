// example -- what the README shows has fallen behind this.
fn main() {
    println!("new");
}
