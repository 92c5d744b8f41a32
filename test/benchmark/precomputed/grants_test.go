// SPDX-License-Identifier: Apache-2.0

package precomputed

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// grantServer remembers the requests. Each response has the next version.
type grantServer struct {
	t         *testing.T
	mu        sync.Mutex
	requests  []string
	version   int
	conflicts int // that the patches of Clusters still get
}

func (s *grantServer) note(request string) (version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, request)
	s.version++
	return strconv.Itoa(s.version)
}

func (s *grantServer) body(object client.Object, patch client.Patch) string {
	body, err := patch.Data(object)
	if err != nil {
		s.t.Error(err)
	}
	return string(body)
}

func (s *grantServer) client() client.Client {
	return fake.NewClientBuilder().WithScheme(system.Scheme()).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			object.SetResourceVersion(s.note("create " + object.GetName()))
			return nil
		},
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
			object.SetFinalizers([]string{"of-the-provider"})
			object.SetResourceVersion(s.note("get " + key.Name))
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if manager := (&client.PatchOptions{}).ApplyOptions(options).FieldManager; manager != "placement-hub" {
				s.t.Errorf("the field manager is %q", manager)
			}
			version := s.note("patch " + object.GetName() + " " + s.body(object, patch))
			if s.conflicts > 0 && object.GetObjectKind().GroupVersionKind().Kind == "Cluster" {
				s.conflicts--
				return apierrors.NewConflict(openmcpv1alpha1.GroupVersion.WithResource("clusters").GroupResource(), object.GetName(), nil)
			}
			object.SetResourceVersion(version)
			return nil
		},
		SubResourcePatch: func(
			_ context.Context, _ client.Client, of string, object client.Object, patch client.Patch, _ ...client.SubResourcePatchOption,
		) error {
			object.SetResourceVersion(s.note("patch " + of + " of " + object.GetName() + " " + s.body(object, patch)))
			return nil
		},
	}).Build()
}

func granted(name string, statuses int) Granted {
	return Granted{
		Grant:    openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}},
		Statuses: make([]openmcpv1alpha1.ClusterRequestStatus, statuses),
	}
}

func TestTheGrantWriterSendsWhatTheHubSends(t *testing.T) {
	state := func(finalizers ...string) openmcpv1alpha1.Cluster {
		return openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "c", Finalizers: finalizers,
			Annotations: map[string]string{openmcpv1alpha1.PrefixesAnnotation: strings.Join(finalizers, "+")},
		}}
	}
	request := openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "r", ResourceVersion: "0"}}
	server := &grantServer{t: t, conflicts: 1}
	err := NewGrantWriter(server.client()).Write(t.Context(), []openmcpv1alpha1.ClusterRequest{request}, []GrantedCluster{{
		States: []openmcpv1alpha1.Cluster{state("a"), state("a", "b")}, Requests: []Granted{granted("r", 2)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`patch r {"metadata":{"finalizers":["cluster.openmcp.cloud/request"],"resourceVersion":"0"}}`,
		"create c",
		`patch c {"metadata":{"annotations":{"cluster.openmcp.cloud/prefixes":"a+b"},"finalizers":["a","b"],"resourceVersion":"2"}}`,
		"get c",
		`patch c {"metadata":{"annotations":{"cluster.openmcp.cloud/prefixes":"a+b"},` +
			`"finalizers":["of-the-provider","a","b"],"resourceVersion":"4"}}`,
		"create r",
		`patch status of r {"metadata":{"resourceVersion":"1"},"status":{}}`,
		`patch status of r {"metadata":{"resourceVersion":"7"},"status":{}}`,
	}
	if diff := cmp.Diff(want, server.requests); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestManyGrantsAreWrittenAtATime(t *testing.T) {
	server := &grantServer{t: t}
	var (
		requests []openmcpv1alpha1.ClusterRequest
		cluster  GrantedCluster
	)
	cluster.States = []openmcpv1alpha1.Cluster{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c"}}}
	for i := range 50 {
		name := strconv.Itoa(i)
		requests = append(requests, openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
		cluster.Requests = append(cluster.Requests, granted(name, 1))
	}
	if err := NewGrantWriter(server.client()).Write(t.Context(), requests, []GrantedCluster{cluster}); err != nil {
		t.Fatal(err)
	}
	if got, want := len(server.requests), 3*50+1; got != want || slices.Index(server.requests, "create c") != 50 {
		t.Errorf("%d requests, want %d; the Cluster is request %d", got, want, slices.Index(server.requests, "create c"))
	}
	if err := NewGrantWriter(server.client()).Grant(t.Context(), &cluster.Requests[0]); err == nil {
		t.Error("a request without a finalizer is granted")
	}
}

func TestGrantScriptSurvivesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grants.json")
	script := &GrantScript{Grants: []Granted{granted("r", 1)}}
	if err := script.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	got, err := ReadGrantFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	read, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(read)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
