// SPDX-License-Identifier: Apache-2.0

package publish

import (
	corev1 "k8s.io/api/core/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// action is the action of all Events about published Clusters.
const action = "Publish"

// The kinds of requests in the metrics.
const (
	requestCreate    = "create"
	requestPatch     = "patch"
	requestStatus    = "status"
	requestDelete    = "delete"
	requestFinalizer = "finalizer"
)

// observe counts a request of a kind, and returns its error.
func observe(kind string, err error) error {
	count(kind, err)
	return err
}

// counted has a request of a kind be counted.
func counted(kind string) objects.Option {
	return objects.WithObserver(func(err error) { count(kind, err) })
}

func count(kind string, err error) {
	result := metrics.WriteOK
	switch {
	case err == nil:
	case queue.Outdated(err):
		result = metrics.WriteOutdated
	default:
		result = metrics.WriteError
	}
	metrics.ObserveInventoryWrite(kind, result)
}

// event sends an Event about the Cluster or, if that is gone, about the ManagedCluster.
func (r *reconciler) event(c *cycle, eventType, reason, note string) {
	reference := &corev1.ObjectReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "ManagedCluster", Name: c.name()}
	switch {
	case c.cluster != nil:
		reference = &corev1.ObjectReference{
			APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: "Cluster", Namespace: c.Namespace, Name: c.Name, UID: c.cluster.UID,
		}
	case c.managed != nil:
		reference.UID = c.managed.UID
	}
	r.recorder.Eventf(reference, nil, eventType, reason, action, "%s", note)
}
