// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// The CustomResourceDefinitions with which a Cluster or what it is described by may be lost.
const (
	clusterDefinition  = "clusters." + openmcpv1alpha1.GroupName
	providerDefinition = "clusterproviders." + openmcpv1alpha1.GroupName
)

// servedDefinition is the UID of the CustomResourceDefinition of Clusters, which is read once. It is safe for concurrent use.
type servedDefinition struct {
	mu    sync.Mutex
	uid   types.UID
	known bool
}

// read returns the UID; empty if another API server serves Clusters.
func (s *servedDefinition) read(ctx context.Context, live client.Reader) (types.UID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		return s.uid, nil
	}
	served, err := definition(ctx, live, clusterDefinition)
	if err != nil {
		return "", err
	}
	s.uid, s.known = served.UID, true
	return s.uid, nil
}

// definition reads a CustomResourceDefinition from the API server.
func definition(ctx context.Context, live client.Reader, name string) (clusterrequest.Definition, error) {
	found, err := objects.Definition(ctx, live, name)
	return clusterrequest.DefinitionOf(found), err
}

// holdForDefinition reports whether a Cluster is being deleted or gone with its CustomResourceDefinition, and then keeps what it has. The
// definition is read after the end of the Cluster was seen, so that it shows whether it was the cause.
func (r *reconciler) holdForDefinition(ctx context.Context, c *cycle) (again time.Duration, held bool, err error) {
	if c.cluster == nil && c.managed == nil && c.namespace == nil {
		return 0, false, nil
	}
	served, err := definition(ctx, r.live, clusterDefinition)
	switch {
	case err != nil:
		return 0, false, err
	case served.Terminating:
		return staleDelay, true, nil // The system is about to be off.
	case c.cluster != nil || c.managed == nil || c.managed.DeletionTimestamp != nil:
		return 0, false, nil
	}

	condition, keeps := served.Keeps(c.managed, c.NamespacedName)
	if !keeps {
		return 0, false, nil
	}
	return 0, true, r.keep(ctx, c, condition)
}

// keep says on a ManagedCluster why it stays without its Cluster.
func (r *reconciler) keep(ctx context.Context, c *cycle, condition metav1.Condition) error {
	wanted := c.managed.DeepCopy()
	condition.LastTransitionTime = metav1.NewTime(r.clock.Now())
	if !meta.SetStatusCondition(&wanted.Status.Conditions, condition) {
		return nil
	}
	if err := r.patch(ctx, c.managed, wanted, true); err != nil {
		return err
	}
	r.event(c, corev1.EventTypeWarning, clusterrequest.ReasonDefinitionReplaced, condition.Message)
	return nil
}
