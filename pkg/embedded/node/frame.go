package node

// frame is what records of several partitions lie in, as they came. Who has some of
// them holds it; the last one gives it back. Who forgets to leaves it to the garbage
// collector. A nil one is held by nobody.
type frame struct {
	bytes []byte
	holds int
}

// newFrame returns a frame that the caller holds.
func (n *Node) newFrame(bytes []byte) *frame {
	if bytes == nil || n.opts.Buffers == nil {
		return nil
	}
	return &frame{bytes: bytes, holds: 1}
}

func (f *frame) hold() {
	if f != nil {
		f.holds++
	}
}

// letGo says that a holder uses its records no more.
func (n *Node) letGo(f *frame) {
	if f == nil {
		return
	}
	if f.holds--; f.holds == 0 {
		n.opts.Buffers.Put(f.bytes)
		f.bytes = nil
	}
}

// room is where records are read into for who fetches them.
func (n *Node) room() func(size int) []byte {
	if n.opts.Buffers == nil {
		return nil
	}
	return n.opts.Buffers.Get
}
