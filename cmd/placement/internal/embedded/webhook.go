// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/live"
	"github.com/placement-hub/placement-hub/manifests"
)

const (
	// inForceTimeout bounds how long an API server on a loaded machine takes to start or stop calling a webhook.
	inForceTimeout  = time.Minute
	inForceInterval = 50 * time.Millisecond
)

// prepareWebhook opens the listener of the webhook, after it removed the configuration of the last run: that webhook does not respond any
// more, so the API server would refuse the samples.
func (h *Hub) prepareWebhook(ctx context.Context) error {
	if !h.isNew {
		if err := manifests.RemoveWebhook(ctx, h.environment.AdminConfig()); err != nil {
			return err
		}
		if err := awaitDefaults(ctx, h.environment.AdminConfig(), false); err != nil {
			return err
		}
	}
	if h.options.Once {
		return nil
	}
	return h.listen(ctx)
}

// listen opens the listener of the webhooks.
func (h *Hub) listen(ctx context.Context) error {
	var listen net.ListenConfig
	var err error
	if h.webhook, err = listen.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listening for the webhooks: %w", err)
	}
	return nil
}

// Webhook returns the listener that the API server calls; nil when it calls none.
func (h *Hub) Webhook() net.Listener { return h.webhook }

// installWebhook configures the API server to call the webhook, as a step, and returns when it does. The webhook must be served by then.
func (h *Hub) installWebhook(ctx context.Context, progress *live.Progress) error {
	return progress.Do("putting the webhook of ManagedClusters in force", func() error {
		admin := h.environment.AdminConfig()
		if err := manifests.InstallWebhook(ctx, admin, "https://"+h.webhook.Addr().String()); err != nil {
			return err
		}
		return awaitDefaults(ctx, admin, true)
	})
}

// awaitDefaults waits until a ManagedCluster that is created with a dry run gets its defaults, or none.
func awaitDefaults(ctx context.Context, config *rest.Config, want bool) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for %s: %w", config.Host, err)
	}
	version := schema.GroupVersion{Group: clusterv1.GroupName, Version: clusterv1.GroupVersion.Version}
	trial := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"hubAcceptsClient": false}}}
	trial.SetGroupVersionKind(version.WithKind("ManagedCluster"))
	trial.SetGenerateName("placement-hub-trial-") // Any name of its own could be that of a cluster.
	last := errors.New("no answer")
	err = wait.PollUntilContextTimeout(ctx, inForceInterval, inForceTimeout, true, func(ctx context.Context) (bool, error) {
		made, err := client.Resource(version.WithResource("managedclusters")).
			Create(ctx, trial, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			last = err
			if apierrors.IsInternalError(err) { // The webhook is called, and does not respond.
				return false, nil
			}
			return false, fmt.Errorf("trying out a ManagedCluster: %w", err)
		}
		_, defaulted := made.GetLabels()[clusterv1beta2.ClusterSetLabel]
		last = fmt.Errorf("a new ManagedCluster gets defaults: %t", defaulted)
		return defaulted == want, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return fmt.Errorf("waiting for the webhook of ManagedClusters: %w", last)
	}
	return err //nolint:wrapcheck // Named above, or that of the context.
}
