// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// PageName returns the name of page n of a Placement; n counts from 1.
func PageName(placement string, n int) string { return placement + "-decision-" + strconv.Itoa(n) }

// PageNumber returns the number of a page name; false when PageName does not return the name for the Placement.
func PageNumber(placement, name string) (int, bool) {
	text, found := strings.CutPrefix(name, placement)
	if found {
		text, found = strings.CutPrefix(text, "-decision-")
	}
	if !found || text == "" || text[0] < '1' || text[0] > '9' {
		return 0, false // A sign or a zero ahead makes it another name than that of the number.
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// PlacementsOf returns the names of the Placements that a page may belong to, or whose page names it uses: by label, by owner, and by its
// own name.
func PlacementsOf(codec api.Codec, page *api.Page) []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(codec.Placement(page))

	for _, owner := range page.OwnerReferences {
		if isPlacement(codec, owner) {
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

// Owns reports whether a page belongs to the Placement: the Placement owns it, or the page has its label and no other Placement owns it. A
// page restored from a backup has the label and an owner of the same name with an old uid, and is adopted.
//
// In formats with a scheduler name, a page without it belongs to the Placement only if the Placement owns it, and a page with another one
// only if the Placement owns it and the page has its label too. The name is not protected, so others may change it on a page of the hub; to
// disown the page then would leave it behind beside a second page of the same group.
func Owns(codec api.Codec, placement *api.Placement, page *api.Page) bool {
	if codec.Foreign(page) || page.Namespace != placement.Namespace {
		return false
	}
	named, labelled := page.Scheduler == codec.Scheduler(), codec.Placement(page) == placement.Name

	for _, owner := range page.OwnerReferences {
		if isPlacement(codec, owner) && owner.UID == placement.UID {
			return named || page.Scheduler == "" || labelled
		}
		if isPlacement(codec, owner) && owner.Name != placement.Name {
			return false
		}
	}
	return named && labelled
}

func isPlacement(codec api.Codec, owner metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(owner.APIVersion, "/")
	return owner.Kind == codec.Owner().Kind && group == codec.Owner().Group
}
