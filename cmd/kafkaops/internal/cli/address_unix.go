//go:build unix

package cli

import (
	"errors"
	"syscall"
)

// isAddressInUse reports whether somebody else listens on an address.
func isAddressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
