// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		done, err := turns.take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if other, err := turns.take(t.Context(), "b"); err != nil {
			t.Errorf("another namespace has its own turn, and got %v", err)
		} else {
			other()
		}

		start := time.Now()
		if _, err := turns.take(t.Context(), "a"); !errors.Is(err, errBusy) || time.Since(start) != turnTimeout {
			t.Errorf("%v after %s, want errBusy after %s", err, time.Since(start), turnTimeout)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := turns.take(ended, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the error of the context", err)
		}
		time.AfterFunc(turnTimeout/2, done)

		next, err := turns.take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		next()
		synctest.Wait() // The first review leaves at the same moment.
		if len(turns.namespaces) > 0 {
			t.Errorf("%d namespaces are kept", len(turns.namespaces))
		}
	})
}

func TestBusyNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler, _ := mutating(cached(t,
			clusterPolicy(t, "pool", "nodeSelector: {pool: etcd}"), policyIn(t, "team-a", "disk", "nodeSelector: {disk: ssd}")))

		hostile, is := handler.(*mutator)
		if !is {
			t.Fatalf("the handler is a %T", handler)
		}
		done, err := hostile.turns.take(t.Context(), "team-a")
		if err != nil {
			t.Fatal(err)
		}
		defer done()

		growth := counted(t, "placement_hub_podscheduling_skips_total", func() {
			response := review(t, handler, creation(t, deployments, template("{}")))
			const patch = `[{"op":"add","path":"/spec/template/spec/nodeSelector","value":{"pool":"etcd"}}]`
			if !response.Allowed || string(response.Patch) != patch {
				t.Errorf("T12: allowed %t with the patch %s, want that of the cluster policy", response.Allowed, response.Patch)
			}
			if len(response.Warnings) != 1 || !strings.Contains(response.Warnings[0], "PodSchedulingPolicies of namespace team-a were not injected") {
				t.Errorf("T12: warnings %q, want one that names the namespace", response.Warnings)
			}
		})
		if growth[namespaceBusy] != 1 {
			t.Errorf("skips %v, want one of the reason %s", growth, namespaceBusy)
		}
	})
}

func TestSkippedPoliciesAreNamed(t *testing.T) {
	var policies []client.Object
	for i := range 250 {
		policy := policyIn(t, "team-a", fmt.Sprintf("p%03d", i), "nodeSelector: {pool: etcd}")
		policy.UID = types.UID(policy.Name)
		policies = append(policies, policy)
	}
	handler, sent := mutating(cached(t, policies...))
	response := review(t, handler, creation(t, deployments, template("{}")))
	if len(response.Warnings) != maxWarnings || !strings.Contains(response.Warnings[0], "PodSchedulingPolicy team-a/p100: the policy is skipped") ||
		!strings.Contains(response.Warnings[maxWarnings-1], "141 more warnings") {
		t.Errorf("T12: warnings %q, want the first policies by name and the number of the others", response.Warnings)
	}

	if events := sent.sorted(); len(events) != maxEvents ||
		!strings.HasPrefix(events[0], "PodSchedulingPolicy team-a/p100: Warning TooManyTerms") {
		t.Errorf("T12: %d Events, want %d on the first policies by name", len(events), maxEvents)
	}
}
