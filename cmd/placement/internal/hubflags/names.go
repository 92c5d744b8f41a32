// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"errors"
	"fmt"
	"strings"
)

// ObjectName is an object of a kind as named on the command line.
type ObjectName[K any] struct {
	Kind K
	Name string
}

// NamedKinds are kinds that the command line names.
type NamedKinds[K any] struct {
	// Find returns the kind of a TYPE, and the name that messages have for it.
	Find func(text string) (kind K, title string, is bool)
	// Alone says what to name if the arguments name other things too.
	Alone string
}

// Parse parses names of objects of these kinds as kubectl does, TYPE/NAME and TYPE NAME. The result is nil if the arguments name none.
func (k NamedKinds[K]) Parse(args []string) ([]ObjectName[K], error) {
	if len(args) > 1 && !strings.Contains(args[0], "/") {
		if kind, title, is := k.Find(args[0]); is {
			names := make([]ObjectName[K], 0, len(args)-1)
			for _, name := range args[1:] {
				if strings.Contains(name, "/") {
					return nil, fmt.Errorf("%q is no name of a %s: write %s NAME, or %s/NAME", name, title, args[0], args[0])
				}
				names = append(names, ObjectName[K]{kind, name})
			}
			return names, nil
		}
	}
	var names []ObjectName[K]
	for _, arg := range args {
		text, name, slashed := strings.Cut(arg, "/")
		kind, title, is := k.Find(text)
		if !slashed || !is {
			continue
		}
		if name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q does not name a %s: write %s/NAME, and the namespace with -n", arg, title, text)
		}
		names = append(names, ObjectName[K]{kind, name})
	}
	if len(names) > 0 && len(names) < len(args) {
		return nil, errors.New(k.Alone)
	}
	return names, nil
}
