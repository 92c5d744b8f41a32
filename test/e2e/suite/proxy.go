// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"testing"

	"github.com/placement-hub/placement-hub/test/env/faults"
)

// AwaitRequests waits until a proxy has seen so many.
func AwaitRequests(t *testing.T, proxy *faults.Proxy, match faults.Match, count int) {
	t.Helper()
	Eventually(t, "waiting for requests", func() error {
		if seen := len(proxy.Requests(match)); seen < count {
			return fmt.Errorf("there are %d of %d", seen, count)
		}
		return nil
	})
}

// ThroughProxy has the replicas of the hub talk to it through a proxy.
func ThroughProxy(t *testing.T, h *Hub) *faults.Proxy {
	t.Helper()
	account, err := h.Account(t)
	Must(t, err)
	proxy, err := faults.Start(account)
	Must(t, err)
	t.Cleanup(func() {
		if err := proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	h.Kubeconfig = WriteKubeconfig(t, proxy.Config())
	return proxy
}
