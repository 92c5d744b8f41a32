// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package live

// notifyResize returns nil where the platform has no signal: the next change of the table is drawn in the new size.
func notifyResize() (resized <-chan struct{}, stop func()) { return nil, func() {} }
