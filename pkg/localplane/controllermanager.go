// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// hubControllers are the controllers of kube-controller-manager that a hub needs; none of them controls nodes, pods or workloads.
var hubControllers = []string{
	"garbage-collector-controller",
	"namespace-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"clusterrole-aggregation-controller",
	"validatingadmissionpolicy-status-controller",
}

// workloadControllers are all controllers that run by default, except those that taint Nodes without kubelets and evict their pods.
var workloadControllers = []string{"*", "-node-lifecycle-controller", "-taint-eviction-controller"}

// startControllerManager starts kube-controller-manager and waits for its health and for the ServiceAccount that it creates.
func (c *ControlPlane) startControllerManager(ctx context.Context) error {
	serviceAccountKey, err := ensureServiceAccountKey(c.directory)
	if err != nil {
		return err
	}
	controllers := hubControllers
	if c.options.Quota {
		controllers = append(slices.Clip(controllers), "resourcequota-controller")
	}
	if c.options.Workloads {
		controllers = workloadControllers
	}
	c.controllerManager, err = c.startComponent(ctx, component{
		name:   binaries.ControllerManager,
		path:   c.assets.ControllerManager,
		health: "/healthz",
		arguments: []string{
			"--controllers=" + strings.Join(controllers, ","),
			"--use-service-account-credentials",
			"--service-account-private-key-file=" + serviceAccountKey,
		},
		ready: c.defaultAccountExists,
	})
	return err
}

// defaultAccountExists returns an error until the ServiceAccount controller has created the ServiceAccount of the namespace "default".
func (c *ControlPlane) defaultAccountExists(ctx context.Context) error {
	accounts, err := corev1client.NewForConfig(c.admin)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	_, err = accounts.ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("waiting for the default service account: %w", err)
	}
	return nil
}

// startScheduler starts kube-scheduler and waits until its caches are filled.
func (c *ControlPlane) startScheduler(ctx context.Context) error {
	var err error
	c.scheduler, err = c.startComponent(ctx, component{name: binaries.Scheduler, path: c.assets.Scheduler, health: "/readyz"})
	return err
}
