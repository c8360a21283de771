// A WebSocket server: `/broadcast` sends each message to everybody there, every other path sends it back.
//
// One loop waits for all sockets and does all the work; an idle connection has neither a goroutine nor a buffer.
package main

import (
	"flag"
	"fmt"
	"log"
	"runtime"
	"runtime/debug"
)

func main() {
	port := flag.Int("port", 0, "the port of 127.0.0.1 to listen on")
	version := flag.Bool("version", false, "print the versions of libraries and runtime")
	flag.Parse()
	if *version {
		printVersion()
		return
	}
	poll, err := newPoll()
	if err != nil {
		log.Fatal(err)
	}
	server, err := listen(poll, *port)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.run())
}

func printVersion() {
	information, _ := debug.ReadBuildInfo()
	for _, dependency := range information.Deps {
		fmt.Printf("%s %s, ", dependency.Path, dependency.Version)
	}
	fmt.Println(runtime.Version())
}
