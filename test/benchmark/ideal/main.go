// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
)

func main() {
	ctrl.SetLogger(klog.NewKlogr())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ideal:", err)
		os.Exit(1)
	}
}

// run watches until ctx ends, and says "synced" when the caches are in sync.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("ideal", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "who to be, and where")
	file := flags.String("decisions", "", "file of the decisions to write; without one nothing is written")
	works := flags.String("works", "", "file of the ManifestWorks to write instead of decisions")
	grants := flags.String("grants", "", "file of the ClusterRequestGrants to write instead of decisions")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("reading %s: %w", *kubeconfig, err)
	}
	config.QPS = -1
	if *works != "" {
		script, err := precomputed.ReadWorkFile(*works)
		if err != nil {
			return err
		}
		return deliver(ctx, config, script, out)
	}
	if *grants != "" {
		script, err := precomputed.ReadGrantFile(*grants)
		if err != nil {
			return err
		}
		return grant(ctx, config, script, out)
	}
	script := &precomputed.Script{}
	if *file != "" {
		if script, err = precomputed.ReadFile(*file); err != nil {
			return err
		}
	}
	return work(ctx, config, script, out)
}

// work fills the caches and then writes the decisions of the script.
func work(ctx context.Context, config *rest.Config, script *precomputed.Script, out io.Writer) error {
	options := system.Options{Namespace: manifests.Namespace}.CacheOptions()
	options.Scheme = system.Scheme()
	caches, err := newCaches(config, options)
	if err != nil {
		return err
	}
	kinds := []client.Object{
		&clusterv1beta2.ManagedClusterSet{}, &clusterv1beta2.ManagedClusterSetBinding{}, &clusterv1alpha1.AddOnPlacementScore{},
		&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}, &clusterv1.ManagedCluster{},
	}
	values := make(chan string, 100)
	writer := precomputed.NewWriter(caches.api)
	return caches.run(ctx, kinds, listen(script.Cluster, script.Label, values), out, func(ctx context.Context) error {
		return follow(ctx, values, func(value string) error { return writer.Write(ctx, script.ByValue[value]) })
	})
}

// listen hands on every new value of a label of a cluster.
func listen(cluster, label string, values chan<- string) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(old, object any) {
		before, okBefore := old.(*clusterv1.ManagedCluster)
		after, okAfter := object.(*clusterv1.ManagedCluster)
		if !okBefore || !okAfter || after.Name != cluster {
			return
		}
		if value := after.Labels[label]; value != before.Labels[label] {
			values <- value
		}
	}}
}

// follow calls write with every value, until ctx ends.
func follow(ctx context.Context, values <-chan string, write func(string) error) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case value := <-values:
			if err := write(value); err != nil {
				return err
			}
		}
	}
}
