// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// Settings say how a hub that is read decides.
type Settings struct {
	Kinds

	hubLimit       removalbudget.Limit
	RequestOptions clusterrequest.Options
	// HubControllers are those that the hub says it runs; nil if it says nothing, and for files.
	HubControllers []string
}

// AddSettings adds the flags.
func (s *Settings) AddSettings(flags *pflag.FlagSet) {
	s.AddKinds(flags)
	addHubLimitFlags(flags, &s.hubLimit)
	s.RequestOptions = system.DefaultRequests()
	system.AddRequestFlags(flags, &s.RequestOptions)
}

// CheckSettings returns an error about values that a hub refuses.
func (s *Settings) CheckSettings() error { return system.ValidateRequests(s.RequestOptions) }

// HubSettings returns the settings once parseKinds has parsed the kinds.
func (s *Settings) HubSettings() tools.Settings {
	return tools.Settings{Delivered: s.Delivered, Controllers: s.HubControllers, Limit: s.hubLimit, Requests: s.RequestOptions}
}
