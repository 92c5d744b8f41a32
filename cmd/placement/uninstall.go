// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/election"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/explaining"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/preflight"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/uninstall"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/history/archive"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
	"github.com/placement-hub/placement-hub/pkg/system"
)

const uninstallLong = `uninstall finds the objects that have a finalizer of the hub, and with --release-finalizers removes the finalizer. After its
deletion such an object stays until a controller of the hub, or a provider of clusters, has cleaned up. Where none runs, the
object stays for ever, and so does its namespace.

For each finalizer the command prints what it waits for, and what stays and goes on running without it. Nothing else is
removed: decisions, ManifestWorks, ClusterProfiles, ManagedClusters and definitions stay as they are.

With --delete-hub-state it lists and deletes what the hub has written into its namespace, which neither Helm nor placement
manifests knows: the ConfigMaps placement-explanations, placement-vocabulary and placement-history-*, the Secret placement-webhook-certificates and
the Lease placement-lock.

The command needs neither the hub nor its definitions. A hub that runs adds the finalizers again: stop it, or name with
--system those systems that it does not run.

The user needs the verbs list, get and patch on the resources of the systems, and for the system federation on every
namespaced resource; for the state of the hub, get and delete in its namespace.`

const uninstallExample = `  # What would stay, and what would go on running?
  placement uninstall --release-finalizers --dry-run

  # The hub is gone: let go what waits for it, and delete what it has written into its namespace
  placement uninstall --release-finalizers --delete-hub-state

  # One system was turned off, and the hub goes on
  placement uninstall --release-finalizers --system=federation`

// uninstallOptions are the flags of the command.
type uninstallOptions struct {
	hubflags.Hub

	release, deleteState, dryRun bool
	systems                      []string
	hubNamespace                 string
}

// hubState returns what a hub writes into its namespace.
func hubState() []uninstall.Written {
	configMaps, secrets := corev1.SchemeGroupVersion.WithResource("configmaps"), corev1.SchemeGroupVersion.WithResource("secrets")
	return []uninstall.Written{
		{Resource: configMaps, Name: endpoint.ConfigMap, About: "the address of its explanations"},
		{Resource: configMaps, Name: managedcluster.VocabularyConfigMap, About: "the names that admission warns about"},
		{Resource: configMaps, Selector: archive.Label + "=" + archive.LabelValue, About: "what happened to decisions"},
		{Resource: secrets, Name: webhookserver.Secret, About: "the certificates of its webhooks"},
		{Resource: coordinationv1.SchemeGroupVersion.WithResource("leases"), Name: election.Defaults().Name, About: "who leads"},
	}
}

func newUninstallCommand() *cobra.Command {
	var o uninstallOptions
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Release the finalizers of a hub, or of a system, that is gone, and delete what it has written",
		Long:    uninstallLong,
		Example: uninstallExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	o.AddConnection(flags)
	if err := flags.MarkHidden("namespace"); err != nil {
		panic(err) // The flag is there.
	}
	flags.BoolVar(&o.release, "release-finalizers", false, "Remove the finalizers of the hub from the objects of all namespaces.")
	flags.BoolVar(&o.deleteState, "delete-hub-state", false,
		"Delete the ConfigMaps, the Secret and the Lease that the hub has written into its namespace.")
	flags.BoolVar(&o.dryRun, "dry-run", false, "Print what would be removed, and change nothing.")
	flags.StringSliceVar(&o.systems, "system", nil,
		"Systems whose finalizers are released: "+strings.Join(manifests.Systems(), ", ")+". Default: all.")
	flags.StringVar(&o.hubNamespace, "hub-namespace", hubflags.DefaultNamespace, "Namespace in which the hub runs, or did.")
	return cmd
}

// run releases finalizers, and deletes the state of the hub.
func (o *uninstallOptions) run(ctx context.Context, stdout io.Writer) error {
	if err := o.validate(); err != nil {
		return exit.Mistake(err)
	}
	config, _, err := o.Find()
	if err != nil {
		return err
	}
	if err := preflight.Reach(config, config.Timeout); err != nil {
		return err
	}
	if !o.dryRun && len(o.systems) == 0 {
		if err := o.refuseRunningHub(ctx, config); err != nil {
			return err
		}
	}
	hub, err := uninstall.New(config)
	if err != nil {
		return err
	}
	var errs []error
	if o.release {
		errs = append(errs, o.releaseFinalizers(ctx, hub, stdout))
	}
	if o.deleteState {
		errs = append(errs, o.deleteHubState(ctx, hub, stdout))
	}
	return errors.Join(errs...)
}

// deleteHubState deletes what it finds of the state of the hub, also if it could not read everything.
func (o *uninstallOptions) deleteHubState(ctx context.Context, hub *uninstall.Hub, stdout io.Writer) error {
	found, err := hub.FindState(ctx, o.hubNamespace, hubState())
	errs := []error{err, uninstall.PrintState(stdout, found)}
	deleted := 0
	for _, state := range found {
		if o.dryRun {
			continue
		}
		err := hub.DeleteState(ctx, state)
		if errs = append(errs, err); err == nil {
			deleted++
		}
	}
	summary := fmt.Sprintf("\ndeleted objects of the hub: %d of %d", deleted, len(found))
	switch {
	case len(found) == 0:
		summary = "namespace " + o.hubNamespace + " has nothing that the hub writes"
	case o.dryRun:
		summary = fmt.Sprintf("\ndry run: objects of the hub that would be deleted: %d; nothing was changed", len(found))
	}
	_, err = fmt.Fprintln(stdout, summary)
	return errors.Join(append(errs, err)...)
}

// releaseFinalizers releases what it finds, also if it could not read everything.
func (o *uninstallOptions) releaseFinalizers(ctx context.Context, hub *uninstall.Hub, stdout io.Writer) error {
	found, err := hub.Find(ctx, o.entries())
	errs := []error{err, uninstall.Print(stdout, found)}
	finalizers, released := 0, 0
	for _, held := range found {
		finalizers += len(held.Names)
		if o.dryRun {
			continue
		}
		err := hub.Release(ctx, held)
		if errs = append(errs, err); err == nil {
			released += len(held.Names)
		}
	}
	_, err = fmt.Fprintln(stdout, o.summary(finalizers, released))
	return errors.Join(append(errs, err)...)
}

func (o *uninstallOptions) validate() error {
	if !o.release && !o.deleteState {
		return errors.New("say what to do: --release-finalizers or --delete-hub-state, with --dry-run to change nothing; docs/uninstall.md has " +
			"how to remove the rest")
	}
	if o.deleteState && len(o.systems) > 0 {
		return errors.New("--delete-hub-state is about a hub that is gone, and --system about one that goes on; leave one of them out")
	}
	if o.Namespace != "" {
		return errors.New("--namespace: objects of all namespaces are released; leave the flag out")
	}
	return validateSystems(o.systems)
}

// entries returns the systems whose finalizers are released.
func (o *uninstallOptions) entries() []systems.Entry {
	return slices.DeleteFunc((&system.Options{}).Systems(), func(entry systems.Entry) bool {
		return len(o.systems) > 0 && !slices.Contains(o.systems, entry.Name)
	})
}

// refuseRunningHub returns an error if a process holds the lease of the hub.
func (o *uninstallOptions) refuseRunningHub(ctx context.Context, config *rest.Config) error {
	leases, err := coordinationv1client.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client for leases: %w", err)
	}
	name := election.Defaults().Name
	lease, err := leases.Leases(o.hubNamespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the lease %s/%s, to know whether a hub runs: %w", o.hubNamespace, name, err)
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	if holder == "" || explaining.Expired(lease, time.Now()) != "" {
		return nil
	}
	return fmt.Errorf("%s holds the lease %s/%s: a hub that runs would add the finalizers and write its state again; stop it and wait until the "+
		"lease has expired, delete the lease once no process of the hub is left, "+
		"or name the systems that it does not run with --system", holder, o.hubNamespace, name)
}

// summary says how many finalizers were released.
func (o *uninstallOptions) summary(found, released int) string {
	switch {
	case found == 0:
		return "no object has a finalizer of the hub"
	case o.dryRun:
		return fmt.Sprintf("\ndry run: finalizers that would be released: %d; nothing was changed", found)
	default:
		return fmt.Sprintf("\nreleased finalizers: %d of %d", released, found)
	}
}
