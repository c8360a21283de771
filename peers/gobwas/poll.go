package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const eventsMax = 1024

// A poll is a Linux epoll instance, level-triggered.
type poll struct {
	descriptor int
	events     [eventsMax]unix.EpollEvent
}

func newPoll() (*poll, error) {
	descriptor, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	return &poll{descriptor: descriptor}, nil
}

// wait blocks until something is ready. What it returns is valid until the next call.
func (poll *poll) wait() ([]unix.EpollEvent, error) {
	for {
		count, err := unix.EpollWait(poll.descriptor, poll.events[:], -1)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("epoll_wait: %w", err)
		}
		return poll.events[:count], nil
	}
}

func (poll *poll) add(socket int, interest uint32) error {
	return poll.control(unix.EPOLL_CTL_ADD, socket, interest)
}

func (poll *poll) change(socket int, interest uint32) error {
	return poll.control(unix.EPOLL_CTL_MOD, socket, interest)
}

func (poll *poll) control(operation int, socket int, interest uint32) error {
	event := unix.EpollEvent{Events: interest, Fd: int32(socket)}
	if err := unix.EpollCtl(poll.descriptor, operation, socket, &event); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}
