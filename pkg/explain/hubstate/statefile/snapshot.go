// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
)

// Snapshot returns the header of the snapshot that was read; nil if there was none.
func (r *Reader) Snapshot() *snapshot.Header { return r.taken }

// headerIn returns the fields of a document that is the first one of a snapshot.
func headerIn(value any) (map[string]any, bool) {
	object, is := value.(map[string]any)
	return object, is && object["kind"] == snapshot.Kind.Kind && object["apiVersion"] == snapshot.Kind.GroupVersion().String()
}

// readHeader reads the first document of a snapshot.
func (r *Reader) readHeader(at position, object map[string]any) {
	const of = "PlacementSnapshot"
	if r.taken != nil {
		r.reportf(at, of, "", "a second snapshot: name one, as an object is the same object only on one hub at one time")
		return
	}
	header := &snapshot.Header{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, header); err != nil {
		r.reportf(at, of, "", "%v; take another snapshot", err)
		return
	}
	if err := header.Check(); err != nil {
		r.reportf(at, of, "", "%v", err)
		return
	}
	r.taken, r.takenAt = header, at
}

// reportUnread reports the kinds without which a result would be wrong and that the snapshot lacks, and notes in the State those without which a
// report is not complete.
func (r *Reader) reportUnread(state *explain.State) {
	if r.taken == nil {
		return
	}
	for _, used := range []struct {
		concern explain.Concern
		what    string
		some    bool
		missing *[]string
	}{
		{explain.OfPlacements, "Placements", len(state.Placements) > 0, nil},
		{explain.OfDelivery, "objects that are delivered", len(state.Federated.Objects) > 0, &state.Federated.Missing},
		{explain.OfPods, "workloads", len(state.Pods.Workloads) > 0, &state.Pods.Missing},
		{explain.OfRequests, "ClusterRequests", len(state.ClusterRequests.Requests) > 0, nil},
	} {
		if !used.some {
			continue
		}
		for _, unread := range r.taken.Unread {
			kind := explain.FindKind(schema.FromAPIVersionAndKind(unread.APIVersion, unread.Kind))
			if kind == nil || kind.Reads&used.concern == 0 {
				continue
			}
			if consequence := kind.IfMissing[used.concern]; consequence != "" && used.missing != nil {
				why := "are not in the snapshot"
				if unread.Absent {
					why = "are not installed on the hub of the snapshot"
				}
				*used.missing = append(*used.missing, fmt.Sprintf("%s %s; %s", kind.Several(), why, consequence))
				continue
			}
			if unread.Absent {
				continue
			}
			r.reportf(r.takenAt, "PlacementSnapshot", "unread", "%s decide about %s, and the user who took the snapshot might not read them all: "+
				"have it taken by a user with the ClusterRole open-cluster-management:placement-hub:fleet-view", kind.Several(), used.what)
		}
	}
}
