// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/fakeapi"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const namespaceName = "team-a"

// world is a hub with the members eu1, eu2 and us1 of docs/spec/federated-selector.md in the set "members", which is bound to the namespace
// team-a, and with a reconciler. Its watches show a change when show is called.
type world struct {
	*reconciler

	t        testing.TB
	store    client.WithWatch
	handlers *eventHandlers
	recorder *events.FakeRecorder
	time     *clocktesting.FakePassiveClock

	mu sync.Mutex // for requests, pending and what fails
	// requests are the writes that succeeded, such as "create eu1" or "delete eu1".
	requests []string
	// fail returns the error of a write, which is not done then; nil for none.
	fail    func(verb, cluster string) error
	pending []inventory.Key
	// proving is called before each read of a proof; nil for nothing.
	proving func()
	// formerRenewal is queue.Settings.FormerRenewal.
	formerRenewal time.Time
	// shown are the objects that the watches have shown, by their kinds and names.
	shown map[string]client.Object
}

// keys is the queue of a world, of which only additions are used.
type keys struct {
	priorityqueue.PriorityQueue[inventory.Key]

	world *world
}

func (k keys) AddWithOpts(_ priorityqueue.AddOpts, added ...inventory.Key) {
	k.world.mu.Lock()
	defer k.world.mu.Unlock()
	k.world.pending = append(k.world.pending, added...)
}

// newClientBuilder returns a builder of a fake client that knows the types of a hub with federated objects.
func newClientBuilder() *fake.ClientBuilder {
	return fakeapi.NewClientBuilder(admissionregistrationv1.AddToScheme, corev1.AddToScheme, appsv1.AddToScheme, clusterv1.Install,
		clusterv1beta1.Install, clusterv1beta2.Install, workv1.Install)
}

func newWorld(tb testing.TB, objects ...client.Object) *world {
	tb.Helper()
	w := &world{
		t: tb, recorder: events.NewFakeRecorder(1000), time: clocktesting.NewFakePassiveClock(epoch), shown: map[string]client.Object{},
		fail: func(string, string) error { return nil },
	}

	objects = append(objects,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName, Labels: map[string]string{federation.FederatedLabel: "true"}}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "members"}}, members(),
		member("eu1", map[string]string{"location": "europe", "environment": "prod"}),
		member("eu2", map[string]string{"location": "europe", "environment": "test"}),
		member("us1", map[string]string{"location": "usa", "environment": "prod"}))

	w.store = newClientBuilder().WithObjects(objects...).WithStatusSubresource(&workv1.ManifestWork{}).WithReturnManagedFields().
		WithIndex(&workv1.ManifestWork{}, workName, func(object client.Object) []string { return []string{object.GetName()} }).
		WithInterceptorFuncs(interceptor.Funcs{Patch: w.patch, Delete: w.delete}).Build()

	shared := sharedinventory.New()
	shared.Checker = freshness.New(proofs{world: w}, shared.Observed, nil)

	state := newState(shared, federation.DefaultKinds(), w.time, func() time.Time { return w.formerRenewal })
	state.Queue.SetQueue(keys{world: w})
	state.Synced.Store(true)
	waits := newRetries()
	waits.postponed = newBackoff(time.Second, time.Second)

	w.reconciler = newReconciler(
		&hub{state: state, client: w.store, objects: compacted{w.store}, live: w.store, clock: w.time, namespaceName: "hub"},
		federation.Limits{Percent: removalbudget.NoLimit}, waits, w.recorder)
	w.handlers = &eventHandlers{
		state: state, cache: stored{reader: w.store}, objects: stored{reader: compacted{w.store}}, live: w.store, recorder: w.recorder,
	}
	shared.Handle(state.owns, w.handlers.state.EnqueueAffected)
	w.show()
	return w
}

func members() *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "members"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "members"},
	}
}

func member(name string, labels map[string]string) *clusterv1.ManagedCluster {
	labels[clusterv1beta2.ClusterSetLabel] = "members"
	return &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{
			{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue},
		}},
	}
}

// selecting returns a ConfigMap, as kubectl applies it, with a selector for the clusters of a location.
func selecting(location string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName, Name: "x", UID: "x", Annotations: map[string]string{
			corev1.LastAppliedConfigAnnotation: "{}", federation.SelectorAnnotation: selectorOf(location),
		}},
		Data: map[string]string{"a": "b"},
	}
}

func selectorOf(location string) string {
	return fmt.Sprintf(`[{"key":"location","operator":"in","values":[%q]}]`, location)
}

func keyOfConfigMap(name string) inventory.Key {
	return inventory.Key{GroupKind: "ConfigMap", NamespacedName: types.NamespacedName{Namespace: namespaceName, Name: name}}
}

// stored is a cache that has what a reader returns.
type stored struct {
	cache.Cache

	reader client.Reader
}

func (s stored) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return s.reader.Get(ctx, key, object, options...)
}

func (s stored) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return s.reader.List(ctx, list, options...)
}

// compacted reads the metadata of objects as the cache of the controller has it.
type compacted struct{ client.Reader }

func (c compacted) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := c.Reader.Get(ctx, key, object, options...); err != nil {
		return err
	}
	_, err := objects.CompactMetadata(federation.MetadataAnnotations)(object)
	return err
}

// patch and delete note the writes of ManifestWorks, and let those fail that fail.
func (w *world) patch(
	ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption,
) error {
	verb := "finalizers " + object.GetName()
	if object.GetObjectKind().GroupVersionKind() == workKind {
		verb = "patch "
		if patch.Type() == types.ApplyPatchType {
			verb = "update "
			if err := c.Get(ctx, client.ObjectKeyFromObject(object), &workv1.ManifestWork{}); apierrors.IsNotFound(err) {
				verb = "create "
			}
		}
	}
	return w.write(strings.TrimSpace(verb), object.GetNamespace(), func() error { return c.Patch(ctx, object, patch, options...) })
}

func (w *world) delete(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
	return w.write("delete", object.GetNamespace(), func() error { return c.Delete(ctx, object, options...) })
}

func (w *world) write(verb, cluster string, do func() error) error {
	if err := w.fail(verb, cluster); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()

	if strings.HasPrefix(verb, "finalizers") {
		w.requests = append(w.requests, verb)
	} else {
		w.requests = append(w.requests, verb+" "+cluster)
	}
	return nil
}

// written returns the writes since the last call, those of one kind in a row sorted.
func (w *world) written() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var groups [][]string
	for _, request := range w.requests {
		verb, _, _ := strings.Cut(request, " ")
		last := len(groups) - 1
		if last >= 0 && strings.HasPrefix(groups[last][0], verb+" ") {
			groups[last] = append(groups[last], request)
		} else {
			groups = append(groups, []string{request})
		}
	}

	for _, group := range groups {
		slices.Sort(group)
	}
	w.requests = nil
	return strings.Join(slices.Concat(groups...), ", ")
}

// withColon returns "Warning Reason: note".
func withColon(event string) string {
	words := strings.SplitN(event, " ", 3)
	return words[0] + " " + words[1] + ": " + words[2]
}

// told returns the Events since the last call, such as "Warning Reason: note".
func (w *world) told() []string {
	var told []string
	for {
		select {
		case event := <-w.recorder.Events:
			told = append(told, withColon(event))
		default:
			return told
		}
	}
}

// settle shows what there is, and reconciles what is enqueued until nothing is.
func (w *world) settle() {
	w.t.Helper()
	for range 100 {
		w.show()

		w.mu.Lock()
		pending := w.pending
		w.pending = nil
		w.mu.Unlock()
		if len(pending) == 0 {
			return
		}

		for _, key := range pending {
			if _, err := w.reconcileOnce(key); err != nil {
				w.mu.Lock()
				w.pending = append(w.pending, key)
				w.mu.Unlock()
			}
		}
	}

	w.t.Fatal("the hub does not settle")
}

// reconcileOnce reconciles a key, again while the object has to be evaluated again, and returns after which time to look again.
func (w *world) reconcileOnce(key inventory.Key) (time.Duration, error) {
	w.t.Helper()
	return w.reconcileOnceShowing(key, true)
}

// reconcileOnceShowing is reconcileOnce, in whose course the watches show changes or not.
func (w *world) reconcileOnceShowing(key inventory.Key, show bool) (time.Duration, error) {
	w.t.Helper()
	for range 10 {
		result, err := w.Reconcile(w.t.Context(), key)
		if err != nil || result.RequeueAfter == 0 || result.RequeueAfter > time.Millisecond {
			return result.RequeueAfter, err
		}
		if show {
			w.show()
		}
	}
	return 0, errors.New("the object is evaluated again and again")
}

// clusters returns the clusters that have a work, with a "-" behind those whose work is being deleted.
func (w *world) clusters() string {
	w.t.Helper()
	list := &workv1.ManifestWorkList{}
	w.check(w.store.List(w.t.Context(), list))
	var names []string

	for i := range list.Items {
		name := list.Items[i].Namespace
		if !list.Items[i].DeletionTimestamp.IsZero() {
			name += "-"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// work returns the work of the ConfigMap x in a cluster.
func (w *world) work(cluster string) *workv1.ManifestWork {
	w.t.Helper()
	work := &workv1.ManifestWork{}
	w.check(w.store.Get(w.t.Context(), types.NamespacedName{Namespace: cluster, Name: w.state.identity(keyOfConfigMap("x")).WorkName()}, work))
	return work
}

// change changes an object.
func change[T client.Object](w *world, object T, to func(T)) {
	w.t.Helper()
	w.check(w.store.Get(w.t.Context(), client.ObjectKeyFromObject(object), object))
	to(object)
	w.check(w.store.Update(w.t.Context(), object))
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// same compares texts.
func same(tb testing.TB, what, got, want string) {
	tb.Helper()
	if got != want {
		tb.Errorf("%s: got %q, want %q", what, got, want)
	}
}
