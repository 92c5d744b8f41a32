// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/manifests"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// writer is a way in which users write objects, with the arguments of kubectl for the first write and for the change.
type writer struct {
	name           string
	create, change []string
	// also is a write by another tool before the change; empty for none.
	also []string
	// chosen is the flag of placement diff; empty if the objects say how they were written. inDoubt is the answer of those that do not.
	chosen  writes.Write
	inDoubt writes.Method
}

var writers = []writer{
	{name: "client-side", create: []string{"apply"}, change: []string{"apply"}},
	{name: "server-side", create: []string{"apply", "--server-side"}, change: []string{"apply", "--server-side"}},
	{
		name: "argocd", create: []string{"apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller"},
		change: []string{"apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller"},
	},
	{
		name: "helm", create: []string{"apply", "--server-side", "--field-manager=helm"},
		change: []string{"apply", "--server-side", "--field-manager=helm"},
	},
	{
		name: "replace", create: []string{"create"}, change: []string{"replace"}, chosen: writes.Write{Method: writes.Replace},
	},
	{
		name: "migration", create: []string{"apply"}, change: []string{"apply", "--server-side", "--force-conflicts"},
		chosen: writes.Write{Method: writes.ServerSide, FieldManager: writes.Kubectl, Force: true},
	},
	{
		name: "unknown", create: []string{"apply", "--server-side", "--field-manager=ci"},
		change: []string{"apply", "--server-side", "--field-manager=ci"}, inDoubt: writes.ServerSide,
	},
	{
		name: "shared", create: []string{"apply", "--server-side", "--field-manager=other"},
		also: []string{"apply", "--server-side", "--force-conflicts"}, change: []string{"apply", "--server-side"},
	},
}

var _ = Describe("what placement diff expects of writes", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		for _, set := range []string{"a", "b"} {
			Expect(suite.Client.Create(ctx, &clusterv1beta2.ManagedClusterSet{
				ObjectMeta: metav1.ObjectMeta{Name: set},
				Spec: clusterv1beta2.ManagedClusterSetSpec{
					ClusterSelector: clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.ExclusiveClusterSetLabel},
				},
			})).To(Succeed())
		}
		for _, class := range []string{"dc1", "dc2"} {
			Expect(suite.Client.Create(ctx, &cozystackv1alpha1.AffinityClass{
				ObjectMeta: metav1.ObjectMeta{Name: class},
				Spec: cozystackv1alpha1.AffinityClassSpec{
					NodeSelector: map[string]cozystackv1alpha1.NodeLabelValue{"zone": cozystackv1alpha1.NodeLabelValue(class)},
				},
			})).To(Succeed())
		}
		for name, labels := range map[string]map[string]string{
			"c1": {clusterv1beta2.ClusterSetLabel: "a", "env": "prod", "region": "eu"},
			"c2": {clusterv1beta2.ClusterSetLabel: "a", "env": "prod", "region": "us", "zone": "z"},
			"c3": {clusterv1beta2.ClusterSetLabel: "b", "env": "dev", "region": "eu"},
		} {
			cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
			if name == "c2" {
				cluster.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect}}
			}
			Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		}
	})

	format.MaxLength = 0
	for _, w := range writers {
		It("is what they do: "+w.name, func(ctx SpecContext) { expectForesight(ctx, &w) })
	}
})

// expectForesight writes objects, compares changes of them live and offline, makes the changes, and expects what was expected.
func expectForesight(ctx SpecContext, w *writer) {
	namespace := "writes-" + w.name
	Expect(suite.Client.Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{federation.FederatedLabel: "true"}},
	})).To(Succeed())
	for _, set := range []string{"a", "b"} {
		Expect(suite.Client.Create(ctx, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: set}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
		})).To(Succeed())
	}
	var before, after []any
	for i := range subjects {
		for _, change := range subjects[i].changes(namespace) {
			before, after = append(before, change.before.Object), append(after, change.after.Object)
		}
	}
	kubectl := newKubectl(ctx)
	kubectl(before, true, append(slices.Clone(w.create), "--validate=ignore")...)
	if len(w.also) > 0 {
		kubectl(before, true, append(slices.Clone(w.also), "--validate=ignore")...)
	}
	DeferCleanup(func(SpecContext) {
		kubectl(before, false, "delete", "--wait=false", "--ignore-not-found")
	})

	changes, after := readChanges(after)
	given, err := changes.State()
	Expect(err).NotTo(HaveOccurred())
	o := &tools.DiffOptions{Settings: tools.Settings{Delivered: federation.DefaultKinds()}}
	o.Writes.Chosen, o.Writes.InDoubt, o.Writes.Review = w.chosen, w.inDoubt, admission.NewReviewer(ctx, admission.Once(manifests.Policies))
	hub := readState(ctx, o, given)
	Expect(o.ReadLive(ctx, suite.Client, changes)).To(Succeed())
	offline, offlineApplied, err := changes.Apply(hub, &o.Writes)
	Expect(err).NotTo(HaveOccurred())
	fromFiles, filesApplied := applyToFiles(kubectl, changes, o.Writes, namespace, before)
	Expect(o.Ask(ctx, suite.Client, changes)).To(Succeed())
	live, liveApplied, err := changes.Apply(hub, &o.Writes)
	Expect(err).NotTo(HaveOccurred())
	Expect(objectsOf(readState(ctx, o, given), given)).To(Equal(objectsOf(hub, given)), "dry runs store nothing")

	kubectl(after, false, append(slices.Clone(w.change), "--validate=ignore")...)
	written := readState(ctx, o, given)
	happened := objectsOf(written, given)
	Expect(len(happened)).To(BeNumerically(">", 150), "objects")
	expected := objectsOf(live, given)
	if w.name == "migration" { // A dry run cannot show it.
		keepDelivery(happened)
		keepDelivery(expected)
	}
	Expect(differing("live", happened, expected)).To(BeEmpty(), "(-happened +expected)")
	// Types of Kubernetes have neither defaults nor validation offline.
	keepDelivery(happened)
	for how, after := range map[string]*explain.State{"offline": offline, "files": fromFiles} {
		merged := objectsOf(after, given)
		keepDelivery(merged)
		Expect(differing(how, happened, merged)).To(BeEmpty(), "(-happened +expected)")
	}

	now := time.Now()
	decisions := decided(hub, written, now)
	Expect(decisions).NotTo(BeEmpty())
	Expect(differing("decided live", decisions, decided(hub, live, now))).To(BeEmpty(), "(-happened +expected)")
	Expect(differing("decided offline", decisions, decided(hub, offline, now))).To(BeEmpty(), "(-happened +expected)")
	doubt := BeEmpty()
	if w.inDoubt != "" {
		doubt = Not(doubt)
	}
	for how, applied := range map[string][]explain.Applied{"offline": offlineApplied, "live": liveApplied, "files": filesApplied} {
		for _, one := range applied {
			Expect(one.Doubt).To(doubt, how+" "+one.Result.Object)
		}
	}
	for _, one := range liveApplied {
		asked := BeEmpty()
		if w.name == "migration" {
			asked = Not(asked)
		}
		Expect(one.Offline).To(asked, one.Result.Object)
	}
}

// applyToFiles applies the changes to a hub of the files that kubectl get prints of the objects and of what decides about them.
func applyToFiles(
	kubectl kubectl, changes *statefile.ChangeReader, w statefile.Writes, namespace string, objects []any,
) (*explain.State, []explain.Applied) {
	GinkgoHelper()
	kinds := map[string]bool{"managedclusters": true, "managedclustersets": true, "managedclustersetbindings": true, "namespaces": true}
	for _, object := range objects {
		kind := (&unstructured.Unstructured{Object: object.(map[string]any)}).GroupVersionKind()
		kinds[strings.TrimSuffix(kind.Kind+"."+kind.Version+"."+kind.Group, ".v1.")] = true
	}
	printed := kubectl(nil, true, "get", strings.Join(slices.Sorted(maps.Keys(kinds)), ","), "-n", namespace, "-o", "json", "--show-managed-fields")

	definitions, err := manifests.Definitions()
	Expect(err).NotTo(HaveOccurred())
	reader, err := statefile.NewReader(definitions)
	Expect(err).NotTo(HaveOccurred())
	reader.Compare(changes.Has)
	reader.Read("hub.json", printed)
	hub, err := reader.State()
	Expect(err).NotTo(HaveOccurred())
	w.Asked = reader.Live()
	after, applied, err := changes.Apply(hub, &w)
	Expect(err).NotTo(HaveOccurred())
	return after, applied
}

// kubectl runs kubectl with objects, which must succeed for all of them unless some may be refused, and returns what it prints.
type kubectl func(objects []any, all bool, arguments ...string) []byte

// newKubectl returns a function that runs kubectl.
func newKubectl(ctx context.Context) kubectl {
	GinkgoHelper()
	assets, err := binaries.Find()
	Expect(err).NotTo(HaveOccurred())
	content, err := localplane.Kubeconfig(suite.ControlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	directory := GinkgoT().TempDir()
	kubeconfig, file := filepath.Join(directory, "kubeconfig"), filepath.Join(directory, "objects.json")
	Expect(os.WriteFile(kubeconfig, content, 0o600)).To(Succeed())
	return func(objects []any, all bool, arguments ...string) []byte {
		GinkgoHelper()
		list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(file, list, 0o600)).To(Succeed())
		arguments = append(arguments, "--kubeconfig="+kubeconfig)
		if objects != nil {
			arguments = append(arguments, "-f", file)
		}
		command := exec.CommandContext(ctx, assets.Kubectl, arguments...)
		command.Env = append(os.Environ(), "KUBERC=off")
		var printed, mistakes bytes.Buffer
		command.Stdout, command.Stderr = &printed, &mistakes
		err = command.Run()
		if objects != nil {
			GinkgoWriter.Printf("kubectl %v:\n%s%s", arguments, &printed, &mistakes)
		}
		if all {
			Expect(err).NotTo(HaveOccurred(), mistakes.String())
		}
		return printed.Bytes()
	}
}

// readChanges reads files of all objects that are valid, and returns these objects.
func readChanges(objects []any) (*statefile.ChangeReader, []any) {
	GinkgoHelper()
	definitions, err := manifests.Definitions()
	Expect(err).NotTo(HaveOccurred())
	read := func(objects []any) (*statefile.ChangeReader, error) {
		changes, err := statefile.NewChangeReader(definitions, statefile.Namespace{})
		Expect(err).NotTo(HaveOccurred())
		content, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
		Expect(err).NotTo(HaveOccurred())
		changes.Read("changes.json", content)
		_, err = changes.State()
		return changes, err
	}
	changes, err := read(objects)
	var mistakes *statefile.InputError
	if !errors.As(err, &mistakes) {
		Expect(err).NotTo(HaveOccurred())
		return changes, objects
	}
	wrong := map[string]bool{}
	for _, problem := range mistakes.Problems {
		wrong[problem.Object[strings.LastIndex(problem.Object, "/")+1:]] = true
		wrong[problem.Object[strings.LastIndex(problem.Object, " ")+1:]] = true
	}
	objects = slices.DeleteFunc(slices.Clone(objects), func(object any) bool {
		metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		return wrong[name]
	})
	changes, err = read(objects)
	Expect(err).NotTo(HaveOccurred())
	return changes, objects
}

// readState reads what decides about the objects of files.
func readState(ctx context.Context, o *tools.DiffOptions, given *explain.State) *explain.State {
	GinkgoHelper()
	state, unread, err := o.Read(ctx, suite.Client, given)
	Expect(errors.Join(unread, err)).NotTo(HaveOccurred())
	return state
}

// objectsOf returns what users write of the objects that files have, as a State has them.
func objectsOf(state, given *explain.State) map[string]map[string]any {
	GinkgoHelper()
	objects := map[string]map[string]any{}
	for kind, object := range given.Each(^explain.Concern(0)) {
		found := kind.Find(state, object)
		if found == nil {
			continue
		}
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(found)
		Expect(err).NotTo(HaveOccurred())
		annotations := maps.Clone(found.GetAnnotations())
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		delete(annotations, "deployment.kubernetes.io/revision")
		written := map[string]any{"labels": len(found.GetLabels()), "annotations": len(annotations)}
		for key, value := range found.GetLabels() {
			written["label "+key] = value
		}
		for key, value := range annotations {
			written["annotation "+key] = value
		}
		for key, value := range fields {
			if inner, isObject := value.(map[string]any); key != "metadata" && key != "status" && (!isObject || len(inner) > 0) {
				written[key] = value
			}
		}
		objects[kind.Group+" "+kind.Name(object)] = written
	}
	return objects
}

// keepDelivery leaves of Deployments what decides about their delivery, with its defaults.
func keepDelivery(objects map[string]map[string]any) {
	for name, object := range objects {
		spec, is := object["spec"].(map[string]any)
		if !is || !strings.HasPrefix(name, "apps Deployment") {
			continue
		}
		kept := map[string]any{"replicas": int64(1), "paused": false}
		for field := range kept {
			if value, has := spec[field]; has {
				kept[field] = value
			}
		}
		object["spec"] = kept
	}
}

// differing returns what differs, an element for each object.
func differing[T any](how string, happened, expected map[string]T) []string {
	var differences []string
	for _, name := range slices.Sorted(maps.Keys(happened)) {
		if diff := cmp.Diff(happened[name], expected[name]); diff != "" {
			differences = append(differences, how+" "+name+":\n"+diff)
		}
	}
	return differences
}

// decided returns what the decisions of Placements become.
func decided(hub, after *explain.State, now time.Time) map[string]explain.Difference {
	decisions := map[string]explain.Difference{}
	for _, difference := range explain.Diff(hub, after, nil, now).Placements {
		difference.Notes = nil
		decisions[difference.Key.String()] = difference
	}
	return decisions
}
