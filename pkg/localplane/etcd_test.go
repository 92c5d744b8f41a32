// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDeleteKeysLeavesLongerNames(t *testing.T) {
	var got map[string][]byte
	etcd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		if _, err := w.Write([]byte(`{"header":{},"deleted":"3"}`)); err != nil {
			t.Error(err)
		}
	}))
	defer etcd.Close()

	deleted, err := DeleteKeys(t.Context(), []string{"http://127.0.0.1:1", etcd.URL}, "/clusters/team/c")
	if err != nil || deleted != 3 {
		t.Fatalf("deleted %d keys (%v), want 3 from the member that answers", deleted, err)
	}
	start, end := string(got["key"]), string(got["range_end"])
	for key, want := range map[string]bool{
		"/clusters/team/c/configmaps/a": true, "/clusters/team/c/~": true, "/clusters/team/c2/configmaps/a": false,
		"/clusters/team/c.b/configmaps/a": false, "/clusters/team/c-b/configmaps/a": false, "/registry/configmaps/a": false,
	} {
		if in := start <= key && key < end; in != want {
			t.Errorf("key %s is in the range: %t, want %t", key, in, want)
		}
	}
}

func TestDeleteKeysNamesMembersThatDoNotAnswer(t *testing.T) {
	_, err := DeleteKeys(t.Context(), []string{"http://127.0.0.1:1"}, "/clusters/team/c")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "/clusters/team/c") {
		t.Errorf("got %v, want an error with the URL and the prefix", err)
	}
}
