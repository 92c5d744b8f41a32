// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"context"
	"fmt"
	"io"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
)

// WarnLease writes a warning if no process renews the lease of the hub, so that its decisions do not follow what the command evaluates. A user
// who may not read the lease, and a hub in another namespace than the default one, have no warning, nor has --watch.
func (o *Options) WarnLease(ctx context.Context, stderr io.Writer) error {
	if len(o.Paths) > 0 || o.Watch {
		return nil
	}
	config, _, err := o.Find()
	if err != nil {
		return err
	}
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for leases: %w", err)
	}
	name := election.Defaults().Name
	lease, err := leases.Leases(hubflags.DefaultNamespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("reading the lease %s/%s: %w", hubflags.DefaultNamespace, name, err)
	}
	if warning := Expired(lease, time.Now()); warning != "" {
		if _, err := fmt.Fprintf(stderr, "warning: %s\n", warning); err != nil {
			return fmt.Errorf("writing a warning: %w", err)
		}
	}
	return nil
}

// Expired describes a lease that has expired or was released; empty for one that a process holds.
func Expired(lease *coordinationv1.Lease, now time.Time) string {
	if lease.Spec.RenewTime == nil || lease.Spec.LeaseDurationSeconds == nil {
		return ""
	}
	renewed := lease.Spec.RenewTime.Time
	if !now.After(renewed.Add(time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second)) {
		return ""
	}
	return fmt.Sprintf("no process has renewed the lease %s/%s since %s, so the hub does not carry out what is explained here; "+
		"look at its Pods: kubectl get pods -n %s", lease.Namespace, lease.Name, renewed.UTC().Format(time.RFC3339), lease.Namespace)
}
