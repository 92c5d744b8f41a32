// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WorkloadKind is a kind of workload that policies are injected into: docs/spec/pod-scheduling-policy.md 2.1.2.
type WorkloadKind struct {
	schema.GroupVersionKind
	// Resource is the plural name of the kind.
	Resource string

	shortName string
	// template is the path of the pod template in an object; empty for a Pod.
	template []string
	// between is the kind of the objects between an object and its Pods; empty if it makes the Pods itself.
	between schema.GroupVersionKind
}

// templateOfSpec is the path of the pod template in most kinds.
var templateOfSpec = []string{"spec", "template"}

var kinds = []WorkloadKind{
	{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Pod"), Resource: "pods", shortName: "po"},
	{
		GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ReplicationController"), Resource: "replicationcontrollers", shortName: "rc",
		template: templateOfSpec,
	},
	{GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), Resource: "replicasets", shortName: "rs", template: templateOfSpec},
	{
		GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), Resource: "deployments", shortName: "deploy",
		template: templateOfSpec, between: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
	},
	{GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Resource: "statefulsets", shortName: "sts", template: templateOfSpec},
	{GroupVersionKind: appsv1.SchemeGroupVersion.WithKind(daemonSet), Resource: "daemonsets", shortName: "ds", template: templateOfSpec},
	{GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"), Resource: "jobs", template: templateOfSpec},
	{
		GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("CronJob"), Resource: "cronjobs", shortName: "cj",
		template: []string{"spec", "jobTemplate", "spec", "template"}, between: batchv1.SchemeGroupVersion.WithKind("Job"),
	},
}

const daemonSet = "DaemonSet"

// Kinds returns the kinds of workloads.
func Kinds() []WorkloadKind { return slices.Clone(kinds) }

// KindOf returns the kind of a group, version and kind.
func KindOf(gvk schema.GroupVersionKind) (WorkloadKind, bool) {
	at := slices.IndexFunc(kinds, func(kind WorkloadKind) bool { return kind.GroupVersionKind == gvk })
	if at < 0 {
		return WorkloadKind{}, false
	}
	return kinds[at], true
}

// KindOfGroup returns the kind of a group and kind.
func KindOfGroup(named schema.GroupKind) (WorkloadKind, bool) {
	at := slices.IndexFunc(kinds, func(kind WorkloadKind) bool { return kind.GroupKind() == named })
	if at < 0 {
		return WorkloadKind{}, false
	}
	return kinds[at], true
}

// AddKinds returns the given kinds, and those of workloads that are not among them.
func AddKinds(to []schema.GroupVersionKind) []schema.GroupVersionKind {
	all := slices.Clone(to)
	for _, kind := range kinds {
		if !slices.ContainsFunc(all, func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind.GroupKind() }) {
			all = append(all, kind.GroupVersionKind)
		}
	}
	return all
}

// FindKind returns the kind that a user names as kubectl does: deployment, deployments, deploy, deployments.apps or deployments.v1.apps.
func FindKind(text string) (WorkloadKind, bool) {
	name, suffix, qualified := strings.Cut(strings.ToLower(text), ".")
	for _, kind := range kinds {
		named := strings.EqualFold(name, kind.Kind) || name == kind.Resource || kind.shortName != "" && name == kind.shortName
		if named && (!qualified || suffix == kind.Group || suffix == kind.Version+"."+kind.Group) {
			return kind, true
		}
	}
	return WorkloadKind{}, false
}

// isPod reports whether the objects of the kind are Pods.
func (k WorkloadKind) isPod() bool { return len(k.template) == 0 }
