package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// undoVersion and undoKind begin an undo file.
const (
	undoVersion = "kafkaops/v1"
	undoKind    = "Undo"
)

// undoDocument is an undo file: one JSON document.
type undoDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    struct {
		ID inspect.Opt[string] `json:"id"`
	} `json:"cluster"`
	TakenAt time.Time `json:"takenAt"`
	// Items are in the order in which they were applied.
	Items []undoItem `json:"items"`
}

// undoItem is a change that was made, or that may have been.
type undoItem struct {
	Scope   Scope  `json:"scope"`
	Setting string `json:"setting"`
	// Before is what was set there, null for nothing; After what is now.
	Before inspect.Opt[string] `json:"before"`
	After  inspect.Opt[string] `json:"after"`
	State  State               `json:"state"`
	// Undo is a command of Kafka's own tools that leads back.
	Undo string `json:"undo"`
}

// undoFile is one in the making.
type undoFile struct {
	name string
	doc  undoDocument
}

// createUndo makes the file, which must not be there: an older one may still be needed.
func createUndo(name string, p *Plan, now time.Time) (*undoFile, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, fmt.Errorf("undo file: %w", err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, os.ErrExist):
		return nil, fmt.Errorf("undo file %s is there already: name another one", name)
	case err != nil:
		return nil, fmt.Errorf("undo file: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("undo file: %w", err)
	}
	u := &undoFile{name: name, doc: undoDocument{APIVersion: undoVersion, Kind: undoKind, TakenAt: now.UTC(), Items: []undoItem{}}}
	u.doc.Cluster.ID = p.ClusterID
	if err := u.write(); err != nil {
		return nil, err
	}
	return u, nil
}

// note writes what became of the steps before it returns; "" takes them out.
func (u *undoFile) note(steps []*Step, s State) error {
	for _, step := range steps {
		i := slices.IndexFunc(u.doc.Items, func(it undoItem) bool { return it.Scope == step.Scope && it.Setting == step.Setting })
		switch {
		case s == "" && i >= 0:
			u.doc.Items = slices.Delete(u.doc.Items, i, i+1)
		case i >= 0:
			u.doc.Items[i].State = s
		case s != "":
			u.doc.Items = append(u.doc.Items, undoItem{step.Scope, step.Setting, step.From, step.To, s, step.Undo()})
		}
	}
	return u.write()
}

// write replaces the file as a whole, so that a crash leaves the one or the other.
func (u *undoFile) write() error {
	out, err := json.MarshalIndent(&u.doc, "", "  ")
	if err != nil {
		return fmt.Errorf("undo file: %w", err)
	}
	next := u.name + ".new"
	f, err := os.OpenFile(next, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("undo file: %w", err)
	}
	_, err = f.Write(append(out, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(next, u.name)
	}
	if err != nil {
		return fmt.Errorf("undo file: %w", err)
	}
	return nil
}

// Undo is what an undo file leads back from.
type Undo struct {
	Name      string
	ClusterID string
	items     []undoItem
}

// ReadUndo reads an undo file.
func ReadUndo(name string) (*Undo, error) {
	in, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var doc undoDocument
	err = json.Unmarshal(in, &doc)
	id, ok := doc.Cluster.ID.Get()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is no undo file: %w", name, err)
	case doc.Kind != undoKind:
		return nil, fmt.Errorf("%s is no undo file: its kind is %q, not %s", name, doc.Kind, undoKind)
	case doc.APIVersion != undoVersion:
		return nil, fmt.Errorf("%s is of %q, and this kafkaops reads %s", name, doc.APIVersion, undoVersion)
	case !ok || id == "":
		return nil, fmt.Errorf("%s does not say of which cluster it is", name)
	}
	return &Undo{name, id, doc.Items}, nil
}

// Expected is the cluster that it is about.
func (u *Undo) Expected() Expected { return Expected{u.ClusterID, "undo file " + u.Name} }

// Changes lead back, the last one first.
func (u *Undo) Changes() []Change {
	out := make([]Change, 0, len(u.items))
	for i := len(u.items) - 1; i >= 0; i-- {
		it := &u.items[i]
		out = append(out, Change{Scope: it.Scope, Setting: it.Setting, To: it.Before})
	}
	return out
}

// keep drops from a plan what was changed since by somebody else: to put back what was
// before would undo that too. What was not done at all is not in a plan.
func (u *Undo) keep(p *Plan) {
	p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool {
		i := slices.IndexFunc(u.items, func(it undoItem) bool { return it.Scope == s.Scope && it.Setting == s.Setting })
		if i < 0 || u.items[i].After == s.From {
			return false
		}
		p.Left = append(p.Left, fmt.Sprintf("%s: %s was set to %s and is %s now: somebody changed it since, so it is left alone. By hand: %s",
			s.Scope, s.Setting, u.items[i].After.Or("nothing"), s.From.Or("not set"), command(s.Scope, s.Setting, s.To)))
		return true
	})
}
