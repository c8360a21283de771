package main

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	backlog       = 8192
	readBytesMax  = 64 << 10
	acceptsAtOnce = 256
)

// A server owns every socket, by descriptor, and the buffers that all connections share.
type server struct {
	poll        *poll
	listener    int
	connections []*connection
	audience    []*connection

	received [readBytesMax]byte
	reader   bytes.Reader
	replies  bytes.Buffer
}

func listen(poll *poll, port int) (*server, error) {
	listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socket: %w", err)
	}
	if err := unix.SetsockoptInt(listener, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return nil, fmt.Errorf("SO_REUSEADDR: %w", err)
	}
	if err := unix.Bind(listener, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, fmt.Errorf("bind to port %d: %w", port, err)
	}
	if err := unix.Listen(listener, backlog); err != nil {
		return nil, fmt.Errorf("listen on port %d: %w", port, err)
	}
	if err := poll.add(listener, unix.EPOLLIN); err != nil {
		return nil, err
	}
	return &server{poll: poll, listener: listener}, nil
}

func (server *server) run() error {
	for {
		events, err := server.poll.wait()
		if err != nil {
			return err
		}
		for _, event := range events {
			if int(event.Fd) == server.listener {
				if err := server.accept(); err != nil {
					return err
				}
			} else if connection := server.connections[event.Fd]; connection != nil {
				server.serve(connection, event.Events)
			}
		}
	}
}

func (server *server) accept() error {
	for range acceptsAtOnce {
		socket, _, err := unix.Accept4(server.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
		case unix.EAGAIN:
			return nil
		case unix.EINTR, unix.ECONNABORTED:
			continue
		default:
			return fmt.Errorf("accept: %w", err)
		}
		if err := unix.SetsockoptInt(socket, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
			return fmt.Errorf("TCP_NODELAY: %w", err)
		}
		if err := server.poll.add(socket, unix.EPOLLIN); err != nil {
			return err
		}
		for socket >= len(server.connections) {
			server.connections = append(server.connections, nil)
		}
		server.connections[socket] = &connection{socket: socket}
	}
	return nil
}

func (server *server) serve(connection *connection, events uint32) {
	if events&unix.EPOLLOUT != 0 {
		server.flush(connection)
		return // What is to be read is reported again once there is nothing left to write.
	}
	count, err := unix.Read(connection.socket, server.received[:])
	if err == unix.EAGAIN || err == unix.EINTR {
		return
	}
	if err != nil || count == 0 {
		server.close(connection)
		return
	}
	server.take(connection, server.received[:count])
}

// send writes at once what the kernel takes, and keeps the rest: while there is some, nothing is read.
func (server *server) send(connection *connection, data []byte) {
	if connection.isClosed || len(data) == 0 {
		return
	}
	if len(connection.unsent) == 0 {
		count, err := unix.Write(connection.socket, data)
		if err != nil && err != unix.EAGAIN && err != unix.EINTR {
			server.close(connection)
			return
		}
		data = data[max(count, 0):]
		if len(data) == 0 {
			return
		}
		if server.poll.change(connection.socket, unix.EPOLLOUT) != nil {
			server.close(connection)
			return
		}
	}
	if len(connection.unsent)+len(data) > unsentBytesMax {
		server.close(connection)
		return
	}
	connection.unsent = append(connection.unsent, data...)
}

func (server *server) flush(connection *connection) {
	count, err := unix.Write(connection.socket, connection.unsent)
	if err == unix.EAGAIN || err == unix.EINTR {
		return
	}
	if err != nil {
		server.close(connection)
		return
	}
	connection.unsent = connection.unsent[count:]
	if len(connection.unsent) > 0 {
		return
	}
	connection.unsent = nil
	if connection.isClosing || server.poll.change(connection.socket, unix.EPOLLIN) != nil {
		server.close(connection)
	}
}

// finish closes the connection once everything that was sent has gone.
func (server *server) finish(connection *connection) {
	connection.isClosing = true
	server.leave(connection) // Nothing may follow a close frame.
	if len(connection.unsent) == 0 {
		server.close(connection)
	}
}

func (server *server) close(connection *connection) {
	if connection.isClosed {
		return
	}
	connection.isClosed = true
	server.leave(connection)
	server.connections[connection.socket] = nil
	unix.Close(connection.socket)
}
