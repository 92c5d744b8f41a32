// SPDX-License-Identifier: Apache-2.0

package system

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/manifests"
)

// A user whose API server does not serve a resource gets advice about that resource.
func TestEveryGroupHasAHint(t *testing.T) {
	for _, controller := range (Options{}).all(nil) {
		for _, resource := range controller.Access.Reads {
			if Hint(resource.Group) == "" {
				t.Errorf("controller %s reads %s of %s, and no system has a hint for that group",
					controller.Name, resource.Resource, resource.GroupVersion())
			}
		}
	}

	for _, resource := range profileDecisions.Reads {
		if Hint(resource.Group) == "" {
			t.Errorf("there is no hint for %s", resource.GroupVersion())
		}
	}
}

// An opt-in system is off while its kinds are missing, so that the advice has to name its controllers, and its manifests or those of another
// project.
func TestHintsOfOptInSystemsNameTheirControllers(t *testing.T) {
	for _, system := range (&Options{}).Systems() {
		for _, group := range system.Groups {
			if system.Name != "" && !strings.Contains(group.Hint, system.Name+"/") {
				t.Errorf("system %s: the hint for %s names none of its controllers: %s", system.Name, group.Name, group.Hint)
			}
		}
	}
}

// Each opt-in system has a directory in manifests, and each of those directories a system.
func TestSystemsHaveManifests(t *testing.T) {
	var names []string
	for _, system := range (&Options{}).Systems() {
		if system.Name != "" {
			names = append(names, system.Name)
		}
	}
	slices.Sort(names)
	if got := manifests.Systems(); !slices.Equal(got, names) {
		t.Errorf("the manifests have the systems %v, and the list has %v", got, names)
	}
}

// The flags of a copy of Options write to the copy alone, but for the settings that systems keep themselves.
func TestFlagsOfSystems(t *testing.T) {
	options := DefaultOptions()
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	options.AddFlags(fs)
	if err := fs.Parse([]string{"--" + FederatedKindsFlag + "=batch/v1/Jobs,x"}); err != nil {
		t.Fatal(err)
	}
	if err := options.Validate(); err == nil || !strings.Contains(err.Error(), "--"+FederatedKindsFlag) {
		t.Errorf("Validate() = %v, want an error that names the flag", err)
	}

	if err := options.Unused([]string{"placement"}); err == nil || !strings.Contains(err.Error(), "no effect without the controllers of federation") {
		t.Errorf("Unused() = %v, want an error that names the controllers", err)
	}
}

func TestSettingsOfSystems(t *testing.T) {
	type settings struct{ text string }
	var options Options
	settingsOf[settings](&options, "a").text = "changed"
	after := options
	if got := settingsOf[settings](&after, "a").text; got != "changed" {
		t.Errorf("a copy has the text %q, want that of the original", got)
	}
	if got := settingsOf[settings](&options, "b").text; got != "" {
		t.Errorf("another system has the text %q, want none", got)
	}
}
