// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// course is a random sequence of events: the inventory, and the objects that exist.
type course struct {
	compiler  *selector.Compiler
	inventory *inventory.Inventory
	// objects have for each object that exists what tells an inventory of it.
	objects  map[string]func(*inventory.Inventory) inventory.Affected
	requests map[inventory.Key]*Request
	pages    map[inventory.DecisionKey]inventory.Page
	now      time.Time
}

// happening is the name of an event, and the Placements that it affected according to the inventory; nothing subscribes to decisions.
type happening struct {
	affected inventory.Affected
	silent   bool
}

func newCourse(compiler *selector.Compiler) *course {
	return &course{
		compiler: compiler, inventory: inventory.New(compiler), objects: map[string]func(*inventory.Inventory) inventory.Affected{},
		requests: map[inventory.Key]*Request{}, pages: map[inventory.DecisionKey]inventory.Page{}, now: now,
	}
}

var (
	courseClusters   = []string{"c1", "c2", "c3", "c4", "c5", "c6"}
	courseSets       = []string{"a", "b", "label"}
	courseNamespaces = []string{"ns1", "ns2"}
	courseAPIs       = []inventory.API{inventory.V1beta1, inventory.V1alpha1}
)

// set creates or replaces an object.
func (c *course) set(name string, tell func(*inventory.Inventory) inventory.Affected) happening {
	c.objects[name] = tell
	return happening{affected: tell(c.inventory)}
}

func (c *course) remove(name string, affected inventory.Affected) happening {
	delete(c.objects, name)
	return happening{affected: affected}
}

// event draws one event.
func (c *course) event(t *rapid.T) happening {
	gone := rapid.IntRange(0, 3).Draw(t, "gone") == 0
	switch pick(t, "event", "cluster", "cluster", "cluster", "scores", "set", "binding", "decision", "profile", "placement", "resync",
		"rebuild") {
	case "cluster":
		return c.clusterEvent(t, gone)
	case "scores":
		return c.scoresEvent(t, gone)
	case "set":
		return c.setEvent(t, gone)
	case "binding":
		return c.bindingEvent(t, gone)
	case "decision":
		c.decisionEvent(t, gone)
		return happening{silent: true}
	case "profile":
		return c.profileEvent(t, gone)
	case "placement":
		c.placementEvent(t, gone)
		return happening{silent: true}
	case "rebuild":
		c.inventory.Rebuild()
		return happening{}
	default:
		return happening{affected: c.resync(t)}
	}
}

func (c *course) clusterEvent(t *rapid.T, gone bool) happening {
	name := pick(t, "cluster", courseClusters...)
	if gone {
		return c.remove("cluster "+name, c.inventory.DeleteCluster(name))
	}
	cluster := drawRichCluster(t, name)
	return c.set("cluster "+name, func(i *inventory.Inventory) inventory.Affected { return i.SetCluster(cluster.DeepCopy()) })
}

func (c *course) scoresEvent(t *rapid.T, gone bool) happening {
	cluster, name := pick(t, "cluster", courseClusters...), pick(t, "scores", "demo", "other", "x")
	if gone {
		return c.remove("scores "+cluster+"/"+name, c.inventory.DeleteScores(cluster, name))
	}
	scores := drawRichScore(t, cluster, name)
	return c.set("scores "+cluster+"/"+name, func(i *inventory.Inventory) inventory.Affected { return i.SetScores(scores.DeepCopy()) })
}

func (c *course) setEvent(t *rapid.T, gone bool) happening {
	if gone {
		name := pick(t, "set", courseSets...)
		return c.remove("set "+name, c.inventory.DeleteClusterSet(name))
	}
	set := drawSet(t)
	return c.set("set "+set.Name, func(i *inventory.Inventory) inventory.Affected { return i.SetClusterSet(set.DeepCopy()) })
}

func (c *course) bindingEvent(t *rapid.T, gone bool) happening {
	namespace, name := pick(t, "namespace", courseNamespaces...), pick(t, "set", courseSets...)
	if gone {
		return c.remove("binding "+namespace+"/"+name, c.inventory.DeleteBinding(namespace, name))
	}
	return c.set("binding "+namespace+"/"+name, func(i *inventory.Inventory) inventory.Affected {
		return i.SetBinding(bindingOf(namespace, name))
	})
}

func (c *course) profileEvent(t *rapid.T, gone bool) happening {
	profile := clusterinfo.Profile{Namespace: pick(t, "namespace", courseNamespaces...), Name: "profile"}
	if gone {
		return c.remove("profile "+profile.Namespace, c.inventory.DeleteProfile(profile))
	}
	cluster := pick(t, "cluster", courseClusters...)
	return c.set("profile "+profile.Namespace, func(i *inventory.Inventory) inventory.Affected {
		return i.SetProfile(profile, map[string]string{cluster: ""})
	})
}

// decisionEvent draws an event of decisions of existing and other Placements, on existing and other clusters.
func (c *course) decisionEvent(t *rapid.T, gone bool) {
	owner := inventory.NewPlacementKey(rapid.SampledFrom(courseAPIs).Draw(t, "API"), pick(t, "namespace", courseNamespaces...),
		pick(t, "owner", "", "p0", "p1", "p2", "stranger"))
	key := owner.Decision(pick(t, "page", "d1", "d2", "d3"))
	if gone {
		delete(c.pages, key)
		c.inventory.DeleteDecision(key)
		return
	}

	c.pages[key] = inventory.Page{
		Key: key, Owner: owner, Clusters: some(t, "decided", 4, append([]string{"ghost", "phantom"}, courseClusters...)...),
	}
	c.inventory.SetDecision(c.pages[key])
}

// placementEvent draws an event of a Placement; equal Placements exist in several namespaces, too.
func (c *course) placementEvent(t *rapid.T, gone bool) {
	name := pick(t, "name", "p0", "p1", "p2")
	if gone {
		key := inventory.NewPlacementKey(rapid.SampledFrom(courseAPIs).Draw(t, "API"), pick(t, "namespace", courseNamespaces...), name)
		delete(c.requests, key)
		c.inventory.Unsubscribe(key)
		return
	}

	namespaces := courseNamespaces
	if rapid.Bool().Draw(t, "once") {
		namespaces = []string{pick(t, "namespace", courseNamespaces...)}
	}
	older, worst := rapid.IntRange(0, 3).Draw(t, "older") == 0, rapid.Bool().Draw(t, "worst")
	spec, olderSpec := placementSpec{}, olderSpec{}
	if older {
		olderSpec = drawOlderSpec(t)
	} else {
		spec = drawRichSpec(t)
	}

	for _, namespace := range namespaces {
		var request *Request
		if older {
			placement := olderPlacementOf(olderSpec)
			placement.Namespace, placement.Name = namespace, name
			request = ConvertV1alpha1(c.compiler, placement)
		} else {
			placement := placementOf(spec)
			placement.Namespace, placement.Name = namespace, name
			if worst {
				placement.Annotations = worstScores
			}
			request = ConvertV1beta1(c.compiler, placement)
		}

		c.requests[request.Key] = request
		c.inventory.Subscribe(request.Key, request.Dependencies())
	}
}

// resync sends all objects again, in any order.
func (c *course) resync(t *rapid.T) inventory.Affected {
	var affected inventory.Affected
	for _, name := range rapid.Permutation(slices.Sorted(maps.Keys(c.objects))).Draw(t, "order") {
		affected.Subscribers = append(affected.Subscribers, c.objects[name](c.inventory).Subscribers...)
	}
	for _, page := range c.pages {
		c.inventory.SetDecision(page)
	}
	return affected
}

// fresh returns a new inventory with the existing objects, added in any order.
func (c *course) fresh(t *rapid.T) *inventory.Inventory {
	i := inventory.New(c.compiler)
	for key, request := range c.requests {
		i.Subscribe(key, request.Dependencies())
	}
	early := rapid.Bool().Draw(t, "early")
	if early {
		i.SnapshotFor(c.keys()...)
	}

	for _, name := range rapid.Permutation(slices.Sorted(maps.Keys(c.objects))).Draw(t, "order") {
		c.objects[name](i)
	}
	for _, page := range c.pages {
		i.SetDecision(page)
	}
	return i
}

func (c *course) keys() []inventory.Key { return slices.Collect(maps.Keys(c.requests)) }

// incumbents returns the clusters in the decisions of a Placement.
func (c *course) incumbents(key inventory.Key) map[string]bool {
	incumbents := map[string]bool{}
	for _, page := range c.pages {
		if page.Owner == key {
			for _, cluster := range page.Clusters {
				incumbents[cluster] = true
			}
		}
	}
	return incumbents
}

// written returns everything that is written of a result: the told text, the groups of the selected clusters and, for v1alpha1, the
// availability of the clusters in kept decisions.
func written(r *Result, incumbents map[string]bool) string {
	lines := []string{writtenParts(r)}
	for _, f := range r.Selected {
		group := slices.IndexFunc(r.Request.Groups, func(g GroupRule) bool { return g.Selector.Matches(f, &selector.EvalContext{}) })
		lines = append(lines, fmt.Sprintf("%s is in group %d", f.Name, group))
	}

	if r.Request.Availability {
		for _, name := range slices.Sorted(maps.Keys(incumbents)) {
			known := r.Cluster(name)
			lines = append(lines, fmt.Sprintf("%s is available: %v", name, known != nil && known.Available))
		}
	}
	return strings.Join(lines, "\n")
}
