package suite

import (
	"context"
	"sync/atomic"

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
	"github.com/placement-hub/placement-hub/pkg/controller"
	"github.com/placement-hub/placement-hub/pkg/controller/systems"
)

// requestSystem is the system of cluster requests of the hub that runs.
var requestSystem atomic.Pointer[systems.System]

// ObserveClusterRequests has LoseDefinition see when the system of cluster requests is on. A package of specs calls it in ConfigureHub.
func ObserveClusterRequests(o *controller.Options) {
	o.AddSystem = func(system *systems.System) {
		if system.Name == manifests.ClusterRequest {
			requestSystem.Store(system)
		}
	}
}

// LoseDefinition deletes the CustomResourceDefinition of a kind of cluster requests with all its objects, whatever finalizers they have, and
// installs it again. The hub has switched the system off and on again when it returns.
func LoseDefinition(ctx context.Context, kind string, list client.ObjectList) {
	GinkgoHelper()

	on := func() bool { return requestSystem.Load().Off() == "" }
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: kind + "." + openmcpv1alpha1.GroupName}}
	Expect(Client.Delete(ctx, definition)).To(Succeed())
	Eventually(on).WithContext(ctx).WithTimeout(Timeout).Should(BeFalse())

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
	Eventually(on).WithContext(ctx).WithTimeout(Timeout).Should(BeTrue())
}
