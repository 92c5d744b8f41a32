// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

func store(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).Build()
}

func class(name string) *cozystackv1alpha1.AffinityClass {
	return &cozystackv1alpha1.AffinityClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func tenant(namespace, name, defaultClass string) *appsv1alpha1.Tenant {
	return &appsv1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: appsv1alpha1.TenantSpec{DefaultAffinityClass: defaultClass},
	}
}

var errBroken = errors.New("broken")

// broken returns a client that reads nothing.
func broken() client.Reader {
	return interceptor.NewClient(store(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errBroken
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errBroken
		},
	})
}

func TestClasses(t *testing.T) {
	for _, tc := range []struct {
		reason       string
		cached, live client.Reader
		name         string
		found        bool
		is           error
	}{
		{"it is in the cache", store(class("dc1")), broken(), "dc1", true, nil},
		{"it is too new for the cache", store(), store(class("dc1")), "dc1", true, nil},
		{"it does not exist", store(), store(), "dc1", false, nil},
		{"no object can have such a name", broken(), broken(), "a/b", false, nil},
		{"the cache cannot be read", broken(), store(class("dc1")), "dc1", false, errBroken},
		{"the API server cannot be read", store(), broken(), "dc1", false, errBroken},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			found, err := New(tc.cached, tc.live).Classes(t.Context())(tc.name)
			if !errors.Is(err, tc.is) || (found != nil) != tc.found || found != nil && found.Name != tc.name {
				t.Errorf("got %v and %v", found, err)
			}
		})
	}
}

func TestReleases(t *testing.T) {
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(affinityclass.ReleaseKind)
	release.SetNamespace("tenant-acme")
	release.SetName("db")
	found, err := Releases(t.Context(), store(release), client.InNamespace("tenant-acme"))
	if err != nil || len(found) != 1 || found[0].GetName() != "db" {
		t.Errorf("got %v and %v", found, err)
	}

	if found, err := Releases(t.Context(), store(release), client.InNamespace("other")); err != nil || len(found) != 0 {
		t.Errorf("got %v and %v", found, err)
	}
	if _, err := Releases(t.Context(), broken()); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

// The Tree is built once for all reads between two events that matter.
func TestTheTreeFollowsEvents(t *testing.T) {
	lists, acme := 0, tenant("tenant-root", "acme", "dc1")
	stored := store(acme)
	known := New(interceptor.NewClient(stored, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			lists++
			return c.List(ctx, list, options...)
		},
	}), store())
	events := known.TenantHandler()
	expect := func(reason string, wantLists int, wantDefault string) {
		t.Helper()
		for range 3 {
			tree, err := known.Tree(t.Context())
			if err != nil || lists != wantLists || tree.Effective("tenant-acme").Default != wantDefault {
				t.Errorf("%s: %v, %d lists, want %d and the default %q", reason, err, lists, wantLists, wantDefault)
			}
		}
	}

	expect("at first", 1, "dc1")
	events.OnAdd(acme, true)
	expect("after a creation", 2, "dc1")
	reported := acme.DeepCopy()
	reported.Status.Conditions = []metav1.Condition{{Type: "ValuesWritten"}}
	events.OnUpdate(acme, reported)
	expect("after another status", 2, "dc1")

	changed := &appsv1alpha1.Tenant{}
	if err := stored.Get(t.Context(), client.ObjectKeyFromObject(acme), changed); err != nil {
		t.Fatal(err)
	}
	changed.Spec.DefaultAffinityClass = "dc2"
	if err := stored.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}

	events.OnUpdate(acme, changed)
	expect("after another spec", 3, "dc2")
	known.TenantsChanged()
	expect("after a call", 4, "dc2")
	if err := stored.Delete(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	events.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "tenant-root/acme", Obj: changed})
	expect("after a deletion that was missed", 5, "")
}

func TestTreeWithOwner(t *testing.T) {
	acme, eu := tenant("tenant-root", "acme", "dc1"), tenant("tenant-acme", "eu", "")
	for _, tc := range []struct {
		reason       string
		cached, live client.Reader
		want         string // the default in the namespace of eu
		problem      string
	}{
		{"the cache has the owner", store(acme, eu), broken(), "dc1", ""},
		{"the owner is too new for the cache", store(acme), store(acme, eu), "dc1", ""},
		{"the owner and its parent are too new for the cache", store(), store(acme, eu), "dc1", ""},
		{"no Tenant owns the namespace", store(), store(), "", ""},
		{"the cache cannot be read", broken(), store(), "", "listing Tenants"},
		{"the API server cannot be read", store(), broken(), "", "reading Tenant tenant-acme/eu"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			tree, err := New(tc.cached, tc.live).TreeWithOwner(t.Context(), "tenant-acme-eu")
			if tc.problem != "" {
				if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), tc.problem) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || tree.Effective("tenant-acme-eu").Default != tc.want {
				t.Errorf("got %+v and %v", tree, err)
			}
		})
	}
}
