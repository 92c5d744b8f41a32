// SPDX-License-Identifier: Apache-2.0

package argocdrefresh

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
)

const (
	// AnnotationRefresh makes Argo CD evaluate an ApplicationSet at once, with the value RefreshRequested. Argo CD removes it afterwards.
	AnnotationRefresh = "argocd.argoproj.io/application-set-refresh"
	// RefreshRequested is the value of AnnotationRefresh.
	RefreshRequested = "true"
	// AnnotationFollow of an ApplicationSet says with "true" or "false" whether its changes of clusters are followed by a refresh.
	AnnotationFollow = "placement-hub.open-cluster-management.io/refresh"

	decisionGenerator = "clusterDecisionResource"
	// nestingDepth is how often Argo CD allows generators inside generators: a matrix or merge inside a matrix or merge.
	nestingDepth = 2
)

// cheapGenerators read nothing but the API server. A refresh makes all others ask servers of git, of pull requests or of plugins anew, past the
// revision cache of Argo CD.
var cheapGenerators = sets.New(decisionGenerator, "list", "clusters")

// combiningGenerators have generators inside.
var combiningGenerators = sets.New("matrix", "merge")

// parameters are the fields of a generator that generate nothing.
var parameters = sets.New("selector")

// ApplicationSet is what matters of an ApplicationSet.
type ApplicationSet struct {
	Name            string
	ResourceVersion string
	// References are the PlacementDecisions that its generators read.
	References []Reference
	// Requested is true while it has AnnotationRefresh.
	Requested bool
	// Followed is true if it is refreshed when its clusters change.
	Followed bool
}

// Reference is what one generator clusterDecisionResource reads.
type Reference struct {
	// ConfigMap is the name of the ConfigMap with the kind that the generator reads.
	ConfigMap string
	// Selection are the PlacementDecisions.
	Selection Selection
}

// Selection selects PlacementDecisions by their name, or by their labels. It selects all of them if it has neither, which is so for names and
// labels that are parameters of another generator.
type Selection struct {
	Name, LabelSelector string
}

// Read returns what matters of an ApplicationSet. A generator that Argo CD refuses reads nothing.
func Read(object *unstructured.Unstructured) ApplicationSet {
	found := generators{kinds: sets.New[string]()}
	list, _, _ := unstructured.NestedSlice(object.Object, "spec", "generators")
	found.add(list, 0)
	annotations := object.GetAnnotations()
	_, requested := annotations[AnnotationRefresh]
	return ApplicationSet{
		Name:            object.GetName(),
		ResourceVersion: object.GetResourceVersion(),
		References:      found.references,
		Requested:       requested,
		Followed:        followed(annotations[AnnotationFollow], found.kinds),
	}
}

// followed returns whether an ApplicationSet with these kinds of generators is refreshed. An annotation with another value than "true" and
// "false" counts as none.
func followed(annotation string, kinds sets.Set[string]) bool {
	switch annotation {
	case "true":
		return true
	case "false":
		return false
	}
	return cheapGenerators.IsSuperset(kinds)
}

// generators are those of one ApplicationSet.
type generators struct {
	references []Reference
	kinds      sets.Set[string]
}

// add adds generators, and those inside them.
func (g *generators) add(list []any, depth int) {
	for _, item := range list {
		generator, _ := item.(map[string]any)
		for kind, value := range generator {
			content, _ := value.(map[string]any)
			switch {
			case content == nil || parameters.Has(kind):
				continue
			case !combiningGenerators.Has(kind):
				g.kinds.Insert(kind)
				if kind == decisionGenerator {
					g.addReference(content)
				}
			case depth < nestingDepth:
				inside, _, _ := unstructured.NestedSlice(content, "generators")
				g.add(inside, depth+1)
			}
		}
	}
}

// addReference adds what a generator clusterDecisionResource reads.
func (g *generators) addReference(content map[string]any) {
	var read struct {
		ConfigMapRef  string                `json:"configMapRef"`
		Name          string                `json:"name"`
		LabelSelector *metav1.LabelSelector `json:"labelSelector"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &read); err != nil {
		return
	}
	selection, ok := newSelection(read.Name, read.LabelSelector)
	if !ok || read.ConfigMapRef == "" || isTemplate(read.ConfigMapRef) {
		return
	}
	g.references = append(g.references, Reference{ConfigMap: read.ConfigMapRef, Selection: selection})
}

// newSelection returns the selection of a generator, and false if Argo CD refuses it: without name and selector, with both, or with a selector
// that is empty or invalid.
func newSelection(name string, selector *metav1.LabelSelector) (Selection, bool) {
	isEmpty := selector == nil || len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0
	if (name == "") == isEmpty {
		return Selection{}, false
	}
	if name != "" {
		if isTemplate(name) {
			return Selection{}, true
		}
		return Selection{Name: name}, true
	}
	if hasTemplate(selector) {
		return Selection{}, true
	}
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return Selection{}, false
	}
	return Selection{LabelSelector: parsed.String()}, true
}

// hasTemplate returns whether a selector has parameters of another generator, which a matrix gives to its second generator.
func hasTemplate(selector *metav1.LabelSelector) bool {
	for key, value := range selector.MatchLabels {
		if isTemplate(key) || isTemplate(value) {
			return true
		}
	}
	for _, requirement := range selector.MatchExpressions {
		if isTemplate(requirement.Key) || isTemplate(strings.Join(requirement.Values, ",")) {
			return true
		}
	}
	return false
}

func isTemplate(text string) bool {
	return strings.Contains(text, "{{")
}

// matcher returns a function that returns whether the selection selects a PlacementDecision.
func (s Selection) matcher() func(Decision) bool {
	if s.Name != "" {
		return func(d Decision) bool { return d.Name == s.Name }
	}
	selector, err := labels.Parse(s.LabelSelector)
	if err != nil {
		return func(Decision) bool { return false }
	}
	return func(d Decision) bool { return selector.Matches(labels.Set(d.Labels)) }
}

// NamesDecisions reports whether a generator with this data of a ConfigMap reads PlacementDecisions of cluster.open-cluster-management.io.
func NamesDecisions(data map[string]string) bool {
	group, version, found := strings.Cut(data["apiVersion"], "/")
	return found && version != "" && group == "cluster.open-cluster-management.io" && data["kind"] == "placementdecisions"
}
