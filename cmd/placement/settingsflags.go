// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// settingsFlags say how a hub that is read decides.
type settingsFlags struct {
	kindFlags

	hubLimit       removalbudget.Limit
	requestOptions clusterrequest.Options
	// hubControllers are those that the hub says it runs; nil if it says nothing, and for files.
	hubControllers []string
}

func (f *settingsFlags) addSettings(flags *pflag.FlagSet) {
	f.addKinds(flags)
	addHubLimitFlags(flags, &f.hubLimit)
	f.requestOptions = system.DefaultRequests()
	system.AddRequestFlags(flags, &f.requestOptions)
}

// checkSettings returns an error about values that a hub refuses.
func (f *settingsFlags) checkSettings() error { return system.ValidateRequests(f.requestOptions) }

// settings returns the settings once parseKinds has parsed the kinds.
func (f *settingsFlags) settings() tools.Settings {
	return tools.Settings{Delivered: f.delivered, Controllers: f.hubControllers, Limit: f.hubLimit, Requests: f.requestOptions}
}
