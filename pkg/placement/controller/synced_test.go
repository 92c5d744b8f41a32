// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

var owner = inventory.NewPlacementKey(inventory.V1beta1, "ns", "p")

func newPage(name, uid, version string) *api.Page {
	return &api.Page{ObjectMeta: metav1.ObjectMeta{
		Namespace: owner.Namespace, Name: name, UID: types.UID(uid), ResourceVersion: version,
	}}
}

// newTestState returns the state of a process that serves APIs and has seen nothing.
func newTestState(apis ...api.Adapter) *state {
	return newState(sharedinventory.New(), servedAPIs{apis: apis}, testingclock.NewFakePassiveClock(time.Unix(0, 0)))
}

// Workers that start before the initial lists are complete must not answer from half a world.
func TestNothingIsEvaluatedBeforeTheInitialLists(t *testing.T) {
	r := &reconciler{reader: &reader{state: newTestState(api.Adapters()...)}}
	result, err := r.Reconcile(t.Context(), owner)
	if err != nil || result.RequeueAfter != sharedinventory.NotSyncedDelay {
		t.Errorf("got %v and %v, want to be asked again after %v", result, err, sharedinventory.NotSyncedDelay)
	}
}
