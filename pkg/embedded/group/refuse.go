package group

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Refuse is the answer to a Request that there is no shard for: in the place that
// this API and version have for an error. A group without a name has no coordinator,
// but for offsets, which old clients commit under it (isGroupIdNotEmpty).
func Refuse(req kmsg.Request, code Code) kmsg.Response {
	named := func(group string) Code {
		if group == "" {
			return InvalidGroupID
		}
		return code
	}
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest:
		if req.Group == "" {
			return refusedJoin(req, req.MemberID, InvalidGroupID)
		}
		return refusedJoin(req, "", code)
	case *kmsg.SyncGroupRequest:
		return refusedSync(req, named(req.Group))
	case *kmsg.HeartbeatRequest:
		resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
		if resp.ErrorCode = int16(named(req.Group)); resp.ErrorCode == int16(CoordinatorLoadInProgress) {
			// Members need not rejoin for that: the session begins anew with the load.
			resp.ErrorCode = int16(None)
		}
		return resp
	case *kmsg.LeaveGroupRequest:
		resp := req.ResponseKind().(*kmsg.LeaveGroupResponse)
		resp.ErrorCode, resp.Members = int16(named(req.Group)), []kmsg.LeaveGroupResponseMember{}
		return resp
	case *kmsg.OffsetCommitRequest:
		return refusedCommit(req, code)
	case *kmsg.OffsetDeleteRequest:
		resp := req.ResponseKind().(*kmsg.OffsetDeleteResponse)
		resp.ErrorCode, resp.Topics = int16(named(req.Group)), []kmsg.OffsetDeleteResponseTopic{}
		return resp
	}
	panic(fmt.Sprintf("group: a request of type %T is not for it", req))
}

// RefuseFetch is a group of an OffsetFetch that there is no shard for. Version 1 has no
// place for it but each partition.
func RefuseFetch(asked *kmsg.OffsetFetchRequestGroup, version int16, code Code) kmsg.OffsetFetchResponseGroup {
	out := kmsg.NewOffsetFetchResponseGroup()
	out.Group, out.ErrorCode, out.Topics = asked.Group, int16(code), []kmsg.OffsetFetchResponseGroupTopic{}
	if version > 1 {
		return out
	}
	out = fetched(nil, asked)
	for i := range out.Topics {
		for j := range out.Topics[i].Partitions {
			out.Topics[i].Partitions[j].ErrorCode = int16(code)
		}
	}
	return out
}
