// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/placement/controller"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const group = "cluster.open-cluster-management.io"

// hub is a process of the hub with its history.
type hub struct {
	recorder *recorder.Recorder
	view     *controller.View
}

func newHub() *hub { return &hub{recorder: recorder.New(1<<20, ""), view: &controller.View{}} }

// configure has controllers record into the hub.
func (h *hub) configure(o *system.Options) { o.Recorder, o.View = h.recorder, h.view }

// startStandby starts controllers that wait for a lease that another holder has until the container ends.
func (h *hub) startStandby(ctx context.Context) {
	GinkgoHelper()
	const lease = "history-standby"
	now := metav1.NowMicro()
	Expect(suite.Client.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: lease},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("another"), LeaseDurationSeconds: ptr.To[int32](3600), AcquireTime: &now, RenewTime: &now,
		},
	})).To(Succeed())
	options := system.Options{Controllers: []string{controller.Name}}
	h.configure(&options)
	mgr, err := ctrl.NewManager(suite.HubConfig(ctx, suite.ControlPlane), ctrl.Options{
		Scheme: system.Scheme(), Cache: options.CacheOptions(), NewCache: decoding.NewCache, Logger: klog.Background(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		LeaderElection: true, LeaderElectionID: lease, LeaderElectionNamespace: manifests.Namespace,
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(system.Setup(mgr, options)).To(Succeed())
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	stop := sync.OnceFunc(func() {
		cancel()
		Eventually(ended).WithTimeout(suite.Timeout).Should(Receive(BeNil()))
	})
	DeferCleanup(func() {
		Expect(mgr.Elected()).NotTo(BeClosed())
		stop()
	})
}

// expectRecording waits until the hub records: it has no rows of decisions that are there when its watches begin.
func (h *hub) expectRecording(ctx context.Context) {
	GinkgoHelper()
	f := suite.NewFixture(ctx)
	f.Set(ctx, "set")
	f.Placement(ctx, "all", clusterv1beta1.PlacementSpec{})
	clusters := 0
	Eventually(func() []string {
		clusters++
		f.Cluster(ctx, "set", "c"+strconv.Itoa(clusters))
		return h.sentences(ctx, "admin", f.Namespace)
	}).WithTimeout(suite.Timeout).WithPolling(time.Second).ShouldNot(BeEmpty())
}

// reviews takes a token as the name of a user, and asks the API server for rights.
type reviews struct{}

// AuthenticateRequest implements authenticator.Request.
func (reviews) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	name := strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")
	return &authenticator.Response{User: &user.DefaultInfo{Name: name, Groups: []string{user.AllAuthenticated}}}, true, nil
}

// Authorize implements authorizer.Authorizer.
func (reviews) Authorize(ctx context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: asked.GetUser().GetName(), Groups: asked.GetUser().GetGroups(),
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: asked.GetNamespace(), Verb: asked.GetVerb(), Group: asked.GetAPIGroup(), Version: asked.GetAPIVersion(),
			Resource: asked.GetResource(), Subresource: asked.GetSubresource(), Name: asked.GetName(),
		},
	}}
	if err := suite.Client.Create(ctx, review); err != nil {
		return authorizer.DecisionNoOpinion, "", err
	}
	if review.Status.Allowed {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionDeny, "", nil
}

// ask asks the hub for the history of the Placements of a namespace, as a user.
func (h *hub) ask(ctx context.Context, who, namespace string) (int, movelist.List, string) {
	GinkgoHelper()
	handler := endpoint.New(reviews{}, reviews{}, &answers.Explainer{
		Hub:     tools.Hub{Client: suite.Client, Limited: true, Now: time.Now, Live: h.view},
		History: h.recorder,
	})
	text, err := json.Marshal(endpoint.Question{
		Command: endpoint.CommandHistory, Namespace: namespace, Kinds: []endpoint.KindRef{{Group: group, Kind: "Placement"}}, Output: "json",
	})
	Expect(err).NotTo(HaveOccurred())
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, endpoint.Path, bytes.NewReader(text))
	request.Header.Set("Authorization", "Bearer "+who)
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, request)
	var answer endpoint.Answer
	Expect(json.Unmarshal(response.Body.Bytes(), &answer)).To(Succeed())
	var list movelist.List
	if answer.Output != "" {
		Expect(json.Unmarshal([]byte(answer.Output), &list)).To(Succeed())
	}
	return response.Code, list, answer.Output + answer.Error
}

// sentences returns what a user reads of the history of a namespace.
func (h *hub) sentences(ctx context.Context, who, namespace string) []string {
	GinkgoHelper()
	_, list, _ := h.ask(ctx, who, namespace)
	sentences := []string{}
	for i := range list.Moves {
		sentences = append(sentences, list.Moves[i].Sentence())
	}
	return sentences
}
