//! `crowd SERVER TARGET COUNT`: that many clients join, this says so, and waits for the end of its standard input.
#![allow(clippy::print_stdout)]

use std::io;

fn main() {
    faults::limit_descriptors(None);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, target, count] = arguments.as_slice() else { panic!("usage: crowd SERVER TARGET COUNT") };
    let server = server.parse().expect("an address with a port");
    let clients = faults::gather(server, target, count.parse().expect("a number"));
    println!("joined");
    io::copy(&mut io::stdin(), &mut io::sink()).expect("standard input ends");
    drop(clients);
}
