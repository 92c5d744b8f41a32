// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"maps"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Drop forgets the objects of one resource, as if the watch had shown their deletion, and nothing else.
func TestDrop(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	gadgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
	name := func(of schema.GroupVersionResource, namespace, name string) Object {
		return Object{Resource: of, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
	}
	first, second, other := name(widgets, "a", "w"), name(widgets, "b", "w"), name(gadgets, "a", "w")

	o := NewObserved()
	for _, object := range []Object{first, second, other} {
		o.Set(object, "7", nil)
	}
	since := o.Now()
	o.Drop(widgets)

	for object, want := range map[Object]string{first: "", second: "", other: "7"} {
		if got := o.shown(object); got != want {
			t.Errorf("%v is shown in version %q, want %q", object, got, want)
		}
	}
	if left := o.objects(widgets, ""); len(left) > 0 {
		t.Errorf("objects are left: %v", left)
	}

	for _, object := range []Object{first, second} {
		if !o.changedSince(since, func(c change) bool { return c.deleted && c.object == object }) {
			t.Errorf("the deletion of %v is no change", object)
		}

		// A proof that reads a version of the object waits until a new watch shows it.
		if len(o.behind(maps.All(map[Object]string{object: "8"}), o.Now())) != 1 {
			t.Errorf("%v in version 8 counts as shown", object)
		}
	}

	if o.changedSince(since, func(c change) bool { return c.object == other }) {
		t.Errorf("%v has changed", other)
	}
	number := o.Now()
	o.Drop(widgets)
	if o.Now() != number {
		t.Error("a drop of nothing is a change")
	}
	o.Set(first, "9", nil)

	if got := o.shown(first); got != "9" {
		t.Errorf("after it came back the object is shown in version %q", got)
	}
}

// An empty Observed reserves no memory for changes. changedSince sees each of the last rememberedChanges, and reports a change to a caller who
// asks about older ones.
func TestRememberedChanges(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	named := func(number uint64) Object {
		return Object{Resource: widgets, NamespacedName: types.NamespacedName{Name: strconv.FormatUint(number, 10)}}
	}

	o := NewObserved()
	if cap(o.changes) > 0 {
		t.Errorf("an empty Observed has room for %d changes", cap(o.changes))
	}
	const all = 2*rememberedChanges + 3

	for number := uint64(1); number <= all; number++ {
		o.Delete(named(number))
		if !o.changedSince(number-1, func(c change) bool { return c.object == named(number) }) {
			t.Fatalf("change %d is not the last one", number)
		}
	}

	for _, since := range []uint64{all, all - 1, all - rememberedChanges + 1, all - rememberedChanges} {
		var seen []Object
		o.changedSince(since, func(c change) bool { seen = append(seen, c.object); return false })
		if uint64(len(seen)) != all-since || len(seen) > 0 && (seen[0] != named(since+1) || seen[len(seen)-1] != named(all)) {
			t.Errorf("since change %d there are %d changes, want %d to %d", since, len(seen), since+1, all)
		}
	}
	if !o.changedSince(all-rememberedChanges-1, func(change) bool { return false }) {
		t.Error("changes that are not remembered count as none")
	}
}

// An object that the view does not have is reached once its deletion was shown after the number of a change, as long as the deletion is remembered.
func TestDeletionsAreRememberedAsChangesAre(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	name := func(number int) Object {
		return Object{Resource: widgets, NamespacedName: types.NamespacedName{Name: strconv.Itoa(number)}}
	}
	reached := func(o *Observed, object Object, since uint64) bool {
		return len(o.behind(maps.All(map[Object]string{object: "5"}), since)) == 0
	}

	o := NewObserved()
	o.Set(name(0), "4", everything(name(0)))
	before := o.Now()
	o.Delete(name(0))
	if !reached(o, name(0), before) {
		t.Error("the deletion after the change does not count")
	}
	if reached(o, name(0), o.Now()) {
		t.Error("the deletion before the change counts")
	}
	if reached(o, name(1), before) {
		t.Error("an object that nobody has deleted counts as deleted")
	}

	for number := range rememberedChanges {
		if number == rememberedChanges/2 {
			before = o.Now()
			o.Set(name(0), "6", everything(name(0)))
			o.Delete(name(0))
		}
		o.Delete(name(1 + number))
	}
	if !reached(o, name(0), before) {
		t.Error("the second deletion is forgotten with the first")
	}
	if got := len(o.deletions); got > rememberedChanges {
		t.Errorf("%d deletions are remembered, want at most %d", got, rememberedChanges)
	}
	for number := range rememberedChanges {
		o.Set(name(-1), strconv.Itoa(10+number), everything(name(-1)))
	}
	if len(o.deletions) != 0 {
		t.Errorf("%d deletions are remembered after their changes are forgotten", len(o.deletions))
	}
}
