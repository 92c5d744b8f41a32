//go:build !unix

package live

// notifyResize tells nothing where a terminal does not: the next change of the board is drawn in the new size.
func notifyResize() (resized <-chan struct{}, stop func()) { return nil, func() {} }
