package kafkatest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// role is what a node is for.
type role int

const (
	isBroker role = iota
	isController
	isZooKeeper
)

// class is what the node's Java machine runs.
func (r role) class() string {
	if r == isZooKeeper {
		return "org.apache.zookeeper.server.quorum.QuorumPeerMain"
	}
	return "kafka.Kafka"
}

// A node is one of a cluster's brokers or controllers, or its ZooKeeper.
type node struct {
	id         int32
	role       role
	ports      map[string]int // by listener name
	logDirs    []string
	properties string // file
	log        string // file: what the process printed, all its lives

	process Process
}

func (n *node) addr(listener string) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(n.ports[listener]))
}

// java makes the node a process of Kafka's own.
func (n *node) java(s *spawner, j jvm, opts Options) {
	n.process = &javaProcess{
		name: fmt.Sprintf("node %d", n.id), log: n.log, spawner: s,
		command: func() *exec.Cmd {
			flags := j.flags(opts.HeapMB, "info")
			if opts.JVM != nil {
				flags = append(flags, opts.JVM(n.id)...)
			}
			return exec.Command(j.java, append(flags, n.role.class(), n.properties)...)
		},
	}
}

// alive reports whether the node can answer.
func (n *node) alive() bool { return n.process.State() == Running }

// up reports whether there is a process, paused or not.
func (n *node) up() bool { return n.alive() || n.process.State() == Paused }

// died reports whether the process ended without being told to.
func (n *node) died() bool { return n.process.State() == Dead }

// tail returns the last lines of what the node printed.
func (n *node) tail(lines int) string {
	text, err := os.ReadFile(n.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// portTaken reports whether the node failed because another process listens
// on its port.
func (n *node) portTaken() bool {
	text, _ := os.ReadFile(n.log)
	return bytes.Contains(text, []byte("Address already in use"))
}
