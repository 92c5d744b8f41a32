package placement

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// servedAPIs are the APIs whose placements are served, and the ways in which their decisions are written.
type servedAPIs struct {
	// shares bound what may leave the decisions.
	removalLimits

	apis []record.API
	// profiles writes the decisions of v1beta1 a second time, as references to ClusterProfiles.
	profiles bool
	// outside says that another process writes, and that it is not known whether it writes profiles.
	outside bool
}

// options are how placements are evaluated.
func (o servedAPIs) options() decision.Options {
	options := decision.Options{Limit: o.limit}
	if !o.outside {
		options.ProfileDecisions = &o.profiles
	}

	return options
}

// forms are all ways in which decisions are written.
func (o servedAPIs) forms() []record.Form {
	forms := make([]record.Form, 0, len(o.apis)+1)
	for _, api := range o.apis {
		forms = append(forms, api.Form())
	}

	if o.profiles {
		forms = append(forms, multicluster{})
	}

	return forms
}

// api is the API of a placement.
func (o servedAPIs) api(key inventory.PlacementKey) record.API {
	i := slices.IndexFunc(o.apis, func(api record.API) bool { return api.Name() == key.API })

	return o.apis[i]
}

// writesProfiles reports whether the placement's decisions are written as references to ClusterProfiles too.
func (o servedAPIs) writesProfiles(key inventory.PlacementKey) bool {
	return o.profiles && key.API == record.V1beta1.Name()
}
