// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// quotaRetry is the time after which the hub repeats a write that a ResourceQuota refused. A raised quota sends the hub no event.
const quotaRetry = time.Minute

// exceedsQuota reports whether a ResourceQuota refused a write. The API server has no reason of its own for that.
func exceedsQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// waitForQuota reports that a ResourceQuota refused a write for a request, which is no failure of the hub: the request is tried again after a
// time, or when a Cluster changes.
func (r *reconciler) waitForQuota(ctx context.Context, request *openmcpv1alpha1.ClusterRequest, refusal error) (reconcile.Result, error) {
	r.ledger.waits(client.ObjectKeyFromObject(request))
	if request.Status.Status == openmcpv1alpha1.RequestGranted {
		return reconcile.Result{RequeueAfter: quotaRetry}, nil
	}

	result := clusterrequest.Result{
		Status: openmcpv1alpha1.RequestPending, Reason: openmcpv1alpha1.ReasonQuotaExceeded,
		Message: refusal.Error() + ": delete a ClusterRequest that is not needed, or have the ResourceQuota raised",
	}
	if err := r.writeStatus(ctx, request, result, nil); err != nil {
		return r.conflicts.Result(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(request)}, err)
	}
	return reconcile.Result{RequeueAfter: quotaRetry}, nil
}
