// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

func TestAuditNeedsTheOption(t *testing.T) {
	if _, err := (&ControlPlane{}).Audit(); !errors.Is(err, ErrNoAudit) {
		t.Errorf("got %v, want ErrNoAudit", err)
	}
}

func TestParseAudit(t *testing.T) {
	line := func(stage, verb string) string { return fmt.Sprintf(`{"stage":%q,"verb":%q}`+"\n", stage, verb) }
	cases := []struct {
		reason, log string
		want        []string
		fails       bool
	}{
		{reason: "an empty log has no events"},
		{reason: "only finished requests count", log: line("ResponseStarted", "watch") + line("ResponseComplete", "get"), want: []string{"get"}},
		{reason: "a line that is being written is left out", log: line("ResponseComplete", "get") + `{"stage":"Respo`, want: []string{"get"}},
		{
			reason: "what the caller does not want is left out",
			log:    line("ResponseComplete", "list") + line("ResponseComplete", "get"), want: []string{"get"},
		},
		{reason: "a broken line is an error", log: "{\n", fails: true},
	}
	for _, c := range cases {
		events, read, err := parseAudit(strings.NewReader(c.log), func(e *auditv1.Event) bool { return e.Verb != "list" })
		if (err != nil) != c.fails {
			t.Errorf("%s: error %v", c.reason, err)
		}
		var got []string
		for _, event := range events {
			got = append(got, event.Verb)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
		if want := int64(strings.LastIndex(c.log, "\n") + 1); !c.fails && read != want {
			t.Errorf("%s: read %d bytes, want %d", c.reason, read, want)
		}
	}
}
