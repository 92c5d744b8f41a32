// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// EverySystem enables the controllers of all systems, but for the one that taints clusters without a reported availability.
const EverySystem = "--controllers=*,-managedcluster-taints,podscheduling/*,affinityclass/*,federation/*,clusterrequest/*"

// Systems are all opt-in systems.
var Systems = []string{manifests.PodScheduling, manifests.AffinityClass, manifests.Federation, manifests.ClusterRequest}

// PlatformDefinitions are the definitions that Flux and the platform bring for AffinityClasses.
const PlatformDefinitions = "../../integration/affinityclass/testdata/platform.yaml"

// InstallEverySystem installs all systems and the definitions of others that they need.
func (h *Hub) InstallEverySystem(t *testing.T) {
	t.Helper()
	h.Apply(t, PlatformDefinitions)
	Must(t, manifests.InstallManifestWorks(t.Context(), h.Environment.AdminConfig()))
	for _, system := range Systems {
		Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), system, ""))
	}
}

// Apply applies the objects of a file.
func (h *Hub) Apply(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	Must(t, err)
	defer file.Close() //nolint:errcheck // It was read to its end.
	objects, err := manifests.Decode(file, name)
	Must(t, err)
	Must(t, manifests.Apply(t.Context(), h.Environment.AdminConfig(), objects))
}

// CallReplicaOfEverySystem has the API server call a replica with every review.
func (h *Hub) CallReplicaOfEverySystem(t *testing.T, r *Replica) {
	t.Helper()
	for _, system := range Systems {
		h.CallReplica(t, r, system)
	}
	h.TryOut(t, r)
	Eventually(t, "waiting for the webhooks of all systems", func() error { return h.TryReviews(t) })
}

// world is the namespace of the objects of CreateWorld, and the name of all but the Placement's clusters.
const world = "world"

// CreateWorld creates the cluster c1 and an object for each system that only asks for clusters: a Placement, a ConfigMap that is delivered, and a
// ClusterRequest. A policy and its Pods are the business of TryReviews.
func (h *Hub) CreateWorld(t *testing.T) {
	t.Helper()
	h.CreatePolicy(t)
	h.CreateRest(t)
}

// CreatePolicy creates the part of CreateWorld that only needs pod scheduling policies.
func (h *Hub) CreatePolicy(t *testing.T) {
	t.Helper()
	policy := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: world}}
	policy.Spec.PodSelector = &metav1.LabelSelector{}
	policy.Spec.NodeSelector = map[string]string{"pool": world}
	Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: world, Labels: map[string]string{federation.FederatedLabel: "true"},
	}}))
	Must(t, h.Client.Create(t.Context(), policy))
}

// CreateRest creates what CreateWorld creates beside CreatePolicy.
func (h *Hub) CreateRest(t *testing.T) {
	t.Helper()
	shared := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: world}}
	shared.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "cloud", Profile: "small"}
	shared.Spec.Purposes = []openmcpv1alpha1.PurposeName{world}
	shared.Spec.Tenancy = openmcpv1alpha1.TenancyShared
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: world}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{world}
	for _, object := range []client.Object{
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: "global"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
		},
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: world}, Spec: worldSpec()},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: world, Annotations: map[string]string{
			federation.SelectorAnnotation: `[{"key":"` + world + `","operator":"in","values":["true"]}]`,
		}}},
		&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: world}}, shared, request,
	} {
		Must(t, h.Client.Create(t.Context(), object))
	}
	h.CreateMember(t, "c1")
}

// worldSpec selects the clusters of CreateMember.
func worldSpec() clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{world: "true"}},
	}}}}
}

// CreateMember creates a cluster for the Placement and the ConfigMap of CreateWorld, and its namespace.
func (h *Hub) CreateMember(t *testing.T, name string) {
	t.Helper()
	Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	Must(t, h.Client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{world: "true"},
	}}))
}

// WantWorld waits until the Placement and the ConfigMap of CreateWorld are in exactly these clusters.
func (h *Hub) WantWorld(t *testing.T, clusters ...string) {
	t.Helper()
	h.WantDecisions(t, types.NamespacedName{Namespace: world, Name: world}, clusters...)
	h.WantWorks(t, clusters...)
}

// WantWorks waits until the ConfigMap of CreateWorld has works for exactly these clusters.
func (h *Hub) WantWorks(t *testing.T, clusters ...string) {
	t.Helper()
	Eventually(t, "waiting for ManifestWorks", func() error {
		works := &workv1.ManifestWorkList{}
		if err := h.Client.List(t.Context(), works); err != nil {
			return err
		}
		var got []string
		for i := range works.Items {
			got = append(got, works.Items[i].Namespace)
		}
		if strings.Join(got, " ") != strings.Join(clusters, " ") {
			return fmt.Errorf("there are works for %q, want %q", got, clusters)
		}
		return nil
	})
}

// WantGrant waits until the ClusterRequest of CreateWorld is granted.
func (h *Hub) WantGrant(t *testing.T) {
	t.Helper()
	h.WantMade(t, &openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: world}})
}

// Outcome returns the identity and version of each decision, work and grant, which change with every write.
func (h *Hub) Outcome(t *testing.T) map[string]string {
	t.Helper()
	outcome := map[string]string{}
	for _, list := range []client.ObjectList{
		&clusterv1beta1.PlacementDecisionList{}, &workv1.ManifestWorkList{}, &openmcpv1alpha1.ClusterRequestGrantList{},
	} {
		Must(t, h.Client.List(t.Context(), list))
		Must(t, meta.EachListItem(list, func(object runtime.Object) error {
			of, err := meta.Accessor(object)
			if err == nil {
				outcome[fmt.Sprintf("%T %s", object, klog.KObj(of))] = string(of.GetUID()) + " " + of.GetResourceVersion()
			}
			return err
		}))
	}
	return outcome
}

// TryReviews returns an error unless the webhooks of all systems answer for the objects of CreateWorld. It changes nothing.
func (h *Hub) TryReviews(t *testing.T) error {
	t.Helper()
	return errors.Join(h.TryDefaults(t), h.TryInjection(t), h.TryClass(t), h.TryRequester(t))
}

// TryInjection returns an error unless a new Pod gets the constraints of the policy of CreateWorld.
func (h *Hub) TryInjection(t *testing.T) error {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: "tried"}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	if err := client.NewDryRunClient(h.Client).Create(t.Context(), pod); err != nil {
		return fmt.Errorf("a new Pod: %w", err)
	}
	if pod.Spec.NodeSelector["pool"] != world {
		return fmt.Errorf("a new Pod has the nodeSelector %v", pod.Spec.NodeSelector)
	}
	return nil
}

// TryClass returns an error unless an application of a class that does not exist is refused.
func (h *Hub) TryClass(t *testing.T) error {
	t.Helper()
	if err := h.CreateApplication(t, "nosuch"); err == nil || !strings.Contains(err.Error(), `AffinityClass "nosuch" not found`) {
		return fmt.Errorf("an application of a class that does not exist: %w", err)
	}
	return nil
}

// CreateApplication creates an application with a class, or none if the class is empty, as a dry run.
func (h *Hub) CreateApplication(t *testing.T, class string) error {
	t.Helper()
	application := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	if class != "" {
		application.Object["spec"] = map[string]any{"affinityClass": class}
	}
	application.SetAPIVersion("apps.cozystack.io/v1alpha1")
	application.SetKind("Postgres")
	application.SetNamespace(world)
	application.SetName("tried")
	return client.NewDryRunClient(h.Client).Create(t.Context(), application)
}

// TryRequester returns an error unless a new AccessRequest gets its user.
func (h *Hub) TryRequester(t *testing.T) error {
	t.Helper()
	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: world, Name: "tried"}}
	access.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: world}
	if err := client.NewDryRunClient(h.Client).Create(t.Context(), access); err != nil {
		return fmt.Errorf("a new AccessRequest: %w", err)
	}
	if access.Spec.Requester == nil {
		return errors.New("a new AccessRequest has no requester")
	}
	return nil
}

// DeleteDefinitions deletes CustomResourceDefinitions with all their objects, and returns when they are gone.
func (h *Hub) DeleteDefinitions(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
		Must(t, h.Client.Delete(t.Context(), definition))
		h.WantGone(t, definition)
	}
}

// Serve has the API server serve the kind of a definition in all its versions, or in none.
func (h *Hub) Serve(t *testing.T, name string, served bool) {
	t.Helper()
	Eventually(t, "changing a definition", func() error {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := h.Client.Get(t.Context(), types.NamespacedName{Name: name}, definition); err != nil {
			return err
		}
		for i := range definition.Spec.Versions {
			definition.Spec.Versions[i].Served = served
		}
		return h.Client.Update(t.Context(), definition)
	})
}
