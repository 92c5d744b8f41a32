// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
)

// objectName is an object of a kind as named on the command line.
type objectName[K any] struct {
	kind K
	name string
}

// namedKinds are kinds that the command line names.
type namedKinds[K any] struct {
	// find returns the kind of a TYPE, and the name that messages have for it.
	find func(text string) (kind K, title string, is bool)
	// alone says what to name if the arguments name other things too.
	alone string
}

// parse parses names of objects of these kinds as kubectl does, TYPE/NAME and TYPE NAME. The result is nil if the arguments name none.
func (k namedKinds[K]) parse(args []string) ([]objectName[K], error) {
	if len(args) > 1 && !strings.Contains(args[0], "/") {
		if kind, title, is := k.find(args[0]); is {
			names := make([]objectName[K], 0, len(args)-1)
			for _, name := range args[1:] {
				if strings.Contains(name, "/") {
					return nil, fmt.Errorf("%q is no name of a %s: write %s NAME, or %s/NAME", name, title, args[0], args[0])
				}
				names = append(names, objectName[K]{kind, name})
			}
			return names, nil
		}
	}
	var names []objectName[K]
	for _, arg := range args {
		text, name, slashed := strings.Cut(arg, "/")
		kind, title, is := k.find(text)
		if !slashed || !is {
			continue
		}
		if name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q does not name a %s: write %s/NAME, and the namespace with -n", arg, title, text)
		}
		names = append(names, objectName[K]{kind, name})
	}
	if len(names) > 0 && len(names) < len(args) {
		return nil, errors.New(k.alone)
	}
	return names, nil
}
