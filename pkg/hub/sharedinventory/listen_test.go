// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var clusterKind = schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster")

// informers is a cache whose informers list nothing until a test says so.
type informers struct {
	cache.Cache

	// refused is the kind of which there is no informer.
	refused string
	// handlers are the number of event handlers of each kind, and listed is closed when its initial list was handled.
	handlers map[string]int
	listed   map[string]chan struct{}
}

func newInformers() *informers {
	return &informers{handlers: map[string]int{}, listed: map[string]chan struct{}{}}
}

var errRefused = errors.New("no informers here")

func (i *informers) GetInformer(_ context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	kind := fmt.Sprintf("%T", object)
	if kind == i.refused {
		return nil, errRefused
	}
	if i.listed[kind] == nil {
		i.listed[kind] = make(chan struct{})
	}
	return informer{informers: i, kind: kind}, nil
}

// list closes the channels of kinds that have not listed yet.
func (i *informers) list(kinds ...string) {
	for _, kind := range kinds {
		close(i.listed[kind])
	}
}

type informer struct {
	cache.Informer

	*informers

	kind string
}

func (i informer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.handlers[i.kind]++
	return registration{listed: i.listed[i.kind]}, nil
}

type registration struct {
	toolscache.ResourceEventHandlerRegistration

	listed chan struct{}
}

func (r registration) HasSyncedChecker() toolscache.DoneChecker { return r }
func (r registration) Name() string                             { return "" }
func (r registration) Done() <-chan struct{}                    { return r.listed }

// sharedKinds are the kinds of the inventory.
var sharedKinds = []string{
	"*v1.ManagedCluster", "*v1beta2.ManagedClusterSet", "*v1beta2.ManagedClusterSetBinding", "*v1alpha1.AddOnPlacementScore",
}

func own(object client.Object) Listener {
	return Listener{Object: object, Handler: toolscache.ResourceEventHandlerFuncs{}}
}

// Whoever comes first registers the handlers of the inventory, and each controller waits for the inventory and for its own kinds, not for
// those of the others.
func TestControllersListenToOneInventory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, of := New(), newInformers()
		ctx, cancel := context.WithCancel(t.Context())
		returned := map[string]chan error{"first": make(chan error, 1), "second": make(chan error, 1)}
		go func() { returned["first"] <- s.Listen(ctx, of, own(&corev1.ConfigMap{})) }()
		synctest.Wait()
		go func() { returned["second"] <- s.Listen(ctx, of, own(&corev1.Secret{}), own(&corev1.ConfigMap{})) }()
		synctest.Wait()

		// The second handler of each kind but the last tells of unreadable objects.
		want := map[string]int{"*v1.ConfigMap": 3, "*v1.Secret": 2}
		for _, kind := range sharedKinds {
			want[kind] = 2
		}
		if diff := cmp.Diff(want, of.handlers); diff != "" {
			t.Errorf("handlers (-want +got):\n%s", diff)
		}

		expect := func(reason string, synced bool, done ...string) {
			t.Helper()
			synctest.Wait()
			if s.Synced() != synced {
				t.Errorf("%s: synced is %v, want %v", reason, s.Synced(), synced)
			}

			for name, result := range returned {
				want := 0
				for _, returns := range done {
					if name == returns {
						want = 1
					}
				}
				if len(result) != want {
					t.Errorf("%s: the %s call has returned %d times, want %d", reason, name, len(result), want)
				}
			}
		}

		expect("nothing is listed", false)
		of.list(sharedKinds[1:]...)
		of.list("*v1.ConfigMap")
		expect("the clusters are missing", false)
		of.list(sharedKinds[0])
		expect("the Secrets are missing", true, "first")
		of.list("*v1.Secret")
		expect("all is listed", true, "first", "second")

		for name, result := range returned {
			if err := <-result; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		cancel()
		synctest.Wait()
	})
}

// A controller may keep some of its kinds in a cache of its own, which has nothing else.
func TestAKindMayHaveACacheOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, shared, separate := New(), newInformers(), newInformers()
		ctx, cancel := context.WithCancel(t.Context())
		objects := own(&corev1.ConfigMap{})
		objects.Cache = separate
		go func() {
			synctest.Wait()
			shared.list(append(sharedKinds, "*v1.Secret")...)
			separate.list("*v1.ConfigMap")
		}()

		if err := s.Listen(ctx, shared, objects, own(&corev1.Secret{})); err != nil {
			t.Fatal(err)
		}
		if shared.handlers["*v1.ConfigMap"] != 0 || shared.handlers["*v1.Secret"] != 2 {
			t.Errorf("handlers of the shared cache: %v", shared.handlers)
		}
		if diff := cmp.Diff(map[string]int{"*v1.ConfigMap": 2}, separate.handlers); diff != "" {
			t.Errorf("handlers of the separate cache (-want +got):\n%s", diff)
		}

		cancel()
		synctest.Wait()
	})
}

func TestListenFailsWithItsInformers(t *testing.T) {
	for _, kind := range []string{"*v1.ManagedCluster", "*v1.ConfigMap"} {
		of := newInformers()
		of.refused = kind
		if err := New().Listen(t.Context(), of, own(&corev1.ConfigMap{})); !errors.Is(err, errRefused) {
			t.Errorf("%s: error %v, want that of the cache", kind, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := New().Listen(ctx, newInformers()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v at the end, want that the lists did not arrive", err)
	}
}

// What Listen registers updates the inventory before a proof may count on it.
func TestTheHandlersOfTheInventoryAreObserved(t *testing.T) {
	s := New()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", ResourceVersion: "1"}}
	before, handler := s.Observed.Now(), s.Listeners()[0].Handler
	handler.OnAdd(cluster, false)
	if s.Inventory.Snapshot().Cluster("c1") == nil || s.Observed.Now() == before {
		t.Error("the cluster is not known, or was not observed")
	}
	handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "c1", Obj: cluster})

	if s.Inventory.Snapshot().Cluster("c1") != nil {
		t.Error("the cluster is known after its deletion")
	}
}
