// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"slices"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
)

// Every system has a whole Tool: what can be explained, compared or added is so in every command.
func TestEveryToolIsWhole(t *testing.T) {
	for _, each := range All() {
		if each.Answer == nil || each.Answered == nil || each.Changed == nil || each.Read == nil || each.Compare == nil || each.Report == nil {
			t.Errorf("the Tool of %s has no function for a command", each.Family)
		}
		if (each.Added == 0) != (each.ReadAdded == nil) || (each.Added == 0) != (each.Simulate == nil) {
			t.Errorf("the Tool of %s adds objects in part", each.Family)
		}
		for _, family := range each.Families {
			if len(family.Named) == 0 {
				t.Errorf("no question is about %s", family.Name)
			}
			if explained := slices.Contains(family.Named, endpoint.CommandExplain); explained != (family.Name == each.Family) {
				t.Errorf("the Tool of %s explains %s: %v", each.Family, family.Name, explained)
			}
		}
	}
}

func TestEveryToolHasFamiliesOfItsOwn(t *testing.T) {
	known := map[string]bool{}
	for _, family := range families() {
		if known[family.Name] {
			t.Errorf("two tools have the family %s", family.Name)
		}
		known[family.Name] = true
	}
	for _, each := range All() {
		for _, family := range each.Families {
			if !known[family.Name] {
				t.Errorf("no question finds the family %s", family.Name)
			}
			delete(known, family.Name)
		}
	}
	if len(known) > 0 {
		t.Errorf("families of no Tool: %v", known)
	}
}

func TestOf(t *testing.T) {
	for _, each := range All() {
		if got := Of(each.Family); got != each {
			t.Errorf("Of(%q) = %v", each.Family, got)
		}
	}
	if got := Of("purposes"); got != nil {
		t.Errorf("Of a family that is not explained = %v", got)
	}
}
