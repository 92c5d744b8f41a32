// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

const (
	zone         = "topology.kubernetes.io/zone"
	hubNamespace = "open-cluster-management-hub"
)

var (
	postgres = schema.GroupVersionKind{Group: appsv1alpha1.GroupName, Version: "v1alpha1", Kind: "Postgres"}
	redis    = postgres.GroupVersion().WithKind("Redis")
)

// hub is an API server whose caches are never behind, and the controllers on it.
type hub struct {
	client.Client

	state    *state
	recorder *events.FakeRecorder
	// formerRenewal is queue.Settings.FormerRenewal.
	formerRenewal time.Time
	// writes are the writing requests, as "verb kind/name".
	writes []string
	// fails returns the error of a writing request; nil for none.
	fails func(verb string, object client.Object) error
	// applications is the reconciler that all calls of resolve share.
	applications *applicationReconciler
}

// newHub returns a hub with objects, the classes dc1, dc2 and gpu, the Tenant acme and its namespace.
func newHub(t *testing.T, objects ...client.Object) *hub {
	t.Helper()
	h := &hub{fails: func(string, client.Object) error { return nil }, recorder: events.NewFakeRecorder(100)}
	objects = append([]client.Object{
		class("dc1"), class("dc2"), class("gpu"), tenant(affinityclass.RootNamespace, "acme", "dc1", "dc1", "dc2"), namespace("tenant-acme"),
		definition(postgres.Kind, "postgreses", true), definition(redis.Kind, "redises", false),
	}, objects...)

	h.Client = fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).
		WithStatusSubresource(&cozystackv1alpha1.AffinityClass{}, &appsv1alpha1.Tenant{}, newObject(postgres)).
		WithIndex(newObject(redis), metav1.ObjectNameField, func(object client.Object) []string { return []string{object.GetName()} }).
		WithInterceptorFuncs(h.recording()).Build()

	clock := clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0))
	h.state = &state{
		Reader: reader.New(h.Client, h.Client), writer: client.WithFieldOwner(h.Client, FieldManager), clock: clock, namespace: hubNamespace,
		kinds: &kinds{cache: fakeCache{Client: h.Client}, watched: map[string]watchedKind{}},
	}
	h.watch(t, "postgreses.apps.cozystack.io", "redises.apps.cozystack.io")
	h.applications = &applicationReconciler{
		state: h.state, releases: h.state.writer,
		reporter: &reporter{
			writer: h.state.writer, recorder: h.recorder, clock: clock, live: h.Client,
			problems: problems.New[applicationKey](clock, func() time.Time { return h.formerRenewal }),
		},
		conflicts: queue.NewConflictBackoff[applicationKey](),
	}

	return h
}

// fakeCache is a cache whose informers have synced.
type fakeCache struct {
	client.Client
	cache.Informers
}

func (fakeCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return syncedInformer{synced: true}, nil
}

func (fakeCache) RemoveInformer(context.Context, client.Object) error { return nil }

func (c fakeCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.Client.Get(ctx, key, object, options...)
}

func (c fakeCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.Client.List(ctx, list, options...)
}

// syncedInformer is an informer without events.
type syncedInformer struct {
	cache.Informer

	synced bool
}

func (i syncedInformer) HasSynced() bool { return i.synced }

// watch reconciles CustomResourceDefinitions.
func (h *hub) watch(t *testing.T, definitions ...string) {
	t.Helper()
	for _, name := range definitions {
		if _, err := h.state.kinds.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
}

// recording records writing requests, and has them fail.
func (h *hub) recording() interceptor.Funcs {
	note := func(verb string, object client.Object) error {
		if err := h.fails(verb, object); err != nil {
			return err
		}
		kind := object.GetObjectKind().GroupVersionKind().Kind
		if kinds, _, err := scheme.New().ObjectKinds(object); err == nil {
			kind = kinds[0].Kind
		}
		h.writes = append(h.writes, verb+" "+kind+"/"+object.GetName())
		h.state.TenantsChanged()
		return nil
	}

	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := note("create", object); err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := note("patch", object); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, subresource string, object client.Object, patch client.Patch,
			options ...client.SubResourcePatchOption,
		) error {
			if err := note("patch "+subresource, object); err != nil {
				return err
			}
			return c.SubResource(subresource).Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, applied runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if object, isObject := applied.(client.Object); isObject {
				if err := note("apply", object); err != nil {
					return err
				}
			}
			return c.Apply(ctx, applied, options...)
		},
	}
}

// given creates or replaces objects without recording that.
func (h *hub) given(t *testing.T, objects ...client.Object) {
	t.Helper()
	before := h.writes
	for _, object := range objects {
		object.SetResourceVersion("")
		if err := client.IgnoreNotFound(h.Delete(t.Context(), object)); err != nil {
			t.Fatal(err)
		}
		if err := h.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}

	h.writes = before
	h.state.TenantsChanged()
}

// expectWrites compares the writing requests since the last call, in order.
func (h *hub) expectWrites(t *testing.T, want ...string) {
	t.Helper()
	got := h.writes
	h.writes = nil
	if len(got) != len(want) {
		t.Fatalf("writes %q, want %q", got, want)
	}

	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("writes %q, want %q", got, want)
		}
	}
}

// named returns the request of an object of the cluster.
func named(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
}

var errBroken = errors.New("broken")

func failingList(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
	return errBroken
}

// ahead is an API server that has one Tenant more than the cache.
type ahead struct {
	client.Client

	tenant *appsv1alpha1.Tenant
}

func (a ahead) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := a.Client.List(ctx, list, options...)
	if tenants, is := list.(*appsv1alpha1.TenantList); is {
		tenants.Items = append(tenants.Items, *a.tenant)
	}
	return err
}

// sorted returns the names of requests, each once.
func sorted(requests []reconcile.Request) []string {
	names := make([]string, 0, len(requests))
	for _, request := range requests {
		names = append(names, request.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (syncedInformer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return nil, nil
}

// unsynced has no informer of application kinds be synced.
func unsynced(h *hub) {
	for name, watched := range h.state.kinds.watched {
		h.state.kinds.watched[name] = watchedKind{watched.kind, syncedInformer{}}
	}
}
