// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// manyWorkers is greater than the number of requests that hang at a time in any spec.
const manyWorkers = 64

// ManyWorkers is a setting for StartHub with so many workers that requests that hang do not keep other placements from being evaluated.
func ManyWorkers(o *system.Options) { o.Workers = manyWorkers }

// ThroughProxy replaces the hub by one with these settings that talks to the API server through the returned proxy, until the spec or
// container ends.
func ThroughProxy(ctx context.Context, settings ...func(*system.Options)) *faults.Proxy {
	GinkgoHelper()
	StopHub()
	proxy, err := faults.Start(HubConfig(ctx, ControlPlane))
	Expect(err).NotTo(HaveOccurred())
	StopHub = StartHub(proxy.Config(), settings...) //nolint:contextcheck // It runs until StopHub.
	DeferCleanup(func(ctx SpecContext) {            //nolint:contextcheck // The same.
		StopHub()
		Expect(proxy.Close()).To(Succeed())
		StopHub = StartHub(HubConfig(ctx, ControlPlane))
	})
	return proxy
}

// Behind returns a function that starts a hub with these settings behind a proxy.
func Behind(proxy *faults.Proxy, settings ...func(*system.Options)) (start func()) {
	return func() {
		GinkgoHelper()
		StopHub = StartHub(proxy.Config(), settings...)
	}
}
