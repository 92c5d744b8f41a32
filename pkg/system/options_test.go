// SPDX-License-Identifier: Apache-2.0

package system

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
)

func TestEnabled(t *testing.T) {
	ofPlacement := slices.DeleteFunc(Names(), func(name string) bool {
		return strings.Contains(name, "/") || name == "clusters-inventory" || name == "clusterprofiles"
	})
	withoutPlacement := slices.DeleteFunc(slices.Clone(ofPlacement), func(name string) bool { return name == "placement" })
	for _, tc := range []struct {
		reason   string
		patterns []string
		want     []string
		wantErr  []string
	}{
		{reason: "the default of the command", patterns: []string{"placement"}, want: []string{"placement"}},
		{reason: "a star is all without a system", patterns: []string{"*"}, want: ofPlacement},
		{reason: "an exclusion takes one out of all", patterns: []string{"*", "-placement"}, want: withoutPlacement},
		{reason: "a name wins over the star wherever it stands", patterns: []string{"-placement", "*"}, want: withoutPlacement},
		{reason: "naming one twice is harmless", patterns: []string{"placement", "placement"}, want: []string{"placement"}},
		{reason: "the order is that of Names", patterns: []string{"clusterset", "placement"}, want: inOrder("clusterset", "placement")},
		{
			reason: "an unknown name is an error that lists the known ones", patterns: []string{"placment"},
			wantErr: append([]string{`unknown controller "placment"`}, Names()...),
		},
		{reason: "an unknown exclusion is one, too", patterns: []string{"*", "-placment"}, wantErr: []string{`unknown controller "placment"`}},
		{reason: "an empty pattern is no controller", patterns: []string{""}, wantErr: []string{`unknown controller ""`}},
		{reason: "every unknown name is reported", patterns: []string{"a", "b"}, wantErr: []string{`"a"`, `"b"`}},
		{
			reason: "wanted and unwanted is a contradiction", patterns: []string{"placement", "-placement"},
			wantErr: []string{`"placement" and "-placement" contradict`},
		},
		{reason: "so it is the other way round", patterns: []string{"-placement", "placement"}, wantErr: []string{"contradict"}},
		{
			reason: "a star of a system that there is not is an error", patterns: []string{"nosuch/*"},
			wantErr: append([]string{`unknown controller "nosuch/*"`, "'system/*' for all of a system"}, Names()...),
		},
		{reason: "exclusions alone leave nothing", patterns: []string{"-placement"}, wantErr: []string{"leaves no controller", "'*'"}},
		{reason: "no pattern leaves nothing", patterns: nil, wantErr: []string{"leaves no controller"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := Options{Controllers: tc.patterns}.Enabled()
			if (err != nil) != (len(tc.wantErr) > 0) {
				t.Fatalf("Enabled() error = %v, want error %v", err, tc.wantErr)
			}
			for _, part := range tc.wantErr {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not contain %q", err, part)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Enabled() (-want +got):\n%s", diff)
			}
		})
	}
}

// The name of a controller may leave its system out, but must not name another one.
func TestSystems(t *testing.T) {
	systems := map[string]bool{}
	for _, controller := range (Options{}).all(nil) {
		systems[controller.system] = true
		if system, _, slashed := strings.Cut(controller.Name, "/"); slashed && system != controller.system {
			t.Errorf("%s has the system %q", controller.Name, controller.system)
		}
	}
	delete(systems, "")

	got := slices.Sorted(maps.Keys(systems))
	want := []string{
		manifests.AffinityClass, manifests.ClusterProfiles, manifests.ClusterRequest, manifests.Federation, manifests.PodScheduling,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("systems (-want +got):\n%s", diff)
	}
}

func inOrder(names ...string) []string {
	var ordered []string
	for _, name := range Names() {
		if slices.Contains(names, name) {
			ordered = append(ordered, name)
		}
	}
	return ordered
}

func TestObserveSaysWhatIsMissing(t *testing.T) {
	for _, tc := range []struct {
		reason string
		o      Options
		want   string
	}{
		{"an unknown controller", Options{Controllers: []string{"x"}, View: &controller.View{}}, `unknown controller "x"`},
		{"no controller that serves placements", Options{Controllers: []string{"clusterset"}, View: &controller.View{}}, "serve no placements"},
		{"nobody who asks", Options{Controllers: []string{"placement"}}, "Options.View is nil"},
	} {
		if err := Observe(t.Context(), nil, tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.reason, err, tc.want)
		}
	}
}

// docs/spec/differences.md B20 names controllers by words that pkg/clustersets repeats.
func TestAssumedControllersExist(t *testing.T) {
	for _, name := range clustersets.AssumedControllers() {
		if !slices.Contains(Names(), name) {
			t.Errorf("there is no controller %s; known are %q", name, Names())
		}
	}
}

func TestTaintGracePeriod(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		period      time.Duration
		controllers []string
		wantErr     string
	}{
		{reason: "none", controllers: []string{"placement"}},
		{reason: "a period", period: time.Second, controllers: []string{"*"}},
		{reason: "a negative period", period: -time.Second, controllers: []string{"*"}, wantErr: "--taint-grace-period: -1s is negative"},
		{reason: "a period for nothing", period: time.Second, controllers: []string{"*", "-managedcluster-taints"},
			wantErr: "--taint-grace-period: no effect without the controller managedcluster-taints"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			o := DefaultOptions()
			o.Controllers, o.TaintGracePeriod = tc.controllers, tc.period
			enabled, err := o.Enabled()
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(o.Validate(), o.Unused(enabled))
			if (err != nil) != (tc.wantErr != "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("error %v, want %q", err, tc.wantErr)
			}
		})
	}
}
