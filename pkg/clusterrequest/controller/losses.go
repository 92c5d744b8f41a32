// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// proofValidity is how long a look at the API server counts for writes that take something away.
const proofValidity = 5 * time.Second

// requestDefinition is the name of the CustomResourceDefinition of ClusterRequests.
const requestDefinition = "clusterrequests." + openmcpv1alpha1.GroupName

// proof says that a request may lose something, as long as it stays what it was when that was decided (docs/spec/differences.md B13).
type proof struct {
	cached, live client.Reader
	clock        clock.PassiveClock
	decidedBy    *openmcpv1alpha1.ClusterRequest
	// provedAt is when the API server was asked; zero for never.
	provedAt time.Time
}

// prove returns a proof of what is decided by a state of a request.
func (r *reconciler) prove(request *openmcpv1alpha1.ClusterRequest) *proof {
	return &proof{cached: r.cached, live: r.live, clock: r.clock, decidedBy: request}
}

// proceed is called before each write that takes something away. Its error ends what was decided: the request is not what it was, or is being
// deleted with its CustomResourceDefinition. It asks the API server the first time and after proofValidity, and the cache otherwise.
func (p *proof) proceed(ctx context.Context) error {
	key := client.ObjectKeyFromObject(p.decidedBy)
	if p.clock.Since(p.provedAt) <= proofValidity {
		latest := &openmcpv1alpha1.ClusterRequest{}
		err := p.cached.Get(ctx, key, latest)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading ClusterRequest %s: %w", key, err)
		}
		return p.compare(latest, err == nil)
	}

	latest, found, err := objects.LiveMetadata(ctx, p.live, p.decidedBy, key)
	if err != nil {
		return fmt.Errorf("reading ClusterRequest %s: %w", key, err)
	}
	served, err := definition(ctx, p.live)
	switch {
	case err != nil:
		return err
	case served.Terminating:
		return fmt.Errorf("ClusterRequest %s keeps its Cluster, because CustomResourceDefinition %s is being deleted: %w",
			key, requestDefinition, queue.ErrOutdated)
	}

	p.provedAt = p.clock.Now()
	return p.compare(latest, found)
}

// compare returns an error if the request is not what it was.
func (p *proof) compare(latest metav1.Object, found bool) error {
	of := p.decidedBy
	if found && latest.GetUID() == of.UID && latest.GetGeneration() == of.Generation &&
		latest.GetDeletionTimestamp().IsZero() == of.DeletionTimestamp.IsZero() &&
		latest.GetAnnotations()[openmcpv1alpha1.OperationAnnotation] == of.Annotations[openmcpv1alpha1.OperationAnnotation] {
		return nil
	}
	return fmt.Errorf("ClusterRequest %s has changed: %w", client.ObjectKeyFromObject(of), queue.ErrOutdated)
}

// definition reads the CustomResourceDefinition of ClusterRequests.
func definition(ctx context.Context, live client.Reader) (clusterrequest.Definition, error) {
	found, err := objects.Definition(ctx, live, requestDefinition)
	return clusterrequest.DefinitionOf(found), err
}
