package controller

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// RegisterBroker begins a broker's life (KIP-631). It is answered with a
// [RegisterBrokerReply].
type RegisterBroker struct {
	ClusterID     string
	BrokerID      int32
	IncarnationID kraft.UUID // drawn by the broker when it starts
	EndPoints     []kraft.Endpoint
	Features      []kraft.FeatureRange
	Rack          *string      // nil: none
	LogDirs       []kraft.UUID // all that are online (KIP-858)
	// PreviousBrokerEpoch is the epoch in the file that a clean stop leaves behind,
	// and thereby the proof of one (KIP-966); -1: there is none.
	PreviousBrokerEpoch int64
}

// RegisterBrokerReply gives the broker its epoch, which it names from now on.
type RegisterBrokerReply struct {
	Err         *Error
	BrokerEpoch int64
}

// decide is Kafka's ClusterControlManager.registerBroker.
func (r RegisterBroker) decide(op *operation) RegisterBrokerReply {
	if err := r.valid(op); err != nil {
		return RegisterBrokerReply{Err: err}
	}
	rec := &kraft.RegisterBroker{
		BrokerID:      r.BrokerID,
		IncarnationID: r.IncarnationID,
		BrokerEpoch:   op.base, // the offset at which the operation began
		EndPoints:     slices.Clone(r.EndPoints),
		Features:      slices.Clone(r.Features),
		Rack:          r.Rack,
		Fenced:        true,
		LogDirs:       slices.Clone(r.LogDirs),
	}
	old, known := op.image.Broker(r.BrokerID)
	if known && old.IncarnationID == r.IncarnationID {
		// The same life again, as after an answer that was lost: what the broker
		// has reached since, it keeps.
		rec.BrokerEpoch, rec.Fenced, rec.InControlledShutdown = old.BrokerEpoch, old.Fenced, old.InControlledShutdown
		op.write(rec)
		op.session(r.BrokerID).registeredAt = op.end() - 1
		return RegisterBrokerReply{BrokerEpoch: rec.BrokerEpoch}
	}
	clean := known && r.PreviousBrokerEpoch == old.BrokerEpoch
	op.endLife(r.BrokerID, clean)
	op.write(rec)
	// No session yet: it begins with the first heartbeat.
	op.c.sessions[r.BrokerID] = newSession(op.end() - 1)
	return RegisterBrokerReply{BrokerEpoch: rec.BrokerEpoch}
}

func (r RegisterBroker) valid(op *operation) *Error {
	if r.ClusterID != op.c.opts.ClusterID {
		return errorf(InconsistentClusterID, "this is cluster %q, not %q", op.c.opts.ClusterID, r.ClusterID)
	}
	old, known := op.image.Broker(r.BrokerID)
	if known && old.IncarnationID != r.IncarnationID && !op.session(r.BrokerID).over(op.nowMs, op.c.opts.SessionTimeoutMs) {
		return errorf(DuplicateBrokerRegistration, "broker %d is alive with another incarnation: if it was restarted, this passes when its old session ends", r.BrokerID)
	}
	if err := r.validDirectories(op); err != nil {
		return err
	}
	return r.validFeatures(op)
}

func (r RegisterBroker) validDirectories(op *operation) *Error {
	if len(r.LogDirs) == 0 {
		return errorf(InvalidRegistration, "broker %d names no log directory", r.BrokerID)
	}
	for i, dir := range r.LogDirs {
		if reserved(dir) {
			return errorf(InvalidRegistration, "%s is reserved and no log directory's id", dir)
		}
		if slices.Contains(r.LogDirs[:i], dir) {
			return errorf(InvalidRegistration, "log directory %s is named twice", dir)
		}
		for id, b := range op.image.Brokers() {
			if id != r.BrokerID && slices.Contains(b.LogDirs, dir) {
				return errorf(InvalidRegistration, "log directory %s is that of broker %d", dir, id)
			}
		}
	}
	return nil
}

// validFeatures is processRegistrationFeature: the broker must be able to live at
// every level that is finalized; what it does not name, it can only at 0.
func (r RegisterBroker) validFeatures(op *operation) *Error {
	if !slices.ContainsFunc(r.Features, func(f kraft.FeatureRange) bool { return f.Name == featureMetadataVersion }) {
		return errorf(InvalidRegistration, "broker %d does not say which %s it supports", r.BrokerID, featureMetadataVersion)
	}
	for name, level := range op.image.Features() {
		if low, high := supported(r.Features, name); level < low || level > high {
			return errorf(UnsupportedVersion, "broker %d supports %s from %d to %d, and the cluster is at %d", r.BrokerID, name, low, high, level)
		}
	}
	return nil
}

// RegisterController begins a controller's life in the log (KIP-919). It is
// answered with a [RegisterControllerReply].
type RegisterController struct{ kraft.RegisterController }

// RegisterControllerReply is empty: it cannot fail.
type RegisterControllerReply struct{}

func (r RegisterController) decide(op *operation) RegisterControllerReply {
	op.write(&r.RegisterController)
	return RegisterControllerReply{}
}

// UnregisterBroker forgets a broker, alive or not. Partitions keep it as a
// replica. It is answered with an [UnregisterBrokerReply].
type UnregisterBroker struct{ BrokerID int32 }

// UnregisterBrokerReply says whether there was such a broker.
type UnregisterBrokerReply struct{ Err *Error }

// decide is handleBrokerUnregistered. Kafka's second round, over the ELRs, takes
// nobody out of them (4.4.0): the broker loses its place when it registers anew.
func (r UnregisterBroker) decide(op *operation) UnregisterBrokerReply {
	b, ok := op.image.Broker(r.BrokerID)
	if !ok {
		return UnregisterBrokerReply{errorf(BrokerIDNotRegistered, "broker %d is not registered", r.BrokerID)}
	}
	op.updatePartitions(inISR(r.BrokerID), r.BrokerID, noBroker)
	op.write(&kraft.UnregisterBroker{BrokerID: b.BrokerID, BrokerEpoch: b.BrokerEpoch})
	delete(op.c.sessions, r.BrokerID)
	return UnregisterBrokerReply{}
}
