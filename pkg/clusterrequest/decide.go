// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// Outcome says how a Decision came about.
type Outcome string

// The outcomes.
const (
	// OutcomeIgnored means that an annotation of the request forbids all work.
	OutcomeIgnored Outcome = "Ignored"
	// OutcomeKept means that the request has a Grant, and keeps its Cluster.
	OutcomeKept Outcome = "Kept"
	// OutcomeAdopted means that the request takes over the Grant of a former request of its name and spec.
	OutcomeAdopted Outcome = "Adopted"
	// OutcomeReplaced means that the Grant of a former request of this name has to go. The request is decided again after that.
	OutcomeReplaced Outcome = "Replaced"
	// OutcomeRecovered means that a Cluster has the finalizer of the request, and the Grant is made of it.
	OutcomeRecovered Outcome = "Recovered"
	// OutcomeChosen means that the request gets an existing or a new Cluster.
	OutcomeChosen Outcome = "Chosen"
	// OutcomeRefused means that the request gets nothing as things are.
	OutcomeRefused Outcome = "Refused"
)

// Decision says what has to be written for a request, in the order of the fields: first the Cluster, then the Grant, then the Clusters that
// lose finalizers, then the status. What equals the present state needs no write.
type Decision struct {
	Outcome Outcome
	// Cluster is the Cluster as it has to be. Nil if nothing has to be written to a Cluster, or it is being deleted.
	Cluster *openmcpv1alpha1.Cluster
	// Create says that Cluster does not exist.
	Create bool
	// Grant is the Grant as it has to be. Nil if there must be none.
	Grant *openmcpv1alpha1.ClusterRequestGrant
	// Leave has Clusters as they have to be after they lost a finalizer.
	Leave []*openmcpv1alpha1.Cluster
	// Obsolete is a Grant to delete, after the Clusters in Leave are written.
	Obsolete *openmcpv1alpha1.ClusterRequestGrant
	// Evaluation is nil unless the outcome is Chosen or Refused. It has no verdicts on what was not looked at for the choice, which only
	// Catalog.Explain returns.
	Evaluation *Evaluation
	// Result is the outcome for the status. Empty if the status stays as it is.
	Result Result
}

// Decide returns what has to be written for a request that is not being deleted. A request that is granted is never evaluated, whatever has
// become of its Purposes and profile (docs/spec/cluster-request.md 4.1.3). The time goes into a new Grant.
func (c *Catalog) Decide(request *openmcpv1alpha1.ClusterRequest, now metav1.Time) Decision {
	decision := c.decide(request, now)
	if decision.Grant != nil {
		if refused := RefusedPrefix(request, decision.Grant); refused != "" {
			decision.Result.Message += "; " + refused
		}
	}
	return decision
}

// decide is Decide with a message that names the Cluster alone.
func (c *Catalog) decide(request *openmcpv1alpha1.ClusterRequest, now metav1.Time) Decision {
	if Ignored(request) {
		return Decision{Outcome: OutcomeIgnored}
	}
	if grant := c.grants[keyOf(request)]; grant != nil {
		switch owner := GrantOwner(grant); {
		case owner == request.UID:
			return c.keep(OutcomeKept, grant, request)
		case isFor(grant, request):
			return c.adopt(grant, request)
		default:
			return c.replace(grant, owner)
		}
	}
	if clusters := c.ClustersOf(request.UID); len(clusters) > 0 {
		return c.recover(clusters, request, now)
	}
	evaluation := c.choose(request)
	decision := Decision{Outcome: OutcomeRefused, Evaluation: evaluation, Result: evaluation.Result}
	switch {
	case evaluation.Cluster != nil:
		decision.Cluster = evaluation.Cluster
	case evaluation.New != nil:
		decision.Cluster, decision.Create = evaluation.New, true
	default:
		return decision
	}
	decision.Outcome = OutcomeChosen
	decision.Cluster = c.join(decision.Cluster, request.UID, request.Spec.Prefix)
	decision.Grant = newGrant(request, decision.Cluster, now)

	return decision
}

// Ignored reports whether an annotation of a request forbids all work on it, its deletion included.
func Ignored(request *openmcpv1alpha1.ClusterRequest) bool {
	return request.Annotations[openmcpv1alpha1.OperationAnnotation] == openmcpv1alpha1.OperationIgnore
}

// keep puts back what is lost of the Cluster of a Grant, whatever limits there are. The API server refuses new finalizers on a Cluster that
// is being deleted, so that nothing is written to it.
func (c *Catalog) keep(
	outcome Outcome, grant *openmcpv1alpha1.ClusterRequestGrant, request *openmcpv1alpha1.ClusterRequest,
) Decision {
	key := clusterOf(grant)
	decision := Decision{Outcome: outcome, Grant: grant, Leave: c.leaveOthers(key, request.UID), Result: granted(key)}
	cluster := c.Cluster(key)
	switch {
	case cluster == nil:
		decision.Cluster, decision.Create = recreated(grant), true
	case cluster.DeletionTimestamp != nil:
		return decision
	default:
		decision.Cluster = cluster
	}
	decision.Cluster = c.join(decision.Cluster, request.UID, grant.Spec.Prefix)

	return decision
}

// adopt hands the Grant, the finalizer and the prefix of a former request to the request.
func (c *Catalog) adopt(grant *openmcpv1alpha1.ClusterRequestGrant, request *openmcpv1alpha1.ClusterRequest) Decision {
	former := c.formerOf(grant)
	decision := c.keep(OutcomeAdopted, adopted(grant, request), request)
	if decision.Cluster != nil {
		decision.Cluster = transfer(decision.Cluster, former, request.UID, grant.Spec.Prefix)
	}
	return decision
}

// formerOf returns the request that a Grant was made for: its owner or, for a Grant that was restored without owners, the request that has its
// prefix on the Cluster, or an exclusive Cluster for itself. It returns "" if none does.
func (c *Catalog) formerOf(grant *openmcpv1alpha1.ClusterRequestGrant) types.UID {
	owner, cluster := GrantOwner(grant), c.Cluster(clusterOf(grant))
	if owner != "" || cluster == nil {
		return owner
	}
	for uid, prefix := range prefixes(cluster) {
		if prefix == grant.Spec.Prefix {
			return uid
		}
	}
	if uids := RequestUIDs(cluster); len(uids) == 1 && cluster.Spec.Tenancy == openmcpv1alpha1.TenancyExclusive {
		return uids[0]
	}
	return ""
}

// replace removes the Grant of a former request and its finalizers. The Grant goes last, because it names the Cluster.
func (c *Catalog) replace(grant *openmcpv1alpha1.ClusterRequestGrant, former types.UID) Decision {
	decision := Decision{Outcome: OutcomeReplaced, Obsolete: grant}
	for _, cluster := range c.ClustersOf(former) {
		decision.Leave = append(decision.Leave, Leave(cluster, former))
	}
	return decision
}

// recover makes the Grant of the first of the Clusters that have the finalizer of a request. The others lose it.
func (c *Catalog) recover(clusters []*openmcpv1alpha1.Cluster, request *openmcpv1alpha1.ClusterRequest, now metav1.Time) Decision {
	cluster := c.join(clusters[0], request.UID, request.Spec.Prefix)
	decision := Decision{
		Outcome: OutcomeRecovered, Cluster: cluster, Grant: newGrant(request, cluster, now), Result: granted(keyOf(cluster)),
	}
	decision.Leave = c.leaveOthers(keyOf(cluster), request.UID)
	return decision
}

// join adds a request to a Cluster of the Catalog, or to a new one, unless it has it.
func (c *Catalog) join(cluster *openmcpv1alpha1.Cluster, request types.UID, proposal string) *openmcpv1alpha1.Cluster {
	key := keyOf(cluster)
	known := map[types.UID]string{}
	if stored, found := c.clusters[key]; found && stored.Cluster == cluster {
		known = stored.givenPrefixes()
	}
	return joinKnowing(cluster, known, c.GrantsOn(key), request, proposal)
}

// leaveOthers returns the Clusters that have the finalizer of a request beside the Cluster that it is granted, without it.
func (c *Catalog) leaveOthers(granted types.NamespacedName, request types.UID) []*openmcpv1alpha1.Cluster {
	var left []*openmcpv1alpha1.Cluster
	for _, other := range c.ClustersOf(request) {
		if keyOf(other) != granted {
			left = append(left, Leave(other, request))
		}
	}
	return left
}
