// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// Differences is what policies, classes and Tenants would change if they were applied.
type Differences struct {
	// Objects are those that are applied, in their order.
	Objects []Applied `json:"objects"`
	// Workloads are sorted by namespace, kind and name.
	Workloads []Difference `json:"workloads"`
	// Tenants are those whose effective settings or compliance would change, by namespace and name.
	Tenants []TenantDifference `json:"tenants,omitempty"`
	// WorkloadsUnread reports that the existing workloads were not read, so that Workloads is empty.
	WorkloadsUnread bool `json:"workloadsUnread,omitempty"`
	// Notes say which kinds the cluster does not serve, or the user may not read, and what that means.
	Notes []string `json:"notes,omitempty"`
}

// Refused returns an error that names the objects that admission would refuse. It is nil for nil differences.
func (d *Differences) Refused() error {
	if d == nil {
		return nil
	}
	var errs []error
	for _, applied := range d.Objects {
		if len(applied.Refused) > 0 {
			errs = append(errs, fmt.Errorf("%s would be refused, and is not in the comparison: %s; correct it in the file",
				applied.Object, strings.Join(slices.Clone(applied.Refused), "; ")))
		}
	}
	return errors.Join(errs...)
}

// Applied is an object that is applied.
type Applied struct {
	// Object is its kind and name.
	Object string `json:"object"`
	// New says that it does not exist yet.
	New bool `json:"new,omitempty"`
	// Unchanged says that its spec is that of the existing object.
	Unchanged bool `json:"unchanged,omitempty"`
	// Refused has the errors with which admission refuses the object; the differences are those without it.
	Refused []string `json:"refused,omitempty"`
	// Warnings are those of its admission.
	Warnings []string `json:"warnings,omitempty"`
	// By is how the existing object is written, if not by the client-side kubectl apply.
	By string `json:"by,omitempty"`
	// Kept are the spec fields of the existing object that the file does not set and that applying it keeps. Gone are its labels, annotations and
	// other fields that go with the write.
	Kept []string `json:"kept,omitempty"`
	Gone []string `json:"gone,omitempty"`
}

// Lines returns sentences about the fields of the existing object, which is called live, that the file does not set.
func (a *Applied) Lines(live string) []string {
	by, leaves := a.By, "other field managers own"
	if by == "" {
		by, leaves = "kubectl apply", "neither this file nor the last apply sets"
	}
	var lines []string
	if len(a.Kept) > 0 {
		lines = append(lines, fmt.Sprintf("taken from the %s, as %s leaves what %s: %s", live, by, leaves, strings.Join(a.Kept, ", ")))
	}
	if len(a.Gone) > 0 {
		lines = append(lines, fmt.Sprintf("removed from the %s by %s: %s", live, by, strings.Join(a.Gone, ", ")))
	}
	return lines
}

// Difference is what the next admission would make of a workload, now and after the change. Policies act at admission only, so nothing of
// it happens before the workload is updated, or the Pod created anew.
type Difference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Patch is the unified diff from the existing object to the one after its next admission; empty if admission changes nothing.
	Patch string `json:"patch,omitempty"`
	// Lacks are the fields of that patch, by their paths in the pod spec.
	Lacks []string `json:"lacks,omitempty"`
	// Dropped are the fields that the next admission would add now and would not add after the change.
	Dropped []string `json:"dropped,omitempty"`
	// Anyway says that all this comes without the change too: the workload has drifted.
	Anyway bool `json:"anyway,omitempty"`
	// Skipped is what policies would not add after the change and are not skipping now.
	Skipped []Skip `json:"skipped,omitempty"`
	// Denial is the text with which new Pods would be refused after the change, and Admitted says that they are refused now and would not be.
	Denial   string `json:"denial,omitempty"`
	Admitted bool   `json:"admitted,omitempty"`
	// LacksOfClass are the node labels of its class that an existing Pod does not ask for.
	LacksOfClass []string `json:"lacksOfClass,omitempty"`
	// Before and After say which nodes fit a new Pod; nil if the nodes could not be read.
	Before *Nodes `json:"before,omitempty"`
	After  *Nodes `json:"after,omitempty"`
}

// Differ reports whether any workload differs, or has drifted.
func (d *Differences) Differ() bool { return len(d.Workloads)+len(d.Tenants) > 0 }

// Diff compares what the next admission of each workload does, among the objects as they are and after the change.
func Diff(before, after *Objects) (Differences, error) {
	differences := Differences{Objects: []Applied{}, Workloads: []Difference{}, Tenants: diffTenants(before, after), Notes: before.Missing}
	one, other := NewEvaluator(before), NewEvaluator(after)
	for _, object := range sorted(before.Workloads) {
		if !IsAdmitted(object) {
			lacking, err := other.olderThanClass(object)
			if err != nil {
				return differences, err
			}
			if lacking != nil {
				differences.Workloads = append(differences.Workloads, *lacking)
			}
			continue
		}

		now, err := one.next(object)
		if err != nil {
			return differences, err
		}
		then, err := other.next(object)
		if err != nil {
			return differences, err
		}

		difference, err := one.compare(other, now, then)
		if err != nil {
			return differences, err
		}
		if difference != nil {
			differences.Workloads = append(differences.Workloads, *difference)
		}
	}

	return differences, nil
}

// sorted returns objects by namespace, kind and name.
func sorted(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedFunc(slices.Values(objects), func(a, b *unstructured.Unstructured) int {
		return slices.Compare([]string{a.GetNamespace(), a.GetKind(), a.GetName()}, []string{b.GetNamespace(), b.GetKind(), b.GetName()})
	})
}

// IsAdmitted reports whether a workload is admitted by itself. The objects of another workload follow from the template of that.
func IsAdmitted(object metav1.Object) bool {
	return !slices.ContainsFunc(object.GetOwnerReferences(), func(reference metav1.OwnerReference) bool {
		_, known := KindOf(schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind))
		return known && reference.Controller != nil && *reference.Controller
	})
}

// next evaluates the next admission of a workload: its next update, or the creation of the same Pod or Job.
func (e *Evaluator) next(object *unstructured.Unstructured) (*evaluation, error) {
	return e.evaluateAs(object, nextAdmission)
}

// olderThanClass returns the labels of its class that an existing Pod does not ask for; nil if it asks for all.
func (e *Evaluator) olderThanClass(object *unstructured.Unstructured) (*Difference, error) {
	if object.GetKind() != podKind.Kind {
		return nil, nil
	}
	report, err := e.Explain(object, false)
	if err != nil || report.Class == nil || len(report.Class.Lacks) == 0 {
		return nil, err
	}
	return &Difference{
		Kind: report.Kind, Namespace: report.Namespace, Name: report.Name, LacksOfClass: report.Class.Lacks, Anyway: true,
	}, nil
}

// compare returns the difference between two evaluations of a workload; nil if they are equal and the workload lacks nothing.
func (e *Evaluator) compare(other *Evaluator, now, then *evaluation) (*Difference, error) {
	difference := &Difference{Kind: then.kind.Kind, Namespace: then.object.GetNamespace(), Name: then.object.GetName(), Lacks: drift(then)}
	difference.Dropped = slices.DeleteFunc(drift(now), func(field string) bool { return slices.Contains(difference.Lacks, field) })

	before, err := unified(now)
	if err != nil {
		return nil, err
	}
	if difference.Patch, err = unified(then); err != nil {
		return nil, err
	}
	difference.Skipped = newSkips(&now.result, &then.result)
	was, is := e.report(now), other.report(then)
	changed := before != difference.Patch || len(difference.Skipped) > 0
	if is.Class != nil {
		difference.Denial = is.Class.Denial
	}

	if was.Refused() != is.Refused() || was.Refused() && was.Class.Denial != is.Class.Denial {
		difference.Admitted, changed = !is.Refused(), true
	}
	difference.Before, difference.After = was.Nodes, is.Nodes
	changed = changed || was.Nodes != nil && is.Nodes != nil && !slices.Equal(was.Nodes.Fit, is.Nodes.Fit)
	difference.Anyway = !changed
	if !changed && difference.Patch == "" && difference.Denial == "" {
		return nil, nil
	}
	return difference, nil
}

// newSkips returns what one result skips and another does not.
func newSkips(before, after *podscheduling.Result) []Skip {
	known := map[string]bool{}
	for _, policy := range before.Policies {
		for _, skip := range policy.Skipped {
			known[policy.Policy.String()+skip.Message] = true
		}
	}
	var skips []Skip

	for _, policy := range after.Policies {
		for _, skip := range policy.Skipped {
			if !known[policy.Policy.String()+skip.Message] {
				skips = append(skips, Skip{Field: skip.Field, Reason: string(skip.Reason), Message: policy.Policy.String() + ": " + skip.Message})
			}
		}
	}
	return skips
}

// diffContext is the number of equal lines around a difference, as in kubectl diff.
const diffContext = 3

// unified returns the unified diff of what an admission makes of an object, in the form of kubectl diff.
func unified(ev *evaluation) (string, error) {
	if len(ev.result.Operations) == 0 {
		return "", nil
	}
	name := fileName(ev)

	live, err := yaml.Marshal(ev.object.Object)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", name, err)
	}
	merged, err := yaml.Marshal(ev.injected.Object)
	if err != nil {
		return "", fmt.Errorf("encode %s: %w", name, err)
	}

	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(strings.TrimSuffix(string(live), "\n")), B: difflib.SplitLines(strings.TrimSuffix(string(merged), "\n")),
		FromFile: "LIVE/" + name, ToFile: "MERGED/" + name, Context: diffContext,
	})
	if err != nil {
		return "", fmt.Errorf("compare %s: %w", name, err)
	}
	return text, nil
}

// fileName is the name that kubectl diff has for an object: apps.v1.Deployment.team-a.web.
func fileName(ev *evaluation) string {
	parts := []string{ev.kind.Group, ev.kind.Version, ev.kind.Kind, ev.object.GetNamespace(), ev.object.GetName()}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ".")
}
