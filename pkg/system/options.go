// SPDX-License-Identifier: Apache-2.0

package system

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Enabled resolves the patterns of o.Controllers and returns the controllers to run, in the order of Names.
//
// "*" stands for all controllers without a system, "system/*" for all of a system, "name" for that one and "-name" for not that one; a name
// wins over a star wherever it stands. An unknown name or system, a name that is both wanted and unwanted, and patterns that leave nothing
// to run are errors.
func (o Options) Enabled() ([]string, error) {
	all := o.all(nil)
	stars := map[string]bool{} // by system
	wanted := map[string]bool{}
	var errs []error
	for _, pattern := range o.Controllers {
		if system, isStar := starOf(pattern); isStar && slices.ContainsFunc(all, func(m member) bool { return m.system == system }) {
			stars[system] = true
			continue
		}
		name, unwanted := strings.CutPrefix(pattern, "-")
		if !slices.Contains(Names(), name) {
			errs = append(errs, fmt.Errorf("unknown controller %q; known are %s, '*' for all without a system, and 'system/*' for all of a system",
				name, strings.Join(Names(), ", ")))
			continue
		}
		if before, again := wanted[name]; again && before == unwanted {
			errs = append(errs, fmt.Errorf("%q and %q contradict each other; keep one of them", name, "-"+name))
			continue
		}
		wanted[name] = !unwanted
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}

	var enabled []string
	for _, controller := range all {
		if want, named := wanted[controller.Name]; want || (stars[controller.system] && !named) {
			enabled = append(enabled, controller.Name)
		}
	}
	if len(enabled) == 0 {
		return nil, fmt.Errorf("%q leaves no controller to run; name one of %s, or start from '*' for all",
			strings.Join(o.Controllers, ","), strings.Join(Names(), ", "))
	}
	return enabled, nil
}

// starOf returns the system whose controllers a pattern with a star stands for; empty for "*".
func starOf(pattern string) (system string, isStar bool) {
	if pattern == "*" {
		return "", true
	}
	return strings.CutSuffix(pattern, "/*")
}
