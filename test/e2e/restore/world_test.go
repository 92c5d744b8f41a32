// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// The names of the objects of the world.
const (
	team    = "team"    // the namespace, and the Purpose of its request
	fleet   = "fleet"   // the set
	app     = "app"     // the Placement of one cluster, the Deployment, and the ClusterRequest
	all     = "all"     // the Placement of all clusters
	prefix  = "foo-"    // of the request
	leaving = "leaving" // the cluster that has left
)

// controllers are those of the hub of the world, whose clusters report no availability.
var controllers = []string{"--controllers=*,-managedcluster-taints,federation/*,clusterrequest/*", "--max-removal-percent=50"}

// world is a hub whose state does not follow from the objects that users have written: a hub that decides anew decides otherwise.
type world struct {
	*suite.Hub

	hub   *suite.Replica // nil while it does not run
	files string         // the directory of the backup
}

// state is what a restore keeps or loses.
type state struct {
	// Decision is the cluster in the decision of the Placement app.
	Decision string
	// Cluster and Prefix are those of the Grant.
	Cluster, Prefix string
	// Replicas are those that the ManifestWorks ask for, by cluster.
	Replicas map[string]int32
	// Recent reports whether the status of the Placement all records the cluster that has left.
	Recent bool
}

// original is the state of the world. Steady keeps w3, which was there first, as do the Grant its Cluster and w3 its replicas.
var original = state{Decision: "w3", Cluster: "b", Prefix: prefix, Replicas: map[string]int32{"w1": 0, "w2": 0, "w3": 6}, Recent: true}

// anew is the state of a hub that decides on the same objects without a record.
var anew = state{Decision: "w1", Cluster: "a", Prefix: prefix, Replicas: map[string]int32{"w1": 2, "w2": 2, "w3": 2}}

// newWorld creates the world, and returns when it is in its original state.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Hub: suite.StartHub(t), files: t.TempDir()}
	suite.Must(t, manifests.InstallManifestWorks(t.Context(), w.Environment.AdminConfig()))
	for _, system := range []string{manifests.Federation, manifests.ClusterRequest} {
		suite.Must(t, manifests.InstallSystem(t.Context(), w.Environment.AdminConfig(), system, ""))
	}
	w.start(t)

	steady := clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: []clusterv1beta1.PrioritizerConfig{{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: "Steady"}, Weight: 1,
	}}}
	running := []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"runs": app}},
	}}}
	inTeam := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: team, Name: name} }
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: inTeam(app)}
	request.Spec.Purposes, request.Spec.Prefix = []openmcpv1alpha1.PurposeName{team}, prefix
	w.create(t,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team, Labels: map[string]string{federation.FederatedLabel: "true"}}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: fleet}},
		&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: inTeam(fleet), Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: fleet}},
		&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: team}}, shared("b"), request,
		&clusterv1beta1.Placement{ObjectMeta: inTeam(app), Spec: clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: steady, Predicates: running,
		}},
		&clusterv1beta1.Placement{ObjectMeta: inTeam(all), Spec: clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](9)}},
		deployment(),
	)
	// It comes with the first decisions of the Placement all, so that it has not just joined when it leaves, which would not be recorded.
	alone := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: leaving, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: fleet},
	}}
	w.create(t, alone)
	w.WantDecisions(t, client.ObjectKey{Namespace: team, Name: all}, leaving)
	w.joins(t, "w3")
	w.want(t, state{Decision: "w3", Cluster: "b", Prefix: prefix, Replicas: map[string]int32{"w3": 6}})

	w.reportReady(t, "w3", 6)
	for name, spec := range map[string]string{app: `{"numberOfClusters":1}`, all: `{"numberOfClusters":null}`} {
		placement := &clusterv1beta1.Placement{ObjectMeta: inTeam(name)}
		suite.Must(t, w.Client.Patch(t.Context(), placement, suite.MergePatch(`{"spec":`+spec+`}`)))
	}
	w.create(t, shared("a"))
	w.joins(t, "w1", "w2")
	w.leaves(t, alone)
	w.want(t, original)
	return w
}

// start starts the hub, which leads when it returns.
func (w *world) start(t *testing.T) {
	t.Helper()
	w.hub = w.StartReplica(t, controllers...)
	w.WantHolder(t, w.hub)
}

// stop stops the hub.
func (w *world) stop(t *testing.T) {
	t.Helper()
	if w.hub != nil {
		w.Stop(t, w.hub)
		w.hub = nil
	}
}

func (w *world) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		suite.Must(t, w.Client.Create(t.Context(), object))
	}
}

// joins creates clusters of the set, which are available.
func (w *world) joins(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: fleet, "runs": app},
		}}
		w.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, cluster)
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Available",
		})
		suite.Must(t, w.Client.Status().Update(t.Context(), cluster))
	}
}

// leaves has the cluster leave that the Placement all selects alone.
func (w *world) leaves(t *testing.T, cluster *clusterv1.ManagedCluster) {
	t.Helper()
	w.WantDecisions(t, client.ObjectKey{Namespace: team, Name: all}, leaving, "w1", "w2", "w3")
	suite.Must(t, w.Client.Delete(t.Context(), cluster))
	w.WantDecisions(t, client.ObjectKey{Namespace: team, Name: all}, "w1", "w2", "w3")
}

// shared returns a Cluster for the request.
func shared(name string) *openmcpv1alpha1.Cluster {
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}}
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "cloud", Profile: "small"}
	cluster.Spec.Purposes = []openmcpv1alpha1.PurposeName{team}
	cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
	return cluster
}

// deployment returns the federated object, whose replicas stay where they are ready.
func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": app}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: app, Annotations: map[string]string{
			federation.SelectorAnnotation: `[{"key":"runs","operator":"in","values":["` + app + `"]}]`,
		}},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](6), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
}

// reportReady reports ready replicas, as the agent of a cluster does.
func (w *world) reportReady(t *testing.T, cluster string, ready int64) {
	t.Helper()
	works := &workv1.ManifestWorkList{}
	suite.Must(t, w.Client.List(t.Context(), works, client.InNamespace(cluster)))
	if len(works.Items) != 1 {
		t.Fatalf("%d works are in namespace %s", len(works.Items), cluster)
	}
	work := &works.Items[0]
	meta.SetStatusCondition(&work.Status.Conditions, metav1.Condition{
		Type: workv1.WorkApplied, Status: metav1.ConditionTrue, Reason: "Applied", ObservedGeneration: work.Generation,
	})
	work.Status.ResourceStatus.Manifests = []workv1.ManifestCondition{{
		ResourceMeta: workv1.ManifestResourceMeta{Group: "apps", Resource: "deployments", Namespace: team, Name: app},
		StatusFeedbacks: workv1.StatusFeedbackResult{Values: []workv1.FeedbackValue{{
			Name: federation.ReadyReplicas, Value: workv1.FieldValue{Type: workv1.Integer, Integer: ptr.To(ready)},
		}}},
		Conditions: []metav1.Condition{{
			Type: workv1.ManifestApplied, Status: metav1.ConditionTrue, Reason: "Applied", LastTransitionTime: metav1.Now(),
		}},
	}}
	suite.Must(t, w.Client.Status().Update(t.Context(), work))
}

// want waits until the hub has a state.
func (w *world) want(t *testing.T, want state) {
	t.Helper()
	suite.Eventually(t, "waiting for the state of the hub", func() error {
		got, err := w.state(t)
		if err == nil && (got.Decision != want.Decision || got.Cluster != want.Cluster || got.Prefix != want.Prefix || got.Recent != want.Recent ||
			!maps.Equal(got.Replicas, want.Replicas)) {
			err = fmt.Errorf("the state is %+v, want %+v", got, want)
		}
		return err
	})
}

// state reads the state of the hub. It returns an error while the hub has not written all of it.
func (w *world) state(t *testing.T) (state, error) {
	t.Helper()
	got := state{Replicas: map[string]int32{}}
	both, request := [2]clusterv1beta1.Placement{}, &openmcpv1alpha1.ClusterRequest{}
	for i, name := range []string{app, all} {
		if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: team, Name: name}, &both[i]); err != nil {
			return got, err
		}
	}
	if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: team, Name: app}, request); err != nil {
		return got, err
	}

	for i := range both {
		page := &clusterv1beta1.PlacementDecision{}
		if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: team, Name: both[i].Name + "-decision-1"}, page); err != nil {
			return got, err
		}
		clusters := len(page.Status.Decisions)
		if clusters == 0 || clusters != int(both[i].Status.NumberOfSelectedClusters) ||
			len(page.OwnerReferences) != 1 || page.OwnerReferences[0].UID != both[i].UID {
			return got, fmt.Errorf("PlacementDecision %s is %+v", page.Name, page)
		}
		if both[i].Name == app {
			got.Decision = page.Status.Decisions[0].ClusterName
		}
	}
	recent := meta.FindStatusCondition(both[1].Status.Conditions, removalbudget.RecordCondition)
	got.Recent = recent != nil && recent.Status == metav1.ConditionTrue

	grant, cluster := &openmcpv1alpha1.ClusterRequestGrant{}, &openmcpv1alpha1.Cluster{}
	if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(request), grant); err != nil {
		return got, err
	}
	ref := grant.Spec.ClusterRef
	if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, cluster); err != nil {
		return got, err
	}
	got.Cluster = cluster.Name
	if got.Prefix = clusterrequest.Prefix(cluster, request.UID); got.Prefix != grant.Spec.Prefix || clusterrequest.GrantOwner(grant) != request.UID {
		return got, fmt.Errorf("the Grant is %+v, and the Cluster has the prefix %q", grant, got.Prefix)
	}

	works := &workv1.ManifestWorkList{}
	if err := w.Client.List(t.Context(), works); err != nil {
		return got, err
	}
	for i := range works.Items {
		if !slices.ContainsFunc(works.Items[i].ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
			return entry.Manager == federation.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply
		}) {
			return got, fmt.Errorf("the ManifestWork in namespace %s is not the hub's", works.Items[i].Namespace)
		}
		replicas, err := federation.PlannedReplicas(&works.Items[i])
		if err != nil {
			return got, err
		}
		got.Replicas[works.Items[i].Namespace] = replicas
	}
	return got, nil
}
