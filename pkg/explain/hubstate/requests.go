// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

// RequestsFromCluster reads all that decides what ClusterRequests get. The error names all missing rights.
func RequestsFromCluster(ctx context.Context, hub client.Reader) (*requests.Objects, error) {
	r := newReader(ctx, hub, &explain.State{}, forRequests)
	r.readAll(r.kinds(r.required))
	if err := r.err(); err != nil {
		return nil, err
	}
	return &r.state.ClusterRequests, nil
}

// WrittenRequests reports the status that the hub has written for ClusterRequests of a namespace, and their Grants as far as the user may list
// them, without an evaluation; because is the reason for that. Names that do not exist have no report.
func WrittenRequests(ctx context.Context, hub client.Reader, namespace string, names []string, because string) ([]requests.Report, error) {
	found, err := list[*openmcpv1alpha1.ClusterRequest](ctx, hub, namespace, &openmcpv1alpha1.ClusterRequestList{})
	if err != nil {
		return nil, fmt.Errorf("reading the ClusterRequests of namespace %s: %w", namespace, err)
	}
	grants, err := list[*openmcpv1alpha1.ClusterRequestGrant](ctx, hub, namespace, &openmcpv1alpha1.ClusterRequestGrantList{})
	if err != nil {
		err = fmt.Errorf("reading the ClusterRequestGrants of namespace %s: %w", namespace, err)
	}
	var reports []requests.Report

	for _, name := range names {
		for _, request := range found {
			if request.Name == name {
				reports = append(reports, requests.NewWrittenReport(request, grants, because))
			}
		}
	}
	return reports, err
}

// ReadManaged adds the ManagedClusters of a hub to objects, or says in objects.Missing that the user may not read them.
func ReadManaged(ctx context.Context, hub client.Reader, objects *requests.Objects) error {
	managed, err := list[*clusterv1.ManagedCluster](ctx, hub, "", &clusterv1.ManagedClusterList{})
	switch {
	case err == nil:
		objects.Managed = managed
	case apierrors.IsForbidden(err):
		objects.Missing = append(objects.Missing, "ManagedClusters that stay without their Clusters are not shown, because this user may not list "+
			"managedclusters; ask for that right if it matters")
	case !isUnserved(err):
		return fmt.Errorf("listing ManagedClusters: %w; check the connection to the hub and try again", err)
	}
	return nil
}
