// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

// heartbeat writes the conditions of a cluster; no two of them are the same.
func (s *stage) heartbeat(ctx context.Context, n int) error {
	name := fleet.ClusterName(n * 7 % s.size.Clusters)
	body, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": fleet.Conditions(int(time.Now().UnixNano()))}})
	if err != nil {
		return fmt.Errorf("encoding a heartbeat: %w", err)
	}
	object := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := s.api.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, body)); err != nil {
		return fmt.Errorf("writing the status of ManagedCluster %s: %w", name, err)
	}
	return nil
}
