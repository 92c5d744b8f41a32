// SPDX-License-Identifier: Apache-2.0

package lists

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/test/property"
)

// definition is that of a list with all filters.
func definition() Definition {
	return Definition{
		Path: "/things", One: "thing", Many: "things", Filters: []string{ByName, ByNamespace, BySet, ByKind, ByState, ByLabel},
		Columns: []Column{
			{
				Key: "name", Title: "Thing", Compare: func(a, b *Object) int { return cmp.Compare(a.Name, b.Name) },
				Cell: func(o *Object) Cell { return Cell{Text: o.Name} },
			},
			{Title: "Message", Cell: func(o *Object) Cell { return Cell{Text: o.Message} }},
		},
	}
}

// fleet returns objects eu-000, us-001, eu-002 and so on, of which every third is bad.
func fleet(n int) []Object {
	objects := make([]Object, 0, n)
	for i := range n {
		region := []string{"eu", "us"}[i%2]
		o := Object{
			Kind: "Thing", Namespace: "team-" + region, Name: fmt.Sprintf("%s-%03d", region, i), State: "Fine", Tone: document.Good,
			Sets: []string{"prod", region}, Labels: map[string]string{"region": region, "gpu": ""}, Claims: map[string]string{"id": region + "/x"},
		}
		if i%3 == 0 {
			o.State, o.Tone, o.Cause, o.Sets = "Broken", document.Bad, "It fell", nil
		}
		objects = append(objects, o)
	}
	return objects
}

func TestFilters(t *testing.T) {
	for _, tc := range []struct {
		query    string
		matching int
		clear    bool
		problem  string
	}{
		{"", 120, false, ""},
		{"name=EU-", 60, true, ""},
		{"name=team-eu/eu-00", 5, true, ""},
		{"namespace=team-us", 60, true, ""},
		{"namespace=team", 0, true, ""},
		{"set=eu", 40, true, ""},
		{"set=-", 40, true, ""},
		{"kind=Thing&state=Broken", 40, true, ""},
		{"cause=It+fell", 40, true, ""},
		{"label=region%3Deu", 60, true, ""},
		{"label=region%3Deu%2C+gpu", 60, true, ""},
		{"label=id%3Dus%2Fx", 60, true, ""},
		{"label=gpu%3Da100", 0, true, ""},
		{"label=%3Deu", 0, true, "write key=value"},
		{"sort=-name", 120, false, ""},
		{"from=100", 120, false, ""},
	} {
		asked, err := url.ParseQuery(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		list := New(definition(), asked, fleet(120))
		if list.Matching != tc.matching || list.Total != 120 || list.Hidden() != 120-tc.matching || (list.Clear != "") != tc.clear {
			t.Errorf("%q: %d of %d, hidden %d, clear %q; want %d", tc.query, list.Matching, list.Total, list.Hidden(), list.Clear, tc.matching)
		}
		for _, field := range list.Fields {
			if field.Name == ByLabel && !strings.HasPrefix(field.Problem, tc.problem) {
				t.Errorf("%q: the problem of the label is %q, want %q", tc.query, field.Problem, tc.problem)
			}
		}
	}
}

// A list shows at most fifty rows, and its links lead through all that match, each once, in the order that was asked for.
func TestPagesHaveEveryRowOnce(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		objects := fleet(rapid.IntRange(0, 180).Draw(t, "objects"))
		asked := url.Values{"name": {rapid.SampledFrom([]string{"", "eu", "us-0", "none"}).Draw(t, "name")}}
		asked.Set("sort", rapid.SampledFrom([]string{"", "name", "-name", "nothing"}).Draw(t, "sort"))
		first := New(definition(), asked, objects)
		var seen []string
		for page := first; ; {
			if len(page.Rows) > RowsShown || len(page.Rows) != page.To-page.From {
				t.Fatalf("a page has %d rows from %d to %d", len(page.Rows), page.From, page.To)
			}
			for _, row := range page.Rows {
				seen = append(seen, row[0].Text)
			}
			if page.Next == "" {
				break
			}
			next, err := url.Parse(page.Next)
			if err != nil || next.Path != "/things" {
				t.Fatalf("the next page is %q: %v", page.Next, err)
			}
			following := New(definition(), next.Query(), objects)
			if following.From != page.To || following.Previous == "" {
				t.Fatalf("after %d comes %d, before that %q", page.To, following.From, following.Previous)
			}
			page = following
		}
		want := []string{}
		for _, o := range objects {
			if strings.Contains(o.Name, asked.Get("name")) {
				want = append(want, o.Name)
			}
		}
		switch asked.Get("sort") {
		case "name":
			slices.Sort(want)
		case "-name":
			slices.Sort(want)
			slices.Reverse(want)
		}
		if len(seen) != first.Matching || !slices.Equal(want, append([]string{}, seen...)) {
			t.Fatalf("the pages have %v, want %v", seen, want)
		}
	})
}

// What is known of the objects of a page alone is asked for once, and for no other object.
func TestThePageIsCompleted(t *testing.T) {
	d, asked := definition(), 0
	d.Complete = func(shown []Object) {
		asked += len(shown)
		for i := range shown {
			shown[i].Message = "asked"
		}
	}
	objects := fleet(60)
	list := New(d, url.Values{"from": {"50"}}, objects)
	if asked != 10 || len(list.Rows) != 10 || list.Rows[9][1].Text != "asked" || list.Objects[9].Message != "asked" || objects[59].Message != "" {
		t.Errorf("asked for %d objects: %v", asked, list.Rows)
	}
	New(d, url.Values{"name": {"none"}}, objects)
	if asked != 10 {
		t.Errorf("asked for %d objects of an empty page", asked-10)
	}
}

// The counts of the states are those of the other filters, and each leads to its objects and back.
func TestStatesAreCounted(t *testing.T) {
	list := New(definition(), url.Values{"namespace": {"team-eu"}, "state": {"Broken"}, "from": {"50"}}, fleet(12))
	want := []Count{
		{State: "Fine", Tone: document.Good, Count: 4, Of: 6, Link: "/things?namespace=team-eu&state=Fine"},
		{State: "Broken", Tone: document.Bad, Count: 2, Of: 6, Link: "/things?namespace=team-eu", Current: true},
	}
	if diff := gocmp.Diff(want, list.States); diff != "" {
		t.Error(diff)
	}
	if list.Heads[0].Link != "/things?namespace=team-eu&sort=name&state=Broken" || list.Heads[1].Link != "" {
		t.Errorf("the heads are %v", list.Heads)
	}
}

// A page after the last one is the first: the URL was kept while objects went away.
func TestAPageThatIsGone(t *testing.T) {
	for _, from := range []string{"50", "9999999999", "-1", "x"} {
		if list := New(definition(), url.Values{"from": {from}}, fleet(3)); list.From != 0 || len(list.Rows) != 3 {
			t.Errorf("from=%s: %d rows from %d", from, len(list.Rows), list.From)
		}
	}
}

// A list whose objects have no states counts none.
func TestObjectsWithoutStatesAreNotCounted(t *testing.T) {
	if shown := New(Definition{Filters: []string{ByName}}, nil, []Object{{Name: "web"}}); len(shown.States) > 0 {
		t.Errorf("the states are %+v", shown.States)
	}
}
