// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// Log redirects the log of the process to a file, or discards it. With -v=1 and above the log goes to stderr as usual.
type Log struct {
	file *os.File
}

// OpenLog redirects the log of the process to the file, or discards it when path is empty.
func OpenLog(path string) (*Log, error) {
	if verbose() {
		return &Log{}, nil
	}
	log, out := &Log{}, io.Discard
	if path != "" {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, fmt.Errorf("making the log of the controllers: %w", err)
		}
		log.file, out = file, file
	}
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(out))))
	return log, nil
}

// Close restores the log of the process to stderr.
func (l *Log) Close() error {
	if verbose() {
		return nil
	}
	klog.ClearLogger()
	if l.file == nil {
		return nil
	}
	if err := l.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("closing the log of the controllers: %w", err)
	}
	return nil
}

// verbose reports whether the user asked for the log.
func verbose() bool { return klog.V(1).Enabled() }
