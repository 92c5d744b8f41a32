// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/program"
)

const (
	// balancedClusters is how many clusters there are, and balancedNumber how many of them each placement gets in the end.
	balancedClusters = 151
	balancedNumber   = 100
)

// balanced are placements that are changed together, each with a ManifestWorkReplicaSet of the same name.
var balanced = []string{"one", "two", "three", "four"}

// TestPlacementsThatChangeTogether reduces four placements of 151 clusters to 100 clusters at once, and then removes a cluster. The default
// prioritizers, Balance and Steady, give no placement a cluster that it has just given up, so no ManifestWork is created anew; and no
// placement gives a cluster up that it could keep.
func TestPlacementsThatChangeTogether(t *testing.T) {
	p := startPlane(t)
	stages := map[string]string{}
	for n := range balancedClusters {
		stages[fmt.Sprintf("cluster-%03d", n)] = "production"
	}
	f := startFleet(t, p.client, stages)
	w := recordWorks(t, p.client)

	for _, name := range balanced {
		program.Must(t, f.api.Create(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}))
		program.Must(t, f.api.Create(t.Context(), replicaSet(name, name,
			clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{}})))
	}
	before := settled(t, f, w, balancedClusters, 1)
	first := w.count()

	group, ctx := errgroup.WithContext(t.Context())
	for _, name := range balanced {
		group.Go(func() error {
			placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			return f.api.Patch(ctx, placement, mergePatch(fmt.Sprintf(`{"spec":{"numberOfClusters":%d}}`, balancedNumber)))
		})
	}
	program.Must(t, group.Wait())
	reduced := settled(t, f, w, balancedNumber, 2)
	checkMoves(t, w.since(first), before, reduced)

	used := map[string]int{}
	for _, selected := range reduced {
		for _, cluster := range selected {
			used[cluster]++
		}
	}
	if len(used) != balancedClusters {
		t.Errorf("%d placements of %d clusters each have %d of %d clusters in all, want Balance to use all",
			len(balanced), balancedNumber, len(used), balancedClusters)
	}

	// The next change: a cluster goes that most placements have.
	gone := f.clusters()[0]
	for _, cluster := range f.clusters() {
		if used[cluster] > used[gone] {
			gone = cluster
		}
	}
	first = w.count()
	program.Must(t, f.remove(t.Context(), []string{gone}))
	eventually(t, "waiting for the cluster to leave the decisions", func() error { return absent(t.Context(), f.api, gone) })

	after := settled(t, f, w, balancedNumber, 3)
	checkMoves(t, w.since(first), reduced, after)
	for _, name := range balanced {
		lost := slices.DeleteFunc(slices.Clone(reduced[name]), func(cluster string) bool {
			return cluster == gone || slices.Contains(after[name], cluster)
		})
		if len(lost) > 0 {
			t.Errorf("when cluster %s went, placement %s gave %s up, want it to keep them", gone, name, some(lost))
		}
	}
}

// settled waits until every placement has so many clusters and every ManifestWorkReplicaSet follows, and has each roll a revision out, which
// shows that the work manager has nothing left to do. It returns the clusters of each placement.
func settled(t *testing.T, f *fleet, w *works, number, revision int) map[string][]string {
	t.Helper()
	selected := map[string][]string{}
	for _, name := range balanced {
		eventually(t, "waiting for the decisions and ManifestWorks", func() error {
			clusters, err := decided(t.Context(), f.api, name, number)
			if err != nil {
				return err
			}
			return w.difference(name, clusters)
		})
		program.Must(t, revise(t.Context(), f.api, name, revision))
	}

	for _, name := range balanced {
		eventually(t, "waiting for a new revision", func() error {
			clusters, err := decided(t.Context(), f.api, name, number)
			if err != nil {
				return err
			}
			selected[name] = clusters
			return errors.Join(w.difference(name, clusters), w.behind(name, revision))
		})
	}
	return selected
}

// decided returns the clusters of a placement, or an error when they are not so many or the status is behind.
func decided(ctx context.Context, api client.Client, name string, number int) ([]string, error) {
	placement := &clusterv1beta1.Placement{}
	if err := api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, placement); err != nil {
		return nil, err
	}
	condition := meta.FindStatusCondition(placement.Status.Conditions, clusterv1beta1.PlacementConditionSatisfied)
	if condition == nil || condition.ObservedGeneration != placement.Generation {
		return nil, fmt.Errorf("the status of placement %s is behind: %v", name, condition)
	}

	list := &clusterv1beta1.PlacementDecisionList{}
	if err := api.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{clusterv1beta1.PlacementLabel: name}); err != nil {
		return nil, err
	}
	var clusters []string
	for _, page := range list.Items {
		for _, decision := range page.Status.Decisions {
			clusters = append(clusters, decision.ClusterName)
		}
	}

	if len(clusters) != number || int(placement.Status.NumberOfSelectedClusters) != number {
		return nil, fmt.Errorf("placement %s has %d clusters and %d in its status, want %d",
			name, len(clusters), placement.Status.NumberOfSelectedClusters, number)
	}
	slices.Sort(clusters)
	return clusters, nil
}

// absent returns an error as long as the cluster is in a decision.
func absent(ctx context.Context, api client.Client, cluster string) error {
	list := &clusterv1beta1.PlacementDecisionList{}
	if err := api.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}

	for _, page := range list.Items {
		for _, decision := range page.Status.Decisions {
			if decision.ClusterName == cluster {
				return fmt.Errorf("cluster %s is in %s", cluster, page.Name)
			}
		}
	}
	return nil
}

// checkMoves finds ManifestWorks that went although their cluster stays, that were created anew, or that came and went.
func checkMoves(t *testing.T, events []workEvent, before, after map[string][]string) {
	t.Helper()
	for _, finding := range unstable(events, after) {
		t.Error(finding)
	}

	for _, name := range balanced {
		var anew []string
		for _, event := range events {
			if event.set == name && event.kind == watch.Added && slices.Contains(before[name], event.cluster) {
				anew = append(anew, event.cluster)
			}
		}
		if len(anew) > 0 {
			t.Errorf("placement %s: ManifestWorks created anew: %s", name, some(anew))
		}
	}
}
