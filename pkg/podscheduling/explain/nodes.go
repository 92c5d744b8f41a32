// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// The reasons of kube-scheduler's plugins NodeUnschedulable, NodeName, TaintToleration and NodeAffinity:
// https://github.com/kubernetes/kubernetes/tree/v1.37.0/pkg/scheduler/framework/plugins.
const (
	reasonUnschedulable = "node(s) were unschedulable"
	reasonNodeName      = "node(s) didn't match the requested node name"
	reasonTaint         = "node(s) had untolerated taint(s)"
	reasonAffinity      = "node(s) didn't match Pod's node affinity/selector"
)

// filter is what decides whether a node fits a Pod.
type filter struct {
	nodeName     string
	nodeSelector map[string]string
	affinity     nodeaffinity.RequiredNodeAffinity
	tolerations  []corev1.Toleration
}

// explainNodes says which nodes fit a Pod. A node that an existing Pod is bound to does not count as asked for.
func explainNodes(p *pod, nodes []*corev1.Node) *Nodes {
	spec := p.scheduling()
	f := filter{
		nodeName: spec.NodeName, nodeSelector: spec.NodeSelector, tolerations: spec.Tolerations,
		affinity: nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector, spec.Affinity),
	}
	if p.node != "" {
		f.nodeName = ""
	}

	if p.ofDaemonSet() {
		f.tolerations = slices.Concat(f.tolerations, daemonTolerations(spec))
	}
	explained := &Nodes{Total: len(nodes), Fit: []string{}}

	for _, node := range slices.SortedFunc(slices.Values(nodes), func(a, b *corev1.Node) int { return cmp.Compare(a.Name, b.Name) }) {
		reason, cause := f.reject(node)
		if reason == "" {
			explained.Fit = append(explained.Fit, node.Name)
		} else {
			explained.reject(reason, cause, node.Name)
		}
	}

	slices.SortStableFunc(explained.Rejected, func(a, b Rejection) int {
		return cmp.Or(cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Cause, b.Cause))
	})
	explained.Message = explained.message()
	return explained
}

// reject adds a node to the group of its cause.
func (n *Nodes) reject(reason, cause, node string) {
	at := slices.IndexFunc(n.Rejected, func(r Rejection) bool { return r.Reason == reason && r.Cause == cause })
	if at < 0 {
		at = len(n.Rejected)
		n.Rejected = append(n.Rejected, Rejection{Reason: reason, Cause: cause})
	}
	n.Rejected[at].Nodes = append(n.Rejected[at].Nodes, node)
}

// message has the form of kube-scheduler's FailedScheduling event: counts by reason, sorted as texts.
func (n *Nodes) message() string {
	counts := map[string]int{}
	for _, rejection := range n.Rejected {
		counts[rejection.Reason] += len(rejection.Nodes)
	}
	reasons := make([]string, 0, len(counts))
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		reasons = append(reasons, fmt.Sprintf("%d %s", counts[reason], reason))
	}
	slices.Sort(reasons)

	message := fmt.Sprintf("%d/%d nodes are available", len(n.Fit), n.Total)
	if len(reasons) > 0 {
		message += ": " + strings.Join(reasons, ", ")
	}
	return message + "."
}

// reject returns why a node does not fit, by the first plugin of kube-scheduler's default profile that rejects it; empty if it fits.
func (f *filter) reject(node *corev1.Node) (reason, cause string) {
	unschedulable := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if taint, untolerated := f.untolerated(unschedulable); node.Spec.Unschedulable && untolerated {
		return reasonUnschedulable, "spec.unschedulable, and taint " + taint.ToString() + " not tolerated"
	}
	if f.nodeName != "" && f.nodeName != node.Name {
		return reasonNodeName, "nodeName " + f.nodeName
	}
	if taint, untolerated := f.untolerated(node.Spec.Taints...); untolerated {
		return reasonTaint, "taint " + taint.ToString() + " not tolerated"
	}

	// An affinity that cannot be compiled matches no node, as in kube-scheduler.
	if match, err := f.affinity.Match(node); err != nil || !match {
		return reasonAffinity, f.unmatched(node)
	}
	return "", ""
}

// untolerated returns the first taint that keeps Pods off a node and that the Pod does not tolerate.
func (f *filter) untolerated(taints ...corev1.Taint) (corev1.Taint, bool) {
	return schedulinghelpers.FindMatchingUntoleratedTaint(logr.Discard(), taints, f.tolerations, func(taint *corev1.Taint) bool {
		return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
	}, false)
}

// unmatched names the first label of the nodeSelector that a node does not have; if it has all, the required node affinity rejects it.
func (f *filter) unmatched(node *corev1.Node) string {
	for _, key := range slices.Sorted(maps.Keys(f.nodeSelector)) {
		if value, found := node.Labels[key]; !found || value != f.nodeSelector[key] {
			return fmt.Sprintf("nodeSelector %s=%s", key, f.nodeSelector[key])
		}
	}
	return "required node affinity"
}

// ofDaemonSet reports whether the Pod is one of a DaemonSet.
func (p *pod) ofDaemonSet() bool {
	return slices.ContainsFunc(p.object.Owners, func(reference metav1.OwnerReference) bool {
		return reference.Kind == daemonSet && reference.Controller != nil && *reference.Controller
	})
}

// daemonTolerations returns what the DaemonSet controller adds to its Pods:
// https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/controller/daemon/util/daemonset_util.go.
func daemonTolerations(spec *corev1.PodSpec) []corev1.Toleration {
	tolerations := []corev1.Toleration{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeMemoryPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodePIDPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
	}
	if spec.HostNetwork {
		tolerations = append(tolerations, corev1.Toleration{Key: corev1.TaintNodeNetworkUnavailable, Effect: corev1.TaintEffectNoSchedule})
	}

	for i := range tolerations {
		tolerations[i].Operator = corev1.TolerationOpExists
	}
	return tolerations
}
