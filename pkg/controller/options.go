package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Enabled resolves the patterns of o.Controllers and returns the controllers to run, in the order of Names.
//
// "*" stands for all, "name" for that one and "-name" for not that one; a name wins over "*" wherever it stands. An unknown name, a
// name that is both wanted and unwanted, and patterns that leave nothing to run are errors.
func (o Options) Enabled() ([]string, error) {
	var all bool
	wanted := map[string]bool{}
	var errs []error
	for _, pattern := range o.Controllers {
		if pattern == "*" {
			all = true
			continue
		}
		name, unwanted := strings.CutPrefix(pattern, "-")
		if !slices.Contains(Names(), name) {
			errs = append(errs, fmt.Errorf("unknown controller %q; known are %s, and '*' for all", name, strings.Join(Names(), ", ")))
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
	for _, name := range Names() {
		if want, named := wanted[name]; want || (all && !named) {
			enabled = append(enabled, name)
		}
	}
	if len(enabled) == 0 {
		return nil, fmt.Errorf("%q leaves no controller to run; name one of %s, or start from '*' for all",
			strings.Join(o.Controllers, ","), strings.Join(Names(), ", "))
	}
	return enabled, nil
}
