// SPDX-License-Identifier: Apache-2.0

package turns

import "testing"

// docs/spec/trust.md R9: the accounts of a namespace flush the values of each other, and not those of other tenants.
func TestT21CachesAreSharedByTenants(t *testing.T) {
	cache := NewCache[string, int](10)
	cache.Add("jane", "jane", 1)
	cache.Add("jane", "jane", 2)
	for n := range 500 {
		cache.Add("attacker", string(rune('a'+n%26))+string(rune(0x400+n)), n)
		if got, has := cache.Get("jane"); !has || got != 2 {
			t.Fatalf("after %d others, the value of jane is %d, %t", n+1, got, has)
		}
	}
	if len(cache.values) != 10 || cache.of["attacker"].Len() != 9 {
		t.Errorf("%d values, %d of the tenant with many", len(cache.values), cache.of["attacker"].Len())
	}
	for n := range 10 { // As many tenants as values: the eleventh takes the place of one of those.
		cache.Add(Tenant(rune('a'+n)), string(rune('A'+n)), n)
	}
	if _, has := cache.Get("none"); has || cache.Len() != 10 || cache.of["attacker"] != nil && cache.of["attacker"].Len() > 1 {
		t.Errorf("%d values, of tenants %v", cache.Len(), cache.of)
	}
}

func TestCachesDropWhatWasNotUsed(t *testing.T) {
	cache := NewCache[string, int](2)
	cache.Add("jane", "a", 1)
	cache.Add("jane", "b", 2)
	if _, has := cache.Get("a"); !has {
		t.Error("a is gone")
	}
	cache.Add("jane", "c", 3)
	if _, has := cache.Get("b"); has {
		t.Error("b is kept, which was not used for the longest time")
	}
	if got, has := cache.Get("a"); !has || got != 1 {
		t.Errorf("a is %d, %t", got, has)
	}
}

func TestCachesRemove(t *testing.T) {
	cache := NewCache[string, int](2)
	cache.Add("jane", "a", 1)
	cache.Remove("a")
	cache.Remove("a")
	if _, has := cache.Get("a"); has || cache.Len() != 0 || len(cache.of) != 0 {
		t.Errorf("%d values of %d tenants after the only one was removed", cache.Len(), len(cache.of))
	}
	cache.Add("jane", "b", 2)
	cache.Add("jane", "c", 3)
	if _, has := cache.Get("b"); !has {
		t.Error("the removed value counts still")
	}
}
