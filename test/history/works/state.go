// SPDX-License-Identifier: Apache-2.0

package works

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// Key identifies the delivery of one object to one cluster.
type Key struct {
	// Object is the full identity of the object, such as "Deployment.apps/team-a/web".
	Object string
	// Cluster is the name of the ManagedCluster.
	Cluster string
}

// String returns "Deployment.apps/team-a/web in c1".
func (k Key) String() string { return k.Object + " in " + k.Cluster }

// Work is a ManifestWork of a federated object at a moment.
type Work struct {
	Key

	Name            string
	UID             types.UID
	ResourceVersion string
	// Deleting reports whether the work has a deletion timestamp: the agent removes the copy.
	Deleting bool
}

// newWork returns the Work of the metadata of a ManifestWork.
func newWork(metadata *metav1.PartialObjectMetadata) Work {
	return Work{
		Key:  Key{Object: metadata.Annotations[federation.ObjectAnnotation], Cluster: metadata.Namespace},
		Name: metadata.Name, UID: metadata.UID, ResourceVersion: metadata.ResourceVersion, Deleting: metadata.DeletionTimestamp != nil,
	}
}

// State is all works at a moment by UID.
type State map[types.UID]Work

// apply changes the state by an event.
func (s State) apply(event Event) {
	if event.Type == watch.Deleted {
		delete(s, event.Work.UID)
	} else {
		s[event.Work.UID] = event.Work
	}
}

// Keys returns the deliveries whose works exist and are not being deleted.
func (s State) Keys() map[Key]bool {
	keys := map[Key]bool{}
	for _, work := range s {
		if !work.Deleting {
			keys[work.Key] = true
		}
	}
	return keys
}

// Event is one event of the watch.
type Event struct {
	Type watch.EventType
	// Work is the work after the event, or its last state if it was deleted.
	Work Work
}
