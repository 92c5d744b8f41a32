// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// countedClient counts the writing requests of a client in the metrics.
type countedClient struct{ client.Client }

func (c countedClient) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	return counted(kindOf(object), c.Client.Create(ctx, object, options...))
}

func (c countedClient) Update(ctx context.Context, object client.Object, options ...client.UpdateOption) error {
	return counted(kindOf(object), c.Client.Update(ctx, object, options...))
}

func (c countedClient) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	return counted(kindOf(object), c.Client.Patch(ctx, object, patch, options...))
}

func (c countedClient) Delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	return counted(kindOf(object), c.Client.Delete(ctx, object, options...))
}

func (c countedClient) Status() client.SubResourceWriter { return countedStatus{c.Client.Status()} }

// countedStatus counts the patches of status.
type countedStatus struct{ client.SubResourceWriter }

func (c countedStatus) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return counted("Status", c.SubResourceWriter.Patch(ctx, object, patch, options...))
}

// kindOf returns the kind of an object for the metrics.
func kindOf(object client.Object) string {
	switch object.(type) {
	case *openmcpv1alpha1.Cluster:
		return "Cluster"
	case *openmcpv1alpha1.ClusterRequestGrant:
		return "Grant"
	default:
		return "Request"
	}
}

// counted counts a request by its error, and returns the error as it is.
func counted(kind string, err error) error {
	result := metrics.WriteError
	switch {
	case err == nil:
		result = metrics.WriteOK
	case queue.Outdated(err):
		result = metrics.WriteOutdated
	}
	metrics.ObserveRequestWrite(kind, result)
	return err
}
