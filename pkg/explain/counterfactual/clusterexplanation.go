// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// ClusterExplanation explains the result of one Placement for one cluster. Its JSON names are stable: fields may be added, and none is
// renamed or removed.
type ClusterExplanation struct {
	// Cluster is the name of the ManagedCluster.
	Cluster string `json:"cluster"`
	// Verdict, Rank, Score, Reason and Hold are those of explain.ClusterReport. Verdict is empty when the Placement has no valid result.
	Verdict string `json:"verdict,omitempty"`
	Rank    int    `json:"rank,omitempty"`
	// Feasible is the number of clusters that have a rank.
	Feasible int    `json:"feasible"`
	Score    *int64 `json:"score,omitempty"`
	Reason   string `json:"reason"`
	// Hold is absent for clusters that are not held.
	Hold *document.Hold `json:"hold,omitempty"`
	// Decided reports that the existing decisions have the cluster.
	Decided bool `json:"decided"`
	// Kept reports that the cluster stays in the decisions although it should leave them, as Hold does.
	Kept bool `json:"kept,omitempty"`
	// Terminating reports that the cluster is being deleted.
	Terminating bool `json:"terminating,omitempty"`
	// Gone says that the cluster stays although its openMCP Cluster was lost, and how to release it; empty for any other cluster.
	Gone string `json:"gone,omitempty"`
	// Sets are the sets that contain the cluster, and those that the Placement may use, by name.
	Sets []Set `json:"sets"`
	// Predicates are ORed: the cluster passes if one matches, or if there are none.
	Predicates []Predicate `json:"predicates"`
	// Taints are those of the cluster in their order.
	Taints []Taint `json:"taints"`
	// Prioritizers are the summands of the score; empty for clusters that are not feasible.
	Prioritizers []Prioritizer `json:"prioritizers"`
	// AntiAffinity is the anti-affinity key with the value of the cluster; absent without such a key.
	AntiAffinity *Domain `json:"antiAffinity,omitempty"`
	// Spread has the spread constraints with the values of the cluster.
	Spread []Domain `json:"spread,omitempty"`
	// Decision is the location of the cluster in the decisions; absent when it is not selected.
	Decision *Location `json:"decision,omitempty"`
	// Counterfactuals are changes that would select the cluster, those for which no other cluster leaves and the nearest first; the scheduler
	// confirmed each. There are none for a selected cluster.
	Counterfactuals []Counterfactual `json:"counterfactuals"`
}

// Stage returns the stage that rejects the cluster, also if it is held; StageSelected if none does, and the empty one without a valid result.
func (c *ClusterExplanation) Stage() scheduling.Stage { return c.Hold.Stage(c.Verdict) }

// isVerdictAlone reports whether the explanation of a held cluster has nothing of the cluster itself.
func (c *ClusterExplanation) isVerdictAlone() bool {
	return c.Hold != nil && len(c.Sets)+len(c.Predicates)+len(c.Taints) == 0
}

// VerdictAlone returns the explanation without what is known of the cluster itself.
func (c *ClusterExplanation) VerdictAlone() ClusterExplanation {
	return ClusterExplanation{
		Cluster: c.Cluster, Verdict: c.Verdict, Feasible: c.Feasible, Reason: c.Reason, Hold: c.Hold, Decided: c.Decided, Kept: c.Kept,
		Sets: []Set{}, Predicates: []Predicate{}, Taints: []Taint{}, Prioritizers: []Prioritizer{}, Decision: c.Decision,
		Counterfactuals: []Counterfactual{},
	}
}

// Set is a ManagedClusterSet.
type Set struct {
	Name string `json:"name"`
	// Contains reports that the cluster is in the set, Bound that the set is bound to the namespace, and Asked that the Placement names it
	// or names none. The cluster is in scope if all three are true for one set.
	Contains bool `json:"holds"`
	Bound    bool `json:"bound"`
	Asked    bool `json:"asked"`
	// Broken is the error of its selector; empty for a valid one.
	Broken string `json:"broken,omitempty"`
}

// Predicate is one of the predicates of a placement.
type Predicate struct {
	// Number counts from 1.
	Number int `json:"number"`
	// Matches says that all its clauses hold.
	Matches bool     `json:"matches"`
	Clauses []Clause `json:"clauses"`
}

// Clause is one comparison or expression of a predicate.
type Clause struct {
	Text  string `json:"text"`
	Holds bool   `json:"holds"`
	// Failure is the clause and what was found instead; empty when it holds.
	Failure string `json:"failure,omitempty"`
}

// Taint is a taint of the cluster.
type Taint struct {
	// Text is such as "gpu=a100:NoSelect".
	Text   string `json:"text"`
	Effect string `json:"effect"`
	// Tolerated reports that the taint is ignored. By is the reason: a toleration, or that the cluster is decided already.
	Tolerated bool   `json:"tolerated"`
	By        string `json:"by,omitempty"`
	// Remedy is what removes a taint that the hub maintains and the placement does not tolerate.
	Remedy string `json:"remedy,omitempty"`
	// Until is when the toleration ends; absent means never.
	Until *metav1.Time `json:"until,omitempty"`
}

// Prioritizer is one summand of the score.
type Prioritizer struct {
	Name   string `json:"name"`
	Weight int32  `json:"weight"`
	// Score is the unweighted score, and Points is Score times Weight. Score is absent where the cluster does not report the value; Points
	// is 0 then.
	Score  *int64 `json:"score,omitempty"`
	Points int64  `json:"points"`
	// Missing says that the cluster has no valid AddOnPlacementScore, and what Score counts instead; absent otherwise.
	Missing string `json:"missing,omitempty"`
	// Rank counts from 1 over the feasible clusters by these points alone; clusters with as many points share a rank.
	Rank int `json:"rank"`
}

// Domain is a label or claim whose values must differ between the selected clusters, or be evenly distributed.
type Domain struct {
	// Key is such as "label zone", and Value what the cluster has; absent when it does not have it.
	Key   string  `json:"key"`
	Value *string `json:"value,omitempty"`
	// MaxSkew and WhenUnsatisfiable are those of a spread constraint.
	MaxSkew           int    `json:"maxSkew,omitempty"`
	WhenUnsatisfiable string `json:"whenUnsatisfiable,omitempty"`
	// Selected counts the selected clusters by value.
	Selected map[string]int `json:"selected"`
}

// Location is the page and the decision group of a cluster after the decisions are written.
type Location struct {
	// Group and GroupName are the decision group; the API v1alpha1 has none.
	Group     *int32 `json:"group,omitempty"`
	GroupName string `json:"groupName,omitempty"`
	// Page is the name of the PlacementDecision.
	Page string `json:"page"`
}

// Counterfactual is a set of changes that would select the cluster.
type Counterfactual struct {
	// Text is the sentence: "would be selected if label region were eu".
	Text string `json:"text"`
	// Changes are one or two; all of them are needed.
	Changes []Change `json:"changes"`
	// Leaving are the clusters that are selected now and would not be selected with the changes, by name; absent if there are none.
	Leaving []string `json:"leaving,omitempty"`
}

// Change is one change in a counterfactual.
type Change struct {
	// Kind is Label, Claim, Toleration, Taint, Binding, ClusterSets, NumberOfClusters, Points or CEL.
	Kind string `json:"kind"`
	// Text is such as "label region were eu" or "14 more points".
	Text string `json:"text"`
}
