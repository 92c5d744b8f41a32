// SPDX-License-Identifier: Apache-2.0

package system

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/controller"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest/publish"
)

const (
	requestStrategyFlag = "cluster-request-strategy"
	requestScopeFlag    = "cluster-request-scope"
	sharedNamespaceFlag = "shared-clusters-namespace"
	drainTimeoutFlag    = "cluster-drain-timeout"
	inventorySetFlag    = "clusters-inventory-set"
)

func (o *Options) addClusterRequestFlags(fs *pflag.FlagSet) {
	AddRequestFlags(fs, &o.ClusterRequests)
	fs.DurationVar(&o.ClusterDrainTimeout, drainTimeoutFlag, o.ClusterDrainTimeout,
		"How long the ManagedCluster of a Cluster that is deleted waits until no decision names it and no ManifestWork is left.")
	fs.StringVar(&o.ClustersInventorySet, inventorySetFlag, o.ClustersInventorySet,
		"ManagedClusterSet of published Clusters that name none. Write it into the ConfigMap placement-hub-clusters-inventory, too, by which "+
			"admission knows it.")
}

// AddRequestFlags adds the flags of what decides on ClusterRequests.
func AddRequestFlags(fs *pflag.FlagSet, options *clusterrequest.Options) {
	fs.StringVar((*string)(&options.Strategy), requestStrategyFlag, string(options.Strategy),
		"Which of the shared Clusters that fit equally well a ClusterRequest gets: Balanced is the one with the fewest requests, Simple the first "+
			"by namespace and name.")
	fs.StringVar((*string)(&options.Scope), requestScopeFlag, string(options.Scope),
		"Where ClusterRequests find existing Clusters: Cluster is every namespace, Namespaced the one in which their Cluster would be created.")
	fs.StringVar(&options.SharedNamespace, sharedNamespaceFlag, options.SharedNamespace,
		"Namespace of new shared Clusters whose Purpose names none. It has to exist, and tenants have no rights there. No effect with --"+
			requestScopeFlag+"=Namespaced, which keeps them in the namespace of the request.")
}

// validateClusterRequests reports settings of ClusterRequests that there are not.
func (o *Options) validateClusterRequests() error {
	err := ValidateRequests(o.ClusterRequests)
	if o.ClusterDrainTimeout <= 0 {
		err = errors.Join(err, fmt.Errorf("--%s: %s must be above 0", drainTimeoutFlag, o.ClusterDrainTimeout))
	}
	problems := validation.IsValidLabelValue(o.ClustersInventorySet)
	if o.ClustersInventorySet == "" {
		problems = []string{"it is empty; for none, name a set that no namespace binds"}
	}

	if len(problems) > 0 {
		err = errors.Join(err, fmt.Errorf("--%s: %q is not the name of a set: %s", inventorySetFlag, o.ClustersInventorySet,
			strings.Join(problems, "; ")))
	}
	return err
}

// DefaultRequests returns the settings of a hub without flags.
func DefaultRequests() clusterrequest.Options {
	return clusterrequest.Options{
		Strategy: clusterrequest.Balanced, Scope: clusterrequest.ScopeCluster, SharedNamespace: clusterrequest.DefaultSharedNamespace,
	}
}

// ValidateRequests reports a strategy, a scope or a namespace that there cannot be.
func ValidateRequests(options clusterrequest.Options) error {
	var errs []error
	if err := options.Strategy.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("--%s: %w", requestStrategyFlag, err))
	}
	if options.Scope != clusterrequest.ScopeCluster && options.Scope != clusterrequest.ScopeNamespaced {
		errs = append(errs, fmt.Errorf("--%s: %q is not a scope; use %s or %s",
			requestScopeFlag, options.Scope, clusterrequest.ScopeCluster, clusterrequest.ScopeNamespaced))
	}

	if problems := validation.IsDNS1123Label(options.SharedNamespace); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--%s: %q is not the name of a namespace: %s", sharedNamespaceFlag, options.SharedNamespace,
			strings.Join(problems, "; ")))
	}
	return errors.Join(errs...)
}

// unusedClusterRequestFlags reports settings of ClusterRequests that have no effect without their controllers.
func (o *Options) unusedClusterRequestFlags(enabled []string) error {
	for flag, changed := range map[string]bool{
		drainTimeoutFlag: o.ClusterDrainTimeout != clusterrequest.DefaultDrainTimeout,
		inventorySetFlag: o.ClustersInventorySet != clusterrequest.DefaultClusterSet,
	} {
		if changed && !slices.Contains(enabled, publish.Name) {
			return fmt.Errorf("--%s: no effect without the controller %s; add it to --controllers, or leave the flag out",
				flag, publish.Name)
		}
	}

	if slices.Contains(enabled, controller.Requests) {
		return nil
	}
	defaults, options := DefaultRequests(), o.ClusterRequests
	var flags []string
	if options.Strategy != defaults.Strategy {
		flags = append(flags, "--"+requestStrategyFlag)
	}

	if options.Scope != defaults.Scope {
		flags = append(flags, "--"+requestScopeFlag)
	}
	if options.SharedNamespace != defaults.SharedNamespace {
		flags = append(flags, "--"+sharedNamespaceFlag)
	}
	if len(flags) == 0 {
		return nil
	}
	return fmt.Errorf("%s: no effect without the controller %s; add clusterrequest/* to --controllers, or leave the flag out",
		strings.Join(flags, ", "), controller.Requests)
}
