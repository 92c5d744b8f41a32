// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// systems are the objects of a State that are no Placements. What is asked for first is evaluated for all cases.
type systems struct {
	*run

	state     *explain.State
	delivered *delivered
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
			f, err = in.checkDelivered(t, object)
		case objects.Workload != "":
			object = objects.Workload
			f, err = in.checkWorkload(object, &t.Spec.Expect)
		default:
			object = "ClusterRequest " + objects.ClusterRequest
			f, err = in.checkRequest(objects.ClusterRequest, &t.Spec.Expect)
		}
		if r.cancelled() {
			return
		}
		if err != nil {
			t.fail(err)
			continue
		}
		r.note(t, object, when, f, nil)
		t.result.Objects = 1
	}
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
			return nil, fmt.Errorf("%s.nodes: the nodes are not known, so that nothing is evaluated; add them to the files, or leave it out", path)
		}
		if f := nodesOf(report, state).check(path+".nodes", expect.Nodes); f != nil {
			if refused := refusal(report); refused != "" && !strings.HasSuffix(f.message, refused) {
				f.message += ": " + refused
			}
			return f, nil
		}
	}
	if f, err := checkClass(path+".class", report, expect.Class, state); f != nil || err != nil {
		return f, err
	}
	return checkPolicies(path+".policies", report, expect.Policies)
}

// checkClass checks the AffinityClass of a workload.
func checkClass(field string, report *pods.Report, expected *string, state *explain.State) (*finding, error) {
	class, known := "", map[string]bool{}
	if report.Class != nil {
		class = report.Class.Class
	}
	for _, each := range state.Pods.Classes {
		known[each.Name] = true
	}
	switch {
	case expected == nil || class == *expected:
		return nil, nil
	case *expected != "" && !known[*expected]:
		return nil, unknown(field, "AffinityClass", *expected, known)
	default:
		return found(field, "its class is %q instead of %q", class, *expected), nil
	}
}

// checkPolicies checks the policies that apply to a workload.
func checkPolicies(field string, report *pods.Report, expected *[]string) (*finding, error) {
	if expected == nil {
		return nil, nil
	}
	known := map[string]*pods.Policy{}
	in := &group{is: "applies", isNot: "does not apply", reason: func(name string) string { return known[name].Mismatch }}
	for i := range report.Policies {
		known[report.Policies[i].Policy] = &report.Policies[i]
		if report.Policies[i].Matches {
			in.names = append(in.names, report.Policies[i].Policy)
		}
	}
	for _, name := range *expected {
		if known[name] == nil {
			return nil, unknown(field, "policy", name, known)
		}
	}
	slices.Sort(in.names)
	return in.checkExactly(field, *expected), nil
}

// nodesOf returns the nodes on which new Pods of a workload may run: none if they are refused.
func nodesOf(report *pods.Report, state *explain.State) *group {
	labels, reasons := map[string]map[string]string{}, map[string]string{}
	for _, node := range state.Pods.Nodes {
		labels[node.Name] = node.Labels
	}
	for _, rejected := range report.Nodes.Rejected {
		for _, node := range rejected.Nodes {
			reasons[node] = strings.TrimSpace(rejected.Reason + " " + rejected.Cause)
		}
	}
	in := &group{
		is: "fits", isNot: "does not fit", names: slices.Sorted(slices.Values(report.Nodes.Fit)),
		labels: func(name string) map[string]string { return labels[name] },
		reason: func(name string) string { return reasons[name] },
	}
	if refused := refusal(report); refused != "" {
		in.names, in.reason = nil, func(string) string { return refused }
	}
	return in
}

// refusal says why new Pods are refused; empty if they are not.
func refusal(report *pods.Report) string {
	if !report.Refused() {
		return ""
	}
	return "a Pod that is created now is refused: " + report.Class.Denial
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
	if err := checkGrantNames(path, expect.Grant, report.Cluster, &s.state.ClusterRequests); err != nil {
		return nil, err
	}
	return checkGrant(path, expect.Grant, &report), nil
}

// checkGrantNames returns an error about the first name that no object has.
func checkGrantNames(path string, grant *cases.Grant, granted *requests.Granted, objects *requests.Objects) error {
	clusters, providers, profiles := map[string]bool{"": true}, map[string]bool{}, map[string]bool{}
	for _, cluster := range objects.Clusters {
		clusters[cluster.Namespace+"/"+cluster.Name] = true
		profiles[string(cluster.Spec.ClusterProviderRef.Profile)] = true
	}
	if granted != nil {
		clusters[granted.Namespace+"/"+granted.Name] = true
	}
	for _, provider := range objects.Providers {
		providers[provider.Name] = true
		for i := range provider.Status.Profiles {
			profiles[string(provider.Status.Profiles[i].Name)] = true
		}
	}
	switch {
	case grant.Cluster != nil && !clusters[*grant.Cluster]:
		return unknown(path+".cluster", "Cluster", *grant.Cluster, clusters)
	case grant.Provider != "" && !providers[grant.Provider]:
		return unknown(path+".provider", "ClusterProvider", grant.Provider, providers)
	case grant.Profile != "" && !profiles[grant.Profile]:
		return unknown(path+".profile", "profile", grant.Profile, profiles)
	default:
		return nil
	}
}

// checkGrant returns the first field of a Grant that does not hold; nil if all do.
func checkGrant(path string, grant *cases.Grant, report *requests.Report) *finding {
	why := report.Reason + ": " + report.Message
	got, gets := requests.Granted{}, "no Cluster"
	cluster := ""
	if report.Cluster != nil {
		got = *report.Cluster
		cluster = got.Namespace + "/" + got.Name
		gets = "Cluster " + cluster
	}
	if grant.Cluster != nil && *grant.Cluster != cluster {
		return found(path+".cluster", "it gets %s instead of %s: %s", gets, cmp.Or(*grant.Cluster, "none"), why)
	}
	switch {
	case grant.New != nil && report.Cluster == nil:
		return found(path+".new", "it gets %s: %s", gets, why)
	case grant.New != nil && *grant.New != got.New:
		return found(path+".new", "it is %t for %s: %s", got.New, gets, why)
	case grant.Provider != "" && grant.Provider != got.Provider:
		return found(path+".provider", "the provider is %q instead of %q: %s", got.Provider, grant.Provider, why)
	case grant.Profile != "" && grant.Profile != got.Profile:
		return found(path+".profile", "the profile is %q instead of %q: %s", got.Profile, grant.Profile, why)
	default:
		return nil
	}
}
