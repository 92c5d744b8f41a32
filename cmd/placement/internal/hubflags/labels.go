// SPDX-License-Identifier: Apache-2.0

package hubflags

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

// Labels selects what a command lists by labels.
type Labels struct {
	Text string
	// Selector is what parseLabels makes of the text; nil without the flag.
	Selector labels.Selector
}

// AddLabels adds the flag. lists is what the command lists, for the usage.
func (l *Labels) AddLabels(flags *pflag.FlagSet, lists string) {
	flags.StringVarP(&l.Text, "selector", "l", "", "Label selector of the "+lists+", such as team=a,tier!=test or 'tier in (web, db)'.")
}

// ParseLabels parses the flag. Its errors are usage errors.
func (l *Labels) ParseLabels() error {
	if l.Text == "" {
		return nil
	}
	selector, err := labels.Parse(l.Text)
	if err != nil {
		return fmt.Errorf("--selector: %w; write it as for kubectl get -l", err)
	}
	l.Selector = selector
	return nil
}

// Described returns " with the labels team=a" for a message; empty without the flag.
func (l *Labels) Described() string {
	if l.Selector == nil {
		return ""
	}
	return " with the labels " + l.Selector.String()
}

// Placements returns which Placements of a State the flag selects.
func (l *Labels) Placements(state *explain.State) map[types.NamespacedName]bool {
	found := map[types.NamespacedName]bool{}
	for _, placement := range state.Placements {
		if l.Selector == nil || l.Selector.Matches(labels.Set(placement.GetLabels())) {
			found[types.NamespacedName{Namespace: placement.GetNamespace(), Name: placement.GetName()}] = true
		}
	}
	return found
}

// Objects returns a function that reports whether the flag selects a delivered object of a State; nil without the flag.
func (l *Labels) Objects(state *explain.State, kinds Kinds) func(inventory.Key) bool {
	if l.Selector == nil {
		return nil
	}
	found := map[inventory.Key]bool{}
	for _, object := range state.Federated.Objects {
		for _, kind := range kinds.Delivered {
			if kind.GroupVersionKind == object.GroupVersionKind() && l.Selector.Matches(labels.Set(object.GetLabels())) {
				found[federated.Key(kind, object.GetNamespace(), object.GetName())] = true
			}
		}
	}
	return func(key inventory.Key) bool { return found[key] }
}

// ErrSelectorUnread is about a user who may not read what is listed.
var ErrSelectorUnread = errors.New("the hub does not select by labels for users who may not read that themselves; leave --selector out")

// TakeWide turns the format wide into that of the table, for commands whose wide table is set by other flags.
func TakeWide(output *string) (wide bool) {
	if printers.Format(*output) != printers.FormatWide {
		return false
	}
	*output = string(printers.FormatTable)
	return true
}
