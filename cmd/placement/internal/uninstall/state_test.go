// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/test/expect"
)

// What the hub has written is found and deleted in the version that was read; what cannot be read or deleted is named, and the rest goes on.
func TestStateOfAHub(t *testing.T) {
	const inHub = "/api/v1/namespaces/hub/"
	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	all := []Written{
		{Resource: configMaps, Name: "address", About: "an address"}, {Resource: configMaps, Name: "gone", About: "nothing"},
		{Resource: configMaps, Name: "changed", About: "words"}, {Resource: secrets, Name: "keys", About: "keys"},
	}
	hub, _ := fakeHub(t, map[string][]answer{
		"GET " + inHub + "configmaps/address":    {{http.StatusOK, metadataOf("address", "3")}},
		"GET " + inHub + "configmaps/gone":       {status(http.StatusNotFound, metav1.StatusReasonNotFound)},
		"GET " + inHub + "configmaps/changed":    {{http.StatusOK, metadataOf("changed", "7")}},
		"GET " + inHub + "secrets/keys":          {status(http.StatusForbidden, metav1.StatusReasonForbidden)},
		"DELETE " + inHub + "configmaps/address": {status(http.StatusNotFound, metav1.StatusReasonNotFound)},
		"DELETE " + inHub + "configmaps/changed": {status(http.StatusConflict, metav1.StatusReasonConflict)},
	})

	found, err := hub.FindState(t.Context(), "hub", all)
	expect.Error(t, err, []string{"reading secrets hub/keys"})
	var printed bytes.Buffer
	expect.NoError(t, PrintState(&printed, found))
	want := "namespace hub: written by the hub\n  - configmaps address: an address\n  - configmaps changed: words\n"
	if diff := cmp.Diff(want, printed.String()); diff != "" {
		t.Fatalf("printed (-want +got):\n%s", diff)
	}
	expect.NoError(t, hub.DeleteState(t.Context(), found[0])) // Somebody else has deleted it.
	expect.Error(t, hub.DeleteState(t.Context(), found[1]), []string{"deleting configmaps hub/changed", "stop the hub, and repeat the command"})
}
