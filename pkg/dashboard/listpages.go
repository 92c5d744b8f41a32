// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// The names of the pages with lists, which the navigation has.
const (
	placementsSection = "Placements"
	clustersSection   = "Clusters"
	objectsSection    = "Delivered objects"
	requestsSection   = "Cluster requests"
	workloadsSection  = "Workloads"
)

// The first elements of their paths.
const (
	placementsPath = "placements"
	clustersPath   = "clusters"
	objectsPath    = "objects"
	requestsPath   = "requests"
)

// listed is the JSON of a list: the objects of the page, and the numbers of others.
func listed(name string, shown *lists.List) map[string]any {
	told := map[string]any{name: shown.Objects, "states": shown.States, "total": shown.Total, "matching": shown.Matching}
	if shown.More() > 0 {
		told["more"], told["next"] = shown.More(), shown.Next
	}
	if shown.Empty != "" {
		told["empty"] = shown.Empty
	}
	return told
}

// list returns a list of what was read. err is why it could not all be read; Forbidden is no error, and the list says so if it is empty.
func (v *visit) list(d lists.Definition, objects []item, err error) (*lists.List, error) {
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	shown := lists.New(d, v.request.URL.Query(), objects)
	if v.within {
		shown.Where = v.where()
	}
	if len(objects) > 0 {
		if err != nil {
			shown.Notes = append(shown.Notes, fmt.Sprintf("There may be more %s in other namespaces, where you may not list them.", d.Many))
		}
		return shown, nil
	}
	shown.Empty = fmt.Sprintf("There are no %s%s.", d.Many, v.where())
	if apierrors.IsForbidden(err) || !v.everywhere {
		shown.Empty = strings.TrimSpace(fmt.Sprintf("There are no %s that you may read%s. A RoleBinding to view in a namespace shows what is in "+
			"it, and a ClusterRoleBinding to %s the whole fleet. %s", d.Many, v.where(), hubstate.FleetViewRole, v.elsewhere()))
	}
	return shown, nil
}

// nothingListed reports whether a list is empty because the caller may list nothing. Its page follows no changes: streams are for those who see some.
func nothingListed(namespaces []string, objects []item, err error) bool {
	return len(objects) == 0 && (len(namespaces) == 0 || apierrors.IsForbidden(err))
}

// readListed reads the objects of a list. If the page is about one namespace, it reads those of all namespaces where the caller may list them, so
// that the list counts what its filter hides.
func (v *visit) readListed(namespaces []string, read func(namespaces []string) ([]item, error)) ([]item, error) {
	if v.namespace() == "" {
		v.within = !v.everywhere
		return read(namespaces)
	}
	items, err := read([]string{metav1.NamespaceAll})
	if v.within = apierrors.IsForbidden(err); v.within {
		return read(namespaces)
	}
	return items, err
}

// isOff returns a sentence about a system that is off: the hub runs none of its controllers, as far as that is known, or does not serve its kind. The
// sentence is empty for any other system.
func (v *visit) isOff(system string, kind schema.GroupVersionKind) string {
	running := v.hub.Settings().Controllers
	why := "the hub runs none of its controllers"
	if len(running) == 0 || slices.ContainsFunc(running, func(name string) bool { return strings.HasPrefix(name, system+"/") }) {
		if _, err := v.reader().RESTMapper().RESTMapping(kind.GroupKind(), kind.Version); !meta.IsNoMatchError(err) {
			return ""
		}
		why = "the hub does not serve objects of kind " + kind.Kind
	}
	return fmt.Sprintf("The system %s is off: %s. To turn it on, set systems.%s in the values of the chart to true, or add "+
		"deploy/components/%s to the kustomization.", system, why, system, system)
}

// placementsPage lists Placements.
func placementsPage(ctx context.Context, v *visit) (*page, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	items, refused := v.readListed(namespaces, func(namespaces []string) ([]item, error) {
		return placements(ctx, v.reader(), namespaces, v.namespace())
	})
	if err := v.countSelected(ctx, items); err != nil {
		return nil, err
	}
	if v.query(lists.BySet) != "" { // A Placement that names no set uses those that are bound to its namespace.
		sets, err := v.readSets(ctx, namespaces)
		if err != nil {
			return nil, err
		}
		for i := range items {
			if len(items[i].Sets) == 0 {
				items[i].Sets = sets.bound[items[i].Namespace]
			}
		}
	}
	shown, err := v.list(placementsList, items, refused)
	if err != nil {
		return nil, err
	}
	made := &page{
		Title: placementsSection, Section: placementsSection, JSON: listed(placementsPath, shown),
		Commands: v.commandsOf("kubectl get " + placementsPath), Static: nothingListed(namespaces, items, refused),
	}
	made.addList(shown)
	return made, nil
}

// clustersPage lists the clusters.
func clustersPage(ctx context.Context, v *visit) (*page, error) {
	sets, err := v.readSets(ctx, []string{metav1.NamespaceAll})
	if err != nil {
		return nil, err
	}
	all, err := clusters(ctx, v.reader(), sets)
	if err != nil {
		return nil, err
	}
	v.everywhere = true
	shown, err := v.list(clustersOfFleet, all, nil)
	if err != nil {
		return nil, err
	}
	told := listed(clustersPath, shown)
	told["sets"] = sets.count(all)
	made := &page{Title: clustersSection, Section: clustersSection, JSON: told, Commands: []string{"kubectl get managedclusters", "placement sets"}}
	made.add("fleet", "fleetlink", "/fleet")
	made.addList(shown)
	return made, nil
}

// requestsPage lists ClusterRequests.
func requestsPage(ctx context.Context, v *visit) (*page, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	items, refused := v.readListed(namespaces, func(namespaces []string) ([]item, error) { return requestItems(ctx, v.reader(), namespaces) })
	shown, err := v.list(requestsList, items, refused)
	if err != nil {
		return nil, err
	}
	shown.Off(v.isOff("clusterrequest", requestKind))
	made := &page{
		Title: requestsSection, Section: requestsSection, JSON: listed(requestsPath, shown), Commands: v.commandsOf("kubectl get clusterrequests"),
		Static: nothingListed(namespaces, items, refused),
	}
	made.addList(shown)
	return made, nil
}

// maxWorkloadPages bounds the lists of the workloads of a kind that a page reads.
const maxWorkloadPages = 4

// workloadsPage lists the workloads that no other object controls, of one namespace with their states.
func workloadsPage(ctx context.Context, v *visit) (*page, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	items, notes, refused, err := v.allWorkloads(ctx, namespaces)
	if err != nil {
		return nil, err
	}
	v.within = v.namespace() != "" || !v.everywhere // Not all workloads of a hub are read.
	definition, stateless := workloadsList, ""
	switch {
	case len(namespaces) == 1 && namespaces[0] != metav1.NamespaceAll:
		definition = workloadsOfNamespace(func(shown []item) { stateless = v.addWorkloadStates(ctx, namespaces[0], shown) })
	case len(items) > 0:
		stateless = "Choose a namespace to see the states of its workloads."
	}
	shown, err := v.list(definition, items, refused)
	if err != nil {
		return nil, err
	}
	if stateless != "" {
		notes = append(notes, stateless)
	}
	shown.Notes = append(shown.Notes, notes...)
	for _, system := range []struct {
		name string
		kind schema.GroupVersionKind
	}{
		{"podscheduling", kupidv1alpha1.GroupVersion.WithKind("PodSchedulingPolicy")},
		{"affinityclass", cozystackv1alpha1.GroupVersion.WithKind("AffinityClass")},
	} {
		if off := v.isOff(system.name, system.kind); off != "" {
			shown.Notes = append(shown.Notes, off)
		}
	}
	made := &page{
		Title: workloadsSection, Section: workloadsSection, JSON: listed("workloads", shown),
		Commands: []string{"placement explain TYPE/NAME -n NAMESPACE"}, Static: nothingListed(namespaces, items, refused),
	}
	made.addList(shown)
	made.add("named", "named", v.namedWorkload())
	return made, nil
}

// allWorkloads returns the workloads of namespaces, sorted, with notes on those that are not read. refused is the error Forbidden of a list.
func (v *visit) allWorkloads(ctx context.Context, namespaces []string) (items []item, notes []string, refused, err error) {
	items = []item{}
	for _, kind := range pods.Kinds() {
		cut := false
		for _, namespace := range namespaces {
			found, more, err := v.workloads(ctx, kind, namespace)
			if apierrors.IsForbidden(err) {
				refused = err
				continue
			}
			if err != nil {
				return nil, nil, nil, err
			}
			items, cut = append(items, found...), cut || more
		}
		if cut {
			notes = append(notes, fmt.Sprintf("There are more %s than the first %d that this page reads; choose a namespace.", kind.Resource,
				maxWorkloadPages*listPage))
		}
	}
	lists.Sort(items)
	return items, notes, refused, nil
}

// addWorkloadStates gives the workloads of a page, which are all in one namespace, their states by their explanations. It returns a note with the
// first error if some are not known; empty otherwise.
func (v *visit) addWorkloadStates(ctx context.Context, namespace string, shown []item) (note string) {
	for rows := range slices.Chunk(shown, endpoint.MaxNames) {
		question := Question{Question: endpoint.Question{Command: endpoint.CommandExplain, Namespace: namespace, Output: jsonOutput}}
		at := make(map[[2]string]*item, len(rows))
		for i := range rows {
			row := &rows[i]
			if kind, known := pods.FindKind(row.Kind); known {
				question.Objects = append(question.Objects, endpoint.Object{Group: kind.Group, Kind: kind.Kind, Name: row.Name})
				at[[2]string{row.Kind, row.Name}] = row
			}
		}
		found, err := v.hub.Explain(ctx, v.caller, question)
		reports := workloadsIn(found)
		for i := range reports {
			if row := at[[2]string{reports[i].Kind, reports[i].Name}]; row != nil {
				state := stateOfWorkload(&reports[i])
				row.State, row.Tone = state.State, state.Tone
			}
		}
		if err != nil && note == "" { // It is no reason against the rest of the page.
			note = "Not all states are known: " + problemOf(ctx, err).text
		}
	}
	return note
}

// workloads returns the workloads of a kind in a namespace, or in all if it is empty, and whether there are more than a page reads.
func (v *visit) workloads(ctx context.Context, kind pods.WorkloadKind, namespace string) (found []item, more bool, err error) {
	list := &metav1.PartialObjectMetadataList{}
	for pages := 0; pages == 0 || list.Continue != ""; pages++ {
		if pages == maxWorkloadPages {
			return found, true, nil
		}
		next := list.Continue
		list = &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := v.reader().List(ctx, list, client.InNamespace(namespace), client.Limit(listPage), client.Continue(next))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return found, false, nil
		}
		if err != nil {
			return nil, false, err //nolint:wrapcheck // The status code of the response depends on its type.
		}
		for i := range list.Items {
			object := &list.Items[i]
			if metav1.GetControllerOf(object) != nil {
				continue // Its owner is in the list.
			}
			found = append(found, item{
				Kind: kind.Kind, Namespace: object.Namespace, Name: object.Name, Labels: object.Labels, Created: object.CreationTimestamp.Time,
				Link: link([]string{"workloads", object.Namespace, kind.GroupKind().String(), object.Name}),
			})
		}
	}
	return found, false, nil
}

// namedWorkload returns the page of the workload whose namespace, kind and name the filters name, which the hub may explain to a user who may not
// list it; empty if they name none.
func (v *visit) namedWorkload() map[string]string {
	kind, known := pods.FindKind(v.query(lists.ByKind))
	if !known || v.namespace() == "" || v.query(lists.ByName) == "" {
		return nil
	}
	return map[string]string{
		"Text": kind.Kind + " " + v.namespace() + "/" + v.query(lists.ByName),
		"Link": link([]string{"workloads", v.namespace(), kind.GroupKind().String(), v.query(lists.ByName)}),
	}
}
