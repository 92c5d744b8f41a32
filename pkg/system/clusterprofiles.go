// SPDX-License-Identifier: Apache-2.0

package system

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/clusterprofiles/controller"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// The flags of the controller clusterprofiles.
const (
	ProfileClaimsFlag   = "cluster-profile-claims"
	ProfileTakeOverFlag = "cluster-profile-take-over"
)

// allClaims is the default of the flag ProfileClaimsFlag.
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
		Cache:   func(options *cache.Options) { o.profiles().Cache(options) },
		Compact: compactProfile,
		Flags:   o.addClusterProfileFlags, Validate: o.validateClusterProfiles, Unused: o.unusedClusterProfileFlags,
	}
}

// compactProfile drops what placement, which looks at names and labels, does not read of a ClusterProfile.
func compactProfile(object any) {
	if profile, is := object.(*clusterinventory.ClusterProfile); is {
		profile.Status = clusterinventory.ClusterProfileStatus{}
	}
}

func (o *Options) addClusterProfileFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.ClusterProfileClaims, ProfileClaimsFlag, []string{allClaims},
		"Patterns of the names of the claims that are properties of ClusterProfiles, in which * stands for any characters, such as *.k8s.io.")
	fs.StringSliceVar(&o.ClusterProfileFormerWriters, ProfileTakeOverFlag, nil,
		"Field managers, such as registration of Open Cluster Management, from which ClusterProfiles are taken over: what they own of the fields "+
			"that the hub writes becomes the hub's, once for each ClusterProfile. Turn the former writer off before.")
}

func (o *Options) validateClusterProfiles() error {
	if _, err := clusterprofiles.ParsePatterns(o.ClusterProfileClaims); err != nil {
		return fmt.Errorf("--%s: %w", ProfileClaimsFlag, err)
	}
	if err := clusterprofiles.ValidateFieldManagers(o.ClusterProfileFormerWriters); err != nil {
		return fmt.Errorf("--%s: %w", ProfileTakeOverFlag, err)
	}
	return nil
}

func (o *Options) unusedClusterProfileFlags(enabled []string) error {
	if slices.Contains(enabled, controller.Name) {
		return nil
	}
	unused := func(flag string, given bool) error {
		if !given {
			return nil
		}
		return fmt.Errorf("--%s: no effect without the controller %s; add it to --controllers, or leave the flag out", flag, controller.Name)
	}
	claims := o.ClusterProfileClaims != nil && !slices.Equal(o.ClusterProfileClaims, []string{allClaims})
	return errors.Join(unused(ProfileClaimsFlag, claims), unused(ProfileTakeOverFlag, len(o.ClusterProfileFormerWriters) > 0))
}

// profiles returns the settings of the controller.
func (o *Options) profiles() controller.Options {
	return controller.Options{
		Claims: o.ClusterProfileClaims, Hold: o.RemovalLimit.LostScopeHold, FormerWriters: o.ClusterProfileFormerWriters,
	}
}

func (o *Options) setupClusterProfiles(mgr manager.Manager, settings queue.Settings) error {
	return o.profiles().Setup(mgr, settings)
}

// addProfileCheck adds a profileCheck to the manager of a hub whose decisions refer to ClusterProfiles that it does not make itself.
func (o *Options) addProfileCheck(mgr manager.Manager, enabled []string) error {
	if !o.ProfileDecisions || slices.Contains(enabled, controller.Name) {
		return nil
	}
	if err := mgr.Add(profileCheck{mgr.GetClient()}); err != nil {
		return fmt.Errorf("preparing to report that there are no ClusterProfiles: %w", err)
	}
	return nil
}

// profileCheck logs once that there is no ClusterProfile to which decisions can refer. It runs on the leader of a hub that makes none itself.
type profileCheck struct{ reader client.Reader }

// NeedLeaderElection returns true.
func (profileCheck) NeedLeaderElection() bool { return true }

// Start looks and returns.
func (c profileCheck) Start(ctx context.Context) error {
	list := &clusterinventory.ClusterProfileList{}
	if err := c.reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // The process ends.
		}
		return fmt.Errorf("listing ClusterProfiles: %w", err)
	}
	if !slices.ContainsFunc(list.Items, func(profile clusterinventory.ClusterProfile) bool {
		return profile.Spec.ClusterManager.Name == clusterprofiles.ClusterManager
	}) {
		klog.FromContext(ctx).Info("No ClusterProfile represents a ManagedCluster, so that --sig-placement-decisions writes empty decisions: add "+
			"the controller to --controllers, or turn on the feature gate ClusterProfile of Open Cluster Management",
			"controller", controller.Name, "clusterManager", clusterprofiles.ClusterManager)
	}
	return nil
}
