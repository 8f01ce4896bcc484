package source

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// WrongClusterError says that an address led to another cluster than the one that
// [ExpectCluster] names, or to one that does not say which it is.
type WrongClusterError struct {
	Address  string
	Expected string
	// Got is unknown where the cluster does not tell its id.
	Got inspect.Opt[string]
	// Hint, where it is not empty, says what to try.
	Hint string
}

// Error names both.
func (e *WrongClusterError) Error() string {
	got, ok := e.Got.Get()
	if !ok {
		return fmt.Sprintf("the cluster at %s does not tell its id, and %s is expected", e.Address, e.Expected)
	}
	return fmt.Sprintf("the cluster at %s is %s, and %s is expected", e.Address, got, e.Expected)
}

// checkCluster compares the cluster's id, which addr has told, with the expected
// one.
func (p *pass) checkCluster(addr string) error {
	want := p.src.expected
	if want == "" || p.snap.ClusterID == inspect.Known(want) {
		return nil
	}
	return &WrongClusterError{Address: addr, Expected: want, Got: p.snap.ClusterID}
}
