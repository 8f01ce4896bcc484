package group

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// leave is GroupMetadataManager.classicGroupLeave: members go by their own will, or
// static ones by an administrator's, who does not know their ids.
func (s *Shard) leave(in Request, req *kmsg.LeaveGroupRequest) {
	if req.Version < 3 {
		m := kmsg.NewLeaveGroupRequestMember()
		m.MemberID = req.MemberID
		req.Members = []kmsg.LeaveGroupRequestMember{m}
	}
	resp := req.ResponseKind().(*kmsg.LeaveGroupResponse)
	resp.Members = []kmsg.LeaveGroupResponseMember{}
	if req.Group == "" {
		resp.ErrorCode = int16(InvalidGroupID)
		s.emit(Reply{in.Token, resp})
		return
	}
	g := s.groups[req.Group]
	anybody := false
	for i := range req.Members {
		m := &req.Members[i]
		out := kmsg.NewLeaveGroupResponseMember()
		out.MemberID, out.InstanceID = m.MemberID, m.InstanceID
		code := s.leaveOne(g, m)
		out.ErrorCode = int16(code)
		anybody = anybody || code == None
		resp.Members = append(resp.Members, out)
	}
	if anybody {
		switch g.state {
		case Stable, CompletingRebalance:
			s.prepareRebalance(g)
		case PreparingRebalance:
			s.maybeComplete(g)
		}
	}
	s.whenCommitted(func(late Code) {
		if late != None {
			resp.ErrorCode, resp.Members = int16(late), []kmsg.LeaveGroupResponseMember{}
		} else if req.Version < 3 {
			resp.ErrorCode, resp.Members = resp.Members[0].ErrorCode, nil
		}
		s.emit(Reply{in.Token, resp})
	})
}

func (s *Shard) leaveOne(g *group, asked *kmsg.LeaveGroupRequestMember) Code {
	if g == nil {
		return UnknownMemberID
	}
	id := asked.MemberID
	if id == "" {
		if asked.InstanceID == nil || g.static[*asked.InstanceID] == "" {
			return UnknownMemberID
		}
		id = g.static[*asked.InstanceID]
	} else if _, ok := g.pending[id]; ok {
		s.forgetPending(g, id)
		return None
	} else if code := g.validate(id, asked.InstanceID); code != None {
		return code
	}
	s.remove(g, g.member(id))
	return None
}
