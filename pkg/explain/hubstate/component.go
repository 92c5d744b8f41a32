// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	workv1 "open-cluster-management.io/api/work/v1"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// installedBy returns what installs the kinds of a group on a hub; empty for a group of which this product has no definition.
func installedBy(group string) string {
	switch group {
	case kupidv1alpha1.GroupName:
		return "the component deploy/components/podscheduling"
	case cozystackv1alpha1.GroupName, appsv1alpha1.GroupName:
		return "the component deploy/components/affinityclass"
	case openmcpv1alpha1.GroupName:
		return "the component deploy/components/clusterrequest"
	case workv1.GroupName:
		return "manifests/manifestworks, which deploy/components/federation needs,"
	default:
		return ""
	}
}

// unservedGroup returns the group of an error about a kind that is not served; empty if the error has none.
func unservedGroup(err error) string {
	if kind, is := errors.AsType[*meta.NoKindMatchError](err); is {
		return kind.GroupKind.Group
	}
	if resource, is := errors.AsType[*meta.NoResourceMatchError](err); is {
		return resource.PartialResource.Group
	}
	return ""
}

// installs returns " (what installs them)" for an error about a kind that is not served; empty if that is not known.
func installs(err error) string {
	by := installedBy(unservedGroup(err))
	if by == "" {
		return ""
	}
	return " (" + by + " installs them)"
}

// installAdvice says what to apply for a kind that is not served.
func installAdvice(err error) string {
	if by := installedBy(unservedGroup(err)); by != "" {
		return "apply " + by + " to it"
	}
	return "apply the CustomResourceDefinitions in manifests/crds, which deploy/base has, to it"
}
