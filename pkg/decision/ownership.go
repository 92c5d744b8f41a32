package decision

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// placementRuleLabel marks PlacementDecisions of the older PlacementRule API, which share our names and are never touched.
const placementRuleLabel = "cluster.open-cluster-management.io/placementrule"

const placementKind = "Placement"

// PageName is the name of page n, from 1, of a placement.
func PageName(placement string, n int) string { return placement + "-decision-" + strconv.Itoa(n) }

// PageNumber reads the number out of a page name; false when the name is not one of the placement's.
func PageNumber(placement, name string) (int, bool) {
	text, found := strings.CutPrefix(name, placement+"-decision-")
	if !found || strings.HasPrefix(text, "+") {
		return 0, false
	}

	n, err := strconv.Atoi(text)

	return n, err == nil && n > 0 && PageName(placement, n) == name
}

// PlacementsOf names the placements that a PlacementDecision may belong to, or whose names it may take: by label, by owner, and by its
// own name.
func PlacementsOf(page *clusterv1beta1.PlacementDecision) []string {
	var names []string

	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}

	add(page.Labels[clusterv1beta1.PlacementLabel])

	for _, owner := range page.OwnerReferences {
		if isPlacement(owner) {
			add(owner.Name)
		}
	}

	if cut := strings.LastIndex(page.Name, "-decision-"); cut > 0 {
		if _, ok := PageNumber(page.Name[:cut], page.Name); ok {
			add(page.Name[:cut])
		}
	}

	return names
}

// Owns reports whether a PlacementDecision is the placement's: it is owned by it, or it carries its label and no other Placement owns
// it. A page that came back from a backup carries the label and an owner of the same name with an old uid, and is adopted.
func Owns(placement *clusterv1beta1.Placement, page *clusterv1beta1.PlacementDecision) bool {
	if _, older := page.Labels[placementRuleLabel]; older || page.Namespace != placement.Namespace {
		return false
	}

	for _, owner := range page.OwnerReferences {
		if isPlacement(owner) && owner.UID == placement.UID {
			return true
		}

		if isPlacement(owner) && owner.Name != placement.Name {
			return false
		}
	}

	return page.Labels[clusterv1beta1.PlacementLabel] == placement.Name
}

func isPlacement(owner metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(owner.APIVersion, "/")

	return owner.Kind == placementKind && group == clusterv1beta1.GroupName
}

func ownerReference(placement *clusterv1beta1.Placement) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: clusterv1beta1.GroupVersion.String(), Kind: placementKind, Name: placement.Name, UID: placement.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}
}

// owners puts our reference first, keeps those of others, and drops what an older Placement of the same name left. Of two controllers
// an API server accepts one: it is the placement.
func owners(placement *clusterv1beta1.Placement, present []metav1.OwnerReference) []metav1.OwnerReference {
	result := []metav1.OwnerReference{ownerReference(placement)}

	for _, owner := range present {
		if isPlacement(owner) {
			continue
		}

		if ptr.Deref(owner.Controller, false) {
			owner.Controller = ptr.To(false)
		}

		result = append(result, owner)
	}

	return result
}
