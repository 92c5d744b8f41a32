package decision

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// confirmedAnnotation is on a page that was written for its resourceVersion to change, and nothing else. It names the pages that rely on
// it, with the versions they had then, so that a plan that is tried again need not confirm again.
const confirmedAnnotation = "placement-hub.open-cluster-management.io/confirmed"

// A page may give a staying cluster away because it stands in another one. If two processes did that at the same time, each with another
// view of the clusters, each could rely on the page that the other one writes: no write would be refused, because no page was written
// twice, and the cluster would stand nowhere.
//
// So the page that is relied on is always written first, by the same plan. Whoever wants to take the cluster out of that page has either
// seen this write, and then writes the page that gives the cluster away before, which refuses ours, or has not seen it, and is refused.
// Mostly the plan has written that page anyway, because the cluster came into it. Where it stood in both from the start, which is what a
// plan leaves that was cut off, or a rival, the page is confirmed: written without a change of what it says. A confirmation holds as long as
// the page that relies on it has not changed: who has seen it since has not written that page.

// confirmed adds the confirmations that the writes and deletes need. Both are in the order in which they are carried out.
func confirmed(present Present, pages []Page, writes []Write, deletes []*record.Page) []Write {
	s := newSupport(present, pages, writes, deletes)
	if len(s.stands) == 0 {
		return writes
	}

	result := make([]Write, 0, len(writes)+1)

	for _, write := range writes {
		name := write.Desired.Name
		result = append(append(result, s.giveAway(name, gone(write))...), write)
		s.written[name] = true

		for _, decision := range write.Desired.Decisions {
			if names, given := s.stands[decision.Cluster]; given && !slices.Contains(names, name) {
				s.stands[decision.Cluster] = append(names, name)
			}
		}
	}

	for _, page := range deletes {
		result = append(result, s.giveAway(page.Name, page.Clusters())...)
	}

	return result
}

// gone are the clusters that a page which exists has no more after a write.
func gone(write Write) []string {
	if write.Current == nil {
		return nil
	}

	stays := make(map[string]bool, len(write.Desired.Decisions))
	for _, decision := range write.Desired.Decisions {
		stays[decision.Cluster] = true
	}

	return slices.DeleteFunc(write.Current.Clusters(), func(cluster string) bool { return stays[cluster] })
}

// support is where the clusters stand, on the way, that some page gives away and that stay.
type support struct {
	current map[string]*record.Page
	// stands are the names of the pages that hold such a cluster, and keepers those of the pages that are to hold it.
	stands  map[string][]string
	keepers map[string]string
	// written are the pages that the plan has written by then.
	written map[string]bool
}

func newSupport(present Present, pages []Page, writes []Write, deletes []*record.Page) *support {
	s := &support{
		current: map[string]*record.Page{}, stands: map[string][]string{}, keepers: map[string]string{}, written: map[string]bool{},
	}
	given := map[string]bool{}

	for _, write := range writes {
		for _, cluster := range gone(write) {
			given[cluster] = true
		}
	}

	for _, page := range deletes {
		for _, cluster := range page.Clusters() {
			given[cluster] = true
		}
	}

	if len(given) == 0 {
		return s
	}

	for _, page := range pages {
		for _, cluster := range page.Clusters {
			if given[cluster] {
				s.keepers[cluster] = page.Name
			}
		}
	}

	for _, page := range present.Pages {
		s.current[page.Name] = page

		for _, decision := range page.Decisions {
			if s.keepers[decision.Cluster] != "" {
				s.stands[decision.Cluster] = append(s.stands[decision.Cluster], page.Name)
			}
		}
	}

	return s
}

// giveAway confirms the pages that a page relies on when it gives these clusters away.
func (s *support) giveAway(giver string, clusters []string) []Write {
	var confirmations []Write

	for _, cluster := range clusters {
		others, stays := s.stands[cluster]
		if !stays {
			continue
		}

		others = slices.DeleteFunc(others, func(name string) bool { return name == giver })

		s.stands[cluster] = others
		if len(others) == 0 || slices.ContainsFunc(others, func(name string) bool { return s.written[name] || s.confirms(name, giver) }) {
			continue
		}

		relied := others[0]
		if keeper := s.keepers[cluster]; slices.Contains(others, keeper) {
			relied = keeper
		}

		confirmations = append(confirmations, s.confirmation(s.current[relied], giver))
		s.written[relied] = true
	}

	return confirmations
}

// confirms reports whether a page was confirmed for another one as that is now.
func (s *support) confirms(name, giver string) bool {
	relied, relies := s.current[name], s.current[giver]

	return relied != nil && relies != nil && slices.Contains(confirmations(relied), asOf(relies))
}

// confirmations are the pages, with their versions, that a page was confirmed for.
func confirmations(page *record.Page) []string {
	return strings.FieldsFunc(page.Annotations[confirmedAnnotation], func(r rune) bool { return r == ',' })
}

func asOf(page *record.Page) string { return page.Name + "@" + page.ResourceVersion }

// confirmation writes a page that the plan has not touched, as it is, for one that relies on it.
func (s *support) confirmation(current *record.Page, giver string) Write {
	relying := slices.DeleteFunc(confirmations(current), func(earlier string) bool {
		name, _, _ := strings.Cut(earlier, "@")

		return s.current[name] == nil || asOf(s.current[name]) != earlier
	})
	desired := *current
	desired.ObjectMeta = metav1.ObjectMeta{
		Namespace: current.Namespace, Name: current.Name, UID: current.UID, ResourceVersion: current.ResourceVersion, Labels: current.Labels,
		OwnerReferences: current.OwnerReferences, Annotations: maps.Clone(current.Annotations),
	}
	metav1.SetMetaDataAnnotation(&desired.ObjectMeta, confirmedAnnotation, strings.Join(append(relying, asOf(s.current[giver])), ","))

	return Write{Current: current, Desired: &desired, Confirm: true}
}
