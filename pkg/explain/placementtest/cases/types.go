// SPDX-License-Identifier: Apache-2.0

package cases

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The identity of the documents.
const (
	APIVersion = "placement-hub.open-cluster-management.io/v1alpha1"
	Kind       = "PlacementTest"
)

// Document is a PlacementTest as it is written.
type Document struct {
	APIVersion string   `doc:"The version of this format."                                enum:"placement-hub.open-cluster-management.io/v1alpha1" json:"apiVersion" rule:"required"`
	Kind       string   `doc:"The kind of the document."                                  enum:"PlacementTest"                                     json:"kind"       rule:"required"`
	Metadata   Metadata `doc:"The name of the case."                                      json:"metadata"                                          rule:"required"`
	Spec       Spec     `doc:"Which objects are tested, in which situation, and what is expected of them." json:"spec" rule:"required"`
}

// Metadata identifies a Case.
type Metadata struct {
	Name        string            `doc:"The name of the case, which no other case has."       json:"name"                  rule:"required"`
	Labels      map[string]string `doc:"Labels for other tools; the command ignores them."      json:"labels,omitempty"`
	Annotations map[string]string `doc:"Annotations for other tools; the command ignores them." json:"annotations,omitempty"`
}

// Spec is what a Case says.
type Spec struct {
	Description string  `doc:"Why this is expected, for the people who read a failure."                      json:"description,omitempty"`
	Objects     Objects `doc:"The objects that are tested. Each of them has to be as expected."              json:"objects"              rule:"required"`
	When        *When   `doc:"What happens first. Without it, the objects are tested in the world as it is." json:"when,omitempty"`
	Expect      Expect  `doc:"What has to hold. All of it has to."                                           json:"expect"               rule:"required"`
}

// Objects names what is tested: one of the fields has a value.
type Objects struct {
	Placement      string             `doc:"One Placement, as namespace/name."                                                                   json:"placement,omitempty"`
	APIGroup       string             `doc:"The API group of placement, if that is not cluster.open-cluster-management.io."                       json:"apiGroup,omitempty"`
	Placements     *PlacementSelector `doc:"All Placements with these labels, of all namespaces or of one; {} selects all."                       json:"placements,omitempty"`
	Federated      string             `doc:"One object that is delivered to clusters, as KIND.GROUP/namespace/name, such as Deployment.apps/a/web." json:"federated,omitempty"`
	Workload       string             `doc:"One workload whose Pods are placed on nodes, as KIND.GROUP/namespace/name."                            json:"workload,omitempty"`
	ClusterRequest string             `doc:"One ClusterRequest, as namespace/name."                                                              json:"clusterRequest,omitempty"`
}

// PlacementSelector selects Placements.
type PlacementSelector struct {
	Namespace string                `doc:"The namespace of the Placements; all if it is empty." json:"namespace,omitempty"`
	Selector  *metav1.LabelSelector `doc:"The labels of the Placements; any if it is absent."   json:"selector,omitempty"`
}

// When is a situation: one of the fields has a value.
type When struct {
	Lost    *Failure `doc:"Clusters of which no agent reports any more: condition Available is Unknown, with the taint unreachable, longer than any toleration." json:"lost,omitempty"`
	Deleted *Failure `doc:"Clusters whose ManagedCluster is deleted, with their scores."                                                                         json:"deleted,omitempty"`
	Changed []Change `doc:"Changes of the hub, one after the other."                                                                                             json:"changed,omitempty"`
}

// Failure says which clusters fail at the same time. One of any, clusters, topology and random has a value. Where that means several
// combinations of clusters, each is tried by itself.
type Failure struct {
	Any          int      `doc:"Each combination of this many clusters."                                             json:"any,omitempty"          rule:"min=1"`
	Clusters     []string `doc:"These clusters together."                                                            json:"clusters,omitempty"`
	Topology     string   `doc:"The clusters of each value of this label, or claim, in turn."                        json:"topology,omitempty"`
	TopologyType string   `doc:"Whether topology is the key of a label, which is the default, or the name of a claim." enum:"Label,Claim"          json:"topologyType,omitempty"`
	Random       int      `doc:"Combinations of this many clusters that are chosen at random: as many as limit says." json:"random,omitempty"       rule:"min=1"`
	Seed         uint64   `doc:"The seed of the choice of combinations. The same seed chooses the same."              json:"seed,omitempty"`
	Limit        int      `doc:"How many combinations are tried at most. Default: 10000 of any, and 1 of random."     json:"limit,omitempty"        rule:"min=1"`
}

// Change is one change of the hub: one of the fields has a value.
type Change struct {
	Label          string `doc:"A label of a cluster, as CLUSTER:KEY=VALUE, or CLUSTER:KEY- without it."                        json:"label,omitempty"`
	Claim          string `doc:"A claim of a cluster, as CLUSTER:NAME=VALUE, or CLUSTER:NAME- without it."                      json:"claim,omitempty"`
	Taint          string `doc:"A taint of a cluster, as CLUSTER:KEY[=VALUE]:EFFECT, or CLUSTER:KEY- without it."               json:"taint,omitempty"`
	Drain          string `doc:"A cluster that gets the taint drain:NoSelect."                                                   json:"drain,omitempty"`
	Remove         string `doc:"A cluster that is deleted."                                                                      json:"remove,omitempty"`
	WithoutBinding string `doc:"A set that is not bound any more, as NAMESPACE/SET, or SET for all namespaces."                  json:"withoutBinding,omitempty"`
	Apply          string `doc:"A file or directory, relative to the file of the case, with objects that are created or replaced." json:"apply,omitempty"`
	Old            string `doc:"With apply: a file or directory with the manifests before the change; its objects that apply lacks are deleted."      json:"old,omitempty"`
	Delete         string `doc:"A file or directory, relative to the file of the case, with objects that are deleted."            json:"delete,omitempty"`
}

// Expect is what has to hold. Fields without a value are not checked.
type Expect struct {
	Selected     *Clusters        `doc:"The clusters in the decisions, or to which the object is delivered."                                 json:"selected,omitempty"`
	NotSelected  *Clusters        `doc:"The other clusters of the hub."                                                                       json:"notSelected,omitempty"`
	Because      []Because        `doc:"Why clusters are selected or not, as placement explain says it."                                      json:"because,omitempty"`
	Counts       []Count          `doc:"How many clusters are selected of each value of a label or claim."                                     json:"counts,omitempty"`
	Groups       []Group          `doc:"The decision groups, all of them in their order."                                                      json:"groups,omitempty"`
	Order        []string         `doc:"Clusters in the order of their rank, best first; others may be between them."                           json:"order,omitempty"`
	Satisfied    *bool            `doc:"Whether as many clusters are selected as the Placement wants."                                          json:"satisfied,omitempty"`
	Moves        *Bound           `doc:"How many clusters change by what happens: the greater of those that join the decisions and those that leave them." json:"moves,omitempty"`
	HeldByBudget *bool            `doc:"Whether the removal budget keeps clusters in the decisions that should leave them."                     json:"heldByBudget,omitempty"`
	Replicas     map[string]Bound `doc:"The replicas of a delivered object, by cluster."                                                        json:"replicas,omitempty"`
	Nodes        *Clusters        `doc:"The nodes on which the Pods of a workload may run."                                                     json:"nodes,omitempty"`
	Class        *string          `doc:"The AffinityClass of a workload; empty for none."                                                        json:"class,omitempty"`
	Policies     *[]string        `doc:"The pod scheduling policies that apply to a workload, in any order."                                     json:"policies,omitempty"`
	Grant        *Grant           `doc:"What a ClusterRequest gets."                                                                             json:"grant,omitempty"`
}

// Clusters is what has to hold of a set of clusters, or of nodes.
type Clusters struct {
	Exactly []string              `doc:"These, and no others; [] for none."             json:"exactly,omitempty"`
	AllOf   []string              `doc:"All of these, and maybe others."                json:"allOf,omitempty"`
	AnyOf   []string              `doc:"At least one of these."                         json:"anyOf,omitempty"`
	NoneOf  []string              `doc:"None of these."                                 json:"noneOf,omitempty"`
	AtLeast *int                  `doc:"At least as many."                              json:"atLeast,omitempty" rule:"min=0"`
	AtMost  *int                  `doc:"At most as many."                               json:"atMost,omitempty"  rule:"min=0"`
	Every   *metav1.LabelSelector `doc:"Every one of them has these labels."            json:"every,omitempty"`
	None    *metav1.LabelSelector `doc:"None of them has these labels."                 json:"none,omitempty"`
}

// Because is the reason for one cluster.
type Because struct {
	Cluster string `doc:"The cluster."                                                           json:"cluster"          rule:"required"`
	Stage   string `doc:"The stage that has rejected it, or Selected." enum:"OutOfScope,Terminating,Predicate,Taint,AntiAffinity,Spread,Rank,Selected" json:"stage,omitempty"`
	Clause  string `doc:"A part of the reason, such as: label region In [eu]."                   json:"clause,omitempty"`
}

// Count is how the selected clusters are distributed.
type Count struct {
	Topology     string           `doc:"The key of a label, or the name of a claim."                            json:"topology"               rule:"required"`
	TopologyType string           `doc:"Label, which is the default, or Claim." enum:"Label,Claim"              json:"topologyType,omitempty"`
	Values       map[string]Bound `doc:"The number of selected clusters with each of these values."             json:"values,omitempty"`
	Each         *Bound           `doc:"The number of selected clusters of each value that any of them has."     json:"each,omitempty"`
	Distinct     *Bound           `doc:"The number of values that the selected clusters have."                   json:"distinct,omitempty"`
}

// Bound is what has to hold of a number.
type Bound struct {
	Exactly *int `doc:"This number."        json:"exactly,omitempty" rule:"min=0"`
	AtLeast *int `doc:"At least as many."   json:"atLeast,omitempty" rule:"min=0"`
	AtMost  *int `doc:"At most as many."    json:"atMost,omitempty"  rule:"min=0"`
}

// Group is a decision group.
type Group struct {
	Name     string    `doc:"The groupName of its rule; empty for the rest." json:"name"`
	Clusters *Clusters `doc:"Its clusters."                                  json:"clusters,omitempty"`
}

// Grant is what a ClusterRequest gets.
type Grant struct {
	Cluster  *string `doc:"The Cluster, as namespace/name; empty for none." json:"cluster,omitempty"`
	New      *bool   `doc:"Whether the Cluster is created for it."          json:"new,omitempty"`
	Provider string  `doc:"The ClusterProvider of the Cluster."             json:"provider,omitempty"`
	Profile  string  `doc:"The profile of the Cluster."                     json:"profile,omitempty"`
}
