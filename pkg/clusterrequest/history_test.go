// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/property"
)

// promise is what a request was granted.
type promise struct {
	cluster types.NamespacedName
	prefix  string
	spec    openmcpv1alpha1.GrantedCluster
}

// history is a world in which records are lost, the hub is killed between two writes, and what decisions depend on changes.
type history struct {
	*world

	requests map[types.UID]*openmcpv1alpha1.ClusterRequest
	promises map[types.UID]promise
	limit    int32
}

// TestGrantsSurviveEverything checks architecture law 9 over random histories: what was granted once stays, with its prefix, whatever is lost
// and changed, until the request is deleted; and a Cluster goes with its last request alone.
func TestGrantsSurviveEverything(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		h := &history{
			world:    newWorld(t, Options{Strategy: rapid.SampledFrom([]Strategy{Balanced, Simple}).Draw(r, "strategy")}),
			requests: map[types.UID]*openmcpv1alpha1.ClusterRequest{}, promises: map[types.UID]promise{}, limit: 2,
		}
		r.Repeat(map[string]func(*rapid.T){
			"":        h.check,
			"request": h.create,
			"delete":  h.delete,
			"lose":    h.lose,
			"change":  h.change,
			"kill":    h.kill,
		})
	})
}

func (h *history) create(r *rapid.T) {
	purposes := rapid.SampledFrom([]string{"workload", "platform", "mcp", "platform workload"}).Draw(r, "purposes")
	prefix := rapid.SampledFrom([]string{"", "foo-", "foo-bar-", "f-"}).Draw(r, "prefix")
	request := h.request(purposes, withPrefix(prefix))
	h.requests[request.UID] = request
	h.settle(r)
}

// delete deletes requests together, and does their writes in turns.
func (h *history) delete(r *rapid.T) {
	uids := slices.Sorted(maps.Keys(h.requests))
	if len(uids) == 0 {
		r.Skip("no request")
	}
	first := rapid.IntRange(0, len(uids)-1).Draw(r, "first")
	uids = uids[first:min(len(uids), first+rapid.IntRange(1, 2).Draw(r, "number"))]
	for range 8 {
		for _, uid := range uids {
			h.step(h.requests[uid])
		}
	}
	for _, uid := range uids {
		if diff := cmp.Diff(Release{}, h.Release(h.requests[uid])); diff != "" || h.Grant(keyOf(h.requests[uid])) != nil {
			r.Fatalf("%s is not released: %s", uid, diff)
		}
		delete(h.requests, uid)
		delete(h.promises, uid)
	}
	h.settle(r)
}

// lose loses one record of one request, or a Cluster with the records of all its requests.
func (h *history) lose(r *rapid.T) {
	uids := slices.Sorted(maps.Keys(h.promises))
	if len(uids) == 0 {
		r.Skip("no grant")
	}
	uid := rapid.SampledFrom(uids).Draw(r, "request")
	cluster := h.Cluster(h.promises[uid].cluster).DeepCopy()
	switch rapid.IntRange(0, 4).Draw(r, "record") {
	case 0:
		h.DeleteGrant(keyOf(h.requests[uid]))
	case 1:
		h.SetCluster(Leave(cluster, uid))
	case 2:
		delete(cluster.Annotations, openmcpv1alpha1.PrefixesAnnotation)
		h.SetCluster(cluster)
	case 3:
		h.DeleteCluster(keyOf(cluster))
	case 4: // The request is deleted without its finalizer and created again.
		again := h.requests[uid].DeepCopy()
		again.UID += "x"
		h.requests[again.UID], h.promises[again.UID] = again, h.promises[uid]
		delete(h.requests, uid)
		delete(h.promises, uid)
	}
	h.settle(r)
}

// change changes what choices depend on.
func (h *history) change(r *rapid.T) {
	switch rapid.IntRange(0, 3).Draw(r, "what") {
	case 0:
		h.limit = rapid.Int32Range(1, 3).Draw(r, "limit")
		h.purpose("workload", openmcpv1alpha1.PurposeSpec{TenancyLimit: h.limit})
	case 1:
		h.purpose("platform", openmcpv1alpha1.PurposeSpec{Dedicated: rapid.Bool().Draw(r, "dedicated")})
	case 2:
		h.SetClusterProvider(provider("gardener", profile(rapid.SampledFrom([]string{"aws", "other"}).Draw(r, "profile"))))
	case 3:
		h.cluster(rapid.SampledFrom([]string{"aa", "zz"}).Draw(r, "name"), "platform workload mcp", nil)
	}
	h.settle(r)
}

// kill writes only the first parts of the decision on a new request.
func (h *history) kill(r *rapid.T) {
	request := h.request("workload", nil)
	h.requests[request.UID] = request
	decision := h.Decide(request, now)
	if decision.Cluster != nil && rapid.Bool().Draw(r, "after the Cluster") {
		h.SetCluster(decision.Cluster)
		h.promises[request.UID] = promise{keyOf(decision.Cluster), Prefix(decision.Cluster, request.UID), recorded(decision.Cluster)}
	}
	h.settle(r)
}

// settle decides on all requests, in any order, until nothing is written any more.
func (h *history) settle(r *rapid.T) {
	uids := rapid.Permutation(slices.Sorted(maps.Keys(h.requests))).Draw(r, "order")
	for range 2 {
		for _, uid := range uids {
			decision := h.Decide(h.requests[uid], now)
			if decision.Outcome == OutcomeChosen {
				h.checkRoom(r, decision)
			}
			h.write(decision)
			grant := h.Grant(keyOf(h.requests[uid]))
			if _, known := h.promises[uid]; !known && grant != nil {
				h.promises[uid] = promise{clusterOf(grant), grant.Spec.Prefix, grant.Spec.Cluster}
			}
		}
	}
}

// checkRoom checks that the choice did not overfill the Cluster.
func (h *history) checkRoom(r *rapid.T, decision Decision) {
	if slices.Contains(decision.Cluster.Spec.Purposes, "workload") && len(RequestUIDs(decision.Cluster)) > int(h.limit) {
		r.Fatalf("%d requests on a Cluster", len(RequestUIDs(decision.Cluster)))
	}
}

func (h *history) check(r *rapid.T) {
	for uid, promised := range h.promises {
		grant, cluster := h.Grant(keyOf(h.requests[uid])), h.Cluster(promised.cluster)
		if grant == nil || cluster == nil || GrantOwner(grant) != uid {
			r.Fatalf("%s has lost its Grant or its Cluster: %+v", uid, grant)
		}
		got := promise{clusterOf(grant), grant.Spec.Prefix, grant.Spec.Cluster}
		if diff := cmp.Diff(promised, got, cmp.AllowUnexported(promise{})); diff != "" {
			r.Fatalf("%s has another grant: %s", uid, diff)
		}
		if !HasRequest(cluster, uid) || Prefix(cluster, uid) != promised.prefix {
			r.Fatalf("%s: the Cluster has the finalizers %v and the prefixes %v", uid, cluster.Finalizers, prefixes(cluster))
		}
		if diff := cmp.Diff(promised.spec.ClusterSpec, cluster.Spec); diff != "" {
			r.Fatalf("%s has another Cluster: %s", uid, diff)
		}
	}
	for _, cluster := range h.sorted {
		if cluster.DeletionTimestamp != nil && len(cluster.requests) > 0 {
			r.Fatalf("%s is deleted and has requests", cluster.Name)
		}
		given := slices.Collect(maps.Values(prefixes(cluster.Cluster)))
		for i, a := range given {
			for j, b := range given {
				if i != j && strings.HasPrefix(a, b) {
					r.Fatalf("%q begins with %q", a, b)
				}
			}
		}
	}
}
