// SPDX-License-Identifier: Apache-2.0

package life

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/kubelet"
)

const (
	upstreamImage      = "quay.io/open-cluster-management/placement:v1.2.0"
	upstreamDeployment = "deployment/cluster-manager-placement-controller"
	// team is the namespace of the Placements, and taken that of the clusters' set.
	team, fleet = "team", "fleet"
	// clusters is how many clusters there are: more than a page of decisions has.
	clusters = 110
)

// TestReplaceUpstream starts with decisions that the placement controller of Open Cluster Management has written, installed by its own manifests.
// The hub takes its place in both ways of docs/operator-managed.md, and gives it back: with another image in upstream's Deployment and no
// other rights, and beside it with the overlay. Whoever leads decides a new Placement, and writes no decision that is there.
func TestReplaceUpstream(t *testing.T) {
	upstream, err := binaries.FindOCM(binaries.UpstreamPlacement)
	suite.Must(t, err)
	i := start(t, map[string]kubelet.Program{upstreamImage: {
		Path: upstream.Path, Command: "/placement", Listen: map[string]string{"8443": "--listen"},
		Flags: []string{"--kubeconfig=$KUBECONFIG", "--namespace=$NAMESPACE"},
	}})
	i.installUpstream(t)
	i.createFleet(t)
	i.waitForPods(t, upstreamImage, 1)
	i.createPlacements(t)
	before := i.decisions(t)

	for n, step := range []struct {
		name string
		do   func(*testing.T)
	}{
		{"the image of the hub", i.useHub},
		{"the image of upstream again", i.useUpstream},
		{"the hub beside upstream", i.runBeside},
		{"upstream instead of the hub", i.runUpstream},
	} {
		t.Run(step.name, func(t *testing.T) {
			step.do(t)
			name := fmt.Sprintf("after-%d", n)
			i.createPlacement(t, name, clusterv1beta1.PlacementSpec{NumberOfClusters: new(int32(3))})
			i.waitForDecisions(t, name)
			after := i.decisions(t)
			for page, was := range before {
				if diff := cmp.Diff(was, after[page]); diff != "" {
					t.Errorf("%s (-before +after):\n%s", page, diff)
				}
			}
			before = after
		})
		if t.Failed() {
			return
		}
	}
}

// installUpstream applies the manifests of the module that the binary is built from.
func (i *installation) installUpstream(t *testing.T) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/ocm")
	list.Dir = filepath.Join(i.root, "test", "ocm")
	output, err := list.Output()
	if err != nil {
		t.Fatalf("looking for the module of Open Cluster Management, which `make assets-upstream` downloads: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(output)), "manifests", "cluster-manager")
	var files []string
	for _, pattern := range []string{"hub/crds/*clusters.open-cluster-management.io_*", "hub/placement/*", "management/placement/deployment.yaml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		suite.Must(t, err)
		if len(found) == 0 {
			t.Fatalf("no manifests like %s in %s", pattern, root)
		}
		files = append(files, found...)
	}
	suite.Must(t, i.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: manifests.Namespace}}))
	for _, file := range files {
		content, err := os.ReadFile(file)
		suite.Must(t, err)
		parsed, err := template.New(file).Funcs(template.FuncMap{"indent": func(int, string) (string, error) {
			return "", errors.New("the manifests have another form")
		}}).Parse(string(content))
		suite.Must(t, err)
		var text bytes.Buffer
		suite.Must(t, parsed.Execute(&text, map[string]any{
			"ClusterManagerName": "cluster-manager", "ClusterManagerNamespace": manifests.Namespace, "Labels": map[string]string{},
			"Replica": 1, "PlacementImage": upstreamImage, "HostedMode": false, "ImagePullSecret": "", "ResourceRequirementResourceType": "Default",
		}))
		objects, err := manifests.Decode(&text, file)
		suite.Must(t, err)
		suite.Must(t, manifests.Apply(t.Context(), i.Environment.AdminConfig(), objects))
	}
}

// createFleet creates the clusters of a set, and a namespace that the set is bound to. Every tenth cluster has a taint.
func (i *installation) createFleet(t *testing.T) {
	t.Helper()
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: fleet}}
	set.Spec.ClusterSelector.SelectorType = clusterv1beta2.ExclusiveClusterSetLabel
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team}}, set,
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: fleet}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: fleet},
		},
	}
	for n := range clusters {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("cluster-%03d", n), Labels: map[string]string{
				clusterv1beta2.ClusterSetLabel: fleet, "stage": []string{"canary", "prod"}[min(1, n/20)],
			},
		}}
		if n%10 == 0 {
			cluster.Spec.Taints = []clusterv1.Taint{{Key: "maintenance", Effect: clusterv1.TaintEffectNoSelect, TimeAdded: metav1.Now()}}
		}
		objects = append(objects, cluster)
	}
	for _, object := range objects {
		suite.Must(t, i.Client.Create(t.Context(), object))
		if cluster, isCluster := object.(*clusterv1.ManagedCluster); isCluster {
			memory := resource.NewQuantity(int64(len(cluster.Name))<<30+int64(len(objects)), resource.BinarySI)
			cluster.Status.Allocatable = clusterv1.ResourceList{clusterv1.ResourceMemory: *memory}
			cluster.Status.Capacity = cluster.Status.Allocatable
			suite.Must(t, i.Client.Status().Update(t.Context(), cluster))
		}
	}
}

// createPlacements creates a Placement for each way to choose, and waits for their decisions.
func (i *installation) createPlacements(t *testing.T) {
	t.Helper()
	canary := clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"stage": "canary"}}}
	for name, spec := range map[string]clusterv1beta1.PlacementSpec{
		"all":     {},
		"some":    {NumberOfClusters: new(int32(7))},
		"canary":  {Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: canary}}},
		"tainted": {Tolerations: []clusterv1beta1.Toleration{{Key: "maintenance", Operator: clusterv1beta1.TolerationOpExists}}},
		"memory": {
			NumberOfClusters: new(int32(5)),
			PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
				Mode: clusterv1beta1.PrioritizerPolicyModeExact,
				Configurations: []clusterv1beta1.PrioritizerConfig{{
					ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{
						Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: "ResourceAllocatableMemory",
					},
					Weight: 2,
				}},
			},
		},
		"groups": {DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
			DecisionGroups: []clusterv1beta1.DecisionGroup{{
				GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: canary.LabelSelector},
			}},
			ClustersPerDecisionGroup: intstr.FromString("25%"),
		}}},
	} {
		i.createPlacement(t, name, spec)
		i.waitForDecisions(t, name)
	}
}

func (i *installation) createPlacement(t *testing.T, name string, spec clusterv1beta1.PlacementSpec) {
	t.Helper()
	suite.Must(t, i.Client.Create(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: name}, Spec: spec}))
}

// waitForDecisions waits until a Placement is satisfied, and the decisions have as many clusters as its status says.
func (i *installation) waitForDecisions(t *testing.T, name string) {
	t.Helper()
	suite.EventuallyWithin(t, 2*suite.Timeout, "waiting for the decisions of "+name, func() error {
		placement := &clusterv1beta1.Placement{}
		if err := i.Client.Get(t.Context(), client.ObjectKey{Namespace: team, Name: name}, placement); err != nil {
			return err
		}
		pages := &clusterv1beta1.PlacementDecisionList{}
		of := client.MatchingLabels{clusterv1beta1.PlacementLabel: name}
		if err := i.Client.List(t.Context(), pages, client.InNamespace(team), of); err != nil {
			return err
		}
		count := 0
		for _, page := range pages.Items {
			count += len(page.Status.Decisions)
		}
		if !meta.IsStatusConditionTrue(placement.Status.Conditions, clusterv1beta1.PlacementConditionSatisfied) || count == 0 ||
			count != int(placement.Status.NumberOfSelectedClusters) {
			return fmt.Errorf("there are %d decisions, and the status is %+v", count, placement.Status)
		}
		return nil
	})
}

// decisions returns the identity, version and clusters of each page.
func (i *installation) decisions(t *testing.T) map[string][]string {
	t.Helper()
	pages := &clusterv1beta1.PlacementDecisionList{}
	suite.Must(t, i.Client.List(t.Context(), pages))
	all := map[string][]string{}
	for _, page := range pages.Items {
		content := []string{string(page.UID), page.ResourceVersion}
		for _, decision := range page.Status.Decisions {
			content = append(content, decision.ClusterName)
		}
		all[page.Name] = content
	}
	return all
}

func (i *installation) useHub(t *testing.T) {
	t.Helper()
	i.setImage(t, hubImage+thisTag)
}

func (i *installation) useUpstream(t *testing.T) {
	t.Helper()
	i.setImage(t, upstreamImage)
}

// runBeside installs the overlay, and scales upstream down.
func (i *installation) runBeside(t *testing.T) {
	t.Helper()
	i.kubectl(t, "apply", "--server-side", "--force-conflicts", "--kustomize", filepath.Join(i.root, "deploy", "overlays", "beside-upstream"))
	i.waitForRollout(t)
	i.scaleUpstream(t, 0)
	i.waitForPods(t, hubImage+thisTag, replicas)
}

// runUpstream scales upstream up, and ends the hub.
func (i *installation) runUpstream(t *testing.T) {
	t.Helper()
	i.scaleUpstream(t, 1)
	i.kubectl(t, "--namespace", manifests.Namespace, "rollout", "status", upstreamDeployment, "--timeout", rollout)
	i.kubectl(t, "--namespace", manifests.Namespace, "delete", deployment)
	i.waitForPods(t, upstreamImage, 1)
}

// setImage names another image in upstream's Deployment, as the operator does with placementImagePullSpec.
func (i *installation) setImage(t *testing.T, image string) {
	t.Helper()
	i.kubectl(t, "--namespace", manifests.Namespace, "set", "image", upstreamDeployment, "placement-controller="+image)
	i.waitForPods(t, image, 1)
}

func (i *installation) scaleUpstream(t *testing.T, count int) {
	t.Helper()
	i.kubectl(t, "--namespace", manifests.Namespace, "scale", upstreamDeployment, fmt.Sprintf("--replicas=%d", count))
}
