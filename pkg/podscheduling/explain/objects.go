// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

// Objects are the objects of a cluster that decide where Pods may run. The order of each list does not matter.
type Objects struct {
	Policies        []*kupidv1alpha1.PodSchedulingPolicy
	ClusterPolicies []*kupidv1alpha1.ClusterPodSchedulingPolicy
	Classes         []*cozystackv1alpha1.AffinityClass
	Tenants         []*appsv1alpha1.Tenant
	// Namespaces have the labels that namespaceSelectors select by. A namespace that is not among them has only the label with its name.
	Namespaces []*corev1.Namespace
	Nodes      []*corev1.Node
	// Workloads are objects of Kinds.
	Workloads []*unstructured.Unstructured
	// Releases are HelmReleases, and Applications objects of the group apps.cozystack.io except Tenants.
	Releases, Applications []*unstructured.Unstructured

	// Webhook is the configuration by which the API server sends objects to the webhook of policies; nil if it is not known, and then every
	// object counts as sent.
	Webhook *admissionregistrationv1.MutatingWebhookConfiguration

	// Owner reads an owner that is not among the objects, as affinityclass.Lookup does; nil if there are no others.
	Owner affinityclass.Lookup
	// Application reads an application that is not among the objects; nil if there are no others. Its result is nil if there is none.
	Application func(kind schema.GroupKind, namespace, name string) (*unstructured.Unstructured, error)

	// Missing has a sentence for each kind that the cluster does not serve or that could not be read, with what that means for the reports.
	Missing []string
	// Unread are the kinds of the whole cluster that the user may not read, so that no report says anything that depends on them.
	Unread []string
}

func (o *Objects) unread(kind string) bool { return slices.Contains(o.Unread, kind) }
