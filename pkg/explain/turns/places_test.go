// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// docs/spec/trust.md R9: the accounts of a namespace are one tenant.
func TestT21TenantsAreNamespacesOfAccounts(t *testing.T) {
	for name, want := range map[string]Tenant{
		"system:serviceaccount:team-a:default":  "system:serviceaccount:team-a",
		"system:serviceaccount:team-a:robot-17": "system:serviceaccount:team-a",
		"system:serviceaccount:team-b:default":  "system:serviceaccount:team-b",
		"system:serviceaccount:team-a":          "system:serviceaccount:team-a",
		"jane":                                  "jane",
		"system:node:n1":                        "system:node:n1",
	} {
		if got := TenantOf(&user.DefaultInfo{Name: name}); got != want {
			t.Errorf("%s: got tenant %s, want %s", name, got, want)
		}
	}
}

// Two hundred accounts of one namespace hold all places, and an admin and sixteen tenants get theirs at once.
func TestT21NewcomersGetAPlace(t *testing.T) {
	places := NewPlaces(50)
	var held []context.Context
	for range 200 {
		inside, _, entered := places.Enter(t.Context(), "attacker")
		if entered {
			held = append(held, inside)
		}
	}
	if len(held) != 50 {
		t.Fatalf("the first tenant has %d places of 50 that are free", len(held))
	}
	for n := range 17 {
		inside, _, entered := places.Enter(t.Context(), Tenant(fmt.Sprintf("tenant-%d", n)))
		if !entered || inside.Err() != nil {
			t.Errorf("tenant %d found no place", n)
		}
	}
	ended := 0
	for _, inside := range held {
		if errors.Is(context.Cause(inside), ErrPlaceTaken) {
			ended++
		}
	}
	if ended != 17 {
		t.Errorf("%d places were taken from the first tenant, want 17", ended)
	}
	if _, _, entered := places.Enter(t.Context(), "attacker"); entered {
		t.Error("the tenant who has most takes a place of another one")
	}
}

// Whoever enters and leaves: never more places than there are, none is lost, and a tenant who is refused has no fewer than one less than every other.
func TestPlacesAreSharedFairly(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 6).Draw(t, "places")
		places := NewPlaces(total)
		type guest struct {
			tenant Tenant
			gone   func() bool
			leave  func()
		}
		var guests []guest
		inside := func() map[Tenant]int {
			counts := map[Tenant]int{}
			for _, guest := range guests {
				if !guest.gone() {
					counts[guest.tenant]++
				}
			}
			return counts
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(guests) > 0 && rapid.Bool().Draw(t, "leave") {
				at := rapid.IntRange(0, len(guests)-1).Draw(t, "guest")
				guests[at].leave()
				guests[at].leave() // Twice is like once.
				guests = append(guests[:at:at], guests[at+1:]...)
				continue
			}
			tenant := Tenant(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "tenant"))
			before := inside()
			ctx, leave, entered := places.Enter(t.Context(), tenant)
			if entered {
				guests = append(guests, guest{tenant, func() bool { return ctx.Err() != nil }, leave})
			}
			all, most := 0, 0
			for _, n := range inside() {
				all += n
			}
			for _, n := range before {
				most = max(most, n)
			}
			if all > total || all != places.taken {
				t.Fatalf("%d guests are inside, %d places are taken of %d", all, places.taken, total)
			}
			if !entered && (all < total || before[tenant]+2 <= most) {
				t.Fatalf("%s was refused, who has %d, where another one has %d, with %d of %d taken", tenant, before[tenant], most, all, total)
			}
		}
	})
}
