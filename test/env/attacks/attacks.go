// SPDX-License-Identifier: Apache-2.0

package attacks

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// The variables of the environment with the duration of an attack and its seed.
const (
	DurationVariable = "ATTACK_DURATION"
	SeedVariable     = "ATTACK_SEED"
)

// Settings returns the duration and the seed that the environment names; without them, the standard duration and a new seed.
func Settings(standard time.Duration) (duration time.Duration, seed uint64, err error) {
	duration, seed = standard, uint64(time.Now().UnixNano())
	if text := os.Getenv(DurationVariable); text != "" {
		if duration, err = time.ParseDuration(text); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", DurationVariable, err)
		}
	}
	if text := os.Getenv(SeedVariable); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", SeedVariable, err)
		}
	}
	return duration, seed, nil
}

// Start starts a control plane with the manifests of the hub, which ends with the test.
func Start(t *testing.T, options localplane.Options) *localplane.ControlPlane {
	t.Helper()
	plane, err := localplane.Start(t.Context(), options)
	if err != nil {
		t.Fatalf("starting a control plane: %v", err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := manifests.Install(t.Context(), plane.AdminConfig()); err != nil {
		t.Fatalf("installing the manifests: %v", err)
	}
	return plane
}
