// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// checkDeadHub checks that a user with the shipped role for it learns since when no process has renewed the lease of the hub.
func checkDeadHub(t *testing.T, h *suite.Hub, viewer string) {
	t.Helper()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: "placement-lock"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("absent"), LeaseDurationSeconds: ptr.To[int32](137),
			RenewTime: &metav1.MicroTime{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		},
	}
	former := lease.DeepCopy()
	suite.Must(t, client.IgnoreNotFound(h.Client.Delete(t.Context(), former)))
	suite.Must(t, h.Client.Create(t.Context(), lease))
	p := suite.Run(t, "explain", "--kubeconfig", viewer, "team-a/standby")
	p.WantExit(t, 0)
	p.WantStderr(t, "warning: no process has renewed the lease open-cluster-management-hub/placement-lock since 2026-01-02T03:04:05Z")

	lease.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
	suite.Must(t, h.Client.Update(t.Context(), lease))
	if p := suite.Run(t, "explain", "--kubeconfig", viewer, "team-a/standby"); strings.Contains(p.Stderr.String(), "renewed the lease") {
		t.Errorf("a leader at work is warned of; %s", p)
	}
	suite.Must(t, h.Client.Delete(t.Context(), lease))
}
