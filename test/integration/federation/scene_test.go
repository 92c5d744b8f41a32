// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// Selectors of the members in the two locations.
const (
	inEurope = `[{"key":"location","operator":"in","values":["europe"]}]`
	inUSA    = `[{"key":"location","operator":"in","values":["usa"]}]`
)

// scene is a namespace that takes part. Its objects are deleted, and gone from the members, before the next spec.
type scene struct{ *suite.Fixture }

// newScene creates a namespace, as changed by the edits, that is bound to the set of the members.
func newScene(ctx context.Context, edits ...func(*corev1.Namespace)) scene {
	GinkgoHelper()
	s := newUnboundScene(ctx, edits...)
	s.BindAny(ctx, boundSet)
	return s
}

// newUnboundScene creates a namespace that is bound to no set.
func newUnboundScene(ctx context.Context, edits ...func(*corev1.Namespace)) scene {
	GinkgoHelper()
	s := scene{suite.NewFixture(ctx, append([]func(*corev1.Namespace){optedIn}, edits...)...)}
	DeferCleanup(s.empty)
	return s
}

// optedIn is an edit for newScene, by default the first one.
func optedIn(namespace *corev1.Namespace) {
	namespace.Labels = map[string]string{federation.FederatedLabel: "true"}
}

// empty deletes the objects of the scene and waits for the end of their works.
func (s scene) empty(ctx SpecContext) {
	for _, object := range []client.Object{
		&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{}, &networkingv1.Ingress{},
		&appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.DaemonSet{},
	} {
		Expect(hub.DeleteAllOf(ctx, object, client.InNamespace(s.Namespace))).To(Succeed())
	}

	Eventually(func(g Gomega) {
		works := &workv1.ManifestWorkList{}
		g.Expect(hub.List(ctx, works, client.MatchingLabels{federation.NamespaceLabel: s.Namespace})).To(Succeed())
		g.Expect(works.Items).To(BeEmpty())
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// selecting returns the annotation with a selector.
func selecting(selector string) map[string]string {
	return map[string]string{federation.SelectorAnnotation: selector}
}

// configMap creates a ConfigMap whose key "v" is "1".
func (s scene) configMap(ctx context.Context, name string, annotations map[string]string) *corev1.ConfigMap {
	GinkgoHelper()
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Annotations: annotations}, Data: map[string]string{"v": "1"},
	}
	s.Create(ctx, object)
	return object
}

// deployment creates the Deployment "web" with 9 replicas.
func (s scene) deployment(ctx context.Context, annotations map[string]string) *appsv1.Deployment {
	GinkgoHelper()

	labels := map[string]string{"app": "web"}
	replicas := int32(9)
	object := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "web", Annotations: annotations},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
	s.Create(ctx, object)

	return object
}

// annotate sets annotations of an object, and removes those whose value is empty.
func annotate(ctx context.Context, object client.Object, annotations map[string]string) {
	GinkgoHelper()
	before, ok := object.DeepCopyObject().(client.Object)
	Expect(ok).To(BeTrue())
	changed := maps.Clone(object.GetAnnotations())
	if changed == nil {
		changed = map[string]string{}
	}

	maps.Copy(changed, annotations)
	maps.DeleteFunc(changed, func(_, value string) bool { return value == "" })
	object.SetAnnotations(changed)
	Expect(hub.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
}

// put sets the key "v" of a ConfigMap.
func put(ctx context.Context, configMap *corev1.ConfigMap, value string) {
	GinkgoHelper()
	before := configMap.DeepCopy()
	configMap.Data["v"] = value
	Expect(hub.Patch(ctx, configMap, client.MergeFrom(before))).To(Succeed())
}

// relabel sets a label of the ManagedCluster of a member until the spec ends.
func relabel(ctx context.Context, m *members.Member, key, value string) {
	GinkgoHelper()
	set := func(ctx context.Context, value string) {
		GinkgoHelper()
		managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: m.Cluster}}
		suite.Edit(ctx, managed, func(c *clusterv1.ManagedCluster) { c.Labels[key] = value })
	}
	set(ctx, value)
	DeferCleanup(set, clusterLabels[m.Cluster][key])
}

// identityOf returns the identity of an object of a kind that is delivered by default.
func identityOf(object client.Object) federation.Identity {
	GinkgoHelper()
	gvk, err := apiutil.GVKForObject(object, hub.Scheme())
	Expect(err).NotTo(HaveOccurred())
	kinds := federation.DefaultKinds()
	i := slices.IndexFunc(kinds, func(kind federation.FederatedKind) bool { return kind.GroupVersionKind == gvk })
	Expect(i).To(BeNumerically(">=", 0), "%s is delivered by default", gvk)
	return federation.Identity{NamespacedName: client.ObjectKeyFromObject(object), Kind: kinds[i]}
}

// worksOf returns the works of an object by cluster.
func worksOf(ctx context.Context, g Gomega, object client.Object) map[string]*workv1.ManifestWork {
	list := &workv1.ManifestWorkList{}
	g.Expect(hub.List(ctx, list, client.MatchingLabels{federation.NamespaceLabel: object.GetNamespace()})).To(Succeed())
	identity, works := identityOf(object), map[string]*workv1.ManifestWork{}
	for i := range list.Items {
		if identity.Owns(&list.Items[i]) {
			works[list.Items[i].Namespace] = &list.Items[i]
		}
	}
	return works
}

// clustersOf returns the clusters that have a work of an object, sorted.
func clustersOf(ctx context.Context, g Gomega, object client.Object) []string {
	return slices.Sorted(maps.Keys(worksOf(ctx, g, object)))
}

// expectWorks waits until exactly these clusters have a work of an object.
func expectWorks(ctx context.Context, object client.Object, clusters ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) []string { return clustersOf(ctx, g, object) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(ConsistOf(clusters), "clusters with %s", identityOf(object))
}

// decodePayload decodes the object in a work into an empty object of its kind.
func decodePayload(g Gomega, work *workv1.ManifestWork, into client.Object) {
	gvk, err := apiutil.GVKForObject(into, hub.Scheme())
	g.Expect(err).NotTo(HaveOccurred())
	for _, manifest := range work.Spec.Workload.Manifests {
		var found unstructured.Unstructured
		g.Expect(json.Unmarshal(manifest.Raw, &found)).To(Succeed())
		if found.GroupVersionKind() == gvk {
			g.Expect(json.Unmarshal(manifest.Raw, into)).To(Succeed())
			return
		}
	}

	g.Expect(work.Spec.Workload.Manifests).To(ContainElement(HaveField("Kind", gvk.Kind)))
}

// expectDelivered waits until exactly these clusters have a work of a ConfigMap, with its present data.
func expectDelivered(ctx context.Context, configMap *corev1.ConfigMap, clusters ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		works := worksOf(ctx, g, configMap)
		g.Expect(slices.Collect(maps.Keys(works))).To(ConsistOf(clusters))
		for _, work := range works {
			payload := &corev1.ConfigMap{}
			decodePayload(g, work, payload)
			g.Expect(payload.Data).To(Equal(configMap.Data))
			g.Expect(work.DeletionTimestamp).To(BeNil())
		}
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), "clusters with %s", configMap.Name)
}

// expectCopies waits until exactly these members have a copy of a ConfigMap, with its present data.
func expectCopies(ctx context.Context, configMap *corev1.ConfigMap, in ...*members.Member) {
	GinkgoHelper()
	for _, member := range []*members.Member{eu1, eu2, us1} {
		if slices.Contains(in, member) {
			Eventually(func(g Gomega) map[string]string { return memberCopy(ctx, g, member, configMap).Data }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(configMap.Data), "the copy in %s", member.Cluster)
		} else {
			expectNoCopy(ctx, configMap, member)
		}
	}
}

// expectNoCopy waits until an object is not in a member.
func expectNoCopy(ctx context.Context, object client.Object, member *members.Member) {
	GinkgoHelper()
	read, ok := object.DeepCopyObject().(client.Object)
	Expect(ok).To(BeTrue())
	Eventually(func() error { return member.Client.Get(ctx, client.ObjectKeyFromObject(object), read) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(MatchError(apierrors.IsNotFound, "NotFound"), "the copy in %s", member.Cluster)
}

// memberCopy returns the object of the same kind, namespace and name in a member.
func memberCopy[T any, P interface {
	*T
	client.Object
}](ctx context.Context, g Gomega, member *members.Member, object P) P {
	found := P(new(T))
	g.Expect(member.Client.Get(ctx, client.ObjectKeyFromObject(object), found)).To(Succeed())
	return found
}

// expectEvent waits for an Event about an object whose note contains all the words.
func expectEvent(ctx context.Context, object client.Object, reason string, words ...string) {
	GinkgoHelper()
	note := make([]types.GomegaMatcher, 0, len(words))
	for _, word := range words {
		note = append(note, ContainSubstring(word))
	}
	Eventually(func(g Gomega) []string { return notes(ctx, g, object, reason) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(ContainElement(And(note...)), "Events %s", reason)
}

// notes returns the notes of the Events about an object that have a reason.
func notes(ctx context.Context, g Gomega, object client.Object, reason string) []string {
	list := &eventsv1.EventList{}
	g.Expect(suite.Client.List(ctx, list, client.InNamespace(object.GetNamespace()))).To(Succeed())
	var found []string
	for _, event := range list.Items {
		if event.Regarding.Name == object.GetName() && event.Regarding.Kind == identityOf(object).Kind.Kind && event.Reason == reason {
			found = append(found, event.Note)
		}
	}
	return found
}
