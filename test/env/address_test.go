// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"net"
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
		if port := listener.Addr().(*net.TCPAddr).Port; port < firstPort || port >= firstPort+ports { //nolint:forcetypeassert // It is TCP.
			t.Errorf("port %d is none of those below the ports of connections", port)
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
