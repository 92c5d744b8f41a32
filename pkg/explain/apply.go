// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"errors"
	"fmt"
	"iter"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// Applied is an object that was applied to a State.
type Applied struct {
	// Kind is the kind of the object, and To the object as it is then.
	Kind *Kind
	To   api.Object
	// Result says what admission said, and whether anything changed.
	Result pods.Applied
	// Doubt says why it is not known how the object is written, and Offline why the API server was not asked; empty if neither is so.
	Doubt, Offline string
}

// With returns the State with objects, which replace those of their kinds and names, and what admission says of each. An object that admission
// refuses is left out. With does not modify the State.
func (s *State) With(objects iter.Seq2[*Kind, api.Object]) (*State, []Applied, error) {
	after := *s
	var applied []Applied
	for kind, object := range objects {
		live := kind.Find(&after, object)
		if live != nil && kind.Preserve != nil {
			object = kind.Preserve(live, object)
		}
		one := Applied{Kind: kind, To: object, Result: pods.Applied{Object: kind.Name(object), New: live == nil}}
		one.Result.Unchanged = live != nil && kind.equal(live, object)

		if kind.Admit != nil {
			refused, warnings := kind.Admit(&after, live, object)
			one.Result.Warnings = warnings
			for _, err := range refused {
				one.Result.Refused = append(one.Result.Refused, err.Error())
			}
		}
		applied = append(applied, one)

		if len(one.Result.Refused) > 0 {
			continue
		}
		errs := make([]error, 0, len(kind.lists))
		for _, list := range kind.lists {
			errs = append(errs, list.put(&after, object))
		}
		if err := errors.Join(errs...); err != nil {
			return nil, nil, fmt.Errorf("applying %s: %w", one.Result.Object, err)
		}
	}

	return &after, applied, nil
}

// Without returns the State without objects of these kinds, namespaces and names. It does not modify the State. The error names the objects that
// there are not.
func (s *State) Without(objects iter.Seq2[*Kind, api.Object]) (*State, error) {
	after := *s
	var missing []error
	for kind, object := range objects {
		if kind.Find(&after, object) == nil {
			missing = append(missing, fmt.Errorf("there is no %s that could be deleted; correct the name, or leave it out", kind.Name(object)))
			continue
		}
		for _, list := range kind.lists {
			list.remove(&after, object)
		}
	}
	return &after, errors.Join(missing...)
}
