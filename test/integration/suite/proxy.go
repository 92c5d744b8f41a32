package suite

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// manyWorkers leave some for the others when requests hang.
const manyWorkers = 64

// ManyWorkers are manyWorkers.
func ManyWorkers(o *controller.Options) { o.Workers = manyWorkers }

// ThroughProxy has the hub of this suite, with these settings, talk through a proxy until the end of the container.
func ThroughProxy(ctx context.Context, settings ...func(*controller.Options)) *faults.Proxy {
	GinkgoHelper()
	StopHub()

	proxy, err := faults.Start(HubConfig(ctx, ControlPlane))
	Expect(err).NotTo(HaveOccurred())

	StopHub = StartHub(proxy.Config(), settings...) //nolint:contextcheck // It runs until stopHub.

	DeferCleanup(func(ctx SpecContext) { //nolint:contextcheck // The same.
		StopHub()
		Expect(proxy.Close()).To(Succeed())

		StopHub = StartHub(HubConfig(ctx, ControlPlane))
	})

	return proxy
}

// Reads are the requests by which informers learn of a kind.
func Reads(resource string) faults.Match {
	return faults.Match{Verbs: []string{"list", "watch"}, Resources: []string{resource}}
}
