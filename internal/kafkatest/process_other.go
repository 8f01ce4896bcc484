//go:build !unix

package kafkatest

import (
	"errors"
	"os"
	"syscall"
)

// canSignal is false: Need skips every test, and the rest is there to compile.
const canSignal = false

var errNoSignals = errors.New("kafkatest: not on this system")

func pause(*os.Process) error         { return errNoSignals }
func resume(*os.Process) error        { return errNoSignals }
func terminate(*os.Process) error     { return errNoSignals }
func childAttr() *syscall.SysProcAttr { return nil }
func tryLock(*os.File) (bool, error)  { return false, errNoSignals }
