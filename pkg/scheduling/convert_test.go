// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// ConvertV1beta1 and ConvertV1alpha1 convert Placements to Requests. Package api converts, and imports this package, so TestMain sets them
// from the external test package.
var (
	ConvertV1beta1  func(*selector.Compiler, *clusterv1beta1.Placement) *Request
	ConvertV1alpha1 func(*selector.Compiler, *placementv1alpha1.Placement) *Request
)
