// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/argocdrefresh"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/preflight"
)

const argocdRefreshLong = `argocd-refresh lets the ApplicationSets of Argo CD follow PlacementDecisions within seconds. When the clusters change
that a generator clusterDecisionResource reads, it writes the annotation argocd.argoproj.io/application-set-refresh on the
ApplicationSet, and nothing else. It runs until SIGTERM or SIGINT, with the rights of manifests/argocdrefresh; run it once.
deploy/components/argocd-refresh and the chart run it in the cluster.

An ApplicationSet that also has a generator of git, SCM providers, pull requests or plugins is left alone, because Argo CD
would ask those servers anew. The annotation placement-hub.open-cluster-management.io/refresh of an ApplicationSet is "true"
to refresh it nevertheless, and "false" to leave it alone.

The process stops if its account may write spec of ApplicationSets, which is the right to deploy anything: it asks the API
server by a dry run, at its start and every hour.`

const argocdRefreshExample = `  # In a terminal, with a kubeconfig of the ServiceAccount of manifests/argocdrefresh
  placement argocd-refresh --argocd-namespace=argocd --kubeconfig=argocd-refresh.kubeconfig`

func newArgoCDRefreshCommand() *cobra.Command {
	var o argocdrefresh.Options
	cmd := providerCommand("argocd-refresh", "Refresh ApplicationSets of Argo CD when decisions change", argocdRefreshLong, o.Validate,
		func(ctx context.Context, hub *rest.Config) error {
			if err := preflight.RunArgoCDRefresh(ctx, hub, o.Namespace); err != nil {
				return err
			}
			return argocdrefresh.Run(ctx, hub, o)
		})
	cmd.Example = argocdRefreshExample
	o.AddFlags(cmd.Flags())
	return cmd
}
