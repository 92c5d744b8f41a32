// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// The size of the great fleet. Ten sets: exclusive ones, and two by label.
const (
	greatClusters      = 1000
	greatPlacements    = 100
	greatExclusiveSets = 8
	greatNamespaces    = 10
	greatScores        = 5 // Every fifth cluster has scores.
)

// greatFleet makes the objects of the great fleet with parallel clients.
type greatFleet struct {
	api client.Client
}

func (f greatFleet) create(ctx context.Context, objects ...client.Object) error {
	for _, object := range objects {
		if err := f.api.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
		}
	}
	return nil
}

// set is one of the ten: exclusive, or by a label, or everything.
func (f greatFleet) set(ctx context.Context, i int) error {
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set" + strconv.Itoa(i)}}
	switch i {
	case greatExclusiveSets:
		set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
			SelectorType:  clusterv1beta2.LabelSelector,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
		}
	case greatExclusiveSets + 1:
		set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
		}
	}

	return f.create(ctx, set)
}

// namespace binds three of the exclusive sets, or one by a label.
func (f greatFleet) namespace(ctx context.Context, i int) error {
	name := greatNamespace(i)
	objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}}

	bound := []int{i % greatExclusiveSets, (i + 1) % greatExclusiveSets, (i + 2) % greatExclusiveSets}
	if i%4 == 0 {
		bound = []int{greatExclusiveSets + i/4%2}
	}

	for _, set := range bound {
		set := "set" + strconv.Itoa(set)
		objects = append(objects, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: set},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
		})
	}
	return f.create(ctx, objects...)
}

func greatNamespace(i int) string { return "tenant" + strconv.Itoa(i%greatNamespaces) }

func greatCluster(i int) string { return fmt.Sprintf("cluster%04d", i) }

func (f greatFleet) cluster(ctx context.Context, i int) error {
	name := greatCluster(i)
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		clusterv1beta2.ClusterSetLabel: "set" + strconv.Itoa(i%greatExclusiveSets),
		"region":                       []string{"eu", "us", "ap"}[i%3],
		"tier":                         strconv.Itoa(i % 7),
	}}}

	for _, taint := range []struct {
		every int
		taint clusterv1.Taint
	}{
		{11, clusterv1.Taint{Key: "gpu", Value: "a100", Effect: clusterv1.TaintEffectNoSelect}},
		{13, clusterv1.Taint{Key: "old", Effect: clusterv1.TaintEffectPreferNoSelect}},
		{17, clusterv1.Taint{Key: "maintenance", Effect: clusterv1.TaintEffectNoSelectIfNew}},
	} {
		if i%taint.every == 0 {
			cluster.Spec.Taints = append(cluster.Spec.Taints, taint.taint)
		}
	}

	if err := f.create(ctx, cluster); err != nil {
		return err
	}

	cluster.Status.Conditions = []metav1.Condition{}
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{
		{Name: "zone", Value: "z" + strconv.Itoa(i%5)}, {Name: "account", Value: fmt.Sprintf("arn:aws:eks:%d:cluster/%s", i%9, name)},
	}
	cluster.Status.Allocatable = clusterv1.ResourceList{
		clusterv1.ResourceCPU:    *resource.NewQuantity(int64(i*37%97+1), resource.DecimalSI),
		clusterv1.ResourceMemory: *resource.NewQuantity(int64(i*53%89+1)<<30, resource.BinarySI),
	}
	cluster.Status.Capacity = clusterv1.ResourceList{
		clusterv1.ResourceCPU: resource.MustParse("100"), clusterv1.ResourceMemory: resource.MustParse("100Gi"),
	}

	if err := f.api.Status().Update(ctx, cluster); err != nil {
		return fmt.Errorf("writing the status of ManagedCluster %s: %w", name, err)
	}
	if i%greatScores > 0 {
		return nil
	}
	return f.score(ctx, i)
}

func (f greatFleet) score(ctx context.Context, i int) error {
	score := &clusterv1alpha1.AddOnPlacementScore{ObjectMeta: metav1.ObjectMeta{Namespace: greatCluster(i), Name: suite.ScoreObject}}
	err := f.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: score.Namespace}}, score)
	if err != nil {
		return err
	}
	score.Status.Scores = []clusterv1alpha1.AddOnPlacementScoreItem{{Name: suite.ScoreEntry, Value: int32(i*31%201 - 100)}}
	if err := f.api.Status().Update(ctx, score); err != nil {
		return fmt.Errorf("writing the status of AddOnPlacementScore %s/demo: %w", score.Namespace, err)
	}
	return nil
}

func (f greatFleet) placement(ctx context.Context, i int) error {
	kind := greatKinds[i/greatNamespaces%len(greatKinds)]
	return f.create(ctx, &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: greatNamespace(i), Name: kind.name}, Spec: *kind.spec.DeepCopy(),
	})
}

// greatKind is one of the kinds of placements in the great fleet.
type greatKind struct {
	name string
	spec clusterv1beta1.PlacementSpec
}

// The kinds whose answer depends on what others have, and on what was before.
const (
	greatDefault = "best-by-default"
	greatSteady  = "best-and-steady"
)

var greatKinds = []greatKind{
	{"all", clusterv1beta1.PlacementSpec{}},
	{"few", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("tier", "3"), suite.ByLabel("tier", "5")}}},
	{"claim", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{
		suite.ByClaim("account", metav1.LabelSelectorOpNotIn, "arn:aws:eks:0:cluster/cluster0000"),
		suite.ByClaim("zone", metav1.LabelSelectorOpIn, "z1", "z2"),
	}}},
	{"cel", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{
		suite.ByCEL(`managedCluster.status.clusterClaims.exists(c, c.name == "zone" && c.value == "z1")`,
			`managedCluster.metadata.labels["region"] != "us"`),
		suite.ByCEL(`managedCluster.scores("demo").exists(s, s.name == "size" && s.value > 50)`),
	}}},
	{greatDefault, clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](10)}},
	{"resources", clusterv1beta1.PlacementSpec{
		NumberOfClusters:  ptr.To[int32](7),
		PrioritizerPolicy: suite.Exactly(suite.BuiltIn(suite.PrioritizerCPU, 2), suite.BuiltIn(suite.PrioritizerMemory, -1)),
	}},
	{"tolerant", clusterv1beta1.PlacementSpec{Tolerations: []clusterv1beta1.Toleration{
		{Key: "gpu", Operator: clusterv1beta1.TolerationOpEqual, Value: "a100"}, {Key: "maintenance", Operator: clusterv1beta1.TolerationOpExists},
	}}},
	{"groups", clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
		ClustersPerDecisionGroup: intstr.FromString("30%"),
		DecisionGroups: []clusterv1beta1.DecisionGroup{{GroupName: "europe", ClusterSelector: clusterv1beta1.GroupClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
		}}},
	}}}},
	{"score", clusterv1beta1.PlacementSpec{
		NumberOfClusters: ptr.To[int32](5), PrioritizerPolicy: suite.Exactly(suite.DemoScore(3), suite.BuiltIn(suite.PrioritizerCPU, 1)),
	}},
	{greatSteady, clusterv1beta1.PlacementSpec{
		NumberOfClusters: ptr.To[int32](20), PrioritizerPolicy: suite.Besides(suite.BuiltIn(suite.PrioritizerSteady, 3)),
	}},
}
