// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// systems are the objects of a State that are no Placements. What is asked for first is evaluated for all cases.
type systems struct {
	*run

	state     *explain.State
	delivered map[string]*federated.Report
}

// evaluateSystems evaluates the cases about objects that are no Placements.
func (r *run) evaluateSystems(group []*test, when string, state *explain.State) {
	in := &systems{run: r, state: state}
	for _, t := range group {
		if !t.system || t.result.Status == Errored || r.cancelled() {
			continue
		}
		objects := &t.Spec.Objects
		var f *finding
		var object string
		var err error
		switch {
		case objects.Federated != "":
			object = objects.Federated
			f, err = in.checkDelivered(object, &t.Spec.Expect)
		case objects.Workload != "":
			object = objects.Workload
			f, err = in.checkWorkload(object, &t.Spec.Expect)
		default:
			object = "ClusterRequest " + objects.ClusterRequest
			f, err = in.checkRequest(objects.ClusterRequest, &t.Spec.Expect)
		}
		if err != nil {
			t.fail(err)
			continue
		}
		r.note(t, object, when, f, nil)
		t.result.Objects = 1
	}
}

// checkDelivered checks an object that is delivered to clusters.
func (s *systems) checkDelivered(object string, expect *cases.Expect) (*finding, error) {
	if s.delivered == nil {
		s.delivered = map[string]*federated.Report{}
		all := func(inventory.Key) bool { return true }
		reports := explain.Reports{Now: metav1.NewTime(s.Now)}.WithObjects(s.state, all, true)
		for i := range reports.Objects {
			s.delivered[reports.Objects[i].Object] = &reports.Objects[i]
		}
	}
	report, known := s.delivered[object]
	if !known {
		return nil, unknown("spec.objects.federated", "object that is delivered to clusters,", object, s.delivered)
	}
	const path = "spec.expect"
	byName := map[string]*federated.Cluster{}
	var selected []string
	for i := range report.Clusters {
		cluster := &report.Clusters[i]
		byName[cluster.Name] = cluster
		if cluster.Verdict == "Selected" || cluster.Hold != nil {
			selected = append(selected, cluster.Name)
		}
	}
	slices.Sort(selected)
	snapshot := s.variants.Snapshot()
	reason := func(name string) string {
		if cluster := byName[name]; cluster != nil {
			return cluster.Reason
		}
		return report.Message
	}
	chosen := &group{is: "gets it", isNot: "does not get it", names: selected, labels: labelsIn(snapshot), reason: reason}
	if f := chosen.check(path+".selected", expect.Selected); f != nil {
		return f, nil
	}
	var others []string
	for _, cluster := range s.state.Clusters {
		if !chosen.has(cluster.Name) {
			others = append(others, cluster.Name)
		}
	}
	slices.Sort(others)
	rest := &group{is: "does not get it", isNot: "gets it", names: others, labels: labelsIn(snapshot), reason: reason}
	if f := rest.check(path+".notSelected", expect.NotSelected); f != nil {
		return f, nil
	}
	if f := checkDeliveredReasons(path+".because", expect.Because, byName); f != nil {
		return f, nil
	}
	if f := checkCounts(path+".counts", expect.Counts, selected, snapshot); f != nil {
		return f, nil
	}
	return checkReplicas(path+".replicas", expect.Replicas, byName), nil
}

func checkDeliveredReasons(field string, reasons []cases.Because, byName map[string]*federated.Cluster) *finding {
	for i, because := range reasons {
		at := fmt.Sprintf("%s[%d]", field, i)
		cluster := byName[because.Cluster]
		switch {
		case cluster == nil:
			return found(at+".cluster", "%s: nothing was decided about it", because.Cluster)
		case because.Stage != "" && cluster.Verdict != because.Stage:
			return found(at+".stage", "%s has the verdict %s instead of %s: %s", because.Cluster, cluster.Verdict, because.Stage, cluster.Reason)
		case !strings.Contains(cluster.Reason, because.Clause):
			return found(at+".clause", "the reason for %s does not contain %q: %s", because.Cluster, because.Clause, cluster.Reason)
		}
	}
	return nil
}

func checkReplicas(field string, replicas map[string]cases.Bound, byName map[string]*federated.Cluster) *finding {
	for _, name := range slices.Sorted(maps.Keys(replicas)) {
		bound, number, why := replicas[name], 0, ""
		if cluster := byName[name]; cluster != nil {
			if cluster.Wanted != nil {
				number = int(*cluster.Wanted)
			}
			why = cluster.WhyNoReplicas
			if why == "" {
				why = cluster.Reason
			}
		}
		if f := checkBound(field+"."+name, &bound, number, name+" "+why); f != nil {
			return f
		}
	}
	return nil
}

// checkWorkload checks the nodes, the class and the policies of a workload.
func (s *systems) checkWorkload(object string, expect *cases.Expect) (*finding, error) {
	known := map[string]*unstructured.Unstructured{}
	for _, workload := range s.state.Pods.Workloads {
		known[nameOf(workload)] = workload
	}
	workload := known[object]
	if workload == nil {
		return nil, unknown("spec.objects.workload", "workload", object, known)
	}
	reports, err := pods.NewFileReports(&s.state.Pods, []*unstructured.Unstructured{workload})
	if err != nil {
		return nil, fmt.Errorf("spec.objects.workload: %w", err)
	}
	return checkPods(&reports[0], expect, s.state)
}

func checkPods(report *pods.Report, expect *cases.Expect, state *explain.State) (*finding, error) {
	const path = "spec.expect"
	if expect.Nodes != nil {
		if report.Nodes == nil {
			return nil, fmt.Errorf("%s.nodes: the nodes are not known; add them to the files", path)
		}
		labels, reasons := map[string]map[string]string{}, map[string]string{}
		for _, node := range state.Pods.Nodes {
			labels[node.Name] = node.Labels
		}
		fit := slices.Sorted(slices.Values(report.Nodes.Fit))
		in := &group{
			is: "fits", isNot: "does not fit", names: fit,
			labels: func(name string) map[string]string { return labels[name] },
			reason: func(name string) string {
				if slices.Contains(fit, name) {
					return reasons[name]
				}
				return report.Nodes.Message
			},
		}
		if f := in.check(path+".nodes", expect.Nodes); f != nil {
			return f, nil
		}
	}
	class := ""
	if report.Class != nil {
		class = report.Class.Class
	}
	if expect.Class != nil && class != *expect.Class {
		return found(path+".class", "its class is %q instead of %q", class, *expect.Class), nil
	}
	if expect.Policies == nil {
		return nil, nil
	}
	var policies []string
	for i := range report.Policies {
		if report.Policies[i].Matches {
			policies = append(policies, report.Policies[i].Policy)
		}
	}
	slices.Sort(policies)
	in := &group{is: "applies", isNot: "does not apply", names: policies, reason: func(name string) string {
		for i := range report.Policies {
			if report.Policies[i].Policy == name {
				return report.Policies[i].Mismatch
			}
		}
		return "there is no such policy"
	}}
	return in.checkExactly(path+".policies", *expect.Policies), nil
}

// nameOf returns "Deployment.apps/team-a/web".
func nameOf(object *unstructured.Unstructured) string {
	kind := object.GetKind()
	if group := object.GroupVersionKind().Group; group != "" {
		kind += "." + group
	}
	return kind + "/" + object.GetNamespace() + "/" + object.GetName()
}

// checkRequest checks what a ClusterRequest gets.
func (s *systems) checkRequest(object string, expect *cases.Expect) (*finding, error) {
	const path = "spec.expect.grant"
	known := map[string]bool{}
	for _, request := range s.state.ClusterRequests.Requests {
		known[request.Namespace+"/"+request.Name] = true
	}
	if !known[object] {
		return nil, unknown("spec.objects.clusterRequest", "ClusterRequest", object, known)
	}
	namespace, name, _ := strings.Cut(object, "/")
	request := s.state.ClusterRequests.Find(namespace, name)[0]
	report := requests.NewReport(&s.state.ClusterRequests, request, metav1.NewTime(s.Now))
	grant, why := expect.Grant, report.Reason+": "+report.Message
	got := requests.Granted{}
	cluster := ""
	if report.Cluster != nil {
		got = *report.Cluster
		cluster = got.Namespace + "/" + got.Name
	}
	switch {
	case grant.Cluster != nil && *grant.Cluster != cluster:
		return found(path+".cluster", "it gets %q instead of %q: %s", cluster, *grant.Cluster, why), nil
	case grant.New != nil && (*grant.New != got.New || report.Cluster == nil):
		return found(path+".new", "it gets %q, which is created: %t: %s", cluster, got.New, why), nil
	case grant.Provider != "" && grant.Provider != got.Provider:
		return found(path+".provider", "the provider is %q instead of %q: %s", got.Provider, grant.Provider, why), nil
	case grant.Profile != "" && grant.Profile != got.Profile:
		return found(path+".profile", "the profile is %q instead of %q: %s", got.Profile, grant.Profile, why), nil
	}
	return nil, nil
}
