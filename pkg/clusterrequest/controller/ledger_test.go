// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// api has one Cluster. A patch does what the test wants before it responds.
type api struct {
	client.Client

	cluster  *openmcpv1alpha1.Cluster
	versions string // of the next responses
	during   func() error
}

func (a *api) Patch(_ context.Context, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
	if a.during != nil {
		if err := a.during(); err != nil {
			return err
		}
	}
	object.SetResourceVersion(a.versions[:1])
	a.versions = a.versions[1:]
	return nil
}

func (a *api) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	a.cluster.DeepCopyInto(object.(*openmcpv1alpha1.Cluster))
	return nil
}

var shared = types.NamespacedName{Namespace: "team-a", Name: "c"}

// newTestLedger has a shared Cluster of the purpose p with the requests, and the resourceVersion 1.
func newTestLedger(requests ...types.UID) (*ledger, *api) {
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: shared.Namespace, Name: shared.Name, UID: "c", ResourceVersion: "1"}}
	cluster.Spec.Purposes, cluster.Spec.Tenancy = []openmcpv1alpha1.PurposeName{"p"}, openmcpv1alpha1.TenancyShared
	for _, uid := range requests {
		cluster.Finalizers = append(cluster.Finalizers, openmcpv1alpha1.RequestFinalizerPrefix+string(uid))
	}

	server := &api{cluster: cluster, versions: "23456"}
	l := newLedger(server, server, clusterrequest.Options{})
	l.setCluster(cluster)
	l.update(func(c *clusterrequest.Catalog) {
		c.SetPurpose(&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: openmcpv1alpha1.PurposeSpec{TenancyLimit: 2}})
	})
	return l, server
}

func newRequest(uid types.UID) *openmcpv1alpha1.ClusterRequest {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: string(uid), UID: uid}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{"p"}
	return request
}

func expectRequests(t *testing.T, l *ledger, want ...types.UID) {
	t.Helper()
	if diff := cmp.Diff(want, clusterrequest.RequestUIDs(l.cluster(shared))); diff != "" {
		t.Errorf("requests of the Cluster (-want +got):\n%s", diff)
	}
}

func TestChoiceCountsBeforeItIsWritten(t *testing.T) {
	l, _ := newTestLedger("a")
	if got := l.decide(newRequest("b"), metav1.Time{}, true).Outcome; got != clusterrequest.OutcomeChosen {
		t.Fatal(got)
	}
	if got := l.decide(newRequest("c"), metav1.Time{}, true).Outcome; got != clusterrequest.OutcomeRefused {
		t.Errorf("the last slot is given twice: %s", got)
	}
	expectRequests(t, l, "a", "b")
}

func TestChoiceOnAnUnverifiedViewDoesNotCount(t *testing.T) {
	l, _ := newTestLedger("a")
	l.decide(newRequest("b"), metav1.Time{}, false)
	expectRequests(t, l, "a")
}

func TestFailedWriteTakesBackEveryChoice(t *testing.T) {
	l, server := newTestLedger()
	server.during = func() error { return errors.New("the API server is gone") }
	l.decide(newRequest("b"), metav1.Time{}, true)
	l.decide(newRequest("c"), metav1.Time{}, true)
	if _, err := l.write(t.Context(), shared); err == nil {
		t.Error("no error")
	}
	expectRequests(t, l)

	stored, err := l.write(t.Context(), shared)
	if err != nil || clusterrequest.HasRequest(stored, "c") {
		t.Errorf("%v, %v", stored, err)
	}
}

// A provider writes a new Cluster while requests come. Its writes take no slot.
func TestConflictWithTheProviderKeepsChoices(t *testing.T) {
	l, server := newTestLedger()
	l.decide(newRequest("b"), metav1.Time{}, true)
	server.during = func() error {
		server.during = nil
		server.cluster = server.cluster.DeepCopy()
		server.cluster.ResourceVersion = "2"
		server.cluster.Finalizers = append(server.cluster.Finalizers, openmcpv1alpha1.ProviderFinalizer)
		l.decide(newRequest("c"), metav1.Time{}, true)
		return conflict()
	}
	server.versions = "3"

	written, err := l.write(t.Context(), shared)
	if err != nil || !slices.Contains(written.Finalizers, openmcpv1alpha1.ProviderFinalizer) {
		t.Errorf("%v, %v", written, err)
	}
	expectRequests(t, l, "b", "c")
	if server.versions != "" {
		t.Error("the choices are not written")
	}
}

// The last slot may be gone when a conflict is over (C19).
func TestConflictAboutTheRequestsTakesChoicesBack(t *testing.T) {
	for name, change := range map[string]func(*openmcpv1alpha1.Cluster){
		"another request": func(c *openmcpv1alpha1.Cluster) {
			c.Finalizers = append(c.Finalizers, openmcpv1alpha1.RequestFinalizerPrefix+"foreign")
		},
		"another spec":    func(c *openmcpv1alpha1.Cluster) { c.Spec.Purposes = nil },
		"another Cluster": func(c *openmcpv1alpha1.Cluster) { c.UID = "d" },
		"the deletion":    func(c *openmcpv1alpha1.Cluster) { c.DeletionTimestamp = &metav1.Time{} },
		"the prefixes": func(c *openmcpv1alpha1.Cluster) {
			c.Annotations = map[string]string{openmcpv1alpha1.PrefixesAnnotation: "{}"}
		},
		"a lost finalizer": func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil },
		"no end of writes": func(*openmcpv1alpha1.Cluster) {},
	} {
		t.Run(name, func(t *testing.T) {
			l, server := newTestLedger("a")
			l.decide(newRequest("b"), metav1.Time{}, true)
			sent := 0
			server.during = func() error {
				sent++
				server.cluster = server.cluster.DeepCopy()
				server.cluster.ResourceVersion = strconv.Itoa(sent + 1)
				change(server.cluster)
				return conflict()
			}

			if _, err := l.write(t.Context(), shared); !apierrors.IsConflict(err) {
				t.Error(err)
			}
			if cluster := l.cluster(shared); cluster == nil || clusterrequest.HasRequest(cluster, "b") {
				t.Errorf("the choice counts still: %v", cluster)
			}
			if sent > maxTries {
				t.Errorf("it is sent %d times", sent)
			}
		})
	}
}

func conflict() error {
	return apierrors.NewConflict(openmcpv1alpha1.GroupVersion.WithResource("clusters").GroupResource(), shared.Name, errors.New("changed"))
}

func TestStateOfSomebodyElseKeepsChoices(t *testing.T) {
	l, server := newTestLedger("a")
	l.decide(newRequest("b"), metav1.Time{}, true)
	foreign := server.cluster.DeepCopy()
	foreign.ResourceVersion, foreign.Labels = "2", map[string]string{"a": "b"}
	l.setCluster(foreign)
	expectRequests(t, l, "a", "b")
	if l.cluster(shared).Labels["a"] != "b" {
		t.Error("the label is lost")
	}

	if l.setCluster(server.cluster) {
		t.Error("a state from before is taken")
	}
}

func TestWriteDuringAWriteIsKept(t *testing.T) {
	l, server := newTestLedger()
	l.decide(newRequest("b"), metav1.Time{}, true)
	server.during = func() error {
		l.decide(newRequest("c"), metav1.Time{}, true)
		return nil
	}
	if _, err := l.write(t.Context(), shared); err != nil {
		t.Fatal(err)
	}

	server.during = nil
	expectRequests(t, l, "b", "c")
	written, err := l.write(t.Context(), shared)
	if err != nil || written.ResourceVersion != "3" || !clusterrequest.HasRequest(written, "c") {
		t.Errorf("%v, %v", written, err)
	}
}

// The API server deletes a Cluster with its last finalizer, and a watch may show that before the response to the write arrives.
func TestClusterThatEndsBeforeTheResponseIsGone(t *testing.T) {
	l, server := newTestLedger("a")
	deleted := server.cluster.DeepCopy()
	deleted.ResourceVersion, deleted.DeletionTimestamp = "2", &metav1.Time{}
	l.setCluster(deleted)
	server.versions = "3"
	server.during = func() error {
		l.deleteCluster(shared, deleted.UID)
		return nil
	}

	if err := l.leave(t.Context(), shared, "a"); err != nil {
		t.Fatal(err)
	}
	if cluster := l.cluster(shared); cluster != nil {
		t.Errorf("it is still there: %v", cluster)
	}
}
