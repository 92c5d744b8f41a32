// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the name of the API group.
const GroupName = "cozystack.io"

// GroupVersion is this version of the group.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

// Install adds the types of this package to a scheme. It has the form of runtime.SchemeBuilder.AddToScheme.
func Install(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &AffinityClass{}, &AffinityClassList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
