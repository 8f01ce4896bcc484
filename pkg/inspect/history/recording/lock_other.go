//go:build !unix && !windows

package recording

import "os"

func lock(*os.File) error { return nil }

func syncDir(string) error { return nil }
