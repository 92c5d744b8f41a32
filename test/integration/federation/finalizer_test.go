// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// setFinalizers sets the finalizers of an object to those of a JSON list.
func setFinalizers(ctx context.Context, as client.Client, object client.Object, finalizers string) error {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`))
	return as.Patch(ctx, object, patch)
}

var _ = Describe("the finalizer of a delivered object", func() {
	It("T19: is not taken off by a user of the namespace", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(inUSA))
		expectCopies(ctx, object, us1)
		eve := s.Name("eve")
		suite.Bind(ctx, s.Namespace, "admin", eve)
		refused := And(Satisfy(apierrors.IsForbidden), MatchError(And(
			ContainSubstring(`user "%s" is not allowed to take the finalizer`, eve), ContainSubstring("federation.kubernetes.io/orphan=true"),
			ContainSubstring(`needs the verb "deliver" on manifestworks`),
		)))
		Eventually(func() error { return setFinalizers(ctx, suite.As(eve), object, "null") }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(refused)

		suite.PauseHub(ctx) // It would take the finalizer off.
		Expect(suite.As(eve).Delete(ctx, object)).To(Succeed())
		Expect(setFinalizers(ctx, suite.As(eve), object, "null")).To(refused)
	})

	DescribeTable("T19: protects what is withdrawn without it, too", func(ctx SpecContext, down, during bool) {
		s := newScene(ctx)
		object, other := s.configMap(ctx, "c", selecting(inUSA)), s.configMap(ctx, "other", selecting(inUSA))
		expectCopies(ctx, object, us1)
		expectCopies(ctx, other, us1)
		resume := func() {}
		if down {
			resume = suite.PauseHub(ctx)
		}

		if during {
			const others = `["federation.kubernetes.io/delete-from-underlying-clusters","example.com/other"]`
			Expect(setFinalizers(ctx, hub, object, others)).To(Succeed())
			Expect(hub.Delete(ctx, object)).To(Succeed())
		}
		Expect(setFinalizers(ctx, hub, object, "null")).To(Succeed())
		Expect(client.IgnoreNotFound(hub.Delete(ctx, object))).To(Succeed())
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(object), &corev1.ConfigMap{})).To(Satisfy(apierrors.IsNotFound))
		resume()
		expectWorks(ctx, object)
		expectNoCopy(ctx, object, us1)
		expectCopies(ctx, other, us1)
	},
		Entry("before the deletion, the hub is down", true, false),
		Entry("during the deletion, the hub is down", true, true),
		Entry("during the deletion, the hub runs", false, true),
	)
})
