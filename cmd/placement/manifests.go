// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
	"github.com/placement-hub/placement-hub/deploy"
	"github.com/placement-hub/placement-hub/manifests"
)

// manifestsOptions are the flags of `placement manifests`.
type manifestsOptions struct {
	chosen  deploy.Choices
	removal bool
}

func newManifestsCommand() *cobra.Command {
	o := &manifestsOptions{}
	systems := manifests.Systems()
	cmd := &cobra.Command{
		Use:   "manifests",
		Short: "Print the objects that install the hub",
		Long: `manifests prints the objects of an installation as YAML: definitions, roles, admission policies, webhooks and the
Deployment. They are those of deploy/base, of its components and overlays, in this version of the binary; nothing is read.

Apply them on the server: the definitions are too large for the annotation of a client-side apply.`,
		Example: `  # A hub of its own
  placement manifests --image=registry.example/placement-hub:v1.0.0 | kubectl apply --server-side -f -

  # With two of the other systems, on a hub where no agent reports whether clusters are available
  placement manifests --system=federation,clusterrequest --without-taints | kubectl apply --server-side -f -

  # Beside the registration controllers of Open Cluster Management
  placement manifests --beside-upstream | kubectl apply --server-side -f -

  # Turn a system off, after the hub was started without it
  placement manifests --removal --system=federation | kubectl delete -f -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.chosen.Systems, "system", nil, "Opt-in systems to install besides placement: "+strings.Join(systems, ", ")+".")
	flags.BoolVar(&o.chosen.BesideUpstream, "beside-upstream", false,
		"Install the controller placement alone, beside the registration controllers of Open Cluster Management, which have the definitions.")
	flags.BoolVar(&o.chosen.WithoutTaints, "without-taints", false,
		"Leave off the controller that taints each cluster whose availability no agent reports.")
	flags.BoolVar(&o.chosen.WithoutFlowSchemas, "without-flow-schemas", false,
		"Leave out the FlowSchemas by which the API server serves the hub and the Leases of agents beside tenants that flood it.")
	flags.BoolVar(&o.chosen.ManifestWorks, "manifestworks", false,
		"Install the definition of ManifestWorks, which the system federation needs and Open Cluster Management brings.")
	flags.BoolVar(&o.removal, "removal", false,
		"Print what to delete instead: the objects of --system, or without it those of the hub, webhooks first. "+
			"Definitions, and with them the objects of users, and namespaces are not among them.")
	flags.StringVar(&o.chosen.WebhookURL, "webhook-url", "",
		"URL at which the API server reaches the webhooks of the hub, such as https://hub.example.com:9443. By default their Service.")
	flags.StringVar(&o.chosen.ExplainAddress, hubprocess.ExplainAddressFlag, "",
		"URL at which users reach the explanations of the hub, such as https://hub.example.com:9443. By default the Service of the webhooks.")
	flags.StringVar(&o.chosen.Image, "image", "placement-hub:latest", "Image of the hub.")
	return cmd
}

// run prints the objects.
func (o *manifestsOptions) run(out io.Writer) error {
	if o.chosen.BesideUpstream && o.chosen.WithoutTaints {
		return exit.Mistake(errors.New("--without-taints has no effect with --beside-upstream, which runs the controller placement alone"))
	}
	slices.Sort(o.chosen.Systems)
	o.chosen.Systems = slices.Compact(o.chosen.Systems)
	if err := validateSystems(o.chosen.Systems); err != nil {
		return exit.Mistake(err)
	}
	if err := (&hubprocess.ExplanationOptions{Enabled: true, Address: o.chosen.ExplainAddress}).Validate(); err != nil {
		return exit.Mistake(err)
	}
	if err := manifests.ValidateWebhookURL(o.chosen.WebhookURL); err != nil {
		return exit.Mistake(fmt.Errorf("--webhook-url: %w", err))
	}
	objectsOf := deploy.Objects
	if o.removal {
		objectsOf = deploy.Removal
	}
	objects, err := objectsOf(o.chosen)
	if err != nil {
		return fmt.Errorf("making the objects of the installation: %w", err)
	}
	return deploy.Print(out, objects)
}

// validateSystems returns an error if the flag --system names a system that does not exist.
func validateSystems(named []string) error {
	known := manifests.Systems()
	for _, name := range named {
		if !slices.Contains(known, name) {
			return fmt.Errorf("--system: there is no system %q; use %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
