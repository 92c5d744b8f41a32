// SPDX-License-Identifier: Apache-2.0

package scheduling_test

import (
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

func TestMain(m *testing.M) {
	scheduling.ConvertV1beta1 = func(compiler *selector.Compiler, placement *clusterv1beta1.Placement) *scheduling.Request {
		return api.V1beta1.Read(placement).Request(compiler)
	}
	scheduling.ConvertV1alpha1 = func(compiler *selector.Compiler, placement *placementv1alpha1.Placement) *scheduling.Request {
		return api.V1alpha1.Read(placement).Request(compiler)
	}
	m.Run()
}
