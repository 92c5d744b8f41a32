// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	example = schema.GroupVersion{Group: "example.com", Version: "v1"}
	widgets = Need{GroupVersion: example, Resource: "widgets"}
	gadgets = Need{GroupVersion: example, Kind: "Gadget"}
)

func TestLook(t *testing.T) {
	served := []metav1.APIResource{{Name: "gadgets/status", Kind: "Gadget"}, {Name: "gadgets", Kind: "Gadget"}, {Name: "widgets", Kind: "Widget"}}
	for _, tc := range []struct {
		reason string
		server func(*server)
		want   view
	}{
		{"nothing is there", func(*server) {}, view{
			missing: "CustomResourceDefinition widgets.example.com is not served in version v1; " +
				"the definition of example.com/v1, Kind=Gadget is not served in version v1", identity: "",
		}},
		{"everything is served", func(s *server) {
			s.define("widgets.example.com", "1")
			s.define("gadgets.example.com", "2")
			s.serve("example.com/v1", served...)
		}, view{identity: "1 2"}},
		{"a definition is not served yet", func(s *server) {
			s.define("widgets.example.com", "1")
			s.define("gadgets.example.com", "2")
			s.serve("example.com/v1", served[:2]...)
		}, view{identity: "2", missing: "CustomResourceDefinition widgets.example.com is not served in version v1", soon: true}},
		{"another version is served", func(s *server) {
			s.define("widgets.example.com", "1")
			s.define("gadgets.example.com", "2")
			s.serve("example.com/v2", served...)
		}, view{soon: true, missing: "CustomResourceDefinition widgets.example.com is not served in version v1; " +
			"the definition of example.com/v1, Kind=Gadget is not served in version v1"}},
		{"a definition is served while it is being deleted", func(s *server) {
			s.define("widgets.example.com", "1")
			s.define("gadgets.example.com", "2")
			s.serve("example.com/v1", served...)
			s.terminate("widgets.example.com")
		}, view{identity: "2", missing: "CustomResourceDefinition widgets.example.com is being deleted"}},
		{"another API server serves a kind", func(s *server) {
			s.define("widgets.example.com", "1")
			s.serve("example.com/v1", served...)
		}, view{identity: "1 "}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			of, defined := newServer()
			tc.server(of)
			got, err := defined.look(t.Context(), []Need{widgets, gadgets})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(view{})); diff != "" {
				t.Errorf("view (-want +got):\n%s", diff)
			}
		})
	}
}

// A discovery that fails is an error and not a missing definition.
func TestLookFails(t *testing.T) {
	of, defined := newServer()
	of.fail(errBroken)
	if got, err := defined.look(t.Context(), []Need{widgets}); !errors.Is(err, errBroken) {
		t.Errorf("view %+v and error %v, want %v", got, err, errBroken)
	}
}

// Changes that nobody has looked at are notified once.
func TestNotify(t *testing.T) {
	_, defined := newServer()
	first, second := defined.listen(), defined.listen()
	defined.notify()
	defined.notify()
	for _, listener := range []<-chan struct{}{first, second} {
		if got := len(listener); got != 1 {
			t.Errorf("%d notifications, want 1", got)
		}
	}
}
