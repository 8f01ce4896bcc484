package kraft

// BeginTransaction opens a metadata transaction (KIP-868): what follows takes
// effect with [EndTransaction], and never does after [AbortTransaction]. It may
// span batches; there is at most one at a time.
type BeginTransaction struct {
	Name *string // what it is for, for people; nil: not said
}

// Type returns [TypeBeginTransaction].
func (*BeginTransaction) Type() Type { return TypeBeginTransaction }

func (r *BeginTransaction) fields() []field {
	return []field{tagged(0, 0, "Name", nullText{&r.Name})}
}

// EndTransaction makes the records since [BeginTransaction] take effect.
type EndTransaction struct{}

// Type returns [TypeEndTransaction].
func (*EndTransaction) Type() Type { return TypeEndTransaction }

func (*EndTransaction) fields() []field { return nil }

// AbortTransaction drops the records since [BeginTransaction]. A new active
// controller writes it for what its predecessor left open.
type AbortTransaction struct {
	Reason *string // for people; nil: not said
}

// Type returns [TypeAbortTransaction].
func (*AbortTransaction) Type() Type { return TypeAbortTransaction }

func (r *AbortTransaction) fields() []field {
	return []field{tagged(0, 0, "Reason", nullText{&r.Reason})}
}
