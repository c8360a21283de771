package main

import (
	"bytes"

	"github.com/gobwas/ws"
)

func (server *server) join(connection *connection) {
	connection.place = len(server.audience)
	server.audience = append(server.audience, connection)
}

// leave puts the last of the audience into the place that becomes free.
func (server *server) leave(connection *connection) {
	if !connection.isUpgraded || !connection.listens {
		return
	}
	connection.listens = false
	last := len(server.audience) - 1
	server.audience[connection.place] = server.audience[last]
	server.audience[connection.place].place = connection.place
	server.audience[last] = nil
	server.audience = server.audience[:last]
}

// broadcast encodes once. It goes from the last to the first: one that fails and leaves moves only those it has done.
func (server *server) broadcast(kind ws.OpCode, message []byte) error {
	var frame bytes.Buffer
	if err := writeMessage(&frame, kind, message); err != nil {
		return err
	}
	for place := len(server.audience) - 1; place >= 0; place-- {
		server.send(server.audience[place], frame.Bytes())
	}
	return nil
}
