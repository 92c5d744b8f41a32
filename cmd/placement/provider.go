// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/preflight"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/provider"
)

const providerLong = `provider runs a provider of clusters: it makes a cluster for each Cluster (cluster.openmcp.cloud) whose
spec.clusterProviderRef.name is its name, publishes its profiles in the status of that ClusterProvider, and grants
AccessRequests. It runs until SIGTERM or SIGINT, as a user with the rights of manifests/clusterprovider.

Run each provider once. docs/cluster-providers.md says how to write another one.`

const nullLong = `null marks Clusters healthy and starts nothing, for tests with many Clusters. It denies AccessRequests.`

const loopbackLong = `loopback runs a kube-apiserver on a port of 127.0.0.1 for each Cluster. The clusters share an etcd, in which each has
its own prefix, and have their own certificate authorities and keys in --data-dir. They have no controllers, no scheduler
and no nodes. ProviderConfigs (loopback.cluster.openmcp.cloud) have the profiles.

After a restart every cluster has its objects, keys and, if it is free, its port. With --work-agent-binary each cluster that
is published as a ManagedCluster has a work agent, so that ManifestWorks and federated objects arrive in it.`

const loopbackExample = `  # A profile, and a provider whose clusters keep their objects in the etcd of the hub
  kubectl apply -f docs/examples/loopback-provider.yaml
  placement provider loopback --kubeconfig hub.kubeconfig --kube-apiserver-binary bin/controlplane/kube-apiserver \
    --etcd-endpoints http://127.0.0.1:2379 --data-dir /var/lib/clusters`

func newProviderCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "provider",
		Short: "Run a provider of clusters",
		Long:  providerLong,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNullCommand(), newLoopbackCommand())
	return cmd
}

func newNullCommand() *cobra.Command {
	var o provider.NullOptions
	cmd := providerCommand("null", "Run the provider without clusters", nullLong, o.Validate,
		func(ctx context.Context, hub *rest.Config) error { return provider.Null(ctx, hub, o) })
	o.AddFlags(cmd.Flags())
	return cmd
}

func newLoopbackCommand() *cobra.Command {
	var o provider.LoopbackOptions
	cmd := providerCommand("loopback", "Run the provider of API servers on this machine", loopbackLong, o.Validate,
		func(ctx context.Context, hub *rest.Config) error { return provider.Loopback(ctx, hub, o) })
	cmd.Example = loopbackExample
	o.AddFlags(cmd.Flags())
	return cmd
}

// providerCommand returns the command of a process that runs beside the hub, such as a provider. validate returns errors of usage.
func providerCommand(
	name, short, long string, validate func() error, run func(ctx context.Context, hub *rest.Config) error,
) *cobra.Command {
	var kubeconfig string
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Long:  long,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := validate(); err != nil {
				return exit.Mistake(err)
			}
			hub, err := hubprocess.FindHub(kubeconfig)
			if err != nil {
				return err
			}
			hub.UserAgent, hub.QPS = rest.DefaultKubernetesUserAgent(), -1
			if err := preflight.Reach(hub, preflight.RequestTimeout); err != nil {
				return err
			}
			return run(cmd.Context(), hub)
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "",
		"Kubeconfig of the hub. Default: $KUBECONFIG, the pod's service account, or ~/.kube/config.")
	hubprocess.AddLoggingFlags(cmd.Flags())
	hubprocess.AddLogFormatFlag(cmd.Flags())
	return cmd
}
