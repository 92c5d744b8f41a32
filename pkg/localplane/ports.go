// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// freePort returns a port that is free at this moment: the preferred one if possible, any other for 0.
func freePort(ctx context.Context, preferred int) (int, error) {
	if preferred != 0 {
		if port, err := tryPort(ctx, preferred); err == nil {
			return port, nil
		}
	}
	return tryPort(ctx, 0)
}

func tryPort(ctx context.Context, port int) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", address(port))
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	if bound, isTCP := listener.Addr().(*net.TCPAddr); isTCP {
		port = bound.Port
	}
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	return port, nil
}

func address(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}
