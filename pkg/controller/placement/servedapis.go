package placement

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/decision/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// servedAPIs has the APIs whose Placements are served, the formats in which their decisions are written, and the limits of removals. It does
// not change.
type servedAPIs struct {
	// limit is the removal budget; nil fields are unknown to this process. warned is the percentage of its clusters that a Placement may lose
	// at once without a warning; nil is the default.
	limit  removalbudget.Limit
	warned *int
	apis   []api.Adapter
	// profiles mirrors the decisions of v1beta1 as references to ClusterProfiles.
	profiles bool
	// outside reports that another process writes, so that it is unknown whether decisions are mirrored.
	outside bool
}

// options returns how Placements are evaluated.
func (o servedAPIs) options() decision.Options {
	options := decision.Options{Limit: o.limit}
	if !o.outside {
		options.ProfileDecisions = &o.profiles
	}

	return options
}

// forms returns all formats in which decisions are written.
func (o servedAPIs) forms() []api.Codec {
	forms := make([]api.Codec, 0, len(o.apis)+1)
	for _, adapter := range o.apis {
		forms = append(forms, adapter.Codec())
	}

	if o.profiles {
		forms = append(forms, multicluster{})
	}

	return forms
}

// api returns the API of a Placement.
func (o servedAPIs) api(key inventory.Key) api.Adapter {
	i := slices.IndexFunc(o.apis, func(adapter api.Adapter) bool { return adapter.Name() == key.API() })

	return o.apis[i]
}

// writesProfiles reports whether the decisions of the Placement are mirrored as references to ClusterProfiles.
func (o servedAPIs) writesProfiles(key inventory.Key) bool {
	return o.profiles && key.API() == api.V1beta1.Name()
}
