package local

import "time"

// Request is what a command asks of the process that runs a cluster.
type Request struct {
	Do Verb `json:"do"`
	// Fault is there for VerbFault, Broker for VerbRestart: a node's id.
	Fault  *Fault `json:"fault,omitempty"`
	Broker int    `json:"broker,omitempty"`
}

// Verb is what there is to do.
type Verb string

// The verbs.
const (
	// VerbStatus asks for the Status, also of a cluster that is still starting.
	VerbStatus Verb = "status"
	// VerbFault breaks something.
	VerbFault Verb = "fault"
	// VerbHeal ends all faults and returns when the cluster is ready again.
	VerbHeal Verb = "heal"
	// VerbRestart stops a node cleanly, where it runs, and starts it again.
	VerbRestart Verb = "restart"
	// VerbStop ends the cluster and its process. The answer comes before the end, the
	// connection closes with it.
	VerbStop Verb = "stop"
)

// Answer is what comes back.
type Answer struct {
	// Error is why it could not be done; empty where it was.
	Error string `json:"error,omitempty"`
	// Usage: the request names what this cluster does not have, or cannot do.
	Usage bool `json:"usage,omitempty"`
	// Status is as it was after the request was carried out.
	Status Status `json:"status"`
}

// FaultKind is what can be broken.
type FaultKind string

// The faults. Those above the line are of a node, those below of a directed link.
const (
	SlowDisk  FaultKind = "slow-disk"
	FailDisk  FaultKind = "fail-disk"
	FillDisk  FaultKind = "fill-disk"
	Pause     FaultKind = "pause"
	Kill      FaultKind = "kill"
	PowerLoss FaultKind = "power-loss"
	Stop      FaultKind = "stop"
	Fence     FaultKind = "fence"
	JumpClock FaultKind = "jump-clock"

	Cut      FaultKind = "cut"
	SlowLink FaultKind = "slow-link"
)

// OfLink reports whether the fault is one of a link.
func (k FaultKind) OfLink() bool { return k == Cut || k == SlowLink }

// Fault is one fault.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Broker is the node, 0 for a link's fault.
	Broker int `json:"broker,omitempty"`
	// From and To are the nodes of a directed link: what From sends to To.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// By is the time of each write of a slow disk, the way of a slow link, how far a
	// clock jumps (back where it is negative); nanoseconds in JSON.
	By time.Duration `json:"by,omitempty"`
	// Since is when it began.
	Since time.Time `json:"since"`
}

// Status is how a cluster stands.
type Status struct {
	// Name is that of the place.
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// Ready: all brokers had been up and answered when the cluster was started. False
	// while it starts; then there is nothing below but Since
	// and Data.
	Ready bool `json:"ready"`
	// Since is when the process took the place.
	Since time.Time `json:"since"`
	// Data is the directory of its logs; empty in memory.
	Data string `json:"data,omitempty"`
	// DataBytes is the size of the files below Data; -1 where it is not known.
	DataBytes int64  `json:"dataBytes"`
	ID        string `json:"id,omitempty"`
	// Bootstrap is host:port,… of all brokers.
	Bootstrap string `json:"bootstrap,omitempty"`
	// Nodes are the brokers by id, then the controller.
	Nodes []Node `json:"nodes"`
	// Faults are those in force, in the order in which they came.
	Faults []Fault `json:"faults"`
}

// Node is a broker or the controller.
type Node struct {
	ID         int    `json:"id"`
	Controller bool   `json:"controller,omitempty"`
	Address    string `json:"address"`
	// State is running, paused, stopped, killed or failed.
	State string `json:"state"`
	// Error is why it has failed; empty in other states.
	Error string `json:"error,omitempty"`
}
