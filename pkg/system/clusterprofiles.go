// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/utils/ptr"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/clusterprofiles/controller"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

const profileClaimsFlag = "cluster-profile-claims"

// allClaims is the default of the flag profileClaimsFlag.
const allClaims = "*"

// clusterProfiles returns the system of ClusterProfiles.
func (o *Options) clusterProfiles() systems.Entry {
	return systems.Entry{
		Name: "clusterprofiles",
		Groups: []systems.Group{{
			Name: clusterinventory.Group,
			Hint: "apply the CustomResourceDefinitions in manifests/multicluster, or leave the controllers clusterprofiles/* off",
		}},
		Controllers: []systems.Controller{{Name: controller.Name, Setup: o.setupClusterProfiles, Access: systems.Access{
			Reads: append(reads(clusters, sets, bindings, namespaces), profileResources...),
			Rules: rules("clusterprofiles"),
		}}},
		Cache: controller.Cache,
		Flags: o.addClusterProfileFlags, Validate: o.validateClusterProfiles, Unused: o.unusedClusterProfileFlags,
	}
}

func (o *Options) addClusterProfileFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.ClusterProfileClaims, profileClaimsFlag, []string{allClaims},
		"Patterns of the names of the claims that are properties of ClusterProfiles, in which * stands for any characters, such as *.k8s.io.")
}

func (o *Options) validateClusterProfiles() error {
	if _, err := clusterprofiles.ParsePatterns(o.ClusterProfileClaims); err != nil {
		return fmt.Errorf("--%s: %w", profileClaimsFlag, err)
	}
	return nil
}

func (o *Options) unusedClusterProfileFlags(enabled []string) error {
	if o.ClusterProfileClaims == nil || slices.Equal(o.ClusterProfileClaims, []string{allClaims}) || slices.Contains(enabled, controller.Name) {
		return nil
	}
	return fmt.Errorf("--%s: no effect without the controller %s; add it to --controllers, or leave the flag out", profileClaimsFlag, controller.Name)
}

func (o *Options) setupClusterProfiles(mgr manager.Manager, settings queue.Settings) error {
	return controller.Options{Claims: o.ClusterProfileClaims, Hold: ptr.Deref(o.RemovalLimit.LostScopeHold, 0)}.Setup(mgr, settings)
}
