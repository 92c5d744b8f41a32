// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// requestSystems holds the systems of cluster requests of the hubs that run in this process (sync.Map of *systems.System).
var requestSystems sync.Map

// observeRequests keeps the system of cluster requests of a hub in requestSystems until the returned function is called.
func observeRequests(o *system.Options) (forget func()) {
	var own *systems.System
	o.AddSystem = func(system *systems.System) {
		if system.Name == manifests.ClusterRequest {
			own = system
			requestSystems.Store(system, nil)
		}
	}
	return func() { requestSystems.Delete(own) }
}

// requestsAre returns whether the systems of cluster requests of all hubs that run are on, or all are off. There is at least one.
func requestsAre(on bool) func() bool {
	return func() bool {
		found, all := false, true
		requestSystems.Range(func(key, _ any) bool {
			found = true
			all = (key.(*systems.System).Off() == "") == on
			return all
		})
		return found && all
	}
}

// LoseDefinition deletes the CustomResourceDefinition of a kind of cluster requests with all its objects, whatever finalizers they have, and
// installs it again. Every hub that runs has switched the system off and on again when it returns.
func LoseDefinition(ctx context.Context, kind string, list client.ObjectList) {
	GinkgoHelper()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: kind + "." + openmcpv1alpha1.GroupName}}
	Expect(Client.Delete(ctx, definition)).To(Succeed())
	Eventually(requestsAre(false)).WithContext(ctx).WithTimeout(Timeout).Should(BeTrue())

	Eventually(func(g Gomega) {
		if err := Client.List(ctx, list); err == nil {
			g.Expect(meta.EachListItem(list, func(object runtime.Object) error {
				DropFinalizers(ctx, object.(client.Object))
				return nil
			})).To(Succeed())
		}
		err := Client.Get(ctx, client.ObjectKeyFromObject(definition), definition)
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())

	Expect(manifests.InstallSystem(ctx, ControlPlane.AdminConfig(), manifests.ClusterRequest, "")).To(Succeed())
	Eventually(requestsAre(true)).WithContext(ctx).WithTimeout(Timeout).Should(BeTrue())
}
