package cli

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isAddressInUse reports whether somebody else listens on an address.
func isAddressInUse(err error) bool {
	return errors.Is(err, windows.WSAEADDRINUSE) || errors.Is(err, windows.WSAEACCES)
}
