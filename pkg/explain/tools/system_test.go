// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"slices"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
)

// What can be explained, compared or reported is so in every command.
func TestEverySystemIsWhole(t *testing.T) {
	for _, each := range All() {
		if _, is := each.(interface {
			Explainer
			Reader
			Differ
			Reporter
		}); !is {
			t.Errorf("%T lacks an interface of a command", each)
		}
		explained := 0
		for _, category := range each.Categories() {
			if len(category.GetFor) == 0 {
				t.Errorf("no question is about %s", category.Name)
			}
			if slices.Contains(category.GetFor, endpoint.CommandExplain) {
				explained++
			}
		}
		if explained != 1 {
			t.Errorf("%T explains objects of %d categories, want one", each, explained)
		}
	}
}

func TestEverySystemHasCategoriesOfItsOwn(t *testing.T) {
	known := map[string]bool{}
	for _, category := range categories() {
		if known[category.Name] {
			t.Errorf("two systems have the category %s", category.Name)
		}
		known[category.Name] = true
	}
	for _, each := range All() {
		for _, category := range each.Categories() {
			if !known[category.Name] {
				t.Errorf("no question finds the category %s", category.Name)
			}
			delete(known, category.Name)
		}
	}
	if len(known) > 0 {
		t.Errorf("categories of no system: %v", known)
	}
}

func TestExplainerOf(t *testing.T) {
	for category, want := range map[string]Explainer{
		"placements": Placements{}, "delivered": Delivery{}, "workloads": Pods{}, "requests": Requests{}, "purposes": nil, "": nil,
	} {
		if got := ExplainerOf(category); got != want {
			t.Errorf("ExplainerOf(%q) = %T, want %T", category, got, want)
		}
	}
}
