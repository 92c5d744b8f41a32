// SPDX-License-Identifier: Apache-2.0

package loopback

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	loopbackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcploopback/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

var (
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	webAt = types.NamespacedName{Namespace: "shop", Name: "web"}
)

// config returns a ProviderConfig with profiles of one version each.
func config(name, provider, version string, profiles ...openmcpv1alpha1.ProfileName) *loopbackv1alpha1.ProviderConfig {
	c := &loopbackv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.ProviderRef.Name = provider
	for _, profile := range profiles {
		c.Spec.Profiles = append(c.Spec.Profiles, loopbackv1alpha1.Profile{
			Name: profile, Versions: []openmcpv1alpha1.SupportedVersion{{Version: version}},
			Traits: []openmcpv1alpha1.SupportedTrait{{Trait: "infrastructure/local"}},
		})
	}
	return c
}

func TestProfiles(t *testing.T) {
	deleted := config("deleted", "local", "1.1.0", "deleted")
	deleted.DeletionTimestamp, deleted.Finalizers = &metav1.Time{Time: start}, []string{"example.com/x"}

	hub := fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(
		config("b", "local", "1.3.0", "small", "large"), config("a", "local", "1.2.0", "small"), config("c", "other", "1.4.0", "foreign"), deleted,
	).Build()

	profiles, err := New(Options{Name: "local"}).Profiles(t.Context(), hub)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, profile := range profiles {
		got = append(got, string(profile.Name)+" "+profile.SupportedVersions[0].Version+" of "+profile.ProviderConfigRef.Name)
	}

	if diff := cmp.Diff([]string{"small 1.2.0 of a", "large 1.3.0 of b"}, got); diff != "" {
		t.Errorf("cluster-request 4.4: of two profiles of a name the first ProviderConfig counts (-want +got):\n%s", diff)
	}
	if none, err := New(Options{Name: "nobody"}).Profiles(t.Context(), hub); err != nil || len(none) > 0 {
		t.Errorf("profiles of a provider without a ProviderConfig: %v, %v", none, err)
	}
}

// broken returns a Provider whose API servers do not start, because there is no program.
func broken(t *testing.T) (*Provider, *clocktesting.FakePassiveClock) {
	t.Helper()
	clock := clocktesting.NewFakePassiveClock(start)
	directory := t.TempDir()

	p := New(Options{
		Name: "local", APIServer: filepath.Join(directory, "no-such-program"), Etcd: []string{"http://127.0.0.1:1"}, DataDir: directory, Clock: clock,
	})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, clock
}

// reason calls Ensure, waits for the end of a start that has begun, and returns the reason of a second call.
func reason(t *testing.T, p *Provider, cluster *openmcpv1alpha1.Cluster) string {
	t.Helper()
	if _, err := p.Ensure(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	s := p.servers[client.ObjectKeyFromObject(cluster)]
	s.mu.Lock()
	done := s.done
	s.mu.Unlock()
	<-done

	state, err := p.Ensure(t.Context(), cluster)
	if err != nil || state.Healthy || state.Again <= 0 {
		t.Fatalf("%+v, %v", state, err)
	}
	return state.Reason
}

func web() *openmcpv1alpha1.Cluster {
	return &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: webAt.Namespace, Name: webAt.Name}}
}

func TestFailedStartsAreRepeated(t *testing.T) {
	p, clock := broken(t)
	if got := reason(t, p, web()); got != ReasonStartFailed {
		t.Fatalf("reason %s", got)
	}
	s := p.servers[webAt]
	failures := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.failures
	}
	if failures() != 1 {
		t.Errorf("%d failures before the time of the next start", failures())
	}

	clock.SetTime(start.Add(firstRetry))
	if got := reason(t, p, web()); got != ReasonStartFailed || failures() != 2 {
		t.Errorf("%s, %d failures after the first pause", got, failures())
	}
	clock.SetTime(start.Add(2*firstRetry + time.Second))
	reason(t, p, web())
	if failures() != 2 {
		t.Errorf("%d failures: the pause has not doubled", failures())
	}

	if _, err := p.Admin(t.Context(), web()); err == nil || !strings.Contains(err.Error(), "shop/web does not run") {
		t.Errorf("access to a cluster that does not run: %v", err)
	}
}

func TestForgottenClustersDoNotRun(t *testing.T) {
	p, _ := broken(t)
	reason(t, p, web())
	if err := p.Forget(t.Context(), webAt); err != nil {
		t.Fatal(err)
	}
	if len(p.servers) > 0 {
		t.Errorf("servers %v", p.servers)
	}

	if err := p.Forget(t.Context(), webAt); err != nil {
		t.Errorf("a Cluster that is forgotten twice: %v", err)
	}
}

func TestAClosedProviderStartsNothing(t *testing.T) {
	p, _ := broken(t)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Ensure(t.Context(), web()); err == nil || len(p.servers) > 0 {
		t.Errorf("%v, servers %v", err, p.servers)
	}
}

// Names of objects are parts of paths and of etcd prefixes: those of two Clusters are different.
func TestPathsOfClusters(t *testing.T) {
	p := New(Options{DataDir: "/data"})
	a, b := types.NamespacedName{Namespace: "a", Name: "b-c"}, types.NamespacedName{Namespace: "a-b", Name: "c"}
	if p.directory(a) != "/data/clusters/a/b-c" || p.directory(a) == p.directory(b) || prefix(a) == prefix(b) ||
		p.agentDirectory(a) == p.directory(a) {
		t.Errorf("%s, %s, %s, %s", p.directory(a), p.directory(b), prefix(a), prefix(b))
	}
}
