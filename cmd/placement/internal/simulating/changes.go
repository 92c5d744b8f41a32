// SPDX-License-Identifier: Apache-2.0

package simulating

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
)

// ChangeFlags are the flags for changes, in the order of the command line.
type ChangeFlags struct {
	Changes []whatif.Change
	Adding  bool
}

// change is the value of one of the flags.
type change struct {
	flags *ChangeFlags
	form  string
	parse func(text string) (whatif.Change, error)
	given []string
}

// Set implements pflag.Value.
func (c *change) Set(text string) error {
	parsed, err := c.parse(text)
	if err != nil {
		return err
	}
	c.flags.Changes, c.given = append(c.flags.Changes, parsed), append(c.given, text)
	return nil
}

// String implements pflag.Value.
func (c *change) String() string { return strings.Join(c.given, ",") }

// Type implements pflag.Value.
func (c *change) Type() string { return c.form }

// ToAdd is the placeholder for the objects of the files until they are read.
type ToAdd struct{ whatif.Add }

// Add adds the flags.
func (c *ChangeFlags) Add(flags *pflag.FlagSet) {
	flag := func(name, form, usage string, parse func(string) (whatif.Change, error)) {
		flags.Var(&change{flags: c, form: form, parse: parse}, name, usage+" May be repeated.")
	}
	flag("label", "CLUSTER:KEY=VALUE", "Simulate that the cluster has this label, or with CLUSTER:KEY- no label with this key.", whatif.ParseLabel)
	flag("claim", "CLUSTER:NAME=VALUE", "Simulate that the cluster has this claim, or with CLUSTER:NAME- no claim of this name.", whatif.ParseClaim)
	flag("taint", "CLUSTER:KEY[=VALUE]:EFFECT",
		"Simulate that the cluster has this taint, or with CLUSTER:KEY- or CLUSTER:KEY:EFFECT- no taint with this key (and effect).",
		whatif.ParseTaint)
	flag("drain", "CLUSTER", "Simulate that the cluster has the taint "+whatif.DrainKey+":NoSelect. Placements that tolerate it keep the cluster.",
		func(cluster string) (whatif.Change, error) { return whatif.Drain{Cluster: cluster}, named(cluster) })
	flag("remove", "CLUSTER", "Simulate that the cluster does not exist.",
		func(cluster string) (whatif.Change, error) { return whatif.Remove{Cluster: cluster}, named(cluster) })
	flag("without-binding", "[NAMESPACE/]SET", "Simulate that the set is not bound to the namespace, or to none.", parseBinding)
	flags.BoolFunc("add", "Simulate that the ManagedClusters and AddOnPlacementScores of -f exist too, on the live hub or that of --hub.",
		func(text string) error {
			if text != "true" {
				return errors.New("means yes by itself: write --add, or leave it out")
			}
			if c.Adding {
				return errors.New("is said once, however many files there are: repeat -f")
			}
			c.Adding, c.Changes = true, append(c.Changes, ToAdd{})
			return nil
		})
}

// with returns the changes, with the added objects in place of toAdd.
func (c *ChangeFlags) with(additions *explain.State) []whatif.Change {
	changes := make([]whatif.Change, 0, len(c.Changes))
	for _, change := range c.Changes {
		if _, is := change.(ToAdd); is {
			if len(additions.Clusters)+len(additions.Scores) == 0 {
				continue // No Placement depends on the others.
			}
			change = whatif.Add{Clusters: additions.Clusters, Scores: additions.Scores}
		}
		changes = append(changes, change)
	}
	return changes
}

// readAdditions returns the objects to add.
func readAdditions(reader *statefile.Reader, adding bool) (*explain.State, error) {
	if !adding {
		return &explain.State{}, nil
	}
	additions, err := reader.Additions()
	if err != nil {
		return nil, exit.InFiles(fmt.Errorf("--add: %w", err))
	}
	return additions, nil
}

func named(name string) error {
	if name == "" {
		return errors.New("name a cluster")
	}
	return nil
}

func parseBinding(text string) (whatif.Change, error) {
	namespace, set, scoped := strings.Cut(text, "/")
	if !scoped {
		namespace, set = "", text
	}
	if set == "" || scoped && namespace == "" || strings.Contains(set, "/") {
		return nil, errors.New("is not of the form SET or NAMESPACE/SET")
	}
	return whatif.WithoutBinding{Namespace: namespace, Set: set}, nil
}
