// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// Every object on a target cluster says which AccessRequest it was made for, and by whom: those of others are never taken for one's own.
func TestAccessMarks(t *testing.T) {
	request := accessRequest(openmcpv1alpha1.AccessRequestSpec{})
	request.UID = "u"
	long := request.DeepCopy()
	long.Name = strings.Repeat("a", 253)

	for _, tc := range []struct {
		name   string
		of     *openmcpv1alpha1.AccessRequest
		change func(*metav1.ObjectMeta)
		by     bool
		uid    types.UID
	}{
		{"R7: as it is made", request, func(*metav1.ObjectMeta) {}, true, "u"},
		{"R7: a name that is longer than a label", long, func(*metav1.ObjectMeta) {}, true, "u"},
		{"R7: made before there were annotations", request, func(m *metav1.ObjectMeta) { m.Annotations = nil }, true, ""},
		{"R7: made before there were annotations, with a label that was cut", long, func(m *metav1.ObjectMeta) { m.Annotations = nil }, false, ""},
		{"R7: the label names another AccessRequest", request, func(m *metav1.ObjectMeta) {
			m.Annotations = nil
			m.Labels[openmcpv1alpha1.AccessRequestNameLabel] = "other"
		}, false, ""},
		{"R7: no label of an access", request, func(m *metav1.ObjectMeta) { m.Labels = nil }, false, "u"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			meta := NewAccess("hub", "loopback", tc.of).Account.ObjectMeta
			tc.change(&meta)
			mark := AccessMarkOf(&meta)
			expectEqual(t, tc.by, mark.By("hub", "loopback"), "by the provider")
			expectEqual(t, tc.uid, mark.UID, "UID")
			expectEqual(t, false, mark.By("hub2", "loopback") || mark.By("hub", "other"), "by another hub or provider")
			if tc.by {
				expectEqual(t, keyOf(tc.of), mark.Request, "AccessRequest")
			}
		})
	}
}

func TestWhatIsLeftOfAnAccess(t *testing.T) {
	const own, former, unknown = types.UID("own"), types.UID("former"), types.UID("")
	undecided := func(s *accessScene) { s.access.Status = openmcpv1alpha1.AccessRequestStatus{} }
	refused := func(s *accessScene) {
		s.condition(metav1.ConditionFalse, "AccessNotAllowed")
		s.access.Status.ClusterRef = nil
	}
	for _, tc := range []struct {
		name   string
		uid    types.UID
		change func(*accessScene)
		want   bool
	}{
		{"R7: the AccessRequest is gone", own, func(s *accessScene) { s.access = nil }, true},
		{"R7: it has the access", own, func(*accessScene) {}, false},
		{"R7: it has the access, and made it before there were UIDs", unknown, func(*accessScene) {}, false},
		{"R7: it ends, and the provider removes everything", own, func(s *accessScene) {
			s.condition(metav1.ConditionFalse, "InvalidReference")
		}, false},
		{"R7: it has access to another Cluster", own, func(s *accessScene) { s.access.Status.ClusterRef.Name = "other" }, true},
		{"R7: it has access to another Cluster, and nobody wrote Clusters", unknown, func(s *accessScene) {
			s.access.Status.ClusterRef.Name = "other"
		}, false},
		{"cluster-request C42: its status is lost", own, undecided, false},
		{"R7: it is refused", own, refused, true},
		{"R7: it is refused, and nobody wrote UIDs", unknown, refused, true},
		{"R7: another one of the name has the access, and takes the objects over", former, func(*accessScene) {}, false},
		{"R7: another one of the name has a label that holds its access", former, func(s *accessScene) {
			s.condition(metav1.ConditionUnknown, "LabelConflict")
		}, true},
		{"R7: another one of the name is not decided on", former, undecided, true},
		{"R7: it is not decided on, and nobody wrote UIDs", unknown, undecided, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newAccessScene()
			s.access.UID = own
			tc.change(s)
			mark := AccessMark{UID: tc.uid}
			if tc.uid != unknown {
				mark.Cluster = "team-a/c"
			}
			expectEqual(t, tc.want, mark.Left(s.access, types.NamespacedName{Namespace: "team-a", Name: "c"}), "left")
			if mark.Cluster != "" {
				expectEqual(t, false, mark.Left(s.access, types.NamespacedName{Namespace: "team-a", Name: "d"}), "left for another Cluster")
			}
		})
	}
}
