// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// reread reads the objects that conflicted from the API server and assumes them, so that the next reconcile knows them even where the cache
// is far behind. Other assumed writes stay.
func (a *applier) reread(ctx context.Context, c *cycle) {
	ctx, cancel := grace(ctx)
	defer cancel()
	for _, refused := range c.refused.pages {
		a.rereadPage(ctx, c, refused)
	}
	if c.refused.status {
		a.rereadPlacement(ctx, c.placement)
	}
}

func (a *applier) rereadPage(ctx context.Context, c *cycle, refused refusedPage) {
	owner, key, pages := c.placement.Key(), keyOf(refused.page), a.state.pages[refused.form]

	live, err := objects.LiveObject(ctx, a.live, refused.form.EmptyList(), key)
	switch {
	case err != nil:
		klog.FromContext(ctx).V(2).Info("Cannot read a page that was refused; the cache is believed", "decision", key, "err", err)
		pages.ForgetObject(owner, key)
	case live != nil:
		pages.Assume(owner, refused.form.Read(live))
	case refused.known != nil:
		pages.AssumeDeleted(owner, refused.known)
	default:
		pages.ForgetObject(owner, key)
	}
}

func (a *applier) rereadPlacement(ctx context.Context, placement *api.Placement) {
	owner, key := placement.Key(), keyOf(placement)

	live, err := objects.LiveObject(ctx, a.live, placement.API.EmptyList(), key)
	switch {
	case err != nil:
		klog.FromContext(ctx).V(2).Info("Cannot read the placement whose status was refused; the cache is believed", "err", err)
		a.state.statuses.ForgetObject(owner, key)
	case live != nil:
		a.state.statuses.Assume(owner, placement.API.Read(live))
	default:
		a.state.statuses.AssumeDeleted(owner, placement)
	}
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
