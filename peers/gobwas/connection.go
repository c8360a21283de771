package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/gobwas/ws"
)

const (
	requestBytesMax = 8 << 10
	messageBytesMax = 1 << 20
	// What one connection may be behind before it is closed.
	unsentBytesMax = 4 << 20
)

var errTooLarge = errors.New("larger than a megabyte")

// A connection is what is kept of one socket between two events.
type connection struct {
	socket     int
	isUpgraded bool
	isClosing  bool
	isClosed   bool

	// Whether it hears what is broadcast, and its place in the audience.
	listens bool
	place   int

	// The beginning of a request or frame whose end has not come; what the kernel has not taken.
	unread []byte
	unsent []byte

	// Of a message in several frames: those that have come.
	state    ws.State
	kind     ws.OpCode
	fragment []byte
}

// take handles what has come, and keeps the beginning of what has not come as a whole.
func (server *server) take(connection *connection, data []byte) {
	if len(connection.unread) > 0 {
		data = append(connection.unread, data...)
	}
	server.replies.Reset()
	var err error
	if connection.isUpgraded {
		data, err = server.takeFrames(connection, data)
	} else {
		data, err = server.takeRequest(connection, data)
	}
	server.send(connection, server.replies.Bytes())
	if err != nil {
		server.finish(connection)
	} else if len(data) == 0 {
		connection.unread = nil
	} else {
		// Not in place: `data` may be the same memory, further on.
		connection.unread = append([]byte(nil), data...)
	}
}

func (server *server) takeRequest(connection *connection, data []byte) ([]byte, error) {
	end := bytes.Index(data, []byte("\r\n\r\n"))
	if end < 0 && len(data) < requestBytesMax {
		return data, nil
	}
	if end < 0 {
		return nil, errTooLarge
	}
	upgrader := ws.Upgrader{OnRequest: func(uri []byte) error {
		connection.listens = string(uri) == "/broadcast"
		return nil
	}}
	request := bytes.NewReader(data[:end+len("\r\n\r\n")])
	_, err := upgrader.Upgrade(struct {
		io.Reader
		io.Writer
	}{request, &server.replies})
	if err != nil {
		return nil, err
	}
	connection.isUpgraded = true
	if connection.listens {
		server.join(connection)
	}
	return nil, nil // A client says nothing before it is answered.
}

// takeFrames handles whole frames and returns what is left.
func (server *server) takeFrames(connection *connection, data []byte) ([]byte, error) {
	for len(data) > 0 && !connection.isClosed {
		server.reader.Reset(data)
		header, err := ws.ReadHeader(&server.reader)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if err := ws.CheckHeader(header, connection.state|ws.StateServerSide); err != nil {
			return nil, server.refuse(ws.StatusProtocolError, err)
		}
		if header.Length > messageBytesMax-int64(len(connection.fragment)) {
			return nil, server.refuse(ws.StatusMessageTooBig, errTooLarge)
		}
		start := len(data) - server.reader.Len()
		end := start + int(header.Length)
		if end > len(data) {
			return data, nil
		}
		payload := data[start:end]
		ws.Cipher(payload, header.Mask, 0)
		if err := server.handle(connection, header, payload); err != nil {
			return nil, err
		}
		data = data[end:]
	}
	return data, nil
}

func (server *server) refuse(code ws.StatusCode, reason error) error {
	ws.WriteFrame(&server.replies, ws.NewCloseFrame(ws.NewCloseFrameBody(code, reason.Error())))
	return reason
}

func (server *server) handle(connection *connection, header ws.Header, payload []byte) error {
	switch header.OpCode {
	case ws.OpPing:
		return ws.WriteFrame(&server.replies, ws.NewPongFrame(payload))
	case ws.OpPong:
		return nil
	case ws.OpClose:
		ws.WriteFrame(&server.replies, ws.NewCloseFrame(payload))
		return io.EOF
	default:
		return server.assemble(connection, header, payload)
	}
}

func (server *server) assemble(connection *connection, header ws.Header, payload []byte) error {
	if header.OpCode != ws.OpContinuation {
		connection.kind = header.OpCode
	}
	if header.Fin && connection.fragment == nil {
		return server.hear(connection, payload)
	}
	connection.fragment = append(connection.fragment, payload...)
	if !header.Fin {
		connection.state = connection.state.Set(ws.StateFragmented)
		return nil
	}
	message := connection.fragment
	connection.fragment = nil
	connection.state = connection.state.Clear(ws.StateFragmented)
	return server.hear(connection, message)
}

func (server *server) hear(connection *connection, message []byte) error {
	if connection.listens {
		return server.broadcast(connection.kind, message)
	}
	return writeMessage(&server.replies, connection.kind, message)
}

func writeMessage(to *bytes.Buffer, kind ws.OpCode, message []byte) error {
	header := ws.Header{Fin: true, OpCode: kind, Length: int64(len(message))}
	if err := ws.WriteHeader(to, header); err != nil {
		return err
	}
	_, err := to.Write(message)
	return err
}
