// SPDX-License-Identifier: Apache-2.0

package system

import (
	"cmp"
	"errors"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
)

// list returns the systems of the hub with the settings of o, of whose controllers the given ones are enabled. A new system is one line here:
// docs/adding-a-system.md.
func (o *Options) list(enabled []string, shared *sharedinventory.Shared) []systems.Entry {
	return []systems.Entry{
		o.placements(enabled, shared),
		o.clusterSets(shared),
		o.podScheduling(),
		affinityClass(),
		o.federation(shared),
		o.clusterRequest(),
		o.clusterProfiles(),
	}
}

// settingsOf returns the settings of a system that are no fields of Options, with their zero values at first. Copies of o that are made from then
// on share them.
func settingsOf[T any](o *Options, system string) *T {
	if settings, is := o.settingsBySystem[system].(*T); is {
		return settings
	}
	settings := new(T)
	if o.settingsBySystem == nil {
		o.settingsBySystem = map[string]any{}
	}
	o.settingsBySystem[system] = settings
	return settings
}

// Systems returns the systems of the hub, in the order of their controllers in Names.
func (o *Options) Systems() []systems.Entry { return o.list(nil, sharedinventory.New()) }

// AddFlags adds the flags of all systems. Their defaults are the present settings.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	for _, system := range o.Systems() {
		if system.Flags != nil {
			system.Flags(fs)
		}
	}
	o.addHistoryFlags(fs)
}

// Validate returns what is wrong with the settings of all systems.
func (o *Options) Validate() error {
	var errs []error
	for _, system := range o.Systems() {
		if system.Validate != nil {
			errs = append(errs, system.Validate())
		}
	}
	return errors.Join(append(errs, o.validateHistory())...)
}

// Unused returns an error that names the settings that have no effect because their controller is not among the enabled ones.
func (o *Options) Unused(enabled []string) error {
	var errs []error
	for _, system := range o.Systems() {
		if system.Unused != nil {
			errs = append(errs, system.Unused(enabled))
		}
	}
	return errors.Join(errs...)
}

// AddedKinds returns the kinds that flags have added to those of the systems.
func (o *Options) AddedKinds() ([]*systems.AddedKinds, error) {
	var added []*systems.AddedKinds
	for _, system := range o.Systems() {
		if system.Added == nil {
			continue
		}
		kinds, err := system.Added.Parse()
		if err != nil {
			return nil, err
		}
		if len(kinds) > 0 {
			added = append(added, system.Added)
		}
	}

	return added, nil
}

// Samples returns the samples of all systems, with their names and controllers.
func Samples() []systems.Sample {
	var samples []systems.Sample
	for _, system := range (&Options{}).Systems() {
		if system.Sample == nil {
			continue
		}
		sample := *system.Sample
		sample.Name = cmp.Or(sample.Name, system.Name)
		if len(sample.Controllers) == 0 {
			sample.Controllers = []string{"*", system.Name + "/*"}
		}

		if system.Name != "" {
			sample.Alone = cmp.Or(sample.Alone, "which installs the system "+system.Name)
		}
		samples = append(samples, sample)
	}

	return samples
}

// groups returns the API groups of opt-in systems by the names of the systems.
func groups() map[string][]string {
	named := map[string][]string{}
	for _, system := range (&Options{}).Systems() {
		if system.Name == "" {
			continue
		}
		for _, group := range system.Groups {
			named[system.Name] = append(named[system.Name], group.Name)
		}
	}
	return named
}

// Hint returns what to do when the API server does not serve a group that the hub reads. Groups of Kubernetes have one text.
func Hint(group string) string {
	for _, system := range (&Options{}).Systems() {
		if i := slices.IndexFunc(system.Groups, func(g systems.Group) bool { return g.Name == group }); i >= 0 {
			return system.Groups[i].Hint
		}
	}
	return ""
}

// IsOptional reports whether the hub runs without a resource: a system is off then.
func IsOptional(resource schema.GroupVersionResource) bool {
	for _, names := range groups() {
		if slices.Contains(names, resource.Group) {
			return true
		}
	}
	return false
}
