// SPDX-License-Identifier: Apache-2.0

package null

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func TestEveryClusterIsHealthy(t *testing.T) {
	offered := []openmcpv1alpha1.Profile{{Name: "default", SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: "1.36.3"}}}}
	p := Provider{Offered: offered}

	profiles, err := p.Profiles(t.Context(), nil)
	if diff := cmp.Diff(offered, profiles); diff != "" || err != nil {
		t.Errorf("cluster-request 4.4: profiles, %v (-want +got):\n%s", err, diff)
	}
	first, err := p.Ensure(t.Context(), &openmcpv1alpha1.Cluster{})
	if err != nil || !first.Healthy || first.Again != 0 || len(first.Endpoints) > 0 {
		t.Errorf("cluster-request 4.4: %+v, %v", first, err)
	}

	second, err := p.Ensure(t.Context(), &openmcpv1alpha1.Cluster{})
	if diff := cmp.Diff(first, second); diff != "" || err != nil {
		t.Errorf("law 4: the state changes, %v:\n%s", err, diff)
	}
	if err := p.TearDown(t.Context(), &openmcpv1alpha1.Cluster{}); err != nil {
		t.Error(err)
	}
	if err := p.Forget(t.Context(), types.NamespacedName{}); err != nil {
		t.Error(err)
	}
}
