package admin

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Guard says which cluster may be changed. The zero value lets all be.
type Guard struct {
	// ReadOnly is who says that nothing may be changed, such as a context by its name and
	// place; "" for nobody.
	ReadOnly string
	// Expect are the clusters that it has to be: more than one where several say so, and
	// then they have to agree.
	Expect []Expected
}

// Expected is a cluster by its id, and who says so.
type Expected struct{ ClusterID, By string }

// GuardedError says that a cluster may not be changed.
type GuardedError struct{ why string }

func (e *GuardedError) Error() string { return e.why }

// Check fails with a *[GuardedError] where nothing may be changed. Ask it before anything else.
func (g *Guard) Check() error {
	if g.ReadOnly == "" {
		return nil
	}
	return &GuardedError{g.ReadOnly + " is readonly: nothing may change its cluster"}
}

// CheckCluster fails with a *[GuardedError] where that is another cluster.
func (g *Guard) CheckCluster(id inspect.Opt[string]) error {
	for _, e := range g.Expect {
		switch got, ok := id.Get(); {
		case !ok:
			return &GuardedError{fmt.Sprintf("the cluster does not tell its id, and %s is about cluster %s: nothing was changed", e.By, e.ClusterID)}
		case got != e.ClusterID:
			return &GuardedError{fmt.Sprintf("this is cluster %s, and %s is about cluster %s: nothing was changed", got, e.By, e.ClusterID)}
		}
	}
	return nil
}
