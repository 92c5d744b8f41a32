// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"context"
	"net"
	"strconv"
	"testing"
)

// Something else can listen there: again and again, because each call chooses among all ports.
func TestNothingListensOnAFreeAddress(t *testing.T) {
	for range 20 {
		address, err := FreeAddress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := listener.Close(); err != nil {
				t.Error(err)
			}
		})
		_, text, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		if port, err := strconv.Atoi(text); err != nil || port < firstPort || port >= firstPort+ports {
			t.Errorf("port %s is none of those below the ports of connections, error %v", text, err)
		}
	}
}

func TestFreeAddressEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if address, err := FreeAddress(ctx); err == nil {
		t.Errorf("got %s", address)
	}
}
