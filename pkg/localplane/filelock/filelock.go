// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ErrLocked means that another holder has the lock.
var ErrLocked = errors.New("locked by another process")

// Lock is a held lock.
type Lock struct {
	file *os.File
}

// Try takes the lock at path, creates the file if needed, and writes the process id of the holder into it. If the lock is held, the error
// wraps ErrLocked and names the holder if it is known.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening lock file: %w", err)
	}
	if err := lockFile(file); err != nil {
		if errors.Is(err, ErrLocked) {
			err = fmt.Errorf("%s: %w%s", path, ErrLocked, holder(file))
		} else {
			err = fmt.Errorf("locking %s: %w", path, err)
		}
		return nil, errors.Join(err, file.Close())
	}
	lock := &Lock{file: file}
	if err := lock.sign(); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return lock, nil
}

// Valid reports whether the locked file is still the one at its path; false if the file was removed meanwhile.
func (l *Lock) Valid() bool {
	held, err := l.file.Stat()
	if err != nil {
		return false
	}
	present, err := os.Stat(l.file.Name())
	return err == nil && os.SameFile(held, present)
}

// Release releases the lock. The file stays.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("releasing lock %s: %w", l.file.Name(), err)
	}
	return nil
}

func (l *Lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("writing lock file %s: %w", l.file.Name(), err)
	}
	if _, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("writing lock file %s: %w", l.file.Name(), err)
	}
	return nil
}

// holder returns a description of the process whose id is in the file; "" if the id cannot be read.
func holder(file *os.File) string {
	content, err := io.ReadAll(io.LimitReader(file, 32))
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}
