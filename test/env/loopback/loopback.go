// SPDX-License-Identifier: Apache-2.0

// Package loopback finds free addresses of loopback for tests. It imports the standard library alone, so that nested modules can import it.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// The ports of FreeAddress: below those that Linux gives to connections, one of which could take the port before its process listens.
const (
	firstPort = 20000
	ports     = 10000
)

// FreeAddress returns an address of loopback on which nothing listens at this moment, for a process that cannot choose one itself, or whose address
// has to be known before it runs.
func FreeAddress(ctx context.Context) (string, error) {
	for ctx.Err() == nil {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(ports)))
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err == nil {
			err = listener.Close()
		}
		if err != nil {
			return "", fmt.Errorf("looking for a free port: %w", err)
		}
		return address, nil
	}
	return "", fmt.Errorf("looking for a free port: %w", ctx.Err())
}
