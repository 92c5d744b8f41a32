// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const (
	inWorld = "world" // The namespace of suite.CreateWorld, and the name of its objects.
	foreign = "example.com/foreign"
)

// wantWaiting returns an error unless exactly these objects have an event that says why their deletion waits.
func wantWaiting(t *testing.T, h *suite.Hub, want ...string) error {
	t.Helper()
	written := &eventsv1.EventList{}
	if err := h.Client.List(t.Context(), written); err != nil {
		return err
	}
	about := map[string]bool{}
	for i := range written.Items {
		event := &written.Items[i]
		if event.Reason == "DeletionWaiting" && strings.Contains(event.Note, "placement uninstall --release-finalizers --system=") {
			about[event.Regarding.Kind+" "+event.Regarding.Name] = true
		}
	}
	if got := slices.Sorted(maps.Keys(about)); !slices.Equal(got, want) {
		return fmt.Errorf("there are events about %v, want %v", got, want)
	}
	return nil
}

// world returns the metadata of an object of suite.CreateWorld.
func world() metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: inWorld, Name: inWorld} }

// TestUninstallReleasesFinalizers runs a hub with every system, stops it, and releases what waits for it: objects that are being deleted, a
// definition that is, and objects that are not. Then it does so without any definition of the systems.
func TestUninstallReleasesFinalizers(t *testing.T) {
	h := suite.StartHub(t)
	h.InstallEverySystem(t)
	leader := h.StartReplica(t, suite.EverySystem)
	h.WantHolder(t, leader)
	h.CreateWorld(t)
	h.WantWorld(t, "c1")
	h.WantGrant(t)
	h.CallReplicaOfEverySystem(t, leader)
	access := &openmcpv1alpha1.AccessRequest{ObjectMeta: world()}
	access.Spec.ClusterRef = &openmcpv1alpha1.ObjectReference{Name: inWorld}
	suite.Must(t, h.Client.Create(t.Context(), access))

	refused := uninstallAs(t, h)
	refused.WantExit(t, 1)
	refused.WantStderr(t, "holds the lease open-cluster-management-hub/placement-lock")
	h.Stop(t, leader)

	// What providers and the use of a class add.
	class := &cozystackv1alpha1.AffinityClass{ObjectMeta: metav1.ObjectMeta{Name: "dc1"}}
	class.Spec.NodeSelector = map[string]cozystackv1alpha1.NodeLabelValue{"zone": "dc1"}
	suite.Must(t, h.Client.Create(t.Context(), class))
	shared, delivered := &openmcpv1alpha1.Cluster{ObjectMeta: world()}, &corev1.ConfigMap{ObjectMeta: world()}
	addFinalizers(t, h, class, cozystackv1alpha1.InUseFinalizer)
	addFinalizers(t, h, shared, openmcpv1alpha1.ProviderFinalizer, openmcpv1alpha1.InventoryFinalizer)
	addFinalizers(t, h, access, openmcpv1alpha1.AccessFinalizer, foreign)
	work := onlyWork(t, h)

	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: world()}
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "affinityclasses.cozystack.io"}}
	for _, object := range []client.Object{delivered, request, shared, definition} {
		suite.Must(t, h.Client.Delete(t.Context(), object))
	}

	// A hub without the systems says what is left of them, to admins in the log and to users in events.
	without := h.StartReplica(t)
	h.WantHolder(t, without)
	suite.Eventually(t, "waiting for the events of objects that are being deleted", func() error {
		return wantWaiting(t, h, "AffinityClass dc1", "Cluster world", "ClusterRequest world")
	})
	suite.Eventually(t, "waiting for the log", func() error {
		for _, line := range []string{
			`"The system is off, but objects have its finalizers, and cannot be deleted.`,
			`system="affinityclass" objects=1 `, `system="clusterrequest" objects=3 `,
		} {
			if !strings.Contains(without.Stderr.String(), line) {
				return fmt.Errorf("it lacks %q", line)
			}
		}
		return nil
	})
	h.Stop(t, without)

	dry := uninstallAs(t, h, "--dry-run")
	dry.WantExit(t, 0)
	dry.WantStdout(t,
		"affinityclass: finalizer cozystack.io/affinityclass-in-use\n", "  - affinityclasses.cozystack.io dc1 (is being deleted)\n",
		"federation: finalizer federation.kubernetes.io/delete-from-underlying-clusters\n  An object that is deleted waits until the ManifestWorks",
		"  - configmaps world/world (is being deleted): ManifestWork c1/"+work.Name+"\n",
		"clusterrequest: finalizer request.cluster.openmcp.cloud/<uid>\n",
		"  - clusters.cluster.openmcp.cloud world/world (is being deleted): ClusterRequest world/world\n",
		`the cluster of ClusterProvider "cloud"`, "  - accessrequests.cluster.openmcp.cloud world/world\n",
		"\ndry run: finalizers that would be released: 7; nothing was changed\n")
	for _, object := range []client.Object{delivered, request, shared, class, access, definition} {
		h.WantMade(t, object)
	}

	one := uninstallAs(t, h, "--system=affinityclass")
	one.WantExit(t, 0)
	one.WantStdout(t, "\nreleased finalizers: 1 of 1\n")
	h.WantGone(t, definition)
	h.WantMade(t, delivered)

	all := uninstallAs(t, h)
	all.WantExit(t, 0)
	all.WantStdout(t, "\nreleased finalizers: 6 of 6\n")
	for _, object := range []client.Object{delivered, request, shared} {
		h.WantGone(t, object)
	}
	h.WantMade(t, access)
	if !slices.Equal(access.Finalizers, []string{foreign}) {
		t.Errorf("the AccessRequest has the finalizers %v, want that of others alone", access.Finalizers)
	}
	if left := onlyWork(t, h); left.UID != work.UID {
		t.Error("the ManifestWork is another one")
	}
	again := uninstallAs(t, h)
	again.WantExit(t, 0)
	again.WantStdout(t, "no object has a finalizer of the hub\n")

	withoutDefinitions(t, h, access)
	hubState(t, h)
}

// hubState deletes what the hub has written into its namespace, and nothing else there.
func hubState(t *testing.T, h *suite.Hub) {
	t.Helper()
	inHub := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: manifests.Namespace, Name: name}
	}
	written := []client.Object{
		&corev1.ConfigMap{ObjectMeta: inHub("placement-explanations")}, &corev1.ConfigMap{ObjectMeta: inHub("placement-vocabulary")},
		&corev1.Secret{ObjectMeta: inHub("placement-webhook-certificates")}, &coordinationv1.Lease{ObjectMeta: inHub("placement-lock")},
	}
	for _, object := range written {
		h.WantMade(t, object)
	}
	foreign := &corev1.ConfigMap{ObjectMeta: inHub("another")}
	suite.Must(t, h.Client.Create(t.Context(), foreign))
	run := func(args ...string) *suite.Program {
		p := suite.Run(t, append([]string{"uninstall", "--kubeconfig", h.AdminKubeconfig, "--delete-hub-state"}, args...)...)
		p.WantExit(t, 0)
		return p
	}
	run("--dry-run").WantStdout(t, "namespace open-cluster-management-hub: written by the hub\n",
		"  - configmaps placement-explanations: the address of its explanations\n", "  - leases.coordination.k8s.io placement-lock: who leads\n",
		"\ndry run: objects of the hub that would be deleted: 4; nothing was changed\n")
	for _, object := range written {
		h.WantMade(t, object)
	}
	run().WantStdout(t, "\ndeleted objects of the hub: 4 of 4\n")
	for _, object := range written {
		h.WantGone(t, object)
	}
	h.WantMade(t, foreign)
	run().WantStdout(t, "namespace open-cluster-management-hub has nothing that the hub writes\n")
}

// withoutDefinitions deletes the definitions of the systems, and releases an object that was delivered.
func withoutDefinitions(t *testing.T, h *suite.Hub, access *openmcpv1alpha1.AccessRequest) {
	t.Helper()
	access.Finalizers = nil
	suite.Must(t, h.Client.Update(t.Context(), access))
	h.DeleteDefinitions(t, "manifestworks.work.open-cluster-management.io", "clusters.cluster.openmcp.cloud",
		"clusterrequests.cluster.openmcp.cloud", "accessrequests.cluster.openmcp.cloud")
	delivered := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: inWorld, Name: "left", Finalizers: []string{federation.Finalizer}}}
	suite.Must(t, h.Client.Create(t.Context(), delivered))
	suite.Must(t, h.Client.Delete(t.Context(), delivered))

	p := uninstallAs(t, h)
	p.WantExit(t, 0)
	if text := p.Stderr.String(); text != "" {
		t.Errorf("the command writes on stderr, want nothing: %s", text)
	}
	p.WantStdout(t, "  - configmaps world/left (is being deleted)\n", "\nreleased finalizers: 1 of 1\n")
	h.WantGone(t, delivered)
}

// uninstallAs runs the command as an admin.
func uninstallAs(t *testing.T, h *suite.Hub, args ...string) *suite.Program {
	t.Helper()
	return suite.Run(t, append([]string{"uninstall", "--kubeconfig", h.AdminKubeconfig, "--release-finalizers"}, args...)...)
}

// addFinalizers adds finalizers to an object, unless it has them.
func addFinalizers(t *testing.T, h *suite.Hub, object client.Object, names ...string) {
	t.Helper()
	suite.Eventually(t, fmt.Sprintf("adding finalizers to %T", object), func() error {
		if err := h.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		all := object.GetFinalizers()
		for _, name := range names {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		object.SetFinalizers(all)
		return h.Client.Update(t.Context(), object)
	})
}

// onlyWork returns the only ManifestWork.
func onlyWork(t *testing.T, h *suite.Hub) *workv1.ManifestWork {
	t.Helper()
	works := &workv1.ManifestWorkList{}
	suite.Must(t, h.Client.List(t.Context(), works))
	if len(works.Items) != 1 {
		t.Fatalf("there are %d ManifestWorks, want one", len(works.Items))
	}
	return &works.Items[0]
}
