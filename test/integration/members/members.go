// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/workagent"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// The intervals of the agents; see workagent.Options.
const (
	Resync     = time.Second
	StatusSync = 300 * time.Millisecond
	Evict      = time.Second
)

// Member is a member cluster.
type Member struct {
	// Cluster is the name of the ManagedCluster.
	Cluster string
	// Client has all rights in the member and reads from its API server.
	Client client.Client

	plane   *localplane.ControlPlane
	options workagent.Options
	agent   *workagent.Agent // nil while the agent is paused
}

// Start registers the clusters with the hub of the suite, and starts their API servers and agents, which run until the end of the suite.
func Start(ctx context.Context, clusters ...*clusterv1.ManagedCluster) []*Member {
	GinkgoHelper()
	started := make([]*Member, len(clusters))
	var starting sync.WaitGroup
	for i, cluster := range clusters {
		Register(ctx, cluster)
		starting.Go(func() {
			defer GinkgoRecover()
			started[i] = start(ctx, cluster.Name)
		})
	}

	starting.Wait()
	return started
}

// Register creates a ManagedCluster that is available and, unless it is there, the namespace with its ManifestWorks.
func Register(ctx context.Context, cluster *clusterv1.ManagedCluster) {
	GinkgoHelper()
	cluster = cluster.DeepCopy()
	Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
	before := cluster.DeepCopy()
	suite.IsAvailable(metav1.ConditionTrue)(cluster)
	Expect(suite.Client.Status().Patch(ctx, cluster, client.MergeFrom(before))).To(Succeed())
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Name}}
	Expect(client.IgnoreAlreadyExists(suite.Client.Create(ctx, namespace))).To(Succeed())
}

// start starts the API server and the agent of a registered cluster.
func start(ctx context.Context, cluster string) *Member {
	GinkgoHelper()
	plane, err := suite.ControlPlane.AnotherAPIServer(ctx, "/"+cluster, localplane.Options{Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })

	Expect(workagent.PrepareMember(ctx, plane.AdminConfig())).To(Succeed())
	Expect(workagent.GrantHub(ctx, suite.ControlPlane.AdminConfig(), cluster)).To(Succeed())
	admin := rest.CopyConfig(plane.AdminConfig())
	admin.WarningHandler = rest.NoWarnings{}
	members, err := client.New(admin, client.Options{Scheme: suite.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())

	member := &Member{Cluster: cluster, Client: members, plane: plane, options: workagent.Options{
		Cluster: cluster, Hub: hubConfig(cluster), Member: memberConfig(plane),
		Dir: filepath.Join(plane.DataDir(), "agent"), Resync: Resync, StatusSync: StatusSync, Evict: Evict,
	}}
	member.startAgent(ctx)
	DeferCleanup(member.stopAgent)
	return member
}

// hubConfig returns the configuration of a registered agent for the hub.
func hubConfig(cluster string) *rest.Config {
	GinkgoHelper()
	user, groups := workagent.HubUser(cluster)
	config, err := suite.ControlPlane.UserConfig(user, groups...)
	Expect(err).NotTo(HaveOccurred())
	return config
}

// memberConfig returns the configuration of the agent for its member.
func memberConfig(plane *localplane.ControlPlane) *rest.Config {
	GinkgoHelper()
	config, err := plane.UserConfig(workagent.MemberUser)
	Expect(err).NotTo(HaveOccurred())
	return config
}

// ControlPlane is the API server of the member.
func (m *Member) ControlPlane() *localplane.ControlPlane { return m.plane }

// startAgent starts the agent. The spec in which the agent exits by itself fails.
func (m *Member) startAgent(ctx context.Context) {
	GinkgoHelper()
	agent, err := workagent.Start(ctx, m.options)
	Expect(err).NotTo(HaveOccurred())
	m.agent = agent
	go func() {
		defer GinkgoRecover()
		Expect(agent.Wait(context.WithoutCancel(ctx))).To(Succeed())
	}()
}

// stopAgent ends the agent if it runs.
func (m *Member) stopAgent() {
	GinkgoHelper()
	if m.agent != nil {
		Expect(m.agent.Stop()).To(Succeed())
	}
	m.agent = nil
}

// PauseAgent stops the agent and starts it again when the returned function is called, or when the spec ends.
func (m *Member) PauseAgent() (resume func(ctx context.Context)) {
	GinkgoHelper()
	m.stopAgent()
	return resumeOnce(m.startAgent)
}

// Pause stops the agent and the API server, and starts both again when the returned function is called, or when the spec ends.
func (m *Member) Pause() (resume func(ctx context.Context)) {
	GinkgoHelper()
	m.stopAgent()
	Expect(m.plane.Crash(binaries.APIServer)).To(Succeed())
	return resumeOnce(func(ctx context.Context) {
		GinkgoHelper()
		Expect(m.plane.Recover(ctx)).To(Succeed())
		m.startAgent(ctx)
	})
}

// resumeOnce returns a function that calls resume the first time, and calls it at the end of the spec.
func resumeOnce(resume func(ctx context.Context)) func(ctx context.Context) {
	resumed := false
	once := func(ctx context.Context) {
		GinkgoHelper()
		if !resumed {
			resumed = true
			resume(ctx)
		}
	}
	DeferCleanup(func(ctx SpecContext) { once(ctx) })
	return once
}

// ExpectRecorded waits until the agent has recorded that it applied an object for a work. An agent that is stopped before leaves the object to
// the garbage collector of the member, which does not run here.
func (m *Member) ExpectRecorded(ctx context.Context, work string, object client.Object) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		list := &workv1.AppliedManifestWorkList{}
		g.Expect(m.Client.List(ctx, list)).To(Succeed())
		g.Expect(list.Items).To(ContainElement(And(
			HaveField("Spec.ManifestWorkName", work),
			HaveField("Status.AppliedResources", ContainElement(And(
				HaveField("ResourceIdentifier.Namespace", object.GetNamespace()), HaveField("ResourceIdentifier.Name", object.GetName()))))),
		))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), "what the agent of %s has applied", m.Cluster)
}

// AgentOnHub returns a client with the rights of the agent on the hub.
func (m *Member) AgentOnHub() client.Client {
	GinkgoHelper()
	agent, err := client.New(m.options.Hub, client.Options{Scheme: suite.Client.Scheme(), Mapper: suite.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return agent
}
