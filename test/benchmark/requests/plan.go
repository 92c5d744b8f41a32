// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
)

// Pattern says in how many writes requests were granted.
type Pattern struct {
	// Joins has, for each Cluster, how many requests each of its writes added.
	Joins [][]int
	// Statuses has, for each request, how often its status was written: once or twice. Those that are missing count as once.
	Statuses []int
}

// Plan decides on ClusterRequests that have nothing yet as the hub does, one after the other, and returns what has to be written for them in
// as many writes as the pattern says. The health is that of a Cluster that the provider has reported on. It returns an error for a request
// that would get nothing.
func Plan(
	all []openmcpv1alpha1.ClusterRequest, provider *openmcpv1alpha1.ClusterProvider, healthy *openmcpv1alpha1.Cluster, pattern Pattern,
	now metav1.Time,
) ([]precomputed.GrantedCluster, error) {
	catalog := newCatalog()
	catalog.SetClusterProvider(provider)
	var clusters []precomputed.GrantedCluster
	known := map[types.NamespacedName]int{}
	for i := range all {
		decided := catalog.Decide(&all[i], now)
		if decided.Outcome != clusterrequest.OutcomeChosen {
			return nil, refusal(&all[i], &decided)
		}
		catalog.SetCluster(decided.Cluster)
		catalog.SetGrant(decided.Grant)
		key := KeyOf(decided.Grant)
		at, found := known[key]
		if !found {
			at = len(clusters)
			known[key] = at
			clusters = append(clusters, precomputed.GrantedCluster{})
		}
		clusters[at].States = append(clusters[at].States, *decided.Cluster)
		twice := i < len(pattern.Statuses) && pattern.Statuses[i] > 1
		clusters[at].Requests = append(clusters[at].Requests, precomputed.Granted{
			Grant: *decided.Grant, Statuses: statuses(&all[i], decided.Result, healthy, twice, now),
		})
	}
	for i := range clusters {
		var joins []int
		if i < len(pattern.Joins) {
			joins = pattern.Joins[i]
		}
		clusters[i].States = batched(clusters[i].States, joins)
	}

	return clusters, nil
}

// statuses returns the status of a granted request: before the Cluster is ready, if it is written twice, and after that.
func statuses(
	request *openmcpv1alpha1.ClusterRequest, result clusterrequest.Result, healthy *openmcpv1alpha1.Cluster, twice bool, now metav1.Time,
) []openmcpv1alpha1.ClusterRequestStatus {
	states := []*openmcpv1alpha1.Cluster{healthy}
	if twice {
		states = []*openmcpv1alpha1.Cluster{{ObjectMeta: healthy.ObjectMeta, Spec: healthy.Spec}, healthy}
	}
	all := make([]openmcpv1alpha1.ClusterRequestStatus, 0, len(states))
	for _, state := range states {
		ready := clusterrequest.ClusterReady(request, state)
		ready.LastTransitionTime = now
		status := openmcpv1alpha1.ClusterRequestStatus{}
		status.Status, status.Reason, status.Message = result.Status, result.Reason, result.Message
		status.ObservedGeneration, status.LastReconcileTime = request.Generation, &now
		meta.SetStatusCondition(&status.Conditions, ready)
		all = append(all, status)
	}

	return all
}

// batched returns those of the states of a Cluster, each of which has one request more than the one before, that writes of so many requests
// end with. The last state is always one of them.
func batched(states []openmcpv1alpha1.Cluster, joins []int) []openmcpv1alpha1.Cluster {
	var written []openmcpv1alpha1.Cluster
	requests := 0
	for _, joined := range joins {
		if requests += joined; requests >= len(states) {
			break
		}
		written = append(written, states[requests-1])
	}
	return append(written, states[len(states)-1])
}

// Single returns what has to be written for a ClusterRequest that is to be created and gets a Cluster that is ready. The owner of the Grant has
// no true UID.
func Single(
	request *openmcpv1alpha1.ClusterRequest, cluster *openmcpv1alpha1.Cluster, now metav1.Time,
) (precomputed.Granted, error) {
	request = request.DeepCopy()
	request.UID, request.Generation = types.UID(request.Name), 1 // The UID decides on the prefix.
	catalog := newCatalog()
	catalog.SetCluster(cluster)
	decided := catalog.Decide(request, now)
	if decided.Outcome != clusterrequest.OutcomeChosen {
		return precomputed.Granted{}, refusal(request, &decided)
	}
	return precomputed.Granted{Grant: *decided.Grant, Statuses: statuses(request, decided.Result, cluster, false, now)}, nil
}

func newCatalog() *clusterrequest.Catalog {
	catalog := clusterrequest.NewCatalog(clusterrequest.Options{})
	for _, purpose := range []string{HubPurpose, FloorPurpose} {
		catalog.SetPurpose(Purpose(purpose))
	}
	return catalog
}

func refusal(request *openmcpv1alpha1.ClusterRequest, decided *clusterrequest.Decision) error {
	return fmt.Errorf("ClusterRequest %s/%s: %s: %s", request.Namespace, request.Name, decided.Outcome, decided.Result.Message)
}
