package counterfactual

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterExplanation is all there is to tell of one cluster and one placement. Its JSON names are stable: fields may be added, and none is renamed or
// removed.
type ClusterExplanation struct {
	// Cluster is the name of the ManagedCluster.
	Cluster string `json:"cluster"`
	// Verdict, Rank, Score and Reason are those of explain.ClusterReport. The verdict is empty when the placement has no answer.
	Verdict string `json:"verdict,omitempty"`
	Rank    int    `json:"rank,omitempty"`
	// Feasible is how many clusters have a rank.
	Feasible int    `json:"feasible"`
	Score    *int64 `json:"score,omitempty"`
	Reason   string `json:"reason"`
	// Decided says that the decisions, as they are written now, have the cluster.
	Decided bool `json:"decided"`
	// Terminating says that the cluster is being deleted.
	Terminating bool `json:"terminating,omitempty"`
	// Sets are the sets that hold the cluster, and those that the placement may use, by name.
	Sets []Set `json:"sets"`
	// Predicates are ORed: one that matches is enough, and so is none at all.
	Predicates []Predicate `json:"predicates"`
	// Taints are those of the cluster in their order.
	Taints []Taint `json:"taints"`
	// Prioritizers are the summands of the score; empty for clusters that are not feasible.
	Prioritizers []Prioritizer `json:"prioritizers"`
	// AntiAffinity is how the cluster stands to the key whose values must differ; absent without one.
	AntiAffinity *Domain `json:"antiAffinity,omitempty"`
	// Spread is how it stands to the spread constraints.
	Spread []Domain `json:"spread,omitempty"`
	// Decision is where the cluster stands in the decisions; absent when it is not selected.
	Decision *Location `json:"decision,omitempty"`
	// Counterfactuals are changes that would have the cluster selected, the nearest first; each was put to the engine. There are none for a
	// cluster that is selected.
	Counterfactuals []Counterfactual `json:"counterfactuals"`
}

// Set is a ManagedClusterSet.
type Set struct {
	Name string `json:"name"`
	// Contains says that the cluster is in it, Bound that it is bound to the namespace, and Asked that the placement names it or names none.
	// The cluster is in scope if all three are true for one set.
	Contains bool `json:"holds"`
	Bound    bool `json:"bound"`
	Asked    bool `json:"asked"`
	// Broken says what is wrong with its selector.
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
	// Tolerated says that it does not count. By is why: a toleration, or that the cluster is decided already.
	Tolerated bool   `json:"tolerated"`
	By        string `json:"by,omitempty"`
	// Until is when the toleration ends; absent means never.
	Until *metav1.Time `json:"until,omitempty"`
}

// Prioritizer is one summand of the score.
type Prioritizer struct {
	Name   string `json:"name"`
	Weight int32  `json:"weight"`
	// Score is what the prioritizer gives, and Points is that times the weight. Score is absent where the cluster does not report what the
	// prioritizer looks at; Points is 0 then.
	Score  *int64 `json:"score,omitempty"`
	Points int64  `json:"points"`
	// Rank counts from 1 over the feasible clusters by these points alone; clusters with as many points share a rank.
	Rank int `json:"rank"`
}

// Domain is a label or claim of which the values of the selected clusters must differ, or be even.
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

// Location is where a cluster stands in the decisions once they are written.
type Location struct {
	// Group and GroupName are the decision group; the API v1alpha1 has none.
	Group     *int32 `json:"group,omitempty"`
	GroupName string `json:"groupName,omitempty"`
	// Page is the name of the PlacementDecision.
	Page string `json:"page"`
}

// Counterfactual is what would have the cluster selected.
type Counterfactual struct {
	// Text says it in a sentence: "would be selected if label region were eu".
	Text string `json:"text"`
	// Changes are one or two; all of them are needed.
	Changes []Change `json:"changes"`
}

// Change is one change in a counterfactual.
type Change struct {
	// Kind is Label, Claim, Toleration, Taint, Binding, ClusterSets, NumberOfClusters, Points or CEL.
	Kind string `json:"kind"`
	// Text is such as "label region were eu" or "14 more points".
	Text string `json:"text"`
}
