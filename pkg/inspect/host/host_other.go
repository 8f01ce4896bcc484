//go:build !linux

package host

import (
	"errors"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Read takes a reading, at now.
func (Machine) Read(time.Time) (*Reading, error) { return nil, errors.New("not on Linux") }

// DirsOf are a broker's log directories that are on a block device, and whether it runs here.
func (Machine) DirsOf(string, *inspect.Broker) ([]Dir, bool) { return nil, false }
