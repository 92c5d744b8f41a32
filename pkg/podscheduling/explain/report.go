// SPDX-License-Identifier: Apache-2.0

package explain

// Reports is the output of the formats json and yaml for workloads.
type Reports struct {
	// Workloads are in the order of the command line, or sorted by namespace, kind and name.
	Workloads []Report `json:"workloads"`
	// Notes say which kinds the cluster does not serve, or the user may not read, and what that means.
	Notes []string `json:"notes,omitempty"`
}

// Report explains where the Pods of one workload may run. Its JSON names are stable: fields may be added, and none is renamed or removed.
type Report struct {
	// Kind, Namespace and Name are those of the workload.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// New says that the workload is to be created. Otherwise it exists, and policies would be injected at its next update.
	New bool `json:"new,omitempty"`
	// Exempt says why no policy is injected into the workload; empty if policies are.
	Exempt string `json:"exempt,omitempty"`
	// Policies are all policies: those that match in the order of their application, then the others by kind and name.
	Policies []Policy `json:"policies"`
	// Drift has the fields that matching policies would inject and that an existing workload lacks, by their paths in the pod spec.
	Drift []string `json:"drift,omitempty"`
	// Class is the AffinityClass of the Pods; nil if they belong to no HelmRelease of an application.
	Class *Class `json:"class,omitempty"`
	// Nodes says which nodes fit; nil if they could not be read, or if the workload has no pod spec.
	Nodes *Nodes `json:"nodes,omitempty"`
	// Notes are what a user should know besides.
	Notes []string `json:"notes,omitempty"`
}

// Policy says what one policy does with a workload.
type Policy struct {
	// Policy is its kind and name: "ClusterPodSchedulingPolicy etcd", "PodSchedulingPolicy team-a/etcd".
	Policy string `json:"policy"`
	// Matches says that the policy applies to the Pods. Mismatch is the reason why not, and empty otherwise.
	Matches  bool   `json:"matches"`
	Mismatch string `json:"mismatch,omitempty"`
	// Adds are the fields that the policy adds to the pod spec. An existing workload lacks them.
	Adds []string `json:"adds,omitempty"`
	// Has are the fields of the policy that the pod spec has already, whether the policy has injected them or the workload has them itself.
	Has []string `json:"has,omitempty"`
	// Skipped is what the policy does not add.
	Skipped []Skip `json:"skipped,omitempty"`
	// Warnings say what the policy never does, though its author may expect it.
	Warnings []string `json:"warnings,omitempty"`
}

// Skip is something of a policy that is not injected.
type Skip struct {
	// Field is the path in the pod spec; empty for a policy that is skipped as a whole, because it is invalid or beyond the limits of its
	// namespace.
	Field string `json:"field,omitempty"`
	// Reason is one of podscheduling.Reason, and Message a sentence about it.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Class is the AffinityClass of the Pods of a workload.
type Class struct {
	// Class is the name of the class; empty if the application has none.
	Class string `json:"class"`
	// Origin says where the class comes from: the spec of the application, the default of a Tenant, or the label of the HelmRelease.
	Origin string `json:"origin,omitempty"`
	// Application is "Postgres main-db", and Release is the HelmRelease that the Pods belong to, "namespace/name".
	Application string `json:"application,omitempty"`
	Release     string `json:"release,omitempty"`
	// Enforcement is Deny or Warn; empty if the class does not exist.
	Enforcement string `json:"enforcement,omitempty"`
	// NodeSelector has the node labels that the Pods have to ask for.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Satisfied says that the Pod asks for all of them: an existing Pod as it is, a Pod of a template as it would be created now.
	Satisfied bool `json:"satisfied"`
	// Verified says that the namespace has the label by which its Pods are verified at admission.
	Verified bool `json:"verified"`
	// Denial is the text with which a Pod that is created now would be refused, or could not be checked; empty if it would be admitted.
	Denial string `json:"denial,omitempty"`
	// Lacks are the node labels that an existing Pod does not ask for: it is older than its class, or than that of its application.
	Lacks []string `json:"lacks,omitempty"`
	// Warnings are those that the creator of a Pod would get.
	Warnings []string `json:"warnings,omitempty"`
	// Notes are what a user should know besides.
	Notes []string `json:"notes,omitempty"`
}

// Nodes says which nodes of the cluster fit a Pod by its node name, node selector, required node affinity and tolerations. Resources,
// volumes and other Pods do not count.
type Nodes struct {
	Total int `json:"total"`
	// Fit are the names of the nodes that fit.
	Fit []string `json:"fit"`
	// Message is in the form of kube-scheduler's FailedScheduling event: "1/3 nodes are available: 2 node(s) were unschedulable."
	Message string `json:"message"`
	// Rejected are the other nodes, grouped by cause.
	Rejected []Rejection `json:"rejected,omitempty"`
}

// Rejection are nodes that do not fit for the same cause.
type Rejection struct {
	// Reason is that of kube-scheduler, and Cause the taint, node label or name.
	Reason string   `json:"reason"`
	Cause  string   `json:"cause"`
	Nodes  []string `json:"nodes"`
}

// Refused reports whether a Pod that is created now would be refused.
func (r *Report) Refused() bool { return r.Class != nil && r.Class.Denial != "" }
