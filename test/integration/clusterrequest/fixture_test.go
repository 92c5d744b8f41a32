// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"context"
	"fmt"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func gardener() *openmcpv1alpha1.ClusterProvider {
	return &openmcpv1alpha1.ClusterProvider{
		ObjectMeta: metav1.ObjectMeta{Name: gardenerProvider},
		Spec:       openmcpv1alpha1.ClusterProviderSpec{Access: true},
		Status: openmcpv1alpha1.ClusterProviderStatus{Ready: true, Profiles: []openmcpv1alpha1.Profile{{
			Name: "aws", SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: "1.20.1"}, {Version: "1.20.3"}},
			SupportedTraits: []openmcpv1alpha1.SupportedTrait{{Trait: "infrastructure/vendor/aws"}},
		}}},
	}
}

// worlds counts the worlds of this process.
var worlds atomic.Int64

// world is a namespace with purposes of its own, so that specs do not share Clusters.
type world struct {
	namespace               string
	platform, workload, mcp string // unlimited; limited to two requests; dedicated
	requests                int
	ctx                     context.Context //nolint:containedctx // That of the spec.
}

func newWorld(ctx context.Context) *world {
	GinkgoHelper()
	n := worlds.Add(1)
	w := &world{
		namespace: fmt.Sprintf("team-%d", n), platform: fmt.Sprintf("platform-%d", n), workload: fmt.Sprintf("workload-%d", n),
		mcp: fmt.Sprintf("mcp-%d", n), ctx: ctx,
	}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
	w.purpose(w.platform, openmcpv1alpha1.PurposeSpec{})
	w.purpose(w.workload, openmcpv1alpha1.PurposeSpec{TenancyLimit: 2})
	w.purpose(w.mcp, openmcpv1alpha1.PurposeSpec{Dedicated: true})
	return w
}

func (w *world) create(object client.Object) {
	GinkgoHelper()
	Expect(suite.Client.Create(w.ctx, object)).To(Succeed())
}

func (w *world) purpose(name string, spec openmcpv1alpha1.PurposeSpec) {
	GinkgoHelper()
	w.create(&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec})
}

// request creates a request for a purpose. A change may be nil.
func (w *world) request(purpose string, change func(*openmcpv1alpha1.ClusterRequest)) *openmcpv1alpha1.ClusterRequest {
	GinkgoHelper()
	w.requests++
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: fmt.Sprintf("r%d", w.requests)}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{openmcpv1alpha1.PurposeName(purpose)}
	if change != nil {
		change(request)
	}
	w.create(request)
	return request
}

// granted waits until a request is granted and returns its Grant and its Cluster. The Grant is that of the request as it is now.
func (w *world) granted(request *openmcpv1alpha1.ClusterRequest) (*openmcpv1alpha1.ClusterRequestGrant, *openmcpv1alpha1.Cluster) {
	GinkgoHelper()
	grant, cluster := &openmcpv1alpha1.ClusterRequestGrant{}, &openmcpv1alpha1.Cluster{}
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
		g.Expect(request.Status.Status).To(Equal(openmcpv1alpha1.RequestGranted), request.Status.Message)
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(request), grant)).To(Succeed())
		g.Expect(clusterrequest.GrantOwner(grant)).To(Equal(request.UID))
		ref := types.NamespacedName{Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name}
		g.Expect(suite.Client.Get(w.ctx, ref, cluster)).To(Succeed())
		g.Expect(clusterrequest.RequestUIDs(cluster)).To(ContainElement(request.UID))
		g.Expect(clusterrequest.Prefix(cluster, request.UID)).To(Equal(grant.Spec.Prefix))
	})

	return grant, cluster
}

// refused waits until a request has this status and reason.
func (w *world) refused(request *openmcpv1alpha1.ClusterRequest, status openmcpv1alpha1.RequestPhase, reason string) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(w.ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
		g.Expect(string(request.Status.Status) + " " + request.Status.Reason).To(Equal(string(status) + " " + reason))
	})
}

func (w *world) eventually(check func(Gomega)) {
	GinkgoHelper()
	Eventually(check).WithContext(w.ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// gone waits until an object does not exist.
func (w *world) gone(object client.Object) {
	GinkgoHelper()
	w.eventually(func(g Gomega) {
		err := suite.Client.Get(w.ctx, client.ObjectKeyFromObject(object), object)
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		g.Expect(err).To(HaveOccurred())
	})
}

func (w *world) remove(object client.Object) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(suite.Client.Delete(w.ctx, object))).To(Succeed())
}

// patch changes an object by hand, whatever its resourceVersion.
func patch[T client.Object](w *world, object T, change func(T)) {
	GinkgoHelper()
	before, isSame := object.DeepCopyObject().(T)
	Expect(isSame).To(BeTrue())
	change(object)
	Expect(suite.Client.Patch(w.ctx, object, client.MergeFrom(before))).To(Succeed())
}

// clusters returns the Clusters of a purpose.
func (w *world) clusters(purpose string) []openmcpv1alpha1.Cluster {
	GinkgoHelper()
	list := &openmcpv1alpha1.ClusterList{}
	Expect(suite.Client.List(w.ctx, list)).To(Succeed())
	var found []openmcpv1alpha1.Cluster
	for _, cluster := range list.Items {
		if len(cluster.Spec.Purposes) > 0 && cluster.Spec.Purposes[0] == openmcpv1alpha1.PurposeName(purpose) {
			found = append(found, cluster)
		}
	}
	return found
}
