// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/localplane"
)

func TestAuditCountsWrites(t *testing.T) {
	e := sharedControlPlane(t)
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
	writes, err := e.Writes(localplane.By("auditee"))
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
		writes, err := e.Writes(localplane.By("auditee"))
		if err == nil && len(writes) != len(want)+1 {
			err = fmt.Errorf("%d writes", len(writes))
		}
		return err
	})
}
