// SPDX-License-Identifier: Apache-2.0

package setlist_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/setlist"
)

func TestSets(t *testing.T) {
	list := setlist.List{Namespace: "team", Hidden: ptr.To(7), Sets: []setlist.Set{
		{Name: "edge", Bound: true, Managed: true}, {Name: "gone", Bound: true, Missing: true}, {Name: "prod", MayBind: true},
	}}
	for _, tc := range []struct {
		format printers.Format
		list   setlist.List
		want   string
	}{
		{printers.FormatTable, list, `namespace team: 2 sets bound, 1 that you may bind, 7 others
  SET   BOUND                          YOU MAY BIND IT
  edge  by RBAC                        no
  gone  yes, but there is no such set  no
  prod  no                             yes
`},
		{
			printers.FormatTable, setlist.List{Sets: []setlist.Set{
				{Name: "edge", Bound: true, Namespaces: []string{"apps", "team"}}, {Name: "prod", MayBind: true},
			}},
			"all namespaces: 1 sets bound, 1 that you may bind\n  SET   BOUND  YOU MAY BIND IT  NAMESPACES\n" +
				"  edge  yes    no               apps, team\n  prod  no     yes              -\n",
		},
		{printers.FormatTable, setlist.List{Namespace: "team", Unlisted: "no"}, "namespace team: 0 sets bound, 0 that you may bind\n"},
		{printers.FormatName, list, "edge\ngone\nprod\n"},
		{printers.FormatYAML, list, `hidden: 7
namespace: team
sets:
- bound: true
  managed: true
  mayBind: false
  name: edge
- bound: true
  mayBind: false
  missing: true
  name: gone
- bound: false
  mayBind: true
  name: prod
`},
		{
			printers.FormatJSON, setlist.List{Namespace: "team", Sets: []setlist.Set{}, Unlisted: "no"},
			"{\n  \"namespace\": \"team\",\n  \"sets\": [],\n  \"unlisted\": \"no\"\n}\n",
		},
	} {
		t.Run(string(tc.format), func(t *testing.T) {
			var out bytes.Buffer
			if err := printers.Print(&out, tc.format, tc.list, printers.Style{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("Sets() (-want +got):\n%s", diff)
			}
		})
	}
}
