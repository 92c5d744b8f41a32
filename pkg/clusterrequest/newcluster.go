// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// nameHashLength is the number of characters that end the name of a Cluster of a single request or a limited number of them.
const nameHashLength = 8

// maxRecordedLabels is the number of labels of a Cluster that a Grant keeps, the first by their keys: more than a template and the hub write.
// The definition of Grants refuses more.
const maxRecordedLabels = 128

// template returns the template of the first purpose that has one.
func (c *Catalog) template(request *openmcpv1alpha1.ClusterRequest) openmcpv1alpha1.ClusterTemplate {
	for _, name := range request.Spec.Purposes {
		if purpose, found := c.purposes[string(name)]; found && purpose.Spec.ClusterTemplate != nil {
			return *purpose.Spec.ClusterTemplate
		}
	}
	return openmcpv1alpha1.ClusterTemplate{}
}

// newName returns namespace and name of the new Cluster of a request: the same at every call. A shared Cluster without a limit has one name
// for all requests, unless the request has the label that forbids it.
func (c *Catalog) newName(request *openmcpv1alpha1.ClusterRequest, dedicated bool) types.NamespacedName {
	template, purpose := c.template(request), string(request.Spec.Purposes[0])
	name := types.NamespacedName{Namespace: cmp.Or(template.Namespace, c.home(request, dedicated))}
	randomize := request.Labels[openmcpv1alpha1.RandomizeNameLabel] == "true"
	if !dedicated && !randomize && limit(c.purposes, request.Spec.Purposes) == 0 {
		name.Name = cmp.Or(template.Name, purpose)
		return name
	}
	hashed := request.Namespace + "/" + request.Name
	if randomize {
		hashed += "/" + string(request.UID)
	}
	name.Name = cmp.Or(template.GenerateName, purpose+"-") + hash(hashed, nameHashLength)

	return name
}

// home returns the namespace of a new Cluster without a template. A Cluster that requests of several namespaces share is in none of them:
// otherwise the users of one could take it, its Leases or its credentials from the others (docs/spec/trust.md T5).
func (c *Catalog) home(request *openmcpv1alpha1.ClusterRequest, dedicated bool) string {
	if dedicated || c.options.Scope == ScopeNamespaced {
		return request.Namespace
	}
	return cmp.Or(c.options.SharedNamespace, DefaultSharedNamespace)
}

// newCluster returns the Cluster to create. It shares no memory with the template or the request.
func (c *Catalog) newCluster(
	request *openmcpv1alpha1.ClusterRequest, dedicated bool, name types.NamespacedName, profile *ProfileVerdict,
) *openmcpv1alpha1.Cluster {
	tenancy := openmcpv1alpha1.TenancyShared
	if dedicated {
		tenancy = openmcpv1alpha1.TenancyExclusive
	}
	template, labels := c.template(request), map[string]string{openmcpv1alpha1.DeleteWithoutRequestsLabel: "true"}
	for key, value := range template.Labels {
		labels[key] = string(value)
	}
	return &openmcpv1alpha1.Cluster{
		TypeMeta: typeMeta("Cluster"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: name.Namespace, Name: name.Name, Labels: labels, Annotations: annotationsOf(template.Annotations, template.ClusterSet),
		},
		Spec: openmcpv1alpha1.ClusterSpec{
			ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{
				Name: profile.Provider, Profile: openmcpv1alpha1.ProfileName(profile.Profile),
			},
			Kubernetes: &openmcpv1alpha1.Kubernetes{Version: profile.Version},
			Purposes:   append([]openmcpv1alpha1.PurposeName(nil), request.Spec.Purposes...),
			Tenancy:    tenancy,
		},
	}
}

// recreated returns a Cluster as a Grant recorded it. It shares no memory with the Grant.
func recreated(grant *openmcpv1alpha1.ClusterRequestGrant) *openmcpv1alpha1.Cluster {
	granted := grant.Spec.Cluster.DeepCopy()
	labels := make(map[string]string, len(granted.Labels))
	for key, value := range granted.Labels {
		labels[key] = string(value)
	}
	return &openmcpv1alpha1.Cluster{
		TypeMeta: typeMeta("Cluster"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name, Labels: labels,
			Annotations: annotationsOf(granted.Annotations, granted.ClusterSet),
		},
		Spec: granted.ClusterSpec,
	}
}

// recorded returns what a Grant keeps of a Cluster. It shares no memory with the Cluster.
func recorded(cluster *openmcpv1alpha1.Cluster) openmcpv1alpha1.GrantedCluster {
	granted := openmcpv1alpha1.GrantedCluster{
		ClusterSpec: *cluster.Spec.DeepCopy(), ClusterSet: cluster.Annotations[openmcpv1alpha1.ClusterSetAnnotation],
	}
	for _, key := range slices.Sorted(maps.Keys(cluster.Labels))[:min(len(cluster.Labels), maxRecordedLabels)] {
		if granted.Labels == nil {
			granted.Labels = map[string]openmcpv1alpha1.LabelValue{}
		}
		granted.Labels[key] = openmcpv1alpha1.LabelValue(cluster.Labels[key])
	}
	granted.Annotations = recordedAnnotations(cluster.Annotations)
	return granted
}

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: kind}
}
