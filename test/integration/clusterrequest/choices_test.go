// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("choices", func() {
	It("cluster-request C27: the fewest requests decide, or the names", func(ctx SpecContext) {
		w := newWorld(ctx)

		lands := func(name string) {
			GinkgoHelper()
			_, cluster := w.granted(w.request(w.platform, nil))
			Expect(cluster.Name).To(Equal(name))
		}

		for _, filled := range []struct {
			name     string
			requests int
		}{{"a", 3}, {"c", 2}, {"b", 1}} {
			w.sharedByHand(filled.name, nil, w.platform)
			for range filled.requests {
				lands(filled.name)
			}
		}
		lands("b")

		restartHub(clusterrequest.Options{Strategy: clusterrequest.Simple})
		lands("a")
	})

	It("cluster-request C28: in the scope Namespaced, the Clusters of other namespaces do not count", func(ctx SpecContext) {
		w := newWorld(ctx)
		other := w.namespace + "-b"
		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}})
		elsewhere := func(r *openmcpv1alpha1.ClusterRequest) { r.Namespace = other }
		_, cluster := w.granted(w.request(w.platform, nil))

		_, same := w.granted(w.request(w.platform, elsewhere))
		Expect(same.UID).To(Equal(cluster.UID))
		Expect(same.Namespace).To(Equal(clusterrequest.DefaultSharedNamespace))

		restartHub(clusterrequest.Options{Scope: clusterrequest.ScopeNamespaced})
		_, there := w.granted(w.request(w.platform, elsewhere))
		Expect(there.Namespace).To(Equal(other))
		Expect(there.Name).To(Equal(cluster.Name))
		_, here := w.granted(w.request(w.platform, nil))
		Expect(here.Namespace).To(Equal(w.namespace))
		_, same = w.granted(w.request(w.platform, nil))
		Expect(same.UID).To(Equal(here.UID))
	})

	It("cluster-request C53: a template says where a Cluster is, its name, its labels and its annotations", func(ctx SpecContext) {
		w := newWorld(ctx)
		there := w.namespace + "-there"
		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: there}})
		w.purpose("labelled-"+w.namespace, openmcpv1alpha1.PurposeSpec{ClusterTemplate: &openmcpv1alpha1.ClusterTemplate{
			Namespace: there, Name: "the-one", Labels: map[string]openmcpv1alpha1.LabelValue{"a": "b"},
			Annotations: map[string]openmcpv1alpha1.AnnotationValue{"example.com/c": "d"},
		}})
		w.purpose("generated-"+w.namespace, openmcpv1alpha1.PurposeSpec{
			Dedicated: true, ClusterTemplate: &openmcpv1alpha1.ClusterTemplate{GenerateName: "x-"},
		})

		_, cluster := w.granted(w.request("labelled-"+w.namespace, nil))
		Expect(client.ObjectKeyFromObject(cluster)).To(Equal(types.NamespacedName{Namespace: there, Name: "the-one"}))
		Expect(cluster.Labels).To(Equal(map[string]string{"a": "b", openmcpv1alpha1.DeleteWithoutRequestsLabel: "true"}))
		Expect(cluster.Annotations).To(HaveKeyWithValue("example.com/c", "d"))
		request := w.request("generated-"+w.namespace, nil)
		_, generated := w.granted(request)
		Expect(generated.Name).To(MatchRegexp("^x-[a-z0-9]{8}$"))
		w.remove(request)
		w.gone(request)

		restartHub(clusterrequest.Options{})
		w.requests--
		_, again := w.granted(w.request("generated-"+w.namespace, nil))
		Expect(again.Name).To(Equal(generated.Name))
		Expect(again.UID).NotTo(Equal(generated.UID))
	})

	It("cluster-request C18, C55: prefixes", func(ctx SpecContext) {
		w := newWorld(ctx)
		proposing := func(prefix string) func(*openmcpv1alpha1.ClusterRequest) {
			return func(r *openmcpv1alpha1.ClusterRequest) { r.Spec.Prefix = prefix }
		}

		exclusive, _ := w.granted(w.request(w.mcp, proposing("foo-")))
		Expect(exclusive.Spec.Prefix).To(BeEmpty())
		var cluster *openmcpv1alpha1.Cluster
		for _, proposal := range []string{"foo-", "foo-", "foo-bar-", "x-", ""} {
			var grant *openmcpv1alpha1.ClusterRequestGrant
			grant, cluster = w.granted(w.request(w.platform, proposing(proposal)))
			if len(prefixes(cluster)) == 1 {
				Expect(grant.Spec.Prefix).To(Equal("foo-"))
			} else {
				Expect(grant.Spec.Prefix).To(MatchRegexp("^[a-z][a-z0-9]{7}-$"))
			}
		}

		Expect(prefixes(cluster)).To(HaveLen(5))
		for request, prefix := range prefixes(cluster) {
			for other, longer := range prefixes(cluster) {
				begins := request != other && len(longer) >= len(prefix) && longer[:len(prefix)] == prefix
				Expect(begins).To(BeFalse(), "%s begins with %s", longer, prefix)
			}
		}
	})

	It("cluster-request C51, C59: a provider becomes ready; a lost Cluster comes back as it was granted", func(ctx SpecContext) {
		w := newWorld(ctx)
		trait := "only-in/" + w.namespace
		provider := gardener()
		provider.Name = w.namespace
		provider.Status.Ready = false
		provider.Status.Profiles[0].SupportedTraits = []openmcpv1alpha1.SupportedTrait{{Trait: trait}}
		wanted := provider.Status.DeepCopy()
		w.create(provider)
		DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, provider)).To(Succeed()) })

		publish := func() {
			GinkgoHelper()
			wanted.DeepCopyInto(&provider.Status)
			Expect(suite.Client.Status().Update(ctx, provider)).To(Succeed())
		}
		publish()

		template := &openmcpv1alpha1.ClusterTemplate{
			Labels:      map[string]openmcpv1alpha1.LabelValue{"a": "b"},
			Annotations: map[string]openmcpv1alpha1.AnnotationValue{"example.com/c": "d"},
		}
		purpose := &openmcpv1alpha1.Purpose{
			ObjectMeta: metav1.ObjectMeta{Name: "special-" + w.namespace},
			Spec:       openmcpv1alpha1.PurposeSpec{Traits: []openmcpv1alpha1.TraitRequirement{{Trait: trait}}, ClusterTemplate: template},
		}
		w.create(purpose)

		request := w.request(purpose.Name, nil)
		w.refused(request, openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonProviderNotReady)
		wanted.Ready = true
		publish()
		grant, cluster := w.granted(request)

		wanted.Profiles[0].Name = "gcp"
		wanted.Profiles[0].SupportedVersions = []openmcpv1alpha1.SupportedVersion{{Version: "1.30.0"}}
		publish()
		patch(w, purpose, func(p *openmcpv1alpha1.Purpose) {
			p.Spec.ClusterTemplate.Labels, p.Spec.ClusterTemplate.Annotations = map[string]openmcpv1alpha1.LabelValue{"c": "d"}, nil
		})
		suite.StopHub()
		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
		w.remove(cluster)
		restartHub(clusterrequest.Options{})

		_, again := w.granted(request)
		Expect(again.UID).NotTo(Equal(cluster.UID))
		Expect(again.Spec).To(Equal(grant.Spec.Cluster.ClusterSpec))
		Expect(again.Spec.ClusterProviderRef.Profile).To(BeEquivalentTo("aws"))
		Expect(again.Spec.Kubernetes.Version).To(Equal("1.20.3"))
		Expect(again.Labels).To(Equal(map[string]string{"a": "b", openmcpv1alpha1.DeleteWithoutRequestsLabel: "true"}))
		Expect(again.Annotations).To(HaveKeyWithValue("example.com/c", "d"))
	})
})

// sharedByHand creates a Cluster for purposes, and returns when the hub has seen it: it removes the finalizer of a request that does not
// exist. A change may be nil.
func (w *world) sharedByHand(name string, change func(*openmcpv1alpha1.Cluster), purposes ...string) {
	GinkgoHelper()
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.namespace, Name: name, Finalizers: []string{openmcpv1alpha1.RequestFinalizerPrefix + string(uuid.NewUUID())},
	}}
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}
	cluster.Spec.Purposes = purposeNames(purposes)
	cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
	if change != nil {
		change(cluster)
	}

	w.create(cluster)
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		g.Expect(cluster.Finalizers).To(BeEmpty())
	})
}

func purposeNames(purposes []string) []openmcpv1alpha1.PurposeName {
	names := make([]openmcpv1alpha1.PurposeName, 0, len(purposes))
	for _, purpose := range purposes {
		names = append(names, openmcpv1alpha1.PurposeName(purpose))
	}
	return names
}
