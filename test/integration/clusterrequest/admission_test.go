// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"context"
	"net"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/webhook"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	editRole     = "open-cluster-management:placement-hub:clusterrequest-edit"
	adminRole    = "open-cluster-management:placement-hub:clusterrequest-admin"
	accessRole   = "open-cluster-management:placement-hub:clusterrequest-access"
	purposesRole = "open-cluster-management:placement-hub:clusterrequest-purposes"
)

var _ = Describe("admission", Ordered, ContinueOnFailure, func() {
	var stop func()
	BeforeAll(func(ctx SpecContext) { stop = admit(ctx) })

	It("cluster-request C33: a reference to another namespace needs the right to access", func(ctx SpecContext) {
		w := newWorld(ctx)
		other := w.namespace + "-b"
		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}})
		suite.Bind(ctx, w.namespace, editRole, "eve")
		eve := suite.As("eve", "dev")
		reference := &openmcpv1alpha1.ObjectReference{Namespace: other, Name: "x"}
		byCluster := w.accessRequest("by-cluster", openmcpv1alpha1.AccessRequestSpec{ClusterRef: reference})
		byRequest := w.accessRequest("by-request", openmcpv1alpha1.AccessRequestSpec{RequestRef: reference})

		Expect(eve.Create(ctx, byCluster)).To(And(Satisfy(apierrors.IsForbidden), MatchError(ContainSubstring(
			`user "eve" is not allowed to ask for access to clusters "`+other+
				`/x": this needs the verb "create" on clusters/access for that object`))))
		Expect(eve.Create(ctx, byRequest)).To(MatchError(ContainSubstring(`this needs the verb "create" on clusterrequests/access for that object`)))
		for _, own := range []string{"", w.namespace} {
			near := w.accessRequest("near"+own, openmcpv1alpha1.AccessRequestSpec{
				ClusterRef: &openmcpv1alpha1.ObjectReference{Namespace: own, Name: "x"},
			})
			Expect(eve.Create(ctx, near)).To(Succeed())
		}

		binding := suite.Bind(ctx, other, accessRole, "eve")
		for _, request := range []*openmcpv1alpha1.AccessRequest{byCluster, byRequest} {
			w.eventually(func(g Gomega) { g.Expect(eve.Create(ctx, request)).To(Succeed()) })
		}

		// Who loses the right can still change what is not the spec.
		w.remove(binding)
		w.eventually(func(g Gomega) {
			changed := byCluster.DeepCopy()
			changed.Spec.TTL = &metav1.Duration{Duration: time.Hour}
			g.Expect(eve.Patch(ctx, changed, client.MergeFrom(byCluster), client.DryRunAll)).To(Satisfy(apierrors.IsForbidden))
		})
		labelled := byCluster.DeepCopy()
		labelled.Labels = map[string]string{"a": "b"}
		Expect(eve.Patch(ctx, labelled, client.MergeFrom(byCluster))).To(Succeed())
	})

	It("cluster-request C40: the requester is who changed the spec", func(ctx SpecContext) {
		w := newWorld(ctx)
		suite.Bind(ctx, w.namespace, editRole, "eve", "bob")
		mallory := &openmcpv1alpha1.Requester{Username: "mallory", Groups: []string{"system:masters"}}
		request := w.accessRequest("x", openmcpv1alpha1.AccessRequestSpec{
			ClusterRef: &openmcpv1alpha1.ObjectReference{Name: "x"}, Requester: mallory,
		})
		w.eventually(func(g Gomega) { g.Expect(suite.As("eve", "dev").Create(ctx, request)).To(Succeed()) })
		Expect(request.Spec.Requester.Username).To(Equal("eve"))
		Expect(request.Spec.Requester.Groups).To(ConsistOf("system:authenticated", "dev"))

		change := func(change func(*openmcpv1alpha1.AccessRequest)) *openmcpv1alpha1.Requester {
			GinkgoHelper()
			changed := request.DeepCopy()
			change(changed)
			Expect(suite.As("bob", "dev").Patch(ctx, changed, client.MergeFrom(request))).To(Succeed())
			request = changed
			return changed.Spec.Requester
		}

		Expect(change(func(r *openmcpv1alpha1.AccessRequest) { r.Labels = map[string]string{"a": "b"} }).Username).To(Equal("eve"))
		Expect(change(func(r *openmcpv1alpha1.AccessRequest) { r.Spec.Requester = mallory }).Username).To(Equal("eve"))
		Expect(change(func(r *openmcpv1alpha1.AccessRequest) { r.Spec.Requester = nil }).Username).To(Equal("eve"))
		Expect(change(func(r *openmcpv1alpha1.AccessRequest) {
			r.Spec.RoleRefs = []openmcpv1alpha1.RoleReference{{Kind: openmcpv1alpha1.KindClusterRole, Name: "view"}}
			r.Spec.Requester = mallory
		}).Username).To(Equal("bob"))
	})

	It("cluster-request C62: a tenant writes neither Grants nor a status", func(ctx SpecContext) {
		w := newWorld(ctx)
		suite.Bind(ctx, w.namespace, editRole, "eve")
		suite.Bind(ctx, w.namespace, purposesRole, "eve")
		role := &rbacv1.ClusterRole{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: editRole}, role)).To(Succeed())
		Expect(role.Labels).To(HaveKeyWithValue("rbac.authorization.k8s.io/aggregate-to-admin", "true"), "an admin of a namespace has these rights")
		eve := suite.As("eve", "dev")
		request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "r1"}}
		request.Spec.Purposes = []openmcpv1alpha1.PurposeName{openmcpv1alpha1.PurposeName(w.platform)}
		w.eventually(func(g Gomega) { g.Expect(eve.Create(ctx, request)).To(Succeed()) })

		grant, cluster := w.granted(request)
		access := w.accessRequest("x", openmcpv1alpha1.AccessRequestSpec{RequestRef: &openmcpv1alpha1.ObjectReference{Name: "r1"}})
		Expect(eve.Create(ctx, access)).To(Succeed())
		Expect(eve.Get(ctx, client.ObjectKeyFromObject(grant), grant)).To(Succeed())
		another := grant.DeepCopy()
		another.Name, another.ResourceVersion = "another", ""
		for what, err := range map[string]error{
			"create a Grant": eve.Create(ctx, another), "edit a Grant": eve.Update(ctx, grant), "delete a Grant": eve.Delete(ctx, grant),
			"write the status of an AccessRequest":  eve.Status().Update(ctx, access),
			"write the status of a ClusterRequest":  eve.Status().Update(ctx, request),
			"edit a Cluster":                        eve.Update(ctx, cluster),
			"delete a Cluster":                      eve.Delete(ctx, cluster),
			"write the status of a Cluster":         eve.Status().Update(ctx, cluster),
			"create a Purpose":                      eve.Create(ctx, &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}),
			"write the status of a ClusterProvider": eve.Status().Update(ctx, gardener()),
		} {
			Expect(err).To(Satisfy(apierrors.IsForbidden), what)
		}
	})

	It("cluster-request C67: the set of a Cluster needs the right to join the old and the new set", func(ctx SpecContext) {
		w := newWorld(ctx)
		suite.Bind(ctx, "", adminRole, "operator")
		operator := suite.As("operator", "dev")
		cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "c"}}
		cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}

		inSet := func(set string) *openmcpv1alpha1.Cluster {
			changed := cluster.DeepCopy()
			changed.Annotations = map[string]string{openmcpv1alpha1.ClusterSetAnnotation: set}
			return changed
		}
		w.eventually(func(g Gomega) { // The binding and the policy have to be known.
			g.Expect(operator.Create(ctx, inSet("blue"), client.DryRunAll)).To(MatchError(ContainSubstring(
				`user "operator" cannot put a Cluster into ManagedClusterSet "blue": this needs the verb "create" on managedclustersets/join`)))
		})
		Expect(operator.Create(ctx, cluster)).To(Succeed())

		move := func(to *openmcpv1alpha1.Cluster) error {
			return operator.Patch(ctx, to, client.MergeFrom(cluster), client.DryRunAll)
		}
		Expect(move(inSet("blue"))).To(MatchError(ContainSubstring(`cannot take a Cluster out of ManagedClusterSet "default"`)))

		suite.Allow(ctx, "", "operator", joinOf("blue"))
		Expect(move(inSet("blue"))).To(MatchError(ContainSubstring(`cannot take a Cluster out of ManagedClusterSet "default"`)))
		suite.Allow(ctx, "", "operator", joinOf("default"))
		w.eventually(func(g Gomega) { g.Expect(move(inSet("blue"))).To(Succeed()) })
		Expect(move(inSet("green"))).To(MatchError(ContainSubstring(`cannot put a Cluster into ManagedClusterSet "green"`)))

		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) {
			c.Annotations = map[string]string{openmcpv1alpha1.ClusterSetAnnotation: "green"}
		})
		without := cluster.DeepCopy()
		without.Annotations = nil
		Expect(move(without)).To(MatchError(ContainSubstring(`cannot take a Cluster out of ManagedClusterSet "green"`)))
		labelled := cluster.DeepCopy()
		labelled.Labels = map[string]string{"a": "b"}
		Expect(move(labelled)).To(Succeed())
	})

	It("cluster-request 4.6: a Cluster without a set counts as in the one of the parameter", func(ctx SpecContext) {
		w := newWorld(ctx)
		suite.Bind(ctx, "", adminRole, "operator-"+w.namespace)
		suite.Allow(ctx, "", "operator-"+w.namespace, joinOf("blue"))

		parameter := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: manifests.Namespace, Name: "placement-hub-clusters-inventory",
		}}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(parameter), parameter)).To(Succeed())
		Expect(parameter.Data).To(Equal(map[string]string{"set": clusterrequest.DefaultClusterSet}))
		patch(w, parameter, func(c *corev1.ConfigMap) { c.Data["set"] = "unbound" })
		DeferCleanup(func(ctx SpecContext) {
			w.ctx = ctx
			patch(w, parameter, func(c *corev1.ConfigMap) { c.Data["set"] = clusterrequest.DefaultClusterSet })
		})

		cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "c"}}
		cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}
		w.create(cluster)
		moved := cluster.DeepCopy()
		moved.Annotations = map[string]string{openmcpv1alpha1.ClusterSetAnnotation: "blue"}
		w.eventually(func(g Gomega) {
			g.Expect(suite.As("operator-"+w.namespace, "dev").Patch(ctx, moved.DeepCopy(), client.MergeFrom(cluster), client.DryRunAll)).
				To(MatchError(ContainSubstring(`cannot take a Cluster out of ManagedClusterSet "unbound"`)))
		})
	})

	It("cluster-request 4.6: the set of a Purpose needs the right to join it, and is that of its new Clusters", func(ctx SpecContext) {
		w := newWorld(ctx)
		user := "operator-" + w.namespace
		suite.Bind(ctx, "", adminRole, user)
		purpose := &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: "set-" + w.namespace}}
		w.create(purpose)

		inSet := func() *openmcpv1alpha1.Purpose {
			changed := purpose.DeepCopy()
			changed.Spec.ClusterTemplate = &openmcpv1alpha1.ClusterTemplate{ClusterSet: "blue"}
			return changed
		}
		refused := MatchError(ContainSubstring(`user "` + user + `" cannot put the Clusters of a Purpose into ManagedClusterSet "blue"`))
		w.eventually(func(g Gomega) {
			g.Expect(suite.As(user, "dev").Patch(ctx, inSet(), client.MergeFrom(purpose), client.DryRunAll)).To(refused)
		})

		another := inSet()
		another.ObjectMeta = metav1.ObjectMeta{Name: "another-" + w.namespace}
		Expect(suite.As(user, "dev").Create(ctx, another, client.DryRunAll)).To(refused)

		suite.Allow(ctx, "", user, joinOf("blue"))
		w.eventually(func(g Gomega) {
			g.Expect(suite.As(user, "dev").Patch(ctx, inSet(), client.MergeFrom(purpose))).To(Succeed())
		})
		grant, cluster := w.granted(w.request(purpose.Name, nil))
		Expect(cluster.Annotations).To(HaveKeyWithValue(openmcpv1alpha1.ClusterSetAnnotation, "blue"))
		Expect(grant.Spec.Cluster.ClusterSet).To(Equal("blue"))

		// A Cluster that is lost is created again in its set.
		w.remove(cluster)
		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
		w.eventually(func(g Gomega) {
			again := &openmcpv1alpha1.Cluster{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), again)).To(Succeed())
			g.Expect(again.UID).NotTo(Equal(cluster.UID))
			g.Expect(again.Annotations).To(HaveKeyWithValue(openmcpv1alpha1.ClusterSetAnnotation, "blue"))
		})
	})

	It("cluster-request 4.1.1: no AccessRequest gets in while the webhook does not answer, and finalizers can be removed", func(ctx SpecContext) {
		w := newWorld(ctx)
		spec := openmcpv1alpha1.AccessRequestSpec{ClusterRef: &openmcpv1alpha1.ObjectReference{Name: "x"}}
		before := w.accessRequest("before", spec)
		before.Finalizers = []string{openmcpv1alpha1.AccessFinalizer}
		w.create(before)
		stop()
		Expect(suite.Client.Create(ctx, w.accessRequest("after", spec))).To(MatchError(ContainSubstring("requester.accessrequests")))
		patch(w, before, func(r *openmcpv1alpha1.AccessRequest) { r.Finalizers = nil })
	})
})

// admit installs the system, and runs its webhook. It returns when the API server asks, and removes what it asks by after the container.
func admit(ctx context.Context) (stop func()) {
	GinkgoHelper()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())

	base := "https://" + listener.Addr().String()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manifests.Namespace}}
	Expect(client.IgnoreAlreadyExists(suite.Client.Create(ctx, namespace))).To(Succeed())
	Expect(manifests.InstallSystem(ctx, suite.ControlPlane.AdminConfig(), manifests.ClusterRequest, base)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { //nolint:contextcheck // The spec has ended.
		objects, err := manifests.System(manifests.ClusterRequest, base)
		Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			if object.GroupVersionKind().Group == admissionregistrationv1.GroupName {
				Expect(suite.Client.Delete(ctx, object)).To(Succeed())
			}
		}
	})

	//nolint:contextcheck // It runs until stop.
	stop = suite.StartHub(proxy.Config(), func(o *system.Options) {
		o.Controllers = []string{webhook.Controller}
		o.Webhook.Listener = listener
	})
	DeferCleanup(func() { stop() })
	w := newWorld(ctx)
	suite.Bind(ctx, w.namespace, editRole, "eve")

	probe := w.accessRequest("probe", openmcpv1alpha1.AccessRequestSpec{ClusterRef: &openmcpv1alpha1.ObjectReference{Name: "x"}})
	far := w.accessRequest("far", openmcpv1alpha1.AccessRequestSpec{
		ClusterRef: &openmcpv1alpha1.ObjectReference{Namespace: metav1.NamespaceDefault, Name: "x"},
	})
	w.eventually(func(g Gomega) {
		g.Expect(suite.As("eve", "dev").Create(ctx, probe.DeepCopy(), client.DryRunAll)).To(Succeed())
		g.Expect(suite.As("eve", "dev").Create(ctx, far.DeepCopy(), client.DryRunAll)).To(Satisfy(apierrors.IsForbidden))
	})
	return stop
}

func (w *world) accessRequest(name string, spec openmcpv1alpha1.AccessRequestSpec) *openmcpv1alpha1.AccessRequest {
	return &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}, Spec: spec}
}

// joinOf is the right to join a cluster set.
func joinOf(set string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{
		APIGroups: []string{"cluster.open-cluster-management.io"}, Resources: []string{"managedclustersets/join"},
		ResourceNames: []string{set}, Verbs: []string{"create"},
	}
}
