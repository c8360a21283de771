// A WebSocket server: `/broadcast` sends each message to everybody there, every other path sends it back.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"net/http"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/gorilla/websocket"
)

const messageBytesMax = 1 << 20

// Idle connections share the buffers of those that talk, and keep only a small one to read into.
var (
	upgrader = websocket.Upgrader{
		ReadBufferSize:  1024,
		WriteBufferSize: 4096,
		WriteBufferPool: &sync.Pool{},
		CheckOrigin:     func(*http.Request) bool { return true },
	}
	messages = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

func main() {
	port := flag.Int("port", 0, "the port of 127.0.0.1 to listen on")
	version := flag.Bool("version", false, "print the versions of library and runtime")
	flag.Parse()
	if *version {
		printVersion()
		return
	}
	room := newRoom()
	http.HandleFunc("/broadcast", upgraded(room.serve))
	http.HandleFunc("/", upgraded(echo))
	log.Fatal(http.ListenAndServe(fmt.Sprintf("127.0.0.1:%d", *port), nil))
}

// upgraded hands the connection to a goroutine of its own: the handler's returns, and with it go its stack and what
// net/http kept for the request.
func upgraded(serve func(*websocket.Conn)) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		connection, err := upgrader.Upgrade(response, request, nil)
		if err != nil {
			return // Upgrade has answered.
		}
		connection.SetReadLimit(messageBytesMax)
		go serve(connection)
	}
}

func echo(connection *websocket.Conn) {
	defer connection.Close()
	for receive(connection, connection.WriteMessage) == nil {
	}
}

// receive waits for a message and lends it to `then`.
func receive(connection *websocket.Conn, then func(kind int, message []byte) error) error {
	kind, reader, err := connection.NextReader()
	if err != nil {
		return err
	}
	message := messages.Get().(*bytes.Buffer)
	defer messages.Put(message)
	message.Reset()
	if _, err := message.ReadFrom(reader); err != nil {
		return err
	}
	return then(kind, message.Bytes())
}

func printVersion() {
	information, _ := debug.ReadBuildInfo()
	for _, dependency := range information.Deps {
		fmt.Printf("%s %s, ", dependency.Path, dependency.Version)
	}
	fmt.Println(runtime.Version())
}
