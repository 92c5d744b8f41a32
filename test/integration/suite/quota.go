// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// ForbidPages creates a quota of present PlacementDecisions of an API, all of which count as used, so that no more can be created.
func (f *Fixture) ForbidPages(ctx context.Context, codec api.Codec, present int) *corev1.ResourceQuota {
	GinkgoHelper()
	return f.Forbid(ctx, "placementdecisions."+codec.Owner().Group, present, codec.Write(&api.Page{}))
}

// Forbid creates a quota of present objects, all of which count as used, so that no more can be created; kind is "resource.group", and empty
// an object of it. It returns when the API server refuses to create one.
func (f *Fixture) Forbid(ctx context.Context, kind string, present int, empty client.Object) *corev1.ResourceQuota {
	GinkgoHelper()
	resources := corev1.ResourceList{
		corev1.ResourceName("count/" + kind): *resource.NewQuantity(int64(present), resource.DecimalSI),
	}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "pages"}, Spec: corev1.ResourceQuotaSpec{Hard: resources},
	}
	f.Create(ctx, quota)

	// Admission goes by the status, which no controller fills in here.
	quota.Status = corev1.ResourceQuotaStatus{Hard: resources, Used: resources}
	Expect(Client.Status().Update(ctx, quota)).To(Succeed())

	// Admission reads quotas from a cache; it knows this one when it refuses.
	attempt := 0
	Eventually(func() error {
		attempt++
		empty.SetNamespace(f.Namespace)
		empty.SetName(fmt.Sprintf("attempt-%d", attempt))
		empty.SetResourceVersion("")
		return Client.Create(ctx, empty)
	}).WithContext(ctx).WithTimeout(Timeout).Should(MatchError(ContainSubstring("exceeded quota")))
	return quota
}

// ExpectUnwritten demands of a placement that no decision is there, that its status claims none, and that its conditions say that
// decisions could not be created.
func (f *Fixture) ExpectUnwritten(ctx context.Context, g Gomega, name string) {
	status := f.Read(ctx, g, name).Status
	g.Expect(status.Conditions).To(HaveLen(2))
	g.Expect(ConditionText(status.Conditions[0])).To(Equal(Configured))
	g.Expect(ConditionText(status.Conditions[1])).To(Equal(NotAllScheduled))
	g.Expect(status.Conditions[1].Message).
		To(HavePrefix("The decisions could not all be written: creating PlacementDecision %s/%s-decision-1: Forbidden: ", f.Namespace, name))
	g.Expect(status.NumberOfSelectedClusters).To(BeZero())
	g.Expect(status.DecisionGroups).To(BeEmpty())
	g.Expect(f.Pages(ctx, g, name)).To(BeEmpty())
}
