// SPDX-License-Identifier: Apache-2.0

//go:build unix

package live

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize returns a channel that receives a value when the terminal window is resized, until stop.
func notifyResize() (resized <-chan struct{}, stop func()) {
	signals, notes, done := make(chan os.Signal, 1), make(chan struct{}, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-signals:
				select {
				case notes <- struct{}{}:
				default:
				}
			}
		}
	}()
	return notes, func() {
		signal.Stop(signals)
		close(done)
	}
}
