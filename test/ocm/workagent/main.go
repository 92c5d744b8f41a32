// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	ocmfeature "open-cluster-management.io/api/feature"

	"open-cluster-management.io/ocm/pkg/common/options"
	"open-cluster-management.io/ocm/pkg/features"
	"open-cluster-management.io/ocm/pkg/work/spoke"
	"open-cluster-management.io/ocm/pkg/work/spoke/controllers/manifestcontroller"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	klog.Flush()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the agent until ctx ends. The flags are those of `work agent` without --kubeconfig, which --spoke-kubeconfig replaces.
func run(ctx context.Context, arguments []string) error {
	agent, work := options.NewAgentOptions(), spoke.NewWorkloadAgentOptions()
	flags := pflag.NewFlagSet("work-agent", pflag.ContinueOnError)
	agent.AddFlags(flags)
	work.AddFlags(flags)
	flags.DurationVar(&manifestcontroller.ResyncInterval, "resync-interval", manifestcontroller.ResyncInterval,
		"Interval, lengthened by up to a half, in which each ManifestWork is applied again.")
	if err := features.SpokeMutableFeatureGate.Add(ocmfeature.DefaultSpokeWorkFeatureGates); err != nil {
		return fmt.Errorf("adding the feature gates: %w", err)
	}
	features.SpokeMutableFeatureGate.AddFlag(flags)
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if err := agent.Validate(); err != nil {
		return err
	}
	if agent.SpokeKubeconfigFile == "" {
		return errors.New("--spoke-kubeconfig is required: the kubeconfig file of the managed cluster")
	}
	return spoke.NewWorkAgentConfig(agent, work).RunWorkloadAgent(ctx, &controllercmd.ControllerContext{})
}
