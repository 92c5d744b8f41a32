// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// labelFlag selects what a command lists by labels.
type labelFlag struct {
	text string
	// selector is what parseLabels makes of the text; nil without the flag.
	selector labels.Selector
}

func (f *labelFlag) addLabels(flags *pflag.FlagSet, lists string) {
	flags.StringVarP(&f.text, "selector", "l", "", "Label selector of the "+lists+", such as team=a,tier!=test or 'tier in (web, db)'.")
}

// parseLabels parses the flag. Its errors are usage errors.
func (f *labelFlag) parseLabels() error {
	if f.text == "" {
		return nil
	}
	selector, err := labels.Parse(f.text)
	if err != nil {
		return fmt.Errorf("--selector: %w; write it as for kubectl get -l", err)
	}
	f.selector = selector
	return nil
}

// described returns " with the labels team=a" for a message; empty without the flag.
func (f *labelFlag) described() string {
	if f.selector == nil {
		return ""
	}
	return " with the labels " + f.selector.String()
}

// placements returns which Placements of a State the flag selects.
func (f *labelFlag) placements(state *explain.State) map[types.NamespacedName]bool {
	found := map[types.NamespacedName]bool{}
	for _, placement := range state.Placements {
		if f.selector == nil || f.selector.Matches(labels.Set(placement.GetLabels())) {
			found[types.NamespacedName{Namespace: placement.GetNamespace(), Name: placement.GetName()}] = true
		}
	}
	return found
}

// objects returns a function that reports whether the flag selects a delivered object of a State; nil without the flag.
func (f *labelFlag) objects(state *explain.State, kinds kindFlags) func(inventory.Key) bool {
	if f.selector == nil {
		return nil
	}
	found := map[inventory.Key]bool{}
	for _, object := range state.Federated.Objects {
		for _, kind := range kinds.delivered {
			if kind.GroupVersionKind == object.GroupVersionKind() && f.selector.Matches(labels.Set(object.GetLabels())) {
				found[federated.Key(kind, object.GetNamespace(), object.GetName())] = true
			}
		}
	}
	return func(key inventory.Key) bool { return found[key] }
}

// errSelectorUnread is about a user who may not read what is listed.
var errSelectorUnread = errors.New("the hub does not select by labels for users who may not read that themselves; leave --selector out")

// takeWide turns the format wide into that of the table, for commands whose wide table is set by other flags.
func takeWide(output *string) (wide bool) {
	if printers.Format(*output) != printers.FormatWide {
		return false
	}
	*output = string(printers.FormatTable)
	return true
}
