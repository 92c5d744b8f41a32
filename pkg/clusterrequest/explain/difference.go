// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// Difference is what a change of requests, Purposes, ClusterProviders or TraitEquivalences makes of all requests.
type Difference struct {
	// Requests are the requests whose result changes, sorted by namespace and name. A request that is granted keeps its Cluster.
	Requests []RequestDifference `json:"requests"`
	// Granted is the number of requests that have a Grant, which no change concerns.
	Granted int `json:"granted"`
	// Before and After say what all requests would get if none of them had a Grant.
	Before Totals `json:"before"`
	After  Totals `json:"after"`
	// Limited reports that the difference has only requests that a user may see, so that the counts are left out, and 0.
	Limited bool `json:"limited,omitempty"`
}

// GrantedPrefix is before the Cluster in the result of a request that gets an existing one.
const GrantedPrefix = "Granted Cluster "

// RequestDifference is the result of a request before and after a change. Each is "Granted Cluster namespace/name", with "new" before Cluster
// if it is to be created, or the status and the reason. It is empty where the request does not exist.
type RequestDifference struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Before    string `json:"before,omitempty"`
	After     string `json:"after,omitempty"`
}

// Totals counts what requests get.
type Totals struct {
	// Requests is the number of requests, and Refused that of those that get nothing.
	Requests int `json:"requests"`
	Refused  int `json:"refused"`
	// Clusters is the number of Clusters that the requests have together.
	Clusters int `json:"clusters"`
}

// Differ reports whether there is a difference.
func (d *Difference) Differ() bool { return d != nil && (len(d.Requests) > 0 || d.Before != d.After) }

// Compare decides all requests of two States in turn, the oldest first, as the controller would if no other request came. The time is that of
// the decisions.
func Compare(before, after *Objects, now metav1.Time) *Difference {
	earlier, later := before.run(now), after.run(now)
	difference := &Difference{Requests: []RequestDifference{}, Before: before.anew().run(now).totals(), After: after.anew().run(now).totals()}
	for _, key := range earlier.keysWith(later) {
		was, is := earlier[key], later[key]
		if is.kept {
			difference.Granted++
		}
		if was.text != is.text {
			difference.Requests = append(difference.Requests, RequestDifference{
				Namespace: key.Namespace, Name: key.Name, Before: was.text, After: is.text,
			})
		}
	}

	return difference
}

// outcomes are the results of requests.
type outcomes map[types.NamespacedName]outcome

// outcome is the result of one request.
type outcome struct {
	text    string
	cluster types.NamespacedName // empty for none
	kept    bool
}

// keysWith returns the keys of both, sorted.
func (o outcomes) keysWith(others outcomes) []types.NamespacedName {
	keys := make([]types.NamespacedName, 0, len(o)+len(others))
	for key := range o {
		keys = append(keys, key)
	}
	for key := range others {
		if _, known := o[key]; !known {
			keys = append(keys, key)
		}
	}

	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return keys
}

func (o outcomes) totals() Totals {
	totals := Totals{Requests: len(o)}
	clusters := map[types.NamespacedName]bool{}
	for _, each := range o {
		if each.cluster.Name == "" {
			totals.Refused++
		} else {
			clusters[each.cluster] = true
		}
	}
	totals.Clusters = len(clusters)
	return totals
}

// run decides all requests in turn, the oldest first.
func (o *Objects) run(now metav1.Time) outcomes {
	catalog := o.catalog()
	requests := o.sorted()
	results := make(outcomes, len(requests))
	slices.SortStableFunc(requests, func(a, b *openmcpv1alpha1.ClusterRequest) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})

	for _, request := range requests {
		if request.DeletionTimestamp == nil {
			results[keyOf(request)] = carryOut(catalog, withUID(request), now)
		}
	}
	return results
}

// withUID returns a request that has a UID: one of a file has none, and the decisions tell requests apart by it.
func withUID(request *openmcpv1alpha1.ClusterRequest) *openmcpv1alpha1.ClusterRequest {
	if request.UID != "" {
		return request
	}
	identified := request.DeepCopy()
	identified.UID = types.UID(keyOf(request).String())
	return identified
}

// carryOut decides a request, and changes the Catalog as the controller changes the hub.
func carryOut(catalog *clusterrequest.Catalog, request *openmcpv1alpha1.ClusterRequest, now metav1.Time) outcome {
	decided := catalog.Decide(request, now)
	for _, cluster := range decided.Leave {
		catalog.SetCluster(cluster)
	}
	if decided.Obsolete != nil {
		catalog.DeleteGrant(keyOf(decided.Obsolete))
		return carryOut(catalog, request, now)
	}

	if decided.Outcome == clusterrequest.OutcomeIgnored {
		return outcome{text: "ignored"}
	}
	if decided.Grant == nil {
		return outcome{text: fmt.Sprintf("%s, %s", decided.Result.Status, decided.Result.Reason)}
	}
	if decided.Cluster != nil {
		catalog.SetCluster(decided.Cluster)
	}
	catalog.SetGrant(decided.Grant)

	ref := decided.Grant.Spec.ClusterRef
	result := outcome{cluster: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, kept: decided.Outcome == clusterrequest.OutcomeKept}
	result.text = GrantedPrefix + result.cluster.String()
	if decided.Create && !result.kept {
		result.text = "Granted new Cluster " + result.cluster.String()
	}
	return result
}

// anew returns the objects as if no request had been granted yet: without Grants, and without Clusters that were made for requests.
func (o *Objects) anew() *Objects {
	fresh := *o
	fresh.Grants, fresh.Clusters = nil, nil
	for _, cluster := range o.Clusters {
		uids := clusterrequest.RequestUIDs(cluster)
		if _, made := cluster.Labels[openmcpv1alpha1.DeleteWithoutRequestsLabel]; len(uids) > 0 && made {
			continue
		}
		fresh.Clusters = append(fresh.Clusters, clusterrequest.Leave(cluster, uids...))
	}
	return &fresh
}
