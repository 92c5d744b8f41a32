// Package comparer checks the fast engine against the straightforward one while the hub runs.
//
// The fast engine keeps what it derives from the world up to date step by step, and what is wrong there would stay wrong in silence. So
// placements are evaluated a second time by the reference, one after another in rotation, on the same view of the world. The answers must
// not differ.
//
// When they do, the difference is logged and counted in placement_hub_divergences_total, all that is derived is made anew from the
// objects, that placement is evaluated again at once, and all others after whatever else there is to do. The reference's answer is not
// written itself: there is one way to decide, and it is right again as soon as what it stands on is. If the engine's rules are what is
// wrong, the next rotation says so again.
//
// Promises: only the leader compares; one placement at a time, never while placements wait to be evaluated, and after each a pause of a
// hundred times what it took, a second at least, so that it costs a hundredth of one CPU at most.
package comparer
