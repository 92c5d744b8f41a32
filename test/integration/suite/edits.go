// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PlacementNamed returns a Placement of v1beta1 with its name only, as a key.
func (f *Fixture) PlacementNamed(name string) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}}
}

// Annotate sets an annotation of a Placement of v1beta1.
func (f *Fixture) Annotate(ctx context.Context, name, annotation, value string) {
	GinkgoHelper()
	Edit(ctx, f.PlacementNamed(name), func(p *clusterv1beta1.Placement) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, annotation, value) })
}

// DropFinalizers removes all finalizers of an object; one that does not exist is no failure.
func DropFinalizers(ctx context.Context, object client.Object) {
	GinkgoHelper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
	Expect(client.IgnoreNotFound(Client.Patch(ctx, object, patch))).To(Succeed())
}

// Edit reads an object, changes it and updates it, and tries again after a conflict.
func Edit[T any, P interface {
	*T
	client.Object
}](ctx context.Context, object P, change func(P)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		fresh := P(new(T))
		g.Expect(Client.Get(ctx, client.ObjectKeyFromObject(object), fresh)).To(Succeed())
		change(fresh)
		g.Expect(Client.Update(ctx, fresh)).To(Succeed())
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
}

// EditCluster changes a ManagedCluster of this fixture.
func (f *Fixture) EditCluster(ctx context.Context, short string, change func(*clusterv1.ManagedCluster)) {
	GinkgoHelper()
	Edit(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name(short)}}, change)
}

// LabelClusters sets a label of ManagedClusters of this fixture.
func (f *Fixture) LabelClusters(ctx context.Context, key, value string, shorts ...string) {
	GinkgoHelper()
	for _, short := range shorts {
		f.EditCluster(ctx, short, func(c *clusterv1.ManagedCluster) { c.Labels[key] = value })
	}
}

// EditPlacement changes the spec of a Placement of v1beta1.
func (f *Fixture) EditPlacement(ctx context.Context, name string, change func(*clusterv1beta1.PlacementSpec)) {
	GinkgoHelper()
	Edit(ctx, &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name}},
		func(p *clusterv1beta1.Placement) { change(&p.Spec) })
}

// ExpectGone waits until an object does not exist.
func ExpectGone(ctx context.Context, object client.Object) {
	GinkgoHelper()
	ExpectGoneWithin(ctx, Timeout, object)
}

// ExpectGoneWithin waits for at most timeout until an object does not exist.
func ExpectGoneWithin(ctx context.Context, timeout time.Duration, object client.Object) {
	GinkgoHelper()
	Eventually(func() bool {
		return apierrors.IsNotFound(Client.Get(ctx, client.ObjectKeyFromObject(object), object))
	}).WithContext(ctx).WithTimeout(timeout).Should(BeTrue(), "%T %s is still there", object, object.GetName())
}
