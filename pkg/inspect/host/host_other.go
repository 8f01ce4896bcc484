//go:build !linux

package host

import (
	"errors"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Read takes a reading, at now.
func (Machine) Read(time.Time) (*Reading, error) { return nil, errors.New("not on Linux") }

// DirsOf are a broker's log directories where it runs here and they are on a block device.
func (Machine) DirsOf(string, *inspect.Broker) []Dir { return nil }
