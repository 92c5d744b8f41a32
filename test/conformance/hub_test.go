// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/conformance"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/program"
)

const (
	ocmGroup   = "cluster.open-cluster-management.io"
	ocmManager = "open-cluster-management"
	setName    = "conformance"
	nameLabel  = "conformance/name"
	fleetSpace = "default"
)

var (
	managedClusters = schema.GroupVersionResource{Group: ocmGroup, Version: "v1", Resource: "managedclusters"}
	clusterSets     = schema.GroupVersionResource{Group: ocmGroup, Version: "v1beta2", Resource: "managedclustersets"}
	setBindings     = schema.GroupVersionResource{Group: ocmGroup, Version: "v1beta2", Resource: "managedclustersetbindings"}
	placements      = schema.GroupVersionResource{Group: ocmGroup, Version: "v1beta1", Resource: "placements"}
)

// serving matches the address that the hub writes to its log.
var serving = regexp.MustCompile(`address="?(127\.0\.0\.1:\d+)`)

// hub has the built hub decide by Placements: it is a conformance.Driver, Fleet and Restarter.
type hub struct {
	*plane
	t       *testing.T
	running *program.Program
	// ownProfiles reports whether the hub makes the ClusterProfiles itself.
	ownProfiles bool
}

var (
	_ conformance.Driver    = (*hub)(nil)
	_ conformance.Fleet     = (*hub)(nil)
	_ conformance.Restarter = (*hub)(nil)
)

// PD19: the hub, as a process with its default options, on ClusterProfiles as Open Cluster Management makes them.
// See docs/spec/ecosystem.md E20.
func TestTheHubIsConformantAtStrict(t *testing.T) { testConformantAtStrict(t, false) }

// PD19: the hub on the ClusterProfiles of its controller clusterprofiles.
// See docs/spec/ecosystem.md E20.
func TestTheHubIsConformantAtStrictWithItsOwnProfiles(t *testing.T) { testConformantAtStrict(t, true) }

func testConformantAtStrict(t *testing.T, ownProfiles bool) {
	t.Helper()
	p := startPlane(t, localplane.Options{ControllerManager: true}, "manifests/crds/*_*.yaml", profileDefinitions)
	h := &hub{plane: p, t: t, ownProfiles: ownProfiles}
	h.create(t, schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "v1", "Namespace", "", "open-cluster-management-hub", nil)
	program.Must(t, h.Start(t.Context()))

	suite := conformance.New(t, conformance.Options{
		Implementation: "placement-hub", Config: p.config(), Timeout: time.Minute, Quiet: 3 * time.Second, ReportDirectory: t.TempDir(),
	})
	t.Run("CRD", suite.TestCRD)
	t.Run("producer", func(t *testing.T) { suite.TestProducer(t, h) })
	if report := suite.Report(); !report.Conformant(conformance.Strict) {
		t.Errorf("PD19: the hub is not conformant at the level Strict: %+v", report.Levels)
	}
	program.Must(t, h.Kill(t.Context()))
}

// create creates an object of any kind.
func (h *hub) create(t *testing.T, resource schema.GroupVersionResource, apiVersion, kind, namespace, name string, fields map[string]any) {
	t.Helper()
	program.Must(t, h.createObject(t.Context(), resource, apiVersion, kind, namespace, name, fields))
}

func (h *hub) createObject(
	ctx context.Context, resource schema.GroupVersionResource, apiVersion, kind, namespace, name string, fields map[string]any,
) error {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	maps.Copy(o.Object, fields)
	o.SetName(name)
	o.SetNamespace(namespace)
	if _, err := h.dynamic.Resource(resource).Namespace(namespace).Create(ctx, o, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create %s %s/%s: %w", kind, namespace, name, err)
	}
	return nil
}

// Profiles makes ManagedClusters in one set, each with the ClusterProfile that Open Cluster Management makes of it. A hub with profiles of its own
// makes them for a binding of the set.
func (h *hub) Profiles(ctx context.Context, n int) ([]conformance.ProfileRef, error) {
	if err := h.createObject(ctx, clusterSets, ocmGroup+"/v1beta2", "ManagedClusterSet", "", setName, map[string]any{
		"spec": map[string]any{"clusterSelector": map[string]any{"selectorType": "ExclusiveClusterSetLabel"}},
	}); err != nil {
		return nil, err
	}
	if h.ownProfiles {
		if err := h.bind(ctx, fleetSpace, nil); err != nil {
			return nil, err
		}
	}
	profiles := make([]conformance.ProfileRef, 0, n)
	for i := range n {
		name := fmt.Sprintf("cluster-%03d", i)
		if err := h.createObject(ctx, managedClusters, ocmGroup+"/v1", "ManagedCluster", "", name, map[string]any{
			"metadata": map[string]any{"labels": map[string]any{ocmGroup + "/clusterset": setName, nameLabel: name}},
			"spec":     map[string]any{"hubAcceptsClient": true},
		}); err != nil {
			return nil, err
		}
		profiles = append(profiles, conformance.ProfileRef{Namespace: fleetSpace, Name: name})
		if h.ownProfiles {
			continue
		}
		profile := &inventory.ClusterProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: fleetSpace, Name: name, Labels: map[string]string{
				inventory.LabelClusterManagerKey: ocmManager, "open-cluster-management.io/cluster-name": name,
			}},
			Spec: inventory.ClusterProfileSpec{DisplayName: name, ClusterManager: inventory.ClusterManager{Name: ocmManager}},
		}
		if _, err := h.profiles.ApisV1alpha1().ClusterProfiles(fleetSpace).Create(ctx, profile, metav1.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("create ClusterProfile %s: %w", name, err)
		}
	}
	program.Eventually(h.t, "waiting for the ClusterProfiles", func() error {
		list, err := h.profiles.ApisV1alpha1().ClusterProfiles(fleetSpace).List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != n {
			return fmt.Errorf("there are %d of %d: %w", len(list.Items), n, err)
		}
		return nil
	})
	return profiles, nil
}

// bind binds the set to a namespace.
func (h *hub) bind(ctx context.Context, namespace string, labels map[string]any) error {
	return h.createObject(ctx, setBindings, ocmGroup+"/v1beta2", "ManagedClusterSetBinding", namespace, setName, map[string]any{
		"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"clusterSet": setName},
	})
}

// Decide creates or updates a Placement that selects the clusters of profiles by their names.
func (h *hub) Decide(ctx context.Context, placement types.NamespacedName, profiles []conformance.ProfileRef) error {
	names := []any{"none"}
	for _, profile := range profiles {
		names = append(names, profile.Name)
	}
	spec := map[string]any{"predicates": []any{map[string]any{"requiredClusterSelector": map[string]any{"labelSelector": map[string]any{
		"matchExpressions": []any{map[string]any{"key": nameLabel, "operator": "In", "values": names}},
	}}}}}
	existing, err := h.dynamic.Resource(placements).Namespace(placement.Namespace).Get(ctx, placement.Name, metav1.GetOptions{})
	if err == nil {
		existing.Object["spec"] = spec
		_, err = h.dynamic.Resource(placements).Namespace(placement.Namespace).Update(ctx, existing, metav1.UpdateOptions{})
	} else if apierrors.IsNotFound(err) {
		// The profiles are those of fleetSpace, of which the suite knows.
		if err = h.bind(ctx, placement.Namespace, map[string]any{"placement-hub.open-cluster-management.io/cluster-profiles": "false"}); err == nil {
			err = h.createObject(ctx, placements, ocmGroup+"/v1beta1", "Placement", placement.Namespace, placement.Name, map[string]any{"spec": spec})
		}
	}
	if err != nil {
		return fmt.Errorf("write Placement %s: %w", placement, err)
	}
	return nil
}

// Delete deletes the Placement.
func (h *hub) Delete(ctx context.Context, placement types.NamespacedName) error {
	if err := h.dynamic.Resource(placements).Namespace(placement.Namespace).Delete(ctx, placement.Name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete Placement %s: %w", placement, err)
	}
	return nil
}

// Kill kills the process.
func (h *hub) Kill(context.Context) error {
	h.running.Signal(h.t, syscall.SIGKILL)
	if code := h.running.ExitCode(h.t); code != -1 {
		return fmt.Errorf("the hub ended with code %d by itself; %s", code, h.running)
	}
	return nil
}

// Start starts the process and returns when it has evaluated all Placements.
func (h *hub) Start(ctx context.Context) error {
	binary, err := filepath.Abs(filepath.Join(repository, "bin", "placement"))
	if err != nil {
		return fmt.Errorf("find the hub: %w", err)
	}
	args := []string{
		"controller", "--kubeconfig", h.kubeconfig(h.t), "--listen=127.0.0.1:0", "--disable-leader-election", "--sig-placement-decisions",
	}
	if h.ownProfiles {
		args = append(args, "--controllers=placement,clusterprofiles")
	}
	h.running = program.Start(h.t, h.t, binary, nil, args...) //nolint:contextcheck // The process outlives the call.
	insecure := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	defer insecure.CloseIdleConnections()
	program.Eventually(h.t, "waiting for the hub to be ready", func() error {
		if h.running.Ended() {
			h.t.Fatalf("the hub ended; %s", h.running)
		}
		found := serving.FindStringSubmatch(h.running.Stderr.String())
		if found == nil {
			return errors.New("it does not serve yet")
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+found[1]+"/readyz/evaluation", http.NoBody)
		program.Must(h.t, err)
		response, err := insecure.Do(request)
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d: %w", response.StatusCode, err)
		}
		return nil
	})
	return nil
}
