// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// accessScene is an AccessRequest by requestRef that is granted, and what it refers to.
type accessScene struct {
	access *openmcpv1alpha1.AccessRequest
	to     AccessReferents
}

func newAccessScene() *accessScene {
	s := &accessScene{access: accessRequest(openmcpv1alpha1.AccessRequestSpec{RequestRef: &openmcpv1alpha1.ObjectReference{Name: "r"}})}
	s.access.Generation = 1
	s.access.Finalizers = []string{openmcpv1alpha1.AccessFinalizer}
	s.access.Spec.Requester = &openmcpv1alpha1.Requester{Username: "alice"}
	s.access.Status.ClusterRef = &openmcpv1alpha1.NamespacedName{Namespace: "team-a", Name: "c"}
	s.condition(metav1.ConditionTrue, openmcpv1alpha1.ReasonResolved)

	name := metav1.ObjectMeta{Namespace: "team-a", Name: "r", UID: "u"}
	s.to.Request = &openmcpv1alpha1.ClusterRequest{ObjectMeta: name}
	s.to.Grant = &openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: name}
	s.to.Grant.Spec.ClusterRef = *s.access.Status.ClusterRef
	s.owner("u")
	s.to.Cluster = &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "c"}}
	s.to.Cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}
	s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyExclusive
	return s
}

func (s *accessScene) condition(status metav1.ConditionStatus, reason string) {
	s.access.Status.Conditions = nil
	meta.SetStatusCondition(&s.access.Status.Conditions, metav1.Condition{
		Type: openmcpv1alpha1.ConditionResolved, Status: status, Reason: reason, ObservedGeneration: s.access.Generation,
	})
}

// owner makes a request the owner of the Grant.
func (s *accessScene) owner(uid types.UID) {
	s.to.Grant.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: "ClusterRequest", Name: "r", UID: uid, Controller: ptr.To(true),
	}}
}

func (s *accessScene) new() {
	s.access.Status, s.access.Finalizers = openmcpv1alpha1.AccessRequestStatus{}, nil
}

func TestResolveAccess(t *testing.T) {
	const (
		yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
		as               = metav1.ConditionStatus("") // as it is
	)
	for _, tc := range []struct {
		name   string
		change func(*accessScene)
		want   metav1.ConditionStatus
		reason string
		review bool
	}{
		{"cluster-request C29: an exclusive Cluster", func(s *accessScene) { s.new() }, yes, "Resolved", true},
		{"cluster-request C31: an unknown request", func(s *accessScene) { s.new(); s.to = AccessReferents{} }, no, "InvalidReference", false},
		{"cluster-request C31: a request without a Grant", func(s *accessScene) { s.new(); s.to.Grant = nil }, no, "InvalidReference", false},
		{"cluster-request C31: the Grant of a former request", func(s *accessScene) { s.new(); s.owner("former") }, no, "InvalidReference", false},
		{"cluster-request C31: an unknown Cluster", func(s *accessScene) { s.new(); s.to.Cluster = nil }, unknown, "InvalidReference", false},
		{"cluster-request C42: the request is gone", func(s *accessScene) { s.to = AccessReferents{} }, no, "InvalidReference", false},
		{"cluster-request C42: the request is being deleted after the grant", func(s *accessScene) {
			s.to.Request.DeletionTimestamp = &now
		}, no, "InvalidReference", false},
		{"cluster-request 4.1.6: the request has another Cluster now", func(s *accessScene) {
			s.to.Grant.Spec.ClusterRef.Name = "another"
		}, no, "InvalidReference", false},
		{"cluster-request C21: a Grant that is lost takes no access away", func(s *accessScene) { s.to.Grant = nil }, as, "InvalidReference", false},
		{"cluster-request C24: a lost Cluster takes no access away", func(s *accessScene) { s.to.Cluster = nil }, as, "InvalidReference", false},
		{"cluster-request C43: a label of a user", func(s *accessScene) {
			s.access.Labels = map[string]string{openmcpv1alpha1.ProfileLabel: "gcp"}
		}, unknown, "LabelConflict", false},
		{"cluster-request C40: a shared Cluster", func(s *accessScene) {
			s.new()
			s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
		}, yes, "AccessAllowed", true},
		{"R8: a granted access is asked for again in time", func(s *accessScene) {
			s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
			s.condition(yes, openmcpv1alpha1.ReasonAccessAllowed)
		}, yes, "AccessAllowed", false},
		{"cluster-request 4.1.6: it is when the spec changes", func(s *accessScene) {
			s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
			s.condition(yes, openmcpv1alpha1.ReasonAccessAllowed)
			s.access.Generation++
		}, yes, "AccessAllowed", true},
		{"cluster-request 4.1.6: and when a shared Cluster has the name of an exclusive one", func(s *accessScene) {
			s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
		}, yes, "AccessAllowed", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newAccessScene()
			tc.change(s)
			got := ResolveAccess(s.access, s.to)
			if tc.want == metav1.ConditionTrue && !strings.Contains(got.ConditionMessage(), "' gives access to Cluster '") {
				t.Errorf("the message of the condition is %q, want one that stays true when the access is given", got.ConditionMessage())
			}

			if got.Resolved != tc.want || got.Reason != tc.reason || got.Review != tc.review {
				t.Errorf("%q %s review %v (%s), want %q %s review %v",
					got.Resolved, got.Reason, got.Review, got.Message, tc.want, tc.reason, tc.review)
			}
			if got.Message == "" || got.Status != openmcpv1alpha1.RequestPending {
				t.Errorf("%s: %q", got.Status, got.Message)
			}
		})
	}
	t.Run("cluster-request C40: the review says no", func(t *testing.T) {
		s := newAccessScene()
		s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
		resolution := ResolveAccess(s.access, s.to)
		got := resolution.Refused(s.access, resolution.Rights[0])
		want := "Cluster 'team-a/c' is shared, and user 'alice' has no permission to create clusters/access of 'team-a/c': ask for it, and then " +
			"change the spec or create another AccessRequest"
		denied := got.Status == openmcpv1alpha1.RequestDenied && got.Reason == "AccessNotAllowed"
		if got.Resolved != metav1.ConditionFalse || !denied || got.Message != want {
			t.Errorf("%+v", got)
		}

		s.new()
		s.condition(metav1.ConditionFalse, "AccessNotAllowed")
		s.access.Labels = map[string]string{openmcpv1alpha1.ProfileLabel: "gcp"}
		got = ResolveAccess(s.access, s.to)
		if got.Resolved != metav1.ConditionFalse || got.Status != openmcpv1alpha1.RequestDenied || got.Review {
			t.Errorf("T20: a refusal is final: %+v", got)
		}
		s.to.Cluster.Spec.Tenancy, s.access.Spec.Requester = openmcpv1alpha1.TenancyExclusive, nil
		s.access.Labels = nil
		if got = ResolveAccess(s.access, s.to); got.Resolved != metav1.ConditionTrue {
			t.Errorf("a Cluster that needs no right: %+v", got)
		}
	})
}

// docs/spec/trust.md T20: a refusal is final for its generation, whatever happens meanwhile to what the AccessRequest refers to.
func TestT20RefusalsOutliveTheirReferents(t *testing.T) {
	refused := func(change func(*accessScene)) AccessResolution {
		s := newAccessScene()
		s.new()
		s.condition(metav1.ConditionFalse, openmcpv1alpha1.ReasonAccessNotAllowed)
		s.access.Status.Conditions[0].Message = "ask for it"
		change(s)
		return ResolveAccess(s.access, s.to)
	}
	for reason, change := range map[string]func(*accessScene){
		"the request is gone":             func(s *accessScene) { s.to = AccessReferents{} },
		"the request is being deleted":    func(s *accessScene) { s.to.Request.DeletionTimestamp = &now },
		"the request is not granted":      func(s *accessScene) { s.to.Grant = nil },
		"the Cluster is gone":             func(s *accessScene) { s.to.Cluster = nil },
		"the provider gives no access":    func(s *accessScene) { s.to.NoAccess = true },
		"all of them are there once more": func(*accessScene) {},
	} {
		got := refused(change)
		if got.Resolved != metav1.ConditionFalse || got.Status != openmcpv1alpha1.RequestDenied ||
			got.Reason != openmcpv1alpha1.ReasonAccessNotAllowed || got.ConditionMessage() != "ask for it" || got.Review {
			t.Errorf("%s: %+v, want that it stays refused", reason, got)
		}
	}
	got := refused(func(s *accessScene) { s.access.Generation++; s.to = AccessReferents{} })
	if got.Reason != openmcpv1alpha1.ReasonInvalidReference {
		t.Errorf("the next generation: %+v", got)
	}
}

func TestAccessRights(t *testing.T) {
	elsewhere := &openmcpv1alpha1.ObjectReference{Namespace: "team-b", Name: "x"}
	for _, tc := range []struct {
		name   string
		change func(*accessScene)
		want   []string
	}{
		{"R8: an exclusive Cluster of the namespace", func(*accessScene) {}, []string{"create accessrequests in namespace 'team-a'"}},
		{"R8: of another namespace", func(s *accessScene) {
			s.access.Spec.RequestRef, s.access.Spec.ClusterRef = nil, elsewhere
		}, []string{"create clusters/access of 'team-b/x'"}},
		{"R8: by a ClusterRequest of another namespace", func(s *accessScene) {
			s.access.Spec.RequestRef = elsewhere
		}, []string{"create clusterrequests/access of 'team-b/x'"}},
		{"R8: a shared Cluster of another namespace", func(s *accessScene) {
			s.access.Spec.RequestRef, s.access.Spec.ClusterRef = nil, elsewhere
			s.to.Cluster.Namespace, s.to.Cluster.Name, s.to.Cluster.Spec.Tenancy = "team-b", "x", openmcpv1alpha1.TenancyShared
		}, []string{"create clusters/access of 'team-b/x'"}},
		{"R8: a shared Cluster by a ClusterRequest of another namespace", func(s *accessScene) {
			s.access.Spec.RequestRef = elsewhere
			s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
		}, []string{"create clusterrequests/access of 'team-b/x'", "create clusters/access of 'team-a/c'"}},
		{"law 6: nobody knows who asked", func(s *accessScene) { s.access.Spec.Requester = nil }, nil},
		{"cluster-request C40: nobody knows who asked for a shared Cluster", func(s *accessScene) {
			s.access.Spec.Requester, s.to.Cluster.Spec.Tenancy = nil, openmcpv1alpha1.TenancyShared
		}, []string{"create clusters/access of 'team-a/c'"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newAccessScene()
			tc.change(s)
			var got []string
			for _, right := range AccessRights(s.access, s.to.Cluster) {
				got = append(got, right.String())
				expectEqual(t, len(right.Verbs), len(right.Attributes()), "questions")
				expectEqual(t, right.Object.Name, right.Attributes()[0].Name, "name of the object")
			}
			expectEqual(t, tc.want, got, "rights")
		})
	}
}

func TestProviderWithoutAccess(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   func(*accessScene)
		want     string
		released bool
	}{
		{"cluster-request C45: a new AccessRequest", func(s *accessScene) { s.new() }, "Denied NoAccess False", false},
		{"cluster-request C45: one that was resolved before", func(s *accessScene) { s.access.Finalizers = nil }, "Denied NoAccess False", false},
		{"T4: one with the finalizer of a provider", func(*accessScene) {}, "Denied NoAccess False", true},
		{"cluster-request 4.1.6: access that was given stays", func(s *accessScene) {
			s.access.Status.SecretRef = &openmcpv1alpha1.ObjectName{Name: "s"}
		}, "Pending Resolved True", false},
		{"cluster-request C45: a shared Cluster needs no review", func(s *accessScene) {
			s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
		}, "Denied NoAccess False", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newAccessScene()
			s.to.NoAccess = true
			tc.change(s)
			got := ResolveAccess(s.access, s.to)
			expectEqual(t, tc.want, string(got.Status)+" "+got.Reason+" "+string(got.Resolved), "resolution")
			expectEqual(t, false, got.Review, "review")
			expectEqual(t, tc.released, HubReleasesAccess(s.access, s.to), "the hub removes the finalizer")
		})
	}
}

func TestAccessDuty(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*accessScene)
		want   AccessDuty
	}{
		{"cluster-request 4.1.6: resolved", func(*accessScene) {}, AccessGrant},
		{"cluster-request C37: of another provider", func(s *accessScene) { s.to.Cluster.Spec.ClusterProviderRef.Name = "other" }, AccessWait},
		{"cluster-request 4.1.6: resolved for a former generation", func(s *accessScene) { s.access.Generation++ }, AccessWait},
		{"cluster-request C42: the status is lost", func(s *accessScene) { s.access.Status = openmcpv1alpha1.AccessRequestStatus{} }, AccessWait},
		{"cluster-request C42: the condition is lost", func(s *accessScene) { s.access.Status.Conditions = nil }, AccessWait},
		{"cluster-request C43: a conflict", func(s *accessScene) { s.condition(metav1.ConditionUnknown, "LabelConflict") }, AccessWait},
		{"cluster-request 4.1.6: not resolved", func(s *accessScene) { s.condition(metav1.ConditionFalse, "InvalidReference") }, AccessWithdraw},
		{"cluster-request 4.1.6: not resolved, and nothing made", func(s *accessScene) {
			s.condition(metav1.ConditionFalse, "InvalidReference")
			s.access.Finalizers = nil
		}, AccessWait},
		{"cluster-request 4.1.6: being deleted, whatever the condition", func(s *accessScene) {
			s.access.DeletionTimestamp = &metav1.Time{Time: now.Add(time.Second)}
		}, AccessWithdraw},
		{"cluster-request C36: being deleted, and the Cluster is gone", func(s *accessScene) {
			s.access.DeletionTimestamp, s.to.Cluster = &now, nil
			s.access.Labels = map[string]string{openmcpv1alpha1.ProviderLabel: "gardener"}
		}, AccessRelease},
		{"T4: being deleted, and the Cluster of another provider is gone", func(s *accessScene) {
			s.access.DeletionTimestamp, s.to.Cluster = &now, nil
			s.access.Labels = map[string]string{openmcpv1alpha1.ProviderLabel: "other"}
		}, AccessWait},
		{"cluster-request C36: the Cluster is gone, and nothing ends", func(s *accessScene) { s.to.Cluster = nil }, AccessWait},
		{"cluster-request 4.1.6: a shared Cluster that nobody was asked about", func(s *accessScene) {
			s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
		}, AccessWait},
		{"cluster-request C40: a shared Cluster that the requester may access", func(s *accessScene) {
			s.to.Cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
			s.condition(metav1.ConditionTrue, openmcpv1alpha1.ReasonAccessAllowed)
		}, AccessGrant},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newAccessScene()
			tc.change(s)
			if got := AccessDutyOf("gardener", s.access, s.to.Cluster); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}
}
