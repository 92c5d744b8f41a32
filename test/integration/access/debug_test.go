// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// observer answers questions beside the hub.
type observer struct {
	handler http.Handler
}

// observe starts one, which asks the API server about its callers.
func observe(ctx context.Context) *observer {
	GinkgoHelper()
	config := suite.HubConfig(ctx, suite.ControlPlane)
	view := &controller.View{}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: system.Scheme(), Cache: system.Options{}.CacheOptions(), NewCache: decoding.NewCache, Logger: klog.Background(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(system.Observe(ctx, mgr, system.Options{Controllers: []string{"placement", "placement-v1alpha1"}, View: view})).To(Succeed())

	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	DeferCleanup(func() {
		cancel()
		Eventually(ended).WithTimeout(suite.Timeout).Should(Receive(BeNil()))
	})
	reviews, err := authorizationv1.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())

	access, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: reviews, WebhookRetryBackoff: &wait.Backoff{Duration: 100 * time.Millisecond, Steps: 3},
	}.New()
	Expect(err).NotTo(HaveOccurred())
	return &observer{handler: debug.New(view, access, definitionsOfHub, time.Now)}
}

func definitionsOfHub() (*statefile.Admission, error) {
	objects, err := manifests.Objects()
	if err != nil {
		return nil, err
	}
	var definitions []*apiextensionsv1.CustomResourceDefinition

	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			definition := &apiextensionsv1.CustomResourceDefinition{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, definition); err != nil {
				return nil, err
			}
			definitions = append(definitions, definition)
		}
	}
	return statefile.NewAdmission(definitions)
}

// caller is whom the API server takes the owner of the token of an account for, Extra and all.
func caller(ctx context.Context, f *suite.Fixture, account string) user.Info {
	GinkgoHelper()
	config, err := suite.ControlPlane.ServiceAccountConfig(ctx, f.Namespace, account)
	Expect(err).NotTo(HaveOccurred())
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: config.BearerToken}}
	Expect(suite.Client.Create(ctx, review)).To(Succeed())
	Expect(review.Status.Authenticated).To(BeTrue())
	known := review.Status.User
	caller := &user.DefaultInfo{Name: known.Username, UID: known.UID, Groups: known.Groups, Extra: map[string][]string{}}
	for key, values := range known.Extra {
		caller.Extra[key] = values
	}

	Expect(caller.Extra).NotTo(BeEmpty())
	return caller
}

func (o *observer) requests(ctx context.Context, caller user.Info, method, path, body string) (int, debug.Response) {
	GinkgoHelper()
	recorder := httptest.NewRecorder()
	o.handler.ServeHTTP(recorder,
		httptest.NewRequestWithContext(request.WithUser(ctx, caller), method, debug.Path+path, strings.NewReader(body)))
	var answer debug.Response
	Expect(json.Unmarshal(recorder.Body.Bytes(), &answer)).To(Succeed())
	return recorder.Code, answer
}

var _ = Describe("the debug endpoint", func() {
	It("scenarios 31 to 33: answers those with the rights, and nobody else", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "a", func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "eu" })
		f.Cluster(ctx, "set", "b", func(c *clusterv1.ManagedCluster) { c.Labels["region"] = "us" })
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
		stranger, viewer, editor := serviceAccount(ctx, f, "stranger"), serviceAccount(ctx, f, "viewer"), serviceAccount(ctx, f, "editor")
		roleHere(ctx, f, viewer.subject(), "view")
		roleHere(ctx, f, editor.subject(), "edit")
		Expect(stranger.user).NotTo(BeEmpty())

		o := observe(ctx)
		asStranger, asViewer, asEditor := caller(ctx, f, "stranger"), caller(ctx, f, "viewer"), caller(ctx, f, "editor")
		proposal := `{"metadata":{"namespace":"` + f.Namespace + `","name":"new"},"spec":{"predicates":[{"requiredClusterSelector":
			{"labelSelector":{"matchLabels":{"region":"us"}}}}]}}`

		Eventually(func(g Gomega) { // The observer has read the hub, and the API server the roles.
			code, answer := o.requests(ctx, asViewer, "GET", f.Namespace+"/p", "")
			g.Expect(code).To(Equal(http.StatusOK), answer.Error)
			g.Expect(answer.Selected).To(Equal(f.Names("a")))
			g.Expect(answer.Groups[0].Decisions).To(Equal([]string{"p-decision-1"}))
			g.Expect(answer.Verdicts).To(HaveLen(2))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		for _, name := range []string{"p", "missing"} {
			code, answer := o.requests(ctx, asStranger, "GET", f.Namespace+"/"+name, "")
			Expect(code).To(Equal(http.StatusForbidden), name)
			Expect(answer.Placement).To(BeNil())
		}
		code, _ := o.requests(ctx, asViewer, "GET", f.Namespace+"/missing", "")
		Expect(code).To(Equal(http.StatusNotFound))
		code, answer := o.requests(ctx, asViewer, "POST", "", proposal)
		Expect(code).To(Equal(http.StatusForbidden), "who views may not create")
		Expect(answer.Error).To(ContainSubstring("does not have permission to create placements"))

		Eventually(func(g Gomega) {
			code, answer := o.requests(ctx, asEditor, "POST", "", proposal)
			g.Expect(code).To(Equal(http.StatusOK), answer.Error)
			g.Expect(answer.Selected).To(Equal(f.Names("b")))
			g.Expect(answer.Warnings).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		code, _ = o.requests(ctx, asEditor, "GET", f.Namespace+"/new", "")
		Expect(code).To(Equal(http.StatusNotFound), "what was sent was not made")
	})
})
