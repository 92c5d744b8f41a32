// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package filelock

import (
	"errors"
	"os"
)

func lockFile(*os.File) error {
	return errors.ErrUnsupported
}
