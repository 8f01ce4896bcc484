package replica

// What a node asks before it steps, at no cost: Status copies.

// Role is the present role.
func (r *Replica) Role() Role { return r.role }

// LeaderEpoch is the newest that the replica has obeyed.
func (r *Replica) LeaderEpoch() Epoch { return r.leaderEpoch }

// Bounds are the log start offset, the HW and the LEO.
func (r *Replica) Bounds() (start, hw, end Offset) { return r.log.start, r.log.hw, r.log.end }

// InISR reports whether this is a leader's and the broker is in its committed ISR.
func (r *Replica) InISR(id BrokerID) bool { return r.leader != nil && r.leader.isr.contains(id) }

// Admits is what a Produce with these acks would be refused with, whatever its
// records are: a leader says so before it reads them.
func (r *Replica) Admits(acks int16) Code { return r.admit(Produce{Acks: acks}) }
