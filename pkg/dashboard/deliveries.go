// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// maxWorkPages bounds the lists of ManifestWorks that a page of the dashboard reads, of which a large fleet has very many.
const maxWorkPages = 8

// deliveries are copies of delivered objects.
type deliveries struct {
	// Items are what the agents have reported, the failures first, and objects the same for each object, by name.
	Items   []item
	objects []item
	// Cut reports that there are more ManifestWorks than a page reads.
	Cut bool
}

// WorksRead is the number of ManifestWorks that a page reads.
func (*deliveries) WorksRead() int { return maxWorkPages * listPage }

// failures returns the copies that an agent could not apply, or that are not available.
func (d *deliveries) failures() *deliveries {
	healthy := func(each item) bool { return !each.NeedsAttention() }
	return &deliveries{
		Items: slices.DeleteFunc(slices.Clone(d.Items), healthy), objects: slices.DeleteFunc(slices.Clone(d.objects), healthy), Cut: d.Cut,
	}
}

// add adds what an agent has reported about the copy of an object on a cluster. The object has the state of the worst copy.
func (d *deliveries) add(reported item, kind, name, cluster string, labels map[string]string) {
	d.Items = append(d.Items, reported)
	object := item{
		Kind: kind, Namespace: reported.Namespace, Name: name, State: reported.State, Tone: reported.Tone, Cause: reported.Cause,
		Link: link([]string{objectsPath, reported.Namespace, kind, name}), Labels: labels, Clusters: 1, Since: reported.Since,
		Sets: reported.Sets,
	}
	if reported.NeedsAttention() {
		object.Failed, object.Message = 1, onCluster(cluster, reported.Message)
	}
	at, known := slices.BinarySearchFunc(d.objects, object, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	if !known {
		d.objects = slices.Insert(d.objects, at, object)
		return
	}
	other := d.objects[at]
	if lists.Severity(object.Tone) >= lists.Severity(other.Tone) {
		object, other = other, object
	}
	object.Clusters, object.Failed = object.Clusters+other.Clusters, object.Failed+other.Failed
	object.Sets = addSets(object.Sets, other.Sets)
	d.objects[at] = object
}

// onCluster returns the message about the copy on a cluster.
func onCluster(cluster, said string) string { return "on " + cluster + ": " + said }

// setsAsked returns the sets of each cluster, if the page has only the objects of a set. The error Forbidden is about the clusters.
func (v *visit) setsAsked(ctx context.Context) (map[string][]string, error) {
	if v.query(lists.BySet) == "" {
		return nil, nil
	}
	sets, err := v.readSets(ctx, nil)
	if err != nil {
		return nil, err
	}
	seen, err := clusters(ctx, v.reader(), sets)
	in := make(map[string][]string, len(seen))
	for i := range seen {
		in[seen[i].Name] = seen[i].Sets
	}
	return in, err
}

// addSets returns the sets of two lists, sorted.
func addSets(some, others []string) []string {
	all := slices.Concat(some, others)
	slices.Sort(all)
	return slices.Compact(all)
}

// setsHidden is the note of a list of delivered objects that a caller who may not list clusters filters by set.
const setsHidden = "You may not list clusters: which sets the objects reach is not known to you. Filter by namespace instead."

// maxCause bounds the part of a message by which objects have a cause in common, in bytes.
const maxCause = 160

// causeOf returns the part of a message by which objects have a cause in common.
func causeOf(message string) string {
	if len(message) <= maxCause {
		return strings.TrimSpace(message)
	}
	end := maxCause
	for end > 0 && !utf8.RuneStart(message[end]) {
		end--
	}
	return strings.TrimSpace(message[:end]) // The filter of a list has no space at its ends.
}

// deliveriesTo returns the copies of delivered objects on a cluster, or on all if it is empty, of a namespace, or of all if it is empty. The
// caller needs list on ManifestWorks there.
func (v *visit) deliveriesTo(ctx context.Context, cluster, namespace string) (*deliveries, error) {
	selected := client.MatchingLabels{federation.ManagedLabel: "true"}
	if namespace != "" {
		selected[federation.NamespaceLabel] = namespace
	}
	return v.deliveriesWith(ctx, cluster, selected)
}

// copiesOf returns the copies of the delivered objects of a name. The caller needs list on all ManifestWorks.
func (v *visit) copiesOf(ctx context.Context, namespace, name string) (*deliveries, error) {
	selected := client.MatchingLabels{federation.ManagedLabel: "true", federation.NamespaceLabel: namespace}
	if len(validation.IsValidLabelValue(name)) == 0 { // The label of a longer name has a hash.
		selected[federation.NameLabel] = name
	}
	return v.deliveriesWith(ctx, metav1.NamespaceAll, selected)
}

// deliveriesWith returns the copies whose works have some labels.
func (v *visit) deliveriesWith(ctx context.Context, cluster string, selected client.MatchingLabels) (*deliveries, error) {
	found, list, from := &deliveries{Items: []item{}}, &workv1.ManifestWorkList{}, v.reader()
	in, err := v.setsAsked(ctx)
	if err != nil && !apierrors.IsForbidden(err) {
		return found, err
	}
	namespace := selected[federation.NamespaceLabel]
	for pages := 0; pages == 0 || list.Continue != ""; pages++ {
		if found.Cut = pages == maxWorkPages; found.Cut {
			break
		}
		err := from.List(ctx, list, client.InNamespace(cluster), selected, client.Limit(listPage), client.Continue(list.Continue))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return found, nil
		}
		if err != nil {
			return found, err //nolint:wrapcheck // The status code of the response depends on its type.
		}
		for i := range list.Items {
			work := &list.Items[i]
			kind, name, owned := deliveredBy(work, v.hub.Settings().Delivered)
			if !owned || namespace != "" && name.Namespace != namespace {
				continue
			}
			var labels map[string]string
			if v.query(lists.ByLabel) != "" { // Only then it pays to read them.
				labels = labelsIn(work)
			}
			reported := deliveryItem(work, kind, name)
			reported.Sets = in[work.Namespace]
			found.add(reported, kind, name.Name, work.Namespace, labels)
		}
	}
	slices.SortFunc(found.Items, func(a, b item) int {
		return cmp.Or(cmp.Compare(lists.Severity(a.Tone), lists.Severity(b.Tone)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

// deliveredBy returns the object that a work delivers; false if the hub has not written the work.
func deliveredBy(work *workv1.ManifestWork, delivered []federation.FederatedKind) (kind string, name types.NamespacedName, owned bool) {
	kind, name, valid := federation.ParseObject(work.Annotations[federation.ObjectAnnotation])
	owned = valid && slices.ContainsFunc(delivered, func(known federation.FederatedKind) bool {
		return known.GroupKind().String() == kind && federation.Identity{Kind: known, NamespacedName: name}.Owns(work)
	})
	return kind, name, owned
}

// labelsIn returns the labels of the object in a work; nil if it cannot be read.
func labelsIn(work *workv1.ManifestWork) map[string]string {
	var object metav1.PartialObjectMetadata
	if len(work.Spec.Workload.Manifests) == 0 || json.Unmarshal(work.Spec.Workload.Manifests[0].Raw, &object) != nil {
		return nil
	}
	return object.Labels
}

// The states of a copy of a delivered object, which both lists of delivered objects use.
const (
	copyNotApplied   = "NotApplied"
	copyNotAvailable = "NotAvailable"
	copyAvailable    = "Available"
	copyApplied      = "Applied"
	copyDelivered    = "Delivered"
)

// copyStates are the states of a copy by the conditions of its work, the first that holds counts.
var copyStates = []struct {
	condition string
	status    metav1.ConditionStatus
	state     string
	tone      document.Tone
}{
	{workv1.WorkApplied, metav1.ConditionFalse, copyNotApplied, document.Bad},
	{workv1.WorkAvailable, metav1.ConditionFalse, copyNotAvailable, document.Bad},
	{workv1.WorkAvailable, metav1.ConditionTrue, copyAvailable, document.Good},
	{workv1.WorkApplied, metav1.ConditionTrue, copyApplied, document.Good},
}

// noMessage is the message about an object that needs attention and whose status has none.
const noMessage = "no message says why"

// deliveryItem returns what the agent has reported about the object of a work.
func deliveryItem(work *workv1.ManifestWork, kind string, name types.NamespacedName) item {
	shown := item{
		Kind: itemDelivery, Namespace: name.Namespace, Name: kind + " " + name.Name + " on " + work.Namespace, State: copyDelivered,
		Link: link([]string{objectsPath, name.Namespace, kind, name.Name}, "cluster", work.Namespace),
	}
	for _, each := range copyStates {
		condition := federation.Reported(work, each.condition)
		if condition == nil || condition.Status != each.status {
			continue
		}
		shown.State, shown.Tone, shown.Since = each.state, each.tone, condition.LastTransitionTime.Time
		if shown.NeedsAttention() {
			shown.Message = cmp.Or(strings.TrimSpace(condition.Message), federation.ProblemOf(work), noMessage)
			shown.Cause = causeOf(shown.Message)
		}
		break
	}
	return shown
}
