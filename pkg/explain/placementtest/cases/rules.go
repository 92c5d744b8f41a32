// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// checkRules checks what the schema does not say.
func (c *Case) checkRules(v *validator) {
	reject := func(path, format string, arguments ...any) { v.rejectf(c.find(path), path, format, arguments...) }
	c.checkObjects(reject)
	if c.Spec.When != nil {
		c.checkWhen(reject)
	}
	c.checkExpect(reject)
}

// rejection reports that a field breaks a rule.
type rejection = func(path, format string, arguments ...any)

// given returns the names of the fields of a struct that have a value, without the ones left out.
func given(of any, without ...string) []string {
	var names []string
	value := reflect.ValueOf(of)
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		if field := value.Field(i); !field.IsZero() && !slices.Contains(without, name) {
			names = append(names, name)
		}
	}
	return names
}

// checkOne rejects a struct of which not exactly one field has a value.
func checkOne(reject rejection, path string, of any, without ...string) bool {
	names := given(of, without...)
	switch len(names) {
	case 0:
		all := make([]string, 0, reflect.TypeOf(of).NumField())
		for field := range reflect.TypeOf(of).Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !slices.Contains(without, name) {
				all = append(all, name)
			}
		}
		reject(path, "has no value; give it one of %s", strings.Join(all, ", "))
	case 1:
		return true
	default:
		reject(child(path, names[1]), "%s and %s exclude each other; leave one out, or write two cases", names[0], names[1])
	}
	return false
}

func (c *Case) checkObjects(reject rejection) {
	const path = "spec.objects"
	objects := &c.Spec.Objects
	if !checkOne(reject, path, *objects, "apiGroup") {
		return
	}
	if objects.APIGroup != "" {
		groups := make([]string, 0, len(api.Adapters()))
		for _, adapter := range api.Adapters() {
			groups = append(groups, adapter.Kind().Group)
		}
		if objects.Placement == "" {
			reject(path+".apiGroup", "is the group of placement, which has no value; leave it out")
		} else if !slices.Contains(groups, objects.APIGroup) {
			reject(path+".apiGroup", "is %q, and has to be one of %s%s", objects.APIGroup, strings.Join(groups, ", "), didYouMean(objects.APIGroup,
				groups))
		}
	}
	for name, text := range map[string]string{"placement": objects.Placement, "clusterRequest": objects.ClusterRequest} {
		if text != "" && !isName(text, 1) {
			reject(child(path, name), "%q is not of the form namespace/name", text)
		}
	}
	for name, text := range map[string]string{"federated": objects.Federated, "workload": objects.Workload} {
		if text != "" && !isName(text, 2) {
			reject(child(path, name), "%q is not of the form KIND.GROUP/namespace/name, such as Deployment.apps/team-a/web", text)
		}
	}
	if objects.Placements != nil {
		checkSelector(reject, path+".placements.selector", objects.Placements.Selector)
	}
}

// isName reports whether a text has a number of slashes, with something around each.
func isName(text string, slashes int) bool {
	words := strings.Split(text, "/")
	return len(words) == slashes+1 && !slices.Contains(words, "")
}

func checkSelector(reject rejection, path string, selector *metav1.LabelSelector) {
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		reject(path, "%v", err)
	}
}

func (c *Case) checkWhen(reject rejection) {
	const path = "spec.when"
	when := c.Spec.When
	if !checkOne(reject, path, *when) {
		return
	}
	if objects := &c.Spec.Objects; when.Changed == nil && objects.Workload+objects.ClusterRequest != "" {
		reject(path+"."+given(*when)[0], "no ManagedCluster decides about spec.objects.%s, so that nothing would be evaluated; leave it out, or "+
			"write changed", given(*objects)[0])
	}
	if when.Changed != nil && len(when.Changed) == 0 {
		reject(path+".changed", "changes nothing; add a change, or leave it out")
	}
	checkFailure(reject, path+".lost", when.Lost)
	checkFailure(reject, path+".deleted", when.Deleted)
	for i := range when.Changed {
		at := path + ".changed[" + strconv.Itoa(i) + "]"
		parsed, err := parseChange(reject, at, &when.Changed[i])
		if err != nil {
			reject(child(at, given(when.Changed[i], "old")[0]), "%v", err)
		}
		c.changes = append(c.changes, parsed)
	}
}

func checkFailure(reject rejection, path string, f *Failure) {
	if f == nil || !checkOne(reject, path, *f, "seed", "limit", "topologyType") {
		return
	}
	if f.TopologyType != "" && f.Topology == "" {
		reject(path+".topologyType", "is the type of topology, which has no value; leave it out")
	}
	if f.Limit > 0 && f.Any == 0 && f.Random == 0 {
		reject(path+".limit", "limits any and random, which have no value; leave it out")
	}
}

// parseChange returns a change; nil for files.
func parseChange(reject rejection, path string, change *Change) (whatif.Change, error) {
	if !checkOne(reject, path, *change, "old") {
		return nil, nil //nolint:nilnil // It was rejected.
	}
	if change.Old != "" && change.Apply == "" {
		reject(path+".old", "has the manifests before those of apply, which has no value; leave it out, or write delete")
	}
	switch {
	case change.Label != "":
		return parsed(whatif.ParseLabel, change.Label)
	case change.Claim != "":
		return parsed(whatif.ParseClaim, change.Claim)
	case change.Taint != "":
		return parsed(whatif.ParseTaint, change.Taint)
	case change.Drain != "":
		return whatif.Drain{Cluster: change.Drain}, nil
	case change.Remove != "":
		return whatif.Remove{Cluster: change.Remove}, nil
	case change.WithoutBinding != "":
		return parseWithoutBinding(change.WithoutBinding)
	default:
		return nil, nil //nolint:nilnil // A file is read by the caller.
	}
}

// parseWithoutBinding parses SET, which is that of the namespace of each case, or NAMESPACE/SET.
func parseWithoutBinding(text string) (whatif.Change, error) {
	namespace, set, scoped := strings.Cut(text, "/")
	if !scoped {
		namespace, set = "", namespace
	}
	if set == "" || scoped && namespace == "" || strings.Contains(set, "/") {
		return nil, fmt.Errorf("%q is not of the form SET or NAMESPACE/SET", text)
	}
	return whatif.WithoutBinding{Namespace: namespace, Set: set}, nil
}

// parsed parses a text, whose error continues a sentence that begins with it.
func parsed(parse func(string) (whatif.Change, error), text string) (whatif.Change, error) {
	change, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q %w", text, err)
	}
	return change, nil
}

// expectations are the fields of Expect by the field of Objects that has them.
var expectations = map[string][]string{
	"placement": {
		"selected", "notSelected", "because", "counts", "groups", "order", "satisfied", "moves", "heldByBudget",
	},
	"federated":      {"selected", "notSelected", "because", "counts", "moves", "heldByBudget", "replicas"},
	"workload":       {"nodes", "class", "policies"},
	"clusterRequest": {"grant"},
}

func (c *Case) checkExpect(reject rejection) {
	const path = "spec.expect"
	expect := &c.Spec.Expect
	names := given(*expect)
	if len(names) == 0 {
		reject(path, "expects nothing; add what has to hold, such as selected")
	}
	for name, length := range map[string]int{
		"because": lengthOf(expect.Because), "counts": lengthOf(expect.Counts), "order": lengthOf(expect.Order),
	} {
		if length == 0 {
			reject(child(path, name), "is empty, so that it expects nothing; leave it out")
		}
	}
	if objects := given(c.Spec.Objects, "apiGroup"); len(objects) == 1 {
		of := strings.TrimSuffix(objects[0], "s")
		for _, name := range names {
			if !slices.Contains(expectations[of], name) {
				reject(child(path, name), "is not known of spec.objects.%s, of which there are %s", objects[0], strings.Join(expectations[of], ", "))
			}
		}
	}
	if expect.Moves != nil && c.Spec.When == nil {
		reject(path+".moves", "counts what spec.when changes, which has no value; leave it out, or add spec.when")
	}
	checkExpectations(reject, path, expect)
}

// checkExpectations rejects expectations that expect nothing, or that nothing can meet.
func checkExpectations(reject rejection, path string, expect *Expect) {
	checkClusters(reject, path+".selected", expect.Selected)
	checkClusters(reject, path+".notSelected", expect.NotSelected)
	checkClusters(reject, path+".nodes", expect.Nodes)
	checkBound(reject, path+".moves", expect.Moves)
	for i := range expect.Groups {
		checkClusters(reject, fmt.Sprintf("%s.groups[%d].clusters", path, i), expect.Groups[i].Clusters)
	}
	for i, because := range expect.Because {
		if because.Stage == "" && because.Clause == "" {
			reject(fmt.Sprintf("%s.because[%d]", path, i), "has no reason; add stage or clause")
		}
	}
	for i := range expect.Counts {
		at := fmt.Sprintf("%s.counts[%d]", path, i)
		count := &expect.Counts[i]
		if len(count.Values) == 0 && count.Each == nil && count.Distinct == nil {
			reject(at, "counts nothing; add values, each or distinct")
		}
		checkBound(reject, at+".each", count.Each)
		checkBound(reject, at+".distinct", count.Distinct)
		for value, bound := range count.Values {
			checkBound(reject, at+".values."+value, &bound)
		}
	}
	for cluster, bound := range expect.Replicas {
		checkBound(reject, path+".replicas."+cluster, &bound)
	}
}

// lengthOf returns the length of a list, and -1 without one.
func lengthOf[T any](list []T) int {
	if list == nil {
		return -1
	}
	return len(list)
}

func checkClusters(reject rejection, path string, of *Clusters) {
	if of == nil {
		return
	}
	names := given(*of)
	if len(names) == 0 {
		reject(path, "expects nothing; add exactly, allOf, anyOf, noneOf, atLeast, atMost, every or none")
	}
	if of.Exactly != nil && len(names) > 1 {
		reject(path+".exactly", "says all that the others can; leave out %s", strings.Join(slices.DeleteFunc(names, isExactly), ", "))
	}
	for name, length := range map[string]int{"allOf": lengthOf(of.AllOf), "anyOf": lengthOf(of.AnyOf), "noneOf": lengthOf(of.NoneOf)} {
		if length == 0 {
			reject(child(path, name), "is empty, so that it expects nothing; leave it out")
		}
	}
	if of.AtLeast != nil && of.AtMost != nil && *of.AtLeast > *of.AtMost {
		reject(path+".atLeast", "is %d, more than atMost, which is %d", *of.AtLeast, *of.AtMost)
	}
	checkSelector(reject, path+".every", of.Every)
	checkSelector(reject, path+".none", of.None)
}

func isExactly(name string) bool { return name == "exactly" }

func checkBound(reject rejection, path string, of *Bound) {
	switch {
	case of == nil:
	case len(given(*of)) == 0:
		reject(path, "expects nothing; add exactly, atLeast or atMost")
	case of.AtLeast != nil && of.AtMost != nil && *of.AtLeast > *of.AtMost:
		reject(path+".atLeast", "is %d, more than atMost, which is %d", *of.AtLeast, *of.AtMost)
	}
}
