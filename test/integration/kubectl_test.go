package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/env"
)

var _ = Describe("kubectl", func() {
	// settled is a world with a satisfied placement "p" of two clusters, and a kubectl that looks at it.
	settled := func(ctx context.Context) (*world, func(arguments ...string) string) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2, func(c *clusterv1.ManagedCluster) { c.Spec.HubAcceptsClient = true })
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 2)...)

		return w, kubectl(ctx, w.namespace)
	}

	It("shows the columns of the API module", func(ctx SpecContext) {
		w, run := settled(ctx)

		table := rows(run("get", "placements"))
		Expect(table[0]).To(Equal([]string{"NAME", "SUCCEEDED", "REASON", "SELECTEDCLUSTERS"}))
		Expect(table[1]).To(Equal([]string{"p", "True", "AllDecisionsScheduled", "2"}))

		table = rows(run("get", "placementdecisions"))
		Expect(table[0]).To(Equal([]string{"NAME", "AGE"}))
		Expect(table[1][0]).To(Equal("p-decision-1"))

		set := w.name("set")
		table = rows(run("get", "managedclustersets", set))
		Expect(table[0]).To(Equal([]string{"NAME", "EMPTY", "AGE"}))
		Expect(table[1][:2]).To(Equal([]string{set, "False"}))

		table = rows(run("get", "managedclustersetbindings"))
		Expect(table[0]).To(Equal([]string{"NAME", "AGE"}))
		Expect(table[1][0]).To(Equal(set))

		table = rows(run("get", "managedclusters", w.name("c001")))
		Expect(table[0]).To(Equal([]string{"NAME", "HUB", "ACCEPTED", "MANAGED", "CLUSTER", "URLS", "JOINED", "AVAILABLE", "AGE"}))
		Expect(table[1][:2]).To(Equal([]string{w.name("c001"), "true"}))
	})

	It("knows the short names", func(ctx SpecContext) {
		w, run := settled(ctx)

		for short, want := range map[string]string{
			"mcl":            "managedcluster.cluster.open-cluster-management.io/" + w.name("c001"),
			"mcls":           "managedcluster.cluster.open-cluster-management.io/" + w.name("c001"),
			"mclset":         "managedclusterset.cluster.open-cluster-management.io/" + w.name("set"),
			"mclsets":        "managedclusterset.cluster.open-cluster-management.io/" + w.name("set"),
			"mclsetbinding":  "managedclustersetbinding.cluster.open-cluster-management.io/" + w.name("set"),
			"mclsetbindings": "managedclustersetbinding.cluster.open-cluster-management.io/" + w.name("set"),
		} {
			Expect(strings.Fields(run("get", short, "--output=name"))).To(ContainElement(want), short)
		}
	})

	It("waits for PlacementSatisfied", func(ctx SpecContext) {
		_, run := settled(ctx)

		Expect(run("wait", "--for=condition=PlacementSatisfied", "--timeout=20s", "placement/p")).
			To(Equal("placement.cluster.open-cluster-management.io/p condition met\n"))
	})

	It("describes a placement with its events", func(ctx SpecContext) {
		w, run := settled(ctx)

		Eventually(func() string { return run("describe", "placement", "p") }).WithContext(ctx).WithTimeout(settle).Should(And(
			ContainSubstring("Succeedconfigured"), ContainSubstring("DecisionCreate"), ContainSubstring("DecisionUpdate"),
			ContainSubstring("Decision p-decision-1 is created with placement p in namespace "+w.namespace),
		))
	})
})

// kubectl runs the real one with all rights in a namespace, and returns what it prints.
func kubectl(ctx context.Context, namespace string) func(arguments ...string) string {
	GinkgoHelper()

	assets, err := env.FindAssets()
	Expect(err).NotTo(HaveOccurred())
	Expect(assets.Kubectl).NotTo(BeEmpty(), "no kubectl beside the control plane: run `make assets`")

	content, err := env.Kubeconfig(controlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())

	directory := GinkgoT().TempDir()
	file := filepath.Join(directory, "kubeconfig")
	Expect(os.WriteFile(file, content, 0o600)).To(Succeed())

	return func(arguments ...string) string {
		GinkgoHelper()

		common := []string{"--kubeconfig=" + file, "--cache-dir=" + filepath.Join(directory, "cache"), "--namespace=" + namespace}
		command := exec.CommandContext(ctx, assets.Kubectl, append(common, arguments...)...)

		var complaint strings.Builder

		command.Stderr = &complaint
		printed, err := command.Output()
		Expect(err).NotTo(HaveOccurred(), "kubectl %v: %s", arguments, complaint.String())

		return string(printed)
	}
}

// rows splits a table into words.
func rows(table string) [][]string {
	var rows [][]string
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Fields(line))
	}

	return rows
}
