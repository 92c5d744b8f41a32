// SPDX-License-Identifier: Apache-2.0

package federationattack

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/attacks"
	"github.com/placement-hub/placement-hub/test/history/works"
)

const (
	defaultDuration = 40 * time.Second
	// settleTimeout bounds the time from the end of the faults to a settled world on a loaded machine. Clusters out of scope keep their works
	// for federation.ScopeGrace of it, and watches that were refused come back after up to 30 s.
	settleTimeout = 2 * time.Minute
	// quietFor is how long a settled hub must not write.
	quietFor = time.Second
)

// TestAttack changes a world until the time is up.
func TestAttack(t *testing.T) {
	ctrl.SetLogger(klog.NewKlogr())
	duration, seed, err := attacks.Settings(defaultDuration)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s=%d repeats this run", attacks.SeedVariable, seed)
	a, err := newArena(t.Context(), t, seed)
	if err != nil {
		t.Fatal(err)
	}

	for end := time.Now().Add(duration); time.Now().Before(end); {
		if err := a.batch(t.Context()); err != nil {
			t.Fatalf("batch %d: %v\n\nto repeat it: %s=%d %s=10m go test ./test/integration/federationattack -timeout 0 -v",
				a.batches, err, attacks.SeedVariable, seed, attacks.DurationVariable)
		}
	}
	if a.batches == 0 || a.judged == 0 {
		t.Errorf("%d batches, %d events were judged", a.batches, a.judged)
	}
	t.Logf("%d batches, %d steps, %d events of works judged; faults: %v", a.batches, a.steps, a.judged, a.struck)
}

// newArena starts a control plane, a hub and a record of all works, and creates the world. All of it ends with the test.
func newArena(ctx context.Context, t *testing.T, seed uint64) (*arena, error) {
	t.Helper()
	plane := attacks.Start(t, localplane.Options{})
	admin := plane.AdminConfig()
	if err := manifests.InstallManifestWorks(ctx, admin); err != nil {
		return nil, fmt.Errorf("installing ManifestWorks: %w", err)
	}

	// Nothing serves the webhook of the system, whose failure policy is Ignore.
	if err := manifests.InstallSystem(ctx, admin, manifests.Federation, "https://127.0.0.1:1"); err != nil {
		return nil, fmt.Errorf("installing the system: %w", err)
	}
	account, err := plane.ServiceAccountConfig(ctx, manifests.Namespace, manifests.ServiceAccount)
	if err != nil {
		return nil, fmt.Errorf("the identity of the hub: %w", err)
	}
	a := newRandom(seed)

	config := rest.CopyConfig(admin)
	config.WarningHandler = rest.NoWarnings{}
	if a.api, err = client.New(config, client.Options{Scheme: system.Scheme()}); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if a.history, err = works.Record(ctx, admin); err != nil {
		return nil, fmt.Errorf("recording works: %w", err)
	}

	if err := a.create(ctx); err != nil {
		return nil, err
	}
	if a.hub, err = newHub(account); err != nil {
		return nil, err
	}

	t.Cleanup(func() {
		if err := a.hub.close(); err != nil {
			t.Error(err)
		}
	})

	a.hub.start(ctx)
	return a, nil
}
