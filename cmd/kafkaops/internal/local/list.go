package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Found is a cluster of this machine that is up, or whose data lies where names have
// their data.
type Found struct {
	Place Place
	// Status is nil where no process has it, or the one that has does not answer: then
	// Silent.
	Status *Status
	Silent bool
	// HasData: there is a directory of it.
	HasData bool
}

// listPatience is how long a process may take to say what it runs.
const listPatience = 2 * time.Second

// List returns the clusters that the user's processes run, and those that have data under
// their name, sorted by name. What lies in other directories is found while it is up.
func List(ctx context.Context, getenv func(string) string) ([]Found, error) {
	byName := map[string]*Found{}
	var dirs []os.DirEntry
	if state, err := StateHome(getenv); err == nil { // else there are none but in memory
		dirs, err = os.ReadDir(filepath.Join(state, "kafkaops", "clusters"))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	for _, d := range dirs {
		p, err := Find(getenv, d.Name(), "")
		if err == nil && d.IsDir() {
			byName[p.Socket] = &Found{Place: p, HasData: true}
		}
	}
	sockets, err := socketsIn(runDir(getenv))
	if err != nil {
		return nil, err
	}
	var (
		wg sync.WaitGroup
		mu sync.Mutex
	)
	for _, socket := range sockets {
		wg.Go(func() {
			asking, cancel := context.WithTimeout(ctx, listPatience)
			defer cancel()
			a, err := Ask(asking, Place{Socket: socket}, Request{Do: VerbStatus})
			mu.Lock()
			defer mu.Unlock()
			f := byName[socket]
			switch {
			case errors.Is(err, ErrNotUp), checkSocket(socket) != nil: // its process has died, or it is no socket
				return
			case f == nil && err != nil:
				f = &Found{Place: Place{Name: Unnamed, Socket: socket}}
			case f == nil:
				f = &Found{Place: placeOf(getenv, socket, a.Status), HasData: a.Status.Data != ""}
			}
			if f.Silent = err != nil; !f.Silent {
				f.Status = &a.Status
			}
			byName[socket] = f
		})
	}
	wg.Wait()
	out := make([]Found, 0, len(byName))
	for _, f := range byName {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Found) int { return strings.Compare(a.Place.Name+a.Place.Socket, b.Place.Name+b.Place.Socket) })
	return out, ctx.Err()
}

// socketsIn are the control sockets of a directory, which need not be there.
func socketsIn(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("directory of control sockets: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".sock" {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// Unnamed is the name of a cluster whose process does not say it.
const Unnamed = "?"

// placeOf is how to find again what a process runs.
func placeOf(getenv func(string) string, socket string, s Status) Place {
	if p, err := Find(getenv, s.Name, ""); err == nil && p.Socket == socket {
		return p
	}
	if s.Data != "" {
		if p, err := Find(getenv, DefaultName, s.Data); err == nil && p.Socket == socket {
			return p
		}
	}
	return Place{Name: s.Name, Data: s.Data, Socket: socket}
}
