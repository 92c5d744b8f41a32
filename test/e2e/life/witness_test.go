// SPDX-License-Identifier: Apache-2.0

package life

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/history"
)

const (
	// churned is the namespace, the Placement and the label of clusters that change all the time.
	churned = "churned"
	// steady is how many of the clusters keep the label, and restless how many change it.
	steady, restless = 12, 8
	// churnInterval is the time between two changes.
	churnInterval = 150 * time.Millisecond
)

// witness changes clusters and a Placement all the time, and looks at everything that happens meanwhile.
type witness struct {
	hub     *suite.Hub
	kept    []string // clusters that have to be in the decisions always
	history *history.History
	moves   atomic.Int64 // events of decisions
	cuts    atomic.Bool  // whether Pods of the previous version end

	stop      func() // ends it
	stopChurn context.CancelFunc
	churning  sync.WaitGroup

	mu       sync.Mutex // guards findings
	findings []string
}

// findf records what must not happen.
func (w *witness) findf(format string, arguments ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings = append(w.findings, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, arguments...))
}

// failed records that a request failed. The previous version closes connections of API servers while reviews are on their way, this version
// does not.
func (w *witness) failed(what string, err error) {
	if w.cuts.Load() && slices.ContainsFunc([]string{
		": EOF", "broken pipe", "connection reset by peer", "use of closed network connection",
	}, func(cut string) bool {
		return strings.Contains(err.Error(), cut)
	}) {
		return
	}
	w.findf("%s: %v", what, err)
}

// judge fails the test if anything happened that must not.
func (w *witness) judge(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.findings) > 0 {
		t.Errorf("%d findings:\n%s", len(w.findings), strings.Join(w.findings[:min(10, len(w.findings))], "\n"))
		w.findings = nil
	}
}

// movedSince returns an error as long as there are few decisions after a count of moves.
func (w *witness) movedSince(count int64) error {
	const enough = 3
	if w.moves.Load() < count+enough {
		return errors.New("no decision changes")
	}
	return nil
}

// watchWorld creates the clusters and the Placement of the churn, and looks at them until the end of the test.
func watchWorld(t *testing.T, h *suite.Hub) *witness {
	t.Helper()
	w := &witness{hub: h}
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: churned}}))
	suite.Must(t, h.Client.Create(t.Context(), &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: churned, Name: "global"}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
	}))
	for n := range steady + restless {
		name := fmt.Sprintf("%s-%02d", churned, n)
		suite.Must(t, h.Client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{churned: "true"},
		}}))
		if n < steady {
			w.kept = append(w.kept, name)
		}
	}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: churned, Name: churned}}
	placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{churned: "true"}},
	}}}
	suite.Must(t, h.Client.Create(t.Context(), placement))
	key := client.ObjectKeyFromObject(placement)
	h.WantDecisions(t, key, append(w.kept, w.restless()...)...)

	// The watches end by the cleanup, and not before it.
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var err error
	w.history, err = history.Record(ctx, h.Environment.AdminConfig(), churned)
	suite.Must(t, err)
	var running sync.WaitGroup
	running.Go(func() { w.watchDecisions(ctx) })
	churning, stopChurn := context.WithCancel(ctx)
	w.stopChurn = stopChurn
	w.churning.Go(func() { w.churn(churning, placement) })
	running.Go(func() { w.callWebhooks(ctx, t) })
	w.watchDeletions(ctx, t, &running)
	w.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		w.churning.Wait()
	})
	t.Cleanup(func() {
		w.stop()
		w.judge(t)
	})
	return w
}

// pause ends the churn, and returns when the decisions show its last change.
func (w *witness) pause(t *testing.T) {
	t.Helper()
	w.stopChurn()
	w.churning.Wait()
	clusters := &clusterv1.ManagedClusterList{}
	suite.Must(t, w.hub.Client.List(t.Context(), clusters, client.MatchingLabels{churned: "true"}))
	var names []string
	for i := range clusters.Items {
		names = append(names, clusters.Items[i].Name)
	}
	w.hub.WantDecisions(t, types.NamespacedName{Namespace: churned, Name: churned}, names...)
}

func (w *witness) restless() []string {
	var names []string
	for n := range restless {
		names = append(names, fmt.Sprintf("%s-%02d", churned, steady+n))
	}
	return names
}

// watchDecisions looks for a moment in which a cluster that stays is in no page.
func (w *witness) watchDecisions(ctx context.Context) {
	for {
		event, err := w.history.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			w.findf("%v", err)
			return
		}
		w.moves.Add(1)
		for _, missing := range history.MissingOf(w.kept, []history.Event{event}) {
			w.findf("%s", missing)
		}
	}
}

// churn gives the label to clusters and takes it away, and changes the number of clusters of the Placement to others that all can have.
func (w *witness) churn(ctx context.Context, placement *clusterv1beta1.Placement) {
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(churnInterval):
		}
		var changed client.Object = &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: w.restless()[random.IntN(restless)]}}
		body := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, churned, []string{"true", "false"}[random.IntN(2)])
		if n%10 == 0 {
			changed = placement.DeepCopy()
			body = fmt.Sprintf(`{"spec":{"numberOfClusters":%d}}`, steady+restless+random.IntN(3))
		}
		if err := w.hub.Client.Patch(ctx, changed, suite.MergePatch(body)); err != nil && ctx.Err() == nil {
			w.failed("changing "+changed.GetName(), err)
		}
	}
}

// callWebhooks has the API server call every webhook all the time: one whose server is gone fails the request.
func (w *witness) callWebhooks(ctx context.Context, t *testing.T) {
	t.Helper()
	for ctx.Err() == nil {
		err := w.hub.TryReviews(t)
		if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "failed calling webhook") {
			w.failed("calling webhooks", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(churnInterval):
		}
	}
}

// watchDeletions records each deletion of a cluster, work, request or grant. The test deletes none while it runs.
func (w *witness) watchDeletions(ctx context.Context, t *testing.T, running *sync.WaitGroup) {
	t.Helper()
	api, err := client.NewWithWatch(w.hub.Environment.AdminConfig(), client.Options{Scheme: system.Scheme()})
	suite.Must(t, err)
	for _, list := range []client.ObjectList{
		&clusterv1.ManagedClusterList{}, &workv1.ManifestWorkList{},
		&openmcpv1alpha1.ClusterRequestGrantList{}, &openmcpv1alpha1.ClusterRequestList{},
	} {
		opened, err := api.Watch(ctx, list)
		suite.Must(t, err)
		running.Go(func() { w.watchDeletionsOf(ctx, api, list, opened) })
	}
}

// watchDeletionsOf records deletions until ctx ends. The API server ends the watches of a kind whose definition changes, as an upgrade does with the
// short names of ClusterRequests, and serves no older version of its objects any more: what is missing then was deleted.
func (w *witness) watchDeletionsOf(ctx context.Context, api client.WithWatch, list client.ObjectList, opened watch.Interface) {
	known := map[types.UID]client.ObjectKey{}
	for opened != nil {
		w.recordDeletions(ctx, list, opened, known)
		opened = w.reopen(ctx, api, list, known)
	}
}

// reopen records which of the known objects are missing, and returns a watch that begins after that; nil once ctx has ended.
func (w *witness) reopen(
	ctx context.Context, api client.WithWatch, list client.ObjectList, known map[types.UID]client.ObjectKey,
) watch.Interface {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(churnInterval): // The definition is being served anew.
		}
		if api.List(ctx, list) != nil {
			continue
		}
		opened, err := api.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
		if err != nil {
			continue
		}
		missing := maps.Clone(known)
		if err := meta.EachListItem(list, func(object runtime.Object) error {
			item, err := meta.Accessor(object)
			if err == nil {
				delete(missing, item.GetUID())
			}
			return err
		}); err != nil {
			w.findf("the list of %T: %v", list, err)
		}
		for uid, key := range missing {
			delete(known, uid)
			w.findf("%s of %T was deleted", key, list)
		}
		return opened
	}
}

// recordDeletions records the deletions that a watch shows until it ends, and adds the objects that it shows to the known ones.
func (w *witness) recordDeletions(
	ctx context.Context, list client.ObjectList, opened watch.Interface, known map[types.UID]client.ObjectKey,
) {
	defer opened.Stop()
	for event := range opened.ResultChan() {
		if ctx.Err() != nil {
			return
		}
		object, isObject := event.Object.(client.Object)
		if event.Type == watch.Error || !isObject {
			return
		}
		key := client.ObjectKeyFromObject(object)
		known[object.GetUID()] = key
		switch {
		case event.Type == watch.Deleted:
			delete(known, object.GetUID())
			w.findf("%s of %T was deleted", key, list)
		case object.GetDeletionTimestamp() != nil:
			w.findf("%s of %T is being deleted", key, list)
		}
	}
}
