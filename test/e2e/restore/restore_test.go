// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// The kinds that are restored, as the page names them.
const (
	clusters    = "clusters.cluster.openmcp.cloud"
	decisions   = "placementdecisions.cluster.open-cluster-management.io"
	deployments = "deployments.apps"
	grants      = "clusterrequestgrants.cluster.openmcp.cloud"
	placements  = "placements.cluster.open-cluster-management.io"
	requests    = "clusterrequests.cluster.openmcp.cloud"
	works       = "manifestworks.work.open-cluster-management.io"
)

var (
	allKinds = []string{placements, requests, deployments, decisions, grants, works, clusters}
	// hasStatus has the kinds whose status the tool restores by a request of its own.
	hasStatus = map[string]bool{placements: true, requests: true, decisions: true, works: true}
)

// TestOrders restores the objects of a hub in the orders of docs/backup.md, and compares what the hub makes of them with what the page says.
func TestOrders(t *testing.T) {
	w := newWorld(t)
	restorer := newTool(t, w)
	for _, kind := range allKinds {
		restorer.must(t, "save "+kind)
	}
	restorer.must(t, `sed -i 's/"time": "2[0-9]*-/"time": "2020-/' `+works+".json") // A backup is older than the restore by more than a minute.
	w.stop(t)

	owners, records := steps(placements, requests, deployments), steps(decisions, grants, works)
	decided := state{Decision: anew.Decision, Cluster: anew.Cluster, Prefix: prefix, Replicas: anew.Replicas, Recent: true}
	for _, test := range []struct {
		name  string
		steps []step
		// late starts the hub after the restore.
		late bool
		want state
		// adopted are the kinds whose restored objects the hub keeps.
		adopted []string
	}{
		{
			name: "owners first: the records are refused", want: decided,
			steps: slices.Concat(owners, changed(records, func(s *step) { s.exists = true })),
		},
		{
			name:    "records with their ownerReferences first: the garbage collector deletes them",
			steps:   slices.Concat(changed(steps(decisions, grants), func(s *step) { s.keepsOwners = true }), steps(works), owners),
			want:    state{Decision: anew.Decision, Cluster: anew.Cluster, Prefix: prefix, Replicas: original.Replicas, Recent: true},
			adopted: []string{works},
		},
		{
			name: "records without ownerReferences first: adopted", want: original, adopted: []string{decisions, grants, works},
			steps: slices.Concat(records, owners),
		},
		{
			name: "the same without status: Grants alone are what they were", adopted: []string{decisions, grants, works},
			steps: changed(slices.Concat(records, owners), func(s *step) {
				s.noStatus = true
			}),
			want: state{Decision: anew.Decision, Cluster: original.Cluster, Prefix: prefix, Replicas: anew.Replicas},
		},
		{
			name: "a hub that starts afterwards: adopted in every order", want: original, adopted: []string{decisions, grants, works},
			late: true, steps: slices.Concat(owners, records),
		},
		{
			name: "two runs of Velero, which restores Grants without status: adopted", want: original, adopted: []string{decisions, grants, works},
			steps: changed(steps(grants, works, decisions, deployments, requests, placements), func(s *step) {
				s.patch = restorer.modifiers[s.kind]
				s.noStatus = s.kind == grants
			}),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			restorer.wipe(t, allKinds...)
			if !test.late {
				w.start(t)
			}
			restorer.restore(t, step{kind: clusters})
			for i, s := range test.steps {
				if s.exists && !test.steps[i-1].exists {
					w.want(t, test.want)
				}
				restorer.restore(t, s)
			}

			restored := map[string]string{}
			for _, kind := range test.adopted {
				restored[kind] = restorer.uids(t, kind)
			}
			if test.late {
				w.start(t)
			}
			w.want(t, test.want)
			for kind, uids := range restored {
				if now := restorer.uids(t, kind); now != uids {
					t.Errorf("the %s are %s, want those that were restored: %s", kind, now, uids)
				}
			}
			w.stop(t)
		})
		if t.Failed() {
			return
		}
	}

	t.Run("works without the field manager of the hub are those of others", func(t *testing.T) {
		restorer.wipe(t, allKinds...)
		w.start(t)
		restorer.restore(t, step{kind: works, noManagers: true, noStatus: true})
		before := restorer.uids(t, works)
		restorer.restore(t, step{kind: deployments})
		suite.Eventually(t, "waiting for the Event", func() error {
			list := &eventsv1.EventList{}
			if err := w.Client.List(t.Context(), list, client.InNamespace(team)); err != nil {
				return err
			}
			notes := []string{}
			for i := range list.Items {
				if list.Items[i].Reason == federation.ReasonDeliveryConflict {
					return nil
				}
				notes = append(notes, list.Items[i].Note)
			}
			return fmt.Errorf("the Events are %s", strings.Join(notes, "; "))
		})
		if now := restorer.uids(t, works); now != before {
			t.Errorf("the works are %s, want %s", now, before)
		}
		w.stop(t)
	})
}

// steps restore kinds, each completely.
func steps(kinds ...string) []step {
	made := make([]step, len(kinds))
	for i, kind := range kinds {
		made[i].kind = kind
	}
	return made
}

// changed returns changed copies of steps.
func changed(from []step, change func(*step)) []step {
	copies := slices.Clone(from)
	for i := range copies {
		change(&copies[i])
	}
	return copies
}
