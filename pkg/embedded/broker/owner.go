package broker

import (
	"context"
	"log/slog"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// run is the owner: the one goroutine that touches the node. It takes what came in,
// steps, carries the effects out in order, and waits for more or for the node's
// deadline.
func (s *Server) run() {
	defer close(s.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var spare []event
	for {
		events, controls, paused := s.take(spare)
		for _, f := range controls {
			if f(); s.isEnded() {
				return
			}
		}
		if !paused {
			for i := range events {
				s.happen(&events[i])
				if s.isEnded() {
					return
				}
			}
			if s.tick(); s.isEnded() {
				return
			}
		}
		clear(events)
		spare = events[:0]
		if len(events) > 0 || len(controls) > 0 {
			continue // what it led to may be there already
		}
		wait := time.Hour
		if d := s.node.NextDeadline(); !paused && d != machine.Never {
			wait = s.opts.Clock.until(d)
		}
		timer.Reset(wait)
		select {
		case <-s.wake:
		case <-timer.C:
		}
	}
}

// take empties the inbox into spare's room. Of a paused node it stays as it is.
func (s *Server) take(spare []event) (events []event, controls []func(), paused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	controls, s.controls = s.controls, nil
	if s.paused {
		return spare, controls, true
	}
	events, s.inbox = s.inbox, spare
	return events, controls, false
}

func (s *Server) isEnded() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

func (s *Server) happen(e *event) {
	switch {
	case e.do != nil:
		e.do()
	case e.conn != nil:
		req := e.in.(machine.Request)
		s.token++
		req.Token = s.token
		s.asked[req.Token] = e.conn
		s.step(req)
	default:
		s.step(e.in)
	}
	s.settle()
}

// tick steps what is due.
func (s *Server) tick() {
	now := s.opts.Clock.Now()
	if s.node.NextDeadline() <= now.Mono {
		s.step(machine.Tick{})
		s.settle()
	}
}

// settle steps what steps have led to.
func (s *Server) settle() {
	for i := 0; i < len(s.ready) && !s.isEnded(); i++ {
		s.step(s.ready[i])
	}
	clear(s.ready)
	s.ready = s.ready[:0]
}

func (s *Server) step(in machine.Input) {
	s.effects = s.node.Step(s.opts.Clock.Now(), in, s.effects[:0])
	s.carryOut()
	s.openOnceReady()
}

// openOnceReady lets connections in once the node takes requests: BrokerServer.startup
// enables request processing only when the broker has caught up with the metadata, for
// what it knows before is of another time, or nothing.
func (s *Server) openOnceReady() {
	if !s.open.Load() && s.node.Ready() {
		s.open.Store(true)
	}
}

func (s *Server) carryOut() {
	for _, e := range s.effects {
		switch e := e.(type) {
		case machine.Reply:
			c := s.asked[e.Token]
			delete(s.asked, e.Token)
			c.reply <- e
		case machine.Send:
			s.send(e)
		case machine.Run:
			s.disk.order(e)
		case machine.Note:
			level := slog.LevelInfo
			if e.Warn {
				level = slog.LevelWarn
			}
			s.opts.Log.Log(context.Background(), level, e.Text)
		case machine.Stop:
			s.end(e.Err)
			return
		}
		if s.isEnded() {
			return // the disk failed
		}
	}
	clear(s.effects)
}

// end ends the node: nothing is answered from here on.
func (s *Server) end(err error) {
	if err != nil {
		s.opts.Log.Error("the node has failed", "error", err)
	}
	s.mu.Lock()
	s.ended, s.err = true, err
	close(s.gone)
	s.cancel()
	_ = s.opts.Listener.Close()
	for c := range s.conns {
		_ = c.nc.Close()
	}
	for nc := range s.dialed {
		_ = nc.Close()
	}
	s.inbox, s.controls = nil, nil
	s.mu.Unlock()
	s.disk.stop()
	// A sync that is under way works on the node's files.
	s.wg.Wait()
	s.node.Abandon()
}
