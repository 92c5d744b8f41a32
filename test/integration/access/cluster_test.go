// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const clusters = "managedclusters"

// reachedAt has the cluster reached at URLs.
func reachedAt(urls ...string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Spec.ManagedClusterClientConfigs = nil
		for _, url := range urls {
			c.Spec.ManagedClusterClientConfigs = append(c.Spec.ManagedClusterClientConfigs, clusterv1.ClientConfig{URL: url, CABundle: []byte("ca")})
		}
	}
}

func accepted(c *clusterv1.ManagedCluster) { c.Spec.HubAcceptsClient = true }

func movedTo(set string) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		metav1.SetMetaDataLabel(&c.ObjectMeta, clusterv1beta2.ClusterSetLabel, set)
	}
}

var _ = Describe("Admission of a cluster", func() {
	// registrar may write clusters, and may have them join the set that clusters without a set get.
	registrar := func(ctx context.Context, f *suite.Fixture, comes func(context.Context, *suite.Fixture, string) *person) *person {
		accessInForce(ctx, f)
		p := comes(ctx, f, "registrar")
		grantTo(ctx, f, p.subject(), mayWrite(clusters), mayJoin("default"))
		Eventually(func() error { return p.tries(ctx, newCluster(f, "c", "default")) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		return p
	}

	for way, comes := range ways {
		It("39: with "+way+", a cluster is made", func(ctx SpecContext) {
			f := suite.NewFixture(ctx)
			p, set := registrar(ctx, f, comes), f.Name("set")
			By("without a set and with an empty one, which is the default at most")
			Expect(p.tries(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name("c")}})).To(Succeed())
			Expect(p.tries(ctx, newCluster(f, "c", ""))).To(Succeed())

			By("accepted")
			Expect(p.tries(ctx, newCluster(f, "c", "default", accepted))).To(cannotAccept(p, f.Name("c")))
			Expect(p.tries(ctx, newCluster(f, "c", "default", accepted))).
				To(MatchError(ContainSubstring(`the verb "update" on managedclusters/accept of ` + registerGroup)))

			By("in a set")
			Expect(p.tries(ctx, newCluster(f, "c", set))).To(cannotMove(p, set))
			Expect(p.tries(ctx, newCluster(f, "c", set))).To(MatchError(ContainSubstring(`the verb "create" on managedclustersets/join`)))

			By("with the rights")
			grantTo(ctx, f, p.subject(), mayJoin(set), mayAccept(f.Name("c")))
			Eventually(func() error { return p.Create(ctx, newCluster(f, "c", set, accepted)) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			Expect(p.tries(ctx, newCluster(f, "other", set, accepted))).To(cannotAccept(p, f.Name("other")))
			Expect(p.tries(ctx, newCluster(f, "other", "global"))).To(cannotMove(p, "global"))
		})

		It("40: with "+way+", a cluster is changed", func(ctx SpecContext) {
			f := suite.NewFixture(ctx)
			p, from, to := registrar(ctx, f, comes), f.Name("from"), f.Name("to")
			cluster := f.Cluster(ctx, "from", "c")

			By("a field that is nobody's in particular")
			Expect(changes(ctx, p, cluster, func(c *clusterv1.ManagedCluster) {
				c.Spec.LeaseDurationSeconds = 30
				c.Spec.Taints = []clusterv1.Taint{{Key: "a", Effect: clusterv1.TaintEffectNoSelect}}
				metav1.SetMetaDataLabel(&c.ObjectMeta, "a", "b")
				metav1.SetMetaDataAnnotation(&c.ObjectMeta, "a", "b")
				c.Finalizers = []string{"example.com/hold"}
			})).To(Succeed())

			By("accepted")
			Expect(changes(ctx, p, cluster, accepted)).To(cannotAccept(p, cluster.Name))

			By("moved: the right is needed for the set it leaves and for the one it joins")
			Expect(changes(ctx, p, cluster, movedTo(to))).To(cannotMove(p, from))
			revoke := grantTo(ctx, f, p.subject(), mayJoin(from))
			Eventually(func() error { return changes(ctx, p, cluster, movedTo(to)) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(cannotMove(p, to))
			Expect(changes(ctx, p, cluster, movedTo("default"))).To(Succeed())
			revoke()
			grantTo(ctx, f, p.subject(), mayJoin(to), mayAccept())
			Eventually(func() error { return changes(ctx, p, cluster, accepted) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			Eventually(func() error { return changes(ctx, p, cluster, movedTo("default")) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(cannotMove(p, from))
			Expect(changes(ctx, p, cluster, func(c *clusterv1.ManagedCluster) { c.Labels = nil })).To(cannotMove(p, from))
			grantTo(ctx, f, p.subject(), mayJoin(from))
			Eventually(func() error { return changes(ctx, p, cluster, movedTo(to)) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		})
	}

	It("39, 40: names and URLs must be good", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		for name, words := range map[string]string{
			"a.b":                   `metadata.name format is not correct: must not contain dots`,
			strings.Repeat("n", 64): "must be no more than 63",
		} {
			Expect(tryOut(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(beInvalid(words))
		}
		Expect(tryOut(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("n", 63)}})).To(Succeed())
		const good = "https://api.example.com:6443/a?b=c"

		cluster := f.Cluster(ctx, "", "c", reachedAt(good))
		for _, bad := range []string{"http://example.com", "example.com", "", "HTTP://a", "https//a", "://", "/etc", "file:///etc", "https://a b"} {
			words := fmt.Sprintf("url %q is invalid in client configs", bad)
			Expect(tryOut(ctx, newCluster(f, "other", "", reachedAt(good, bad)))).To(beInvalid(words))
			Expect(changes(ctx, adminOf(), cluster, reachedAt(good, bad))).To(beInvalid(words))
		}
		for _, fine := range [][]string{nil, {good}, {"https://[::1]:6443"}, {"HTTPS://10.0.0.1", good}} {
			Expect(tryOut(ctx, newCluster(f, "other", "", reachedAt(fine...)))).To(Succeed())
			Expect(changes(ctx, adminOf(), cluster, reachedAt(fine...))).To(Succeed())
		}
	})

	It("accepts once: to take it back, and to say it again, needs no right", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		p := registrar(ctx, f, ways["impersonation"])
		cluster := f.Cluster(ctx, "", "c", accepted)

		Expect(changes(ctx, p, cluster, func(c *clusterv1.ManagedCluster) { metav1.SetMetaDataLabel(&c.ObjectMeta, "a", "b") })).To(Succeed())
		Expect(changes(ctx, p, cluster, func(c *clusterv1.ManagedCluster) { c.Spec.HubAcceptsClient = false })).To(Succeed())
		Expect(p.Patch(ctx, cluster.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":null}`)))).To(Succeed())
		Expect(p.Patch(ctx, cluster.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"hubAcceptsClient":true}}`)))).
			To(cannotAccept(p, cluster.Name))
		Expect(p.Patch(ctx, newCluster(f, "new", ""), client.RawPatch("application/apply-patch+yaml", []byte(
			`{"apiVersion":"`+clusterv1.GroupVersion.String()+`","kind":"ManagedCluster","metadata":{"name":"`+f.Name("new")+
				`"},"spec":{"hubAcceptsClient":true}}`)), client.FieldOwner("new"))).To(cannotAccept(p, f.Name("new")))
	})

	It("cannot be moved or accepted through its status", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		p := registrar(ctx, f, ways["a client certificate"])
		grantTo(ctx, f, p.subject(), mayWrite(clusters+"/status"))

		cluster := f.Cluster(ctx, "set", "c")
		patch := `{"metadata":{"labels":{"` + clusterv1beta2.ClusterSetLabel + `":"default"}},"spec":{"hubAcceptsClient":true}}`
		Eventually(func() error {
			return p.Status().Patch(ctx, cluster.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch)))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		Expect(cluster.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, f.Name("set")))
		Expect(cluster.Spec.HubAcceptsClient).To(BeFalse())
	})

	It("admits objects of any size", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		var urls []string
		for i := range 3000 {
			urls = append(urls, fmt.Sprintf("https://api%d.example.com:6443/%s", i, strings.Repeat("path", 25)))
		}
		cluster := newCluster(f, "c", "default", reachedAt(urls...))
		Expect(tryOut(ctx, cluster.DeepCopy())).To(Succeed())
		cluster.Spec.ManagedClusterClientConfigs[2999].URL = "http://example.com"
		Expect(tryOut(ctx, cluster)).To(beInvalid(`url "http://example.com" is invalid in client configs`))
	})
})

// adminOf is the admin of the hub.
func adminOf() *person { return &person{Client: suite.Client, user: "admin"} }
