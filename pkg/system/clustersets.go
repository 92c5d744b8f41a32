// SPDX-License-Identifier: Apache-2.0

package system

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/clustersets/controller"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/clustersets/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/hub/webhookserver"
)

// Controllers that samples leave off, whose clusters are available and have their sets without them.
const (
	clusterTaints   = managedcluster.ManagedClusterTaints
	clusterDefaults = webhook.Controller
)

// clusterSets returns the system of ManagedClusterSets, of their bindings, and of ManagedClusters.
func (o *Options) clusterSets(shared *sharedinventory.Shared) systems.Entry {
	return systems.Entry{
		Groups: []systems.Group{
			{
				Name: rbacv1.GroupName,
				Hint: "let the API server serve rbac.authorization.k8s.io/v1, or leave the controllers clustersetbinding-rbac and " +
					"clusterrequest/* off",
			},
			kubernetes(corev1.SchemeGroupVersion), kubernetes(apiextensionsv1.SchemeGroupVersion), kubernetes(coordinationv1.SchemeGroupVersion),
		},
		Controllers: []systems.Controller{
			{Name: controller.ClusterSet, Setup: controller.SetupClusterSet(shared), Access: systems.Access{
				Reads: inventoryReads(), Rules: rules("sets", sets.Resource, sets.Resource+"/status"),
			}},
			{Name: controller.ClusterSetBinding, Setup: controller.SetupClusterSetBinding, Access: systems.Access{
				Reads: reads(clusters, sets, bindings), Rules: rules("sets", bindings.Resource+"/status"),
			}},
			{Name: controller.ClusterSetBindingRBAC, Setup: controller.SetupClusterSetBindingRBAC, Access: systems.Access{
				Reads: reads(sets, bindings, clusterRoles, clusterRoleBindings, namespaces), Rules: rules("clustersetbinding-rbac"),
			}},
			{Name: controller.ClusterSetRoles, Setup: controller.SetupClusterSetRoles, Access: systems.Access{
				Reads: reads(sets, clusterRoles), Rules: rules("clusterset-roles"),
			}},
			{Name: managedcluster.ManagedClusterTaints, Setup: managedcluster.SetupManagedClusterTaints(o.TaintGracePeriod), Access: systems.Access{
				Reads: reads(clusters), Rules: rules("managedcluster-taints"),
			}},
			// The webhook configurations and the Secret are watched by their names, and may be missing.
			{Name: webhook.Controller, Webhook: managedClusterDefaults, Access: systems.Access{Rules: rules("managedcluster-defaults")}},
			{Name: managedcluster.Vocabulary, Setup: managedcluster.SetupVocabulary, Access: systems.Access{
				Reads: reads(clusters, sets, bindings, clusterResource(clusterv1beta1.GroupVersion.Version, "placements")),
				Rules: rules("vocabulary"),
			}},
		},
		Flags: o.addTaintFlags, Validate: o.validateTaints, Unused: o.unusedTaintFlags,
	}
}

const taintGraceFlag = "taint-grace-period"

func (o *Options) addTaintFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&o.TaintGracePeriod, taintGraceFlag, o.TaintGracePeriod,
		"How long the condition "+clusterv1.ManagedClusterConditionAvailable+" of a cluster is not True before the controller "+clusterTaints+
			" adds the taint unavailable or unreachable. It does not wait for a cluster that has never reported the condition.")
}

func (o *Options) validateTaints() error {
	if o.TaintGracePeriod < 0 {
		return fmt.Errorf("--%s: %s is negative; use 0 to add taints at once", taintGraceFlag, o.TaintGracePeriod)
	}
	return nil
}

func (o *Options) unusedTaintFlags(enabled []string) error {
	if o.TaintGracePeriod == 0 || slices.Contains(enabled, clusterTaints) {
		return nil
	}
	return fmt.Errorf("--%s: no effect without the controller %s; add it to --controllers, or leave the flag out", taintGraceFlag, clusterTaints)
}

// kubernetes returns a group that every API server has.
func kubernetes(version schema.GroupVersion) systems.Group {
	return systems.Group{Name: version.Group, Hint: "let the API server serve " + version.String() + ", which is a part of Kubernetes"}
}

// managedClusterDefaults returns the webhook for ManagedClusters.
func managedClusterDefaults(mgr manager.Manager, s queue.Settings) (webhookserver.Webhook, error) {
	handlers, err := webhook.NewHandlers(s.Clock, mgr.GetAPIReader())
	return webhookserver.Webhook{
		Controller: webhook.Controller, Manifests: "manifests/webhook", Handlers: handlers,
		Mutating: webhook.Configuration, Validating: webhook.Configuration,
	}, err
}
