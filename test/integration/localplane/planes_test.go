// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/planes"
)

// startKeeper lends control planes to planes.Take until the test ends.
func startKeeper(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- planes.Keep(ctx, listener, t.Output()) }()
	planes.Socket = listener.Addr().String()
	t.Cleanup(func() {
		planes.Socket = ""
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func take(t *testing.T) (plane *localplane.ControlPlane, giveBack func() error) {
	t.Helper()
	plane, giveBack, err := planes.Take(t.Context(), t.Output())
	if err != nil {
		t.Fatalf("taking a control plane: %v", err)
	}
	return plane, giveBack
}

// A test that takes a control plane after another finds what the other found, whatever that one has created, changed and deleted.
func TestLentControlPlaneIsRestored(t *testing.T) {
	startKeeper(t)
	plane, giveBack := take(t)
	before := objectsOf(t, plane.AdminConfig())
	spoil(t, plane)
	if got := objectsOf(t, plane.AdminConfig()); cmp.Equal(got, before) {
		t.Error("the test has changed nothing")
	}
	directory := plane.DataDir()
	if err := giveBack(); err != nil {
		t.Fatal(err)
	}

	next, giveBack := take(t)
	if next.DataDir() != directory {
		t.Errorf("%s is lent, want %s", next.DataDir(), directory)
	}
	if diff := cmp.Diff(before, objectsOf(t, next.AdminConfig())); diff != "" {
		t.Errorf("objects before and after a test (-before +after):\n%s", diff)
	}
	writes, err := next.Writes(localplane.By("placement-hub-admin"))
	if err != nil || len(writes) > 0 {
		t.Errorf("the audit log has %d writes of the last test, %v", len(writes), err)
	}
	// What was restored works.
	c := clientOf(t, next.AdminConfig())
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	eventually(t, "a ManagedCluster can be created", func() error { return crclient.IgnoreAlreadyExists(c.Create(t.Context(), cluster)) })
	if err := giveBack(); err != nil {
		t.Fatal(err)
	}
}

// The control plane of a process that was killed is not lent again, because its programs may still write.
func TestControlPlaneOfAKilledTestIsStopped(t *testing.T) {
	startKeeper(t)
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "unix", planes.Socket)
	if err != nil {
		t.Fatal(err)
	}
	offer := make([]byte, 1<<12)
	read, err := connection.Read(offer)
	if err != nil {
		t.Fatal(err)
	}
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	plane, giveBack := take(t)
	if strings.Contains(string(offer[:read]), plane.DataDir()) {
		t.Errorf("%s is lent after %s", plane.DataDir(), offer[:read])
	}
	if err := plane.Crash("kube-apiserver"); err == nil {
		t.Error("the API server of a control plane of another process was killed")
	}
	if err := giveBack(); err != nil {
		t.Fatal(err)
	}
}

// spoil creates, changes and deletes objects, also without waiting for the controllers, and in another API server on the same etcd.
func spoil(t *testing.T, plane *localplane.ControlPlane) {
	t.Helper()
	c := clientOf(t, plane.AdminConfig())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "left"}}))
	must(c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "left", Name: "left", Finalizers: []string{"example.com/never"},
	}}))
	must(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "terminating"}}))
	must(c.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "left", Finalizers: []string{"example.com/never"}}}))
	must(c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "terminating"}}))
	must(c.Delete(t.Context(), &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: "placementdecisions.cluster.open-cluster-management.io",
	}}))
	role := &rbacv1.ClusterRole{}
	must(c.Get(t.Context(), crclient.ObjectKey{Name: "view"}, role))
	role.Labels["changed"] = "yes"
	must(c.Update(t.Context(), role))

	another, err := plane.AnotherAPIServer(t.Context(), "/another", localplane.Options{})
	must(err)
	must(clientOf(t, another.AdminConfig()).Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "left"}}))
}

func clientOf(t *testing.T, config *rest.Config) crclient.Client {
	t.Helper()
	c, err := crclient.New(config, crclient.Options{Scheme: system.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// objectsOf returns the names of the objects that the hub and its tests look at most, and the labels of ClusterRoles.
func objectsOf(t *testing.T, config *rest.Config) map[string][]string {
	t.Helper()
	c := clientOf(t, config)
	found := map[string][]string{}
	for kind, list := range map[string]crclient.ObjectList{
		"namespaces": &corev1.NamespaceList{}, "configmaps": &corev1.ConfigMapList{}, "accounts": &corev1.ServiceAccountList{},
		"roles": &rbacv1.ClusterRoleList{}, "definitions": &apiextensionsv1.CustomResourceDefinitionList{},
		"clusters": &clusterv1.ManagedClusterList{},
	} {
		eventually(t, "the "+kind+" can be listed", func() error {
			err := c.List(t.Context(), list)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
		for _, object := range itemsOf(t, list) {
			found[kind] = append(found[kind], object.GetNamespace()+"/"+object.GetName()+" "+labelsOf(object))
		}
		slices.Sort(found[kind])
	}
	return found
}

func labelsOf(object crclient.Object) string {
	if _, ok := object.(*rbacv1.ClusterRole); !ok {
		return ""
	}
	return metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: object.GetLabels()})
}

func itemsOf(t *testing.T, list crclient.ObjectList) []crclient.Object {
	t.Helper()
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	objects := make([]crclient.Object, 0, len(items))
	for _, item := range items {
		objects = append(objects, item.(crclient.Object))
	}
	return objects
}
