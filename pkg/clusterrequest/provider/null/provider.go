// SPDX-License-Identifier: Apache-2.0

package null

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/provider"
)

// LeaseDuration is the validity of the Leases of Clusters. It is long, because nothing that ends with the provider serves them, and ten
// thousand Leases cost ten renewals a second.
const LeaseDuration = time.Hour

// Provider is a provider of clusters that do not exist.
type Provider struct {
	// Offered are the profiles. They are published as they are.
	Offered []openmcpv1alpha1.Profile
}

var _ provider.Provider = Provider{}

// Profiles returns Offered. A provider with a configuration reads it from hub here.
func (p Provider) Profiles(context.Context, client.Reader) ([]openmcpv1alpha1.Profile, error) {
	return p.Offered, nil
}

// Ensure returns that the cluster is healthy. A provider of real clusters begins a start that it has not begun, and returns the state.
func (Provider) Ensure(context.Context, *openmcpv1alpha1.Cluster) (provider.State, error) {
	return provider.State{Healthy: true, Reason: "NothingRuns", Message: "the provider starts nothing for a Cluster"}, nil
}

// TearDown has nothing to delete.
func (Provider) TearDown(context.Context, *openmcpv1alpha1.Cluster) error { return nil }

// Forget has nothing to stop.
func (Provider) Forget(context.Context, types.NamespacedName) error { return nil }
