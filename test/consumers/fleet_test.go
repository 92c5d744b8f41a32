// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/program"
)

const (
	// namespace has the placements and the ManifestWorkReplicaSets.
	namespace = "deployments"
	// clusterSet has all clusters.
	clusterSet = "fleet"
	// stageLabel is the label of clusters by which the placements group them.
	stageLabel = "stage"
	// revisionKey is where the payload of a ManifestWork has the revision of its template.
	revisionKey = "revision"
	// writers is how many requests the tests have under way at the same time.
	writers = 16
)

// fleet is clusters of one set, each with the namespace for its ManifestWorks.
type fleet struct {
	api    client.Client
	stages map[string]string // of each cluster
}

// startFleet creates the clusters and a namespace that the set is bound to.
func startFleet(t *testing.T, api client.Client, stages map[string]string) *fleet {
	t.Helper()
	f := &fleet{api: api, stages: map[string]string{}}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: clusterSet}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: clusterSet},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: clusterSet},
		},
	} {
		program.Must(t, api.Create(t.Context(), object))
	}

	program.Must(t, f.add(t.Context(), stages))
	return f
}

// clusters are the names of all clusters, sorted.
func (f *fleet) clusters() []string { return slices.Sorted(maps.Keys(f.stages)) }

// of are the clusters of a stage, sorted.
func (f *fleet) of(stage string) []string {
	return slices.DeleteFunc(f.clusters(), func(name string) bool { return f.stages[name] != stage })
}

// each does something for clusters, several at a time.
func (f *fleet) each(ctx context.Context, names []string, do func(context.Context, string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, name := range names {
		group.Go(func() error { return do(ctx, name) })
	}
	return group.Wait()
}

// add creates clusters of these stages.
func (f *fleet) add(ctx context.Context, stages map[string]string) error {
	maps.Copy(f.stages, stages)
	return f.each(ctx, slices.Sorted(maps.Keys(stages)), func(ctx context.Context, name string) error {
		if err := f.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
		return f.api.Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: clusterSet, stageLabel: stages[name]},
		}})
	})
}

// remove deletes clusters; their namespaces stay, as they do until the last ManifestWork is gone.
func (f *fleet) remove(ctx context.Context, names []string) error {
	for _, name := range names {
		delete(f.stages, name)
	}
	return f.each(ctx, names, func(ctx context.Context, name string) error {
		return f.api.Delete(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
	})
}

// relabel moves clusters to other stages.
func (f *fleet) relabel(ctx context.Context, stages map[string]string) error {
	maps.Copy(f.stages, stages)
	return f.each(ctx, slices.Sorted(maps.Keys(stages)), func(ctx context.Context, name string) error {
		body := fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, stageLabel, stages[name])
		return f.api.Patch(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, mergePatch(body))
	})
}

// payload is the manifests of a revision of a template.
func payload(revision int) []workv1.Manifest {
	raw := fmt.Sprintf(
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":"payload"},"data":{%q:"%d"}}`, revisionKey, revision)
	return []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(raw)}}}
}

// replicaSet deploys revision 0 to the clusters of a placement.
func replicaSet(name, placement string, strategy clusterv1alpha1.RolloutStrategy) *workv1alpha1.ManifestWorkReplicaSet {
	return &workv1alpha1.ManifestWorkReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: workv1alpha1.ManifestWorkReplicaSetSpec{
			ManifestWorkTemplate: workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: payload(0)}},
			PlacementRefs:        []workv1alpha1.LocalPlacementReference{{Name: placement, RolloutStrategy: strategy}},
		},
	}
}

// revise gives a ManifestWorkReplicaSet another revision of its template.
func revise(ctx context.Context, api client.Client, name string, revision int) error {
	body, err := json.Marshal(map[string]any{"spec": map[string]any{"manifestWorkTemplate": map[string]any{
		"workload": map[string]any{"manifests": payload(revision)},
	}}})
	if err != nil {
		return err
	}
	set := &workv1alpha1.ManifestWorkReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return api.Patch(ctx, set, mergePatch(string(body)))
}

func mergePatch(body string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(body)) }
