package inventory

import (
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// view is what one selector says of every cluster. Equal selectors share a view.
type view struct {
	selector *selector.Selector
	identity string
	// users is how often the view was asked for by sets and placements, and readers are the placements that have it as a predicate.
	users   int
	readers map[*placement]struct{}
	// tellers are the placements that tell whether it is the clause that a cluster fails; nil before there is one.
	tellers map[*placement]struct{}
	// matches are the clusters that match. Of a selector with CEL they are those that match but for it, and memo has what CEL says of them.
	static  *selector.Selector
	matches flags
	memo    *memo
}

// frozenView is a view in a snapshot: matches that do not change any more, and the memory of a selector with CEL, which is asked with the
// facts of the snapshot.
type frozenView struct {
	matches Members
	memo    *memo
}

// views are all views by the identity of their selector, and by what they read.
type views struct {
	table *table[frozenView]
	known map[string]*view
	// byValue has the views by the values that they ask for, byKey by what they read in any other way. Those that ask for no value are
	// unanchored: a cluster may match whatever it has.
	byValue    map[anchor]map[*view]struct{}
	byKey      map[clusterinfo.Property]map[*view]struct{}
	unanchored map[*view]struct{}
	changed    map[*view]struct{}
	anchors    *anchors
	clusters   population
}

// population is a way to the clusters that exist.
type population struct {
	each  clusters
	facts func(slot uint) *clusterinfo.ClusterInfo
	slot  func(name string) (uint, bool)
}

// clusters visits clusters with their numbers.
type clusters = func(yield func(uint, *clusterinfo.ClusterInfo) bool)

func newViews(of population) *views {
	return &views{
		table: newTable[frozenView](), known: map[string]*view{}, byValue: map[anchor]map[*view]struct{}{},
		byKey: map[clusterinfo.Property]map[*view]struct{}{}, unanchored: map[*view]struct{}{}, changed: map[*view]struct{}{},
		anchors: newAnchors(), clusters: of,
	}
}

// use is the view of a selector, made of the clusters there are if nobody uses it yet. It stays until as many calls of drop.
func (v *views) use(s *selector.Selector) *view {
	identity := s.Identity()

	known := v.known[identity]
	if known == nil {
		known = &view{selector: s, static: s.WithoutCEL(), identity: identity, readers: map[*placement]struct{}{}}
		v.known[identity] = known
		v.eachPlace(known, func(in map[*view]struct{}) { in[known] = struct{}{} })

		if s.HasCEL() {
			known.memo = newMemo(s)
		}

		v.eachAnchor(known, func(key clusterinfo.Property) { v.anchors.use(key, v.clusters.each) })
		v.build(known)

		v.changed[known] = struct{}{}
	}

	known.users++

	return known
}

// build asks the selector about the clusters that can match.
func (v *views) build(made *view) {
	pass := &selector.EvalContext{}
	made.matches = newFlags()

	for slot, f := range v.clustersThatCanMatch(made.static) {
		if made.static.Matches(f, pass) {
			made.matches.set(slot, true)
		}
	}
}

func (v *views) clustersThatCanMatch(s *selector.Selector) clusters {
	slots, narrow := v.anchors.canMatch(s, v.clusters.slot)
	if !narrow {
		return v.clusters.each
	}

	return func(yield func(uint, *clusterinfo.ClusterInfo) bool) {
		for _, slot := range slots {
			if !yield(uint(slot), v.clusters.facts(uint(slot))) {
				return
			}
		}
	}
}

// eachAnchor visits the labels and claims that a view asks a value of.
func (v *views) eachAnchor(of *view, visit func(clusterinfo.Property)) {
	asked, _ := of.selector.RequiredValues()
	for _, one := range asked {
		if one.Key.Kind != clusterinfo.Name {
			visit(one.Key)
		}
	}
}

func (v *views) drop(unused *view) {
	unused.users--
	if unused.users > 0 {
		return
	}

	v.eachAnchor(unused, v.anchors.drop)
	delete(v.known, unused.identity)
	delete(v.changed, unused)
	v.table.remove(unused.identity)
	v.eachPlace(unused, func(in map[*view]struct{}) { delete(in, unused) })
	v.tidy(unused)
}

// eachPlace visits the places of the index where the view stands.
func (v *views) eachPlace(of *view, visit func(map[*view]struct{})) {
	anchors, rest := of.selector.RequiredValues()

	for _, asked := range anchors {
		for _, value := range asked.Values {
			visit(place(v.byValue, anchor{asked.Key, value}))
		}
	}

	for _, key := range rest {
		visit(place(v.byKey, key))
	}

	if len(anchors) == 0 {
		visit(v.unanchored)
	}
}

// tidy forgets the places where nothing stands any more.
func (v *views) tidy(gone *view) {
	anchors, rest := gone.selector.RequiredValues()

	for _, asked := range anchors {
		for _, value := range asked.Values {
			forgetEmpty(v.byValue, anchor{asked.Key, value})
		}
	}

	for _, key := range rest {
		forgetEmpty(v.byKey, key)
	}
}

// place is the set of a key, made if there is none.
func place[K, V comparable](index map[K]map[V]struct{}, key K) map[V]struct{} {
	if index[key] == nil {
		index[key] = map[V]struct{}{}
	}

	return index[key]
}

func forgetEmpty[K, V comparable](index map[K]map[V]struct{}, key K) {
	if len(index[key]) == 0 {
		delete(index, key)
	}
}

// change brings the views up to date with a change of one cluster, and returns those that say something else of it now.
func (v *views) change(slot uint, before, after *clusterinfo.ClusterInfo, changes []clusterinfo.Property, generation uint64) map[*view]struct{} {
	v.anchors.change(slot, before, after, changes)

	flipped := map[*view]struct{}{}
	asked := map[*view]struct{}{}

	v.eachTouched(before, after, changes, func(touched *view) {
		if _, again := asked[touched]; again {
			return
		}

		asked[touched] = struct{}{}

		if touched.change(slot, after, generation) {
			flipped[touched] = struct{}{}
			v.changed[touched] = struct{}{}
		}
	})

	return flipped
}

func (v *view) change(slot uint, after *clusterinfo.ClusterInfo, generation uint64) bool {
	was, is := v.matches.bits.Test(slot), after != nil && v.static.Matches(after, &selector.EvalContext{})
	flips := v.matches.set(slot, is)

	if v.memo == nil || !was && !is {
		return flips
	}

	return v.memo.change(slot, after, generation) || flips
}

// eachTouched visits the views that may say something else after the changes; some of them more than once.
func (v *views) eachTouched(before, after *clusterinfo.ClusterInfo, changes []clusterinfo.Property, visit func(*view)) {
	visitAll := func(views map[*view]struct{}) {
		for touched := range views {
			visit(touched)
		}
	}

	if comesOrGoes(before, after) {
		v.eachOf(before, visitAll)
		v.eachOf(after, visitAll)
		visitAll(v.unanchored)

		return
	}

	for _, key := range changes {
		for _, f := range []*clusterinfo.ClusterInfo{before, after} {
			if value, has := f.Value(key); has {
				visitAll(v.byValue[anchor{key, value}])
			}
		}

		eachReader(v.byKey, key, visitAll)
	}
}

// eachReader visits who reads a key: by its name, by its kind, or with everything else.
func eachReader[V comparable](index map[clusterinfo.Property]map[V]struct{}, changed clusterinfo.Property, visit func(map[V]struct{})) {
	visit(index[changed])

	if changed.Name != "" {
		visit(index[clusterinfo.Property{Kind: changed.Kind}])
	}

	if changed.Kind != clusterinfo.Any {
		visit(index[clusterinfo.Property{Kind: clusterinfo.Any}])
	}
}

// eachOf visits the views that ask for a value that a cluster has.
func (v *views) eachOf(f *clusterinfo.ClusterInfo, visit func(map[*view]struct{})) {
	if f == nil {
		return
	}

	visit(v.byValue[anchor{clusterinfo.Property{Kind: clusterinfo.Name, Name: f.Name}, f.Name}])

	for name, value := range f.Labels {
		visit(v.byValue[anchor{clusterinfo.Property{Kind: clusterinfo.Label, Name: name}, value}])
	}

	for name, value := range f.Claims {
		visit(v.byValue[anchor{clusterinfo.Property{Kind: clusterinfo.Claim, Name: name}, value}])
	}
}

// freeze publishes what has changed.
func (v *views) freeze() {
	for changed := range v.changed {
		v.table.set(changed.identity, frozenView{matches: changed.matches.freeze(), memo: changed.memo})
	}

	clear(v.changed)
}
