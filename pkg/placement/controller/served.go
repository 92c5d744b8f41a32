// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// placementField indexes PlacementDecisions by the placements they may belong to.
const placementField = "placement"

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
func (s servedAPIs) options() placement.Options {
	options := placement.Options{Limit: s.limit}
	if !s.outside {
		options.ProfileDecisions = &s.profiles
	}
	return options
}

// DefaultWarnRemovalPercent is the percentage of its clusters that a Placement may lose at once without a warning, unless Options set
// another one.
const DefaultWarnRemovalPercent = 50

// warnPercent returns the percentage above which an event warns users.
func (s servedAPIs) warnPercent() int {
	if s.warned == nil {
		return DefaultWarnRemovalPercent
	}
	return *s.warned
}

// forms returns all formats in which decisions are written.
func (s servedAPIs) forms() []api.Codec {
	forms := make([]api.Codec, 0, len(s.apis)+1)
	for _, adapter := range s.apis {
		forms = append(forms, adapter.Codec())
	}
	if s.profiles {
		forms = append(forms, Multicluster)
	}
	return forms
}

// writesProfiles reports whether the decisions of the Placement are mirrored as references to ClusterProfiles.
func (s servedAPIs) writesProfiles(key inventory.Key) bool {
	return s.profiles && key.API() == api.V1beta1.Name()
}
