package main

import (
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// A member that takes nothing for so long is let go: the others wait for it meanwhile.
const writePatience = 10 * time.Second

// A room sends what one member says to all of them, in the order in which it comes.
type room struct {
	mutex   sync.Mutex
	members map[*websocket.Conn]struct{}
}

func newRoom() *room {
	return &room{members: make(map[*websocket.Conn]struct{})}
}

func (room *room) serve(connection *websocket.Conn) {
	defer connection.Close()
	room.join(connection)
	defer room.leave(connection)
	for receive(connection, room.broadcast) == nil {
	}
}

func (room *room) join(connection *websocket.Conn) {
	room.mutex.Lock()
	defer room.mutex.Unlock()
	room.members[connection] = struct{}{}
}

func (room *room) leave(connection *websocket.Conn) {
	room.mutex.Lock()
	defer room.mutex.Unlock()
	delete(room.members, connection)
}

// broadcast encodes once. The lock makes this the only writer of data to any member, as the library asks for.
func (room *room) broadcast(kind int, message []byte) error {
	prepared, err := websocket.NewPreparedMessage(kind, message)
	if err != nil {
		return err
	}
	room.mutex.Lock()
	defer room.mutex.Unlock()
	for member := range room.members {
		member.SetWriteDeadline(time.Now().Add(writePatience))
		if member.WritePreparedMessage(prepared) != nil {
			// Its own goroutine reads the end and takes it out of the room.
			member.Close()
		}
	}
	return nil
}
