// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Reports is the output of the formats json and yaml.
type Reports struct {
	// Now is the time of the evaluation.
	Now metav1.Time `json:"now"`
	// Objects are sorted by namespace, name and kind.
	Objects []Report `json:"objects"`
	// Excluded is the number of objects of these namespaces that are never delivered, and that the report leaves out.
	Excluded int `json:"excluded,omitempty"`
	// Notes name what could not be read, and works whose object does not exist.
	Notes []string `json:"notes,omitempty"`
}

// Report explains where one object is delivered. Its JSON names are stable: fields may be added, and none is renamed or removed.
type Report struct {
	// Key is the key of the object.
	Key inventory.Key `json:"-"`
	// Object is "Deployment.apps/team-a/web".
	Object    string `json:"object"`
	Kind      string `json:"kind"`
	Group     string `json:"group,omitempty"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// State is Delivering, Held, Suspended, NotDelivered or Deleting, and empty if the object was not evaluated. Reason is the reason of the
	// Event about it, if there is one, and Message a sentence about it.
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Target is what the annotations ask for: "location in (europe)", "all clusters", "no cluster" or "Placement NAME"; empty if they cannot
	// be parsed. FromNamespace reports that it is the default of the Namespace.
	Target        string `json:"target,omitempty"`
	FromNamespace bool   `json:"fromNamespace,omitempty"`
	// Selected are the clusters that get the object, and Propagated those of them that only workloads have which propagate it.
	Selected   []string `json:"selected"`
	Propagated []string `json:"propagated,omitempty"`
	// Delivered is the number of clusters that have a ManifestWork of the object, and Applied in how many of them its agent has applied it.
	// WorksUnread reports that the ManifestWorks could not be read, so that both are unknown, and 0.
	Delivered   int  `json:"delivered"`
	Applied     int  `json:"applied"`
	WorksUnread bool `json:"worksUnread,omitempty"`
	// Replicas counts the replicas of a workload; absent for other kinds.
	Replicas *Replicas `json:"replicas,omitempty"`
	// Missing are the dependencies that do not reach all selected clusters.
	Missing []Missing `json:"missing,omitempty"`
	// RemovalHeld says why no work is withdrawn, and what to do; absent while withdrawals are allowed.
	RemovalHeld string `json:"removalHeld,omitempty"`
	// SelectedClusters is how many clusters the hubs that got a Placement have selected together; absent for other kinds, and until an agent
	// reports it.
	SelectedClusters *int32 `json:"selectedClusters,omitempty"`
	// Clusters are the clusters: held ones, selected ones, others with a work, and then the others by the stage that they reached; each by name.
	// Clusters out of scope without a work are left out unless they were asked for.
	Clusters []Cluster `json:"clusters"`
	// OutOfScope counts the clusters in no set that is bound to the namespace, whether listed or not; OutOfScopeReason is their reason.
	OutOfScope       int    `json:"outOfScope"`
	OutOfScopeReason string `json:"outOfScopeReason,omitempty"`
	// Notes are warnings, and hints what to do.
	Notes []string `json:"notes,omitempty"`
}

// Replicas counts the replicas of a workload.
type Replicas struct {
	// Total is what the object asks for, Wanted the sum that its clusters are to have, and Ready the sum that the agents report.
	Total  int32 `json:"total"`
	Wanted int32 `json:"wanted"`
	Ready  int32 `json:"ready"`
	// Unplaced is how many of Total no cluster gets, and UnplacedMessage says why; both are absent if there are none.
	Unplaced        int32  `json:"unplaced,omitempty"`
	UnplacedMessage string `json:"unplacedMessage,omitempty"`
}

// Missing is a dependency that does not reach all clusters of its workload.
type Missing struct {
	Kind     string   `json:"kind"`
	Name     string   `json:"name"`
	Clusters []string `json:"clusters"`
}

// Cluster is the delivery to one cluster.
type Cluster struct {
	Name string `json:"name"`
	// Verdict is Selected, or the first stage that rejected the cluster: Taint, Predicate, Terminating or OutOfScope. It is Held for a cluster that
	// should lose its ManifestWork and keeps it, and empty where nothing was decided.
	Verdict string `json:"verdict,omitempty"`
	// Reason is the exact clause that decided, and Clause the same without the details of the cluster.
	Reason string `json:"reason,omitempty"`
	Clause string `json:"-"`
	// Hold is the stage that rejects a held cluster, and what ends the hold; absent for the others.
	Hold *document.Hold `json:"hold,omitempty"`
	// Delivered reports that the cluster has a ManifestWork of the object, and Pending what the hub is to do with it: Create, Update, Withdraw,
	// Hold, Wait, Remove or Conflict; empty if there is nothing to do.
	Delivered bool   `json:"delivered"`
	Pending   string `json:"pending,omitempty"`
	// Applied and Available are what the agent has reported about the present ManifestWork: True, False or Unknown; empty before.
	Applied   string `json:"applied,omitempty"`
	Available string `json:"available,omitempty"`
	// Wanted is the number of replicas that the cluster is to have, and Ready how many its agent reports; absent for other kinds, and Ready
	// if the ManifestWorks could not be read.
	Wanted *int32 `json:"wanted,omitempty"`
	Ready  *int32 `json:"ready,omitempty"`
	// Selected is how many clusters the hub that got a Placement has selected; absent for other kinds, and until its agent reports it.
	Selected *int32 `json:"selectedClusters,omitempty"`
	// WhyNoReplicas says why a selected cluster gets no replicas; absent for the others.
	WhyNoReplicas string `json:"whyNoReplicas,omitempty"`
	// Problem is the last error of the agent; empty if there is none.
	Problem string `json:"problem,omitempty"`
}

// What the hub is to do with a ManifestWork.
const (
	// PendingCreate, PendingUpdate and PendingWithdraw are writes that are due.
	PendingCreate   = "Create"
	PendingUpdate   = "Update"
	PendingWithdraw = "Withdraw"
	// PendingHold is a withdrawal that the removal budget holds.
	PendingHold = "Hold"
	// PendingWait is a cluster that wants a work whose predecessor is still being deleted.
	PendingWait = "Wait"
	// PendingRemove is a work that is being deleted: its agent removes the copy.
	PendingRemove = "Remove"
	// PendingConflict is a work of that name that does not belong to the object.
	PendingConflict = "Conflict"
)

// The notes of a Report.
const (
	mergedNote = "a copy is deleted with its ManifestWork, also where the agent has merged it into an object that the member had before; " +
		"the status of the ManifestWork does not tell which those are"
	unknownBudget = "the hub may hold withdrawals: its flag --max-removal-percent is not known here"
)

// NewReport returns the report of an Evaluation. With all it lists the clusters out of scope too.
func NewReport(e Evaluation, all bool) Report {
	identity := e.Object.Identity()
	report := Report{
		Key: e.Key(), Object: identity.String(), Kind: identity.Kind.Kind, Group: identity.Kind.Group, Namespace: identity.Namespace,
		Name: identity.Name, State: string(e.State), Reason: e.Reason, Message: e.Message,
		Selected: append([]string{}, e.Selected...), Propagated: slices.Clone(e.Propagated),
		RemovalHeld: e.Withdrawal.Held, Clusters: []Cluster{}, WorksUnread: e.worksUnread,
	}

	misread := e.Reason == federation.ReasonClusterSelectorInvalid && e.Target.Placement == ""
	if !misread && e.State != federation.NotDelivered && e.State != federation.Deleting {
		report.Target, report.FromNamespace = e.Target.String(), e.Target.FromNamespace
	}
	if e.Unwritten != "" {
		report.Message = e.Unwritten
	}
	for _, missing := range e.Missing {
		report.Missing = append(report.Missing, Missing{Kind: missing.Kind, Name: missing.Name, Clusters: missing.Clusters})
	}

	addClusters(&report, e, all)
	for _, cluster := range report.Clusters {
		if cluster.Delivered {
			report.Delivered++
		}
		if cluster.Applied == string(metav1.ConditionTrue) {
			report.Applied++
		}
		if cluster.Selected != nil {
			sum := int64(ptr.Deref(report.SelectedClusters, 0)) + int64(*cluster.Selected)
			report.SelectedClusters = ptr.To(int32(min(sum, math.MaxInt32))) // Agents report any number.
		}
	}

	if identity.Kind.HasReplicas() && e.State != federation.NotDelivered {
		report.Replicas = replicasOf(e, report.Clusters)
	}
	report.Notes = notesOf(e)
	return report
}

func replicasOf(e Evaluation, clusters []Cluster) *Replicas {
	replicas := &Replicas{Total: e.Object.Body.Replicas}
	for _, cluster := range clusters {
		if cluster.Wanted != nil {
			replicas.Wanted += *cluster.Wanted
		}
		if cluster.Ready != nil {
			replicas.Ready += *cluster.Ready
		}
	}
	replicas.Unplaced, replicas.UnplacedMessage = e.Unplaced()
	return replicas
}

// notesOf returns the warnings of an Evaluation.
func notesOf(e Evaluation) []string {
	var notes []string
	if e.BudgetMistake != "" {
		notes = append(notes, "warning: "+e.BudgetMistake)
	}
	for _, unknown := range e.UnknownLabels() {
		notes = append(notes, "warning: "+unknown)
	}
	if e.BudgetUnknown && len(e.Plan.Lose) > 0 {
		notes = append(notes, unknownBudget)
	}
	if note := e.scopeHoldNote(); note != "" {
		notes = append(notes, note)
	}

	if e.Target.Placement != "" && e.State == federation.Delivering {
		notes = append(notes, "the clusters are the decisions of a Placement: placement explain "+e.Object.Meta.Namespace+"/"+e.Target.Placement+
			" says why")
	}
	if e.Object.Kind.SelectsClusters() && e.State == federation.Delivering {
		notes = append(notes, "each hub that gets the Placement decides about its own clusters: there, placement explain "+
			e.Object.Meta.Namespace+"/"+e.Object.Meta.Name+" says why")
	}
	if slices.ContainsFunc(e.Works, func(work federation.ExistingWork) bool { return work.Applied == metav1.ConditionTrue && !work.Orphan }) {
		notes = append(notes, mergedNote)
	}
	return notes
}

// scopeHoldNote names the flags of the hub that decide for how long works are held; empty if they decide nothing.
func (e Evaluation) scopeHoldNote() string {
	flag := "--lost-scope-hold=" + e.limits.ScopeHold.String()
	if e.Withdrawal.KeptLast {
		return "the hub is taken to run with --last-cluster=keep and " + flag + "; give these flags here too if they have other values"
	}
	for _, cluster := range e.Withdrawal.Kept {
		if _, out := e.Withdrawal.OutOfScope[cluster]; out {
			return "the hub is taken to run with " + flag + "; give this flag here too if it has another value"
		}
	}
	return ""
}

// usersText returns "needed by Deployment.apps/team-a/web".
func usersText(users []string) string { return "needed by " + strings.Join(users, ", ") }
