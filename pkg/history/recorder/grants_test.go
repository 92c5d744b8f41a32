// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/history"
)

// HI16: a Grant is a row of its ClusterRequest, whose creation and deletion are the causes. What a Grant says of an initial list, and after an event
// that names the same Cluster, is none.
func TestHI16Grants(t *testing.T) {
	h := newHub(t, true)
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "ci", UID: "uid-of-ci", ResourceVersion: "1", Generation: 1,
	}}
	grantOf := func(name, version string) *openmcpv1alpha1.ClusterRequestGrant {
		return &openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name, UID: types.UID("grant-" + name), ResourceVersion: version, CreationTimestamp: metav1.Now(),
			OwnerReferences: []metav1.OwnerReference{{Kind: "ClusterRequest", Name: name, UID: types.UID("uid-of-" + name)}},
		}}
	}
	h.SetGrant(grantOf("old", "1"), "platform/shared", true)
	h.Observe(nil, request, false)
	h.SetGrant(grantOf("ci", "5"), "platform/shared", false)
	row := h.await(t, 1)[0]
	if row.Kind != "ClusterRequest" || row.Name != "ci" || row.UID != "uid-of-ci" || len(row.Gained) != 1 || row.Gained[0] != "platform/shared" {
		t.Errorf("the row of a Grant: %+v", row)
	}
	if len(row.Causes) != 1 || row.Causes[0].Kind != "ClusterRequest" || row.Causes[0].Action != history.Created {
		t.Errorf("its causes: %+v", row.Causes)
	}

	h.SetGrant(grantOf("ci", "6"), "platform/shared", false)
	h.Observe(request, nil, false)
	h.DeleteGrant(grantOf("ci", "7"))
	row = h.await(t, 2)[1]
	if len(row.Lost) != 1 || row.Lost[0] != "platform/shared" || len(row.Causes) != 1 || row.Causes[0].Action != history.Deleted {
		t.Errorf("the row of a lost Grant: %+v", row)
	}

	h.ForgetGrants()
	h.SetGrant(grantOf("old", "1"), "platform/shared", true)
	h.ForgetWorks() // Which are none.
	h.DeleteGrant(grantOf("old", "9"))
	h.await(t, 3)
}

// await waits for a number of rows.
func (h *hub) await(t *testing.T, rows int) []*history.Move {
	t.Helper()
	for range 600 {
		if found, _ := h.Find(history.Query{}); len(found) >= rows {
			return found
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("there are no %d rows", rows)
	return nil
}
