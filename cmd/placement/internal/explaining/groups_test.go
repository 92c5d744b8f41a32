// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGroupArgs(t *testing.T) {
	var o Options
	if err := o.ParseKinds(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][][]string{
		"a/b c/d":                        {{"a/b", "c/d"}},
		"deployment web":                 {{"deployment", "web"}},
		"placement a b":                  {{"placement", "a", "b"}},
		"a b":                            {{"a", "b"}},
		"a/b pod/x b configmap/y pod/z":  {{"a/b"}, {"pod/x"}, {"b"}, {"configmap/y"}, {"pod/z"}},
		"clusterrequest/a deploy/b cm/c": {{"clusterrequest/a"}, {"deploy/b"}, {"cm/c"}},
		"pod a/b":                        {{"pod", "a/b"}},
	} {
		if diff := cmp.Diff(want, o.groupArgs(strings.Fields(text))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
