package env

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

func TestAuditCountsWrites(t *testing.T) {
	e := sharedEnvironment(t)
	config, err := e.UserConfig("auditee", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	maps := client(t, config).ConfigMaps("default")
	created := createConfigMap(t, config, "audited")
	created.Labels = map[string]string{"changed": "yes"}
	if _, err := maps.Update(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), created.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "waiting for the list in the audit log", func() error {
		events, err := e.Audit()
		if err != nil {
			return err
		}
		for _, event := range events {
			if event.User.Username == "auditee" && event.Verb == "list" {
				return nil
			}
		}
		return fmt.Errorf("not among %d events", len(events))
	})
	writes, err := e.Writes(By("auditee"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, event := range writes {
		got = append(got, fmt.Sprintf("%s %s/%s %d", event.Verb, event.ObjectRef.Resource, event.ObjectRef.Name, event.ResponseStatus.Code))
	}
	want := []string{"create configmaps/audited 201", "update configmaps/audited 200", "delete configmaps/audited 200"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	createConfigMap(t, config, "later")
	eventually(t, "waiting for a later write", func() error {
		writes, err := e.Writes(By("auditee"))
		if err == nil && len(writes) != len(want)+1 {
			err = fmt.Errorf("%d writes", len(writes))
		}
		return err
	})
}

func TestAuditNeedsTheOption(t *testing.T) {
	if _, err := (&Environment{}).Audit(); !errors.Is(err, ErrNoAudit) {
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
