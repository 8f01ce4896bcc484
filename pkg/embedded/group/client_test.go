package group

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// partitions are what the group shares.
const partitions = 12

const (
	sessionMs   = 2000
	rebalanceMs = 3000
	beatMs      = 100
)

type clientState string

const (
	isOut     clientState = "out"
	isJoining clientState = "joining"
	isMember  clientState = "member"
)

// client is a consumer as clients are: it joins, syncs, beats, commits, leaves and
// dies. One request of the group's is open at a time, but for heartbeats.
type client struct {
	w        *world
	name     string
	version  int16 // of JoinGroup; others go by it
	instance *string

	life       int // what belongs to an older one is not for it
	state      clientState
	member     string
	generation int32
	share      string
	// loyal: the coordinator has no reason to forget it, as it
	// has synced with it and was prompt ever since.
	loyal   bool
	loyalTo int // the coordinator
	beating bool
}

func (c *client) begin() {
	c.life++
	c.state, c.member, c.generation, c.share, c.loyal = isOut, "", -1, "", false
	c.w.tracef("%s begins", c.name)
	c.join()
}

// stay ends its misbehaviour.
func (c *client) stay() {
	if c.state == isOut {
		c.w.after(0, c.begin)
	}
}

func (c *client) join() {
	c.state = isJoining
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = c.version
	req.Group, req.MemberID, req.InstanceID, req.ProtocolType = "g", c.member, c.instance, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = sessionMs, rebalanceMs
	for _, name := range []string{"range", "other"} {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name = name
		m := kmsg.NewConsumerMemberMetadata()
		m.Topics = []string{"t"}
		p.Metadata = m.AppendTo(nil)
		req.Protocols = append(req.Protocols, p)
	}
	c.w.ask(c, req)
}

// lost: a connection was lost with what was on it. It joins anew, as who it was.
func (c *client) lost(life int) {
	if c.life != life {
		return
	}
	c.life++
	c.loyal, c.state = false, isJoining
	c.w.after(20, c.again())
}

func (c *client) heard(call *call, resp kmsg.Response) {
	if c.life != call.life {
		return
	}
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		c.joined(resp)
	case *kmsg.SyncGroupResponse:
		c.synced(resp)
	case *kmsg.HeartbeatResponse:
		c.beating = false
		c.told(Code(resp.ErrorCode), "heartbeat")
	case *kmsg.OffsetCommitResponse:
		c.told(Code(resp.Topics[0].Partitions[0].ErrorCode), "commit")
	}
}

func (c *client) joined(resp *kmsg.JoinGroupResponse) {
	switch Code(resp.ErrorCode) {
	case None:
	case MemberIDRequired:
		c.member = resp.MemberID
		c.join()
		return
	case UnknownMemberID, FencedInstanceID:
		c.forgotten(Code(resp.ErrorCode), "join")
		return
	default:
		c.w.stats.refused++
		c.w.after(50, c.again())
		return
	}
	c.member, c.generation, c.share = resp.MemberID, resp.Generation, ""
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version = min(max(c.version-4, 0), 5)
	if c.instance != nil {
		req.Version = max(req.Version, 3)
	}
	req.Group, req.MemberID, req.Generation, req.InstanceID = "g", c.member, c.generation, c.instance
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	if resp.LeaderID == c.member && !resp.SkipAssignment {
		c.assign(req, resp.Members)
	}
	c.w.ask(c, req)
}

// assign shares the partitions out, as a leader does.
func (c *client) assign(req *kmsg.SyncGroupRequest, members []kmsg.JoinGroupResponseMember) {
	if len(members) == 0 {
		c.w.failf("%s leads generation %d and is told no members", c.name, c.generation)
	}
	shares := make([][]string, len(members))
	for p := range partitions {
		shares[p%len(members)] = append(shares[p%len(members)], fmt.Sprint(p))
	}
	told := ""
	for i := range members {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = members[i].MemberID, []byte(strings.Join(shares[i], ","))
		req.GroupAssignment = append(req.GroupAssignment, a)
		told += fmt.Sprintf("<%s=%s>", a.MemberID, a.MemberAssignment)
	}
	of := c.w.given[fmt.Sprint(c.generation)]
	if of == nil {
		of = map[string]string{}
		c.w.given[fmt.Sprint(c.generation)] = of
	}
	of[fmt.Sprint(c.w.life, c.member, c.w.now)] = told
}

func (c *client) synced(resp *kmsg.SyncGroupResponse) {
	if code := Code(resp.ErrorCode); code != None {
		c.told(code, "sync")
		if c.state == isJoining && c.life > 0 && code != UnknownMemberID && code != FencedInstanceID && code != RebalanceInProgress && code != IllegalGeneration {
			c.w.after(50, c.again())
		}
		return
	}
	c.state, c.share = isMember, string(resp.MemberAssignment)
	if c.share == "" {
		c.w.failf("%s was given nothing in generation %d", c.name, c.generation)
	}
	c.loyal, c.loyalTo = true, c.w.life
	c.beating = false
	c.w.after(beatMs, c.live(c.generation))
}

// again is a join of this life.
func (c *client) again() func() {
	life := c.life
	return func() {
		if c.life == life {
			c.join()
		}
	}
}

// live is what a member does from heartbeat to heartbeat.
func (c *client) live(generation int32) func() {
	life := c.life
	return func() {
		if c.life != life || c.state != isMember || c.generation != generation {
			return
		}
		w := c.w
		lot := 100
		if !w.quiet {
			lot = w.rng.IntN(100)
		}
		switch {
		case lot == 0:
			w.tracef("%s dies", c.name)
			c.life++
			c.state = isOut
			w.after(int64(w.rng.IntN(3000)), c.begin)
			return
		case lot == 1 && c.instance == nil:
			req := kmsg.NewPtrLeaveGroupRequest()
			req.Version = 1
			req.Group, req.MemberID = "g", c.member
			w.ask(c, req)
			c.life++
			c.state = isOut
			w.after(int64(w.rng.IntN(3000)), c.begin)
			return
		case lot == 2:
			w.tracef("%s hangs", c.name)
			c.loyal = false
			w.after(int64(w.rng.IntN(2*sessionMs)), c.live(generation))
			return
		}
		if !c.beating {
			c.beating = true
			req := kmsg.NewPtrHeartbeatRequest()
			req.Version = 3
			req.Group, req.MemberID, req.Generation, req.InstanceID = "g", c.member, c.generation, c.instance
			w.ask(c, req)
		}
		if w.rng.IntN(3) == 0 {
			c.commit()
		}
		w.after(beatMs, c.live(generation))
	}
}

func (c *client) commit() {
	var partition int32
	_, _ = fmt.Sscan(strings.Split(c.share, ",")[0], &partition)
	c.w.partials++
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version = 8
	req.Group, req.MemberID, req.Generation, req.InstanceID = "g", c.member, c.generation, c.instance
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = "t"
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.Metadata = partition, c.w.partials, kmsg.StringPtr("m")
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	c.w.ask(c, req)
	c.w.fetch(partition)
}

// told is what a member makes of an error.
func (c *client) told(code Code, of string) {
	switch code {
	case None:
	case RebalanceInProgress, IllegalGeneration:
		if c.state == isMember || of == "sync" {
			c.join()
		}
	case UnknownMemberID, FencedInstanceID:
		c.forgotten(code, of)
	default:
		c.w.stats.refused++ // it tries again by itself
	}
}

// forgotten: the coordinator says that it does not know the member.
func (c *client) forgotten(code Code, of string) {
	w := c.w
	if c.loyal && c.loyalTo == w.life && code == UnknownMemberID && of == "heartbeat" {
		w.failf("%s is not known, though it has synced with this coordinator and was prompt ever since", c.name)
	}
	w.tracef("%s is forgotten (%d of %s)", c.name, code, of)
	c.life++
	c.member, c.generation, c.loyal = "", -1, false
	c.state = isJoining
	w.after(20, c.again())
}
