// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// samplePlacements is how many placements the sample world has.
const samplePlacements = 10

// TestControllerAgainstAHub is one story on one control plane: each step starts with the hub as the last one left it.
func TestControllerAgainstAHub(t *testing.T) {
	h := suite.StartHub(t)
	standby := types.NamespacedName{Namespace: "team-a", Name: "standby"}
	t.Run("run prepares an existing cluster", func(t *testing.T) {
		p := suite.Run(t, "run", "--kubeconfig", h.AdminKubeconfig, "--samples", "--once")
		p.WantExit(t, 0)
		suite.WantSampleDecisions(t, suite.TableDecisions(t, p.Stdout.String()))
		p.WantNothingLeft(t)
	})

	var leader, second *suite.Replica
	t.Run("one replica leads, both are ready", func(t *testing.T) {
		leader = h.StartReplica(t)
		second = h.StartReplica(t)
		h.WantHolder(t, leader)
		h.MoveCluster(t, "eu3", "ap-south")
		h.WantDecisions(t, standby, "ap1", "eu3")
	})
	if t.Failed() {
		return
	}
	t.Run("a start is a line of the log", func(t *testing.T) { checkStart(t, h) })
	t.Run("metrics are for those who may read them", func(t *testing.T) { checkMetrics(t, h, leader, second) })
	t.Run("the leader tells how the placements stand", func(t *testing.T) { checkPlacementGauges(t, h, leader, second) })

	t.Run("questions are answered by all", func(t *testing.T) { checkDebug(t, h, leader, second) })

	t.Run("run stands by", func(t *testing.T) {
		p := suite.Start(t, "run", "--kubeconfig", h.AdminKubeconfig, "--no-install")
		p.WaitFor(t, &p.Stdout, "another process holds the lease open-cluster-management-hub/placement-lock")
		p.WaitFor(t, &p.Stdout, "\nteam-a/standby  2/2  Satisfied  ap1, eu3\n")
		p.Signal(t, syscall.SIGINT)
		p.WantExit(t, 0)
		p.WantNothingLeft(t)
	})

	t.Run("SIGTERM hands the lease over", func(t *testing.T) {
		begin := time.Now()
		leader.Signal(t, syscall.SIGTERM)
		leader.WantExit(t, 0)
		h.WantHolder(t, second)
		t.Logf("handed over within %v", time.Since(begin))
		h.MoveCluster(t, "eu3", "eu-north")
		h.WantDecisions(t, standby, "ap1")
		checkPlacementGauges(t, h, second)
		second.Signal(t, syscall.SIGTERM)
		second.WantExit(t, 0)
	})
	if t.Failed() {
		return
	}

	t.Run("the arguments of upstream's containers start it", func(t *testing.T) { checkUpstreamArguments(t, h) })

	t.Run("a restart over a settled hub writes nothing", func(t *testing.T) { checkSilentRestart(t, h) })

	t.Run("SIGKILL is survived when the lease has run out", func(t *testing.T) {
		leader := h.StartReplica(t, suite.QuickElection...)
		h.WantHolder(t, leader)
		second := h.StartReplica(t, suite.QuickElection...)
		leader.Signal(t, syscall.SIGKILL)
		leader.WantExit(t, -1)
		h.MoveCluster(t, "eu3", "ap-south")
		h.WantHolder(t, second)
		h.WantDecisions(t, standby, "ap1", "eu3")
		second.Signal(t, syscall.SIGTERM)
		second.WantExit(t, 0)
		second.WantNothingLeft(t)
	})
}

// checkUpstreamArguments starts the binary as upstream's Deployment does, whose image has no entrypoint. Only the ports are others.
func checkUpstreamArguments(t *testing.T, h *suite.Hub) {
	t.Helper()
	for _, args := range [][]string{
		{"/placement", "controller", "--kubeconfig=" + h.Kubeconfig, "--listen=127.0.0.1:0"},
		{"/placement", "debug", "--listen=0.0.0.0:0", "--disable-leader-election", "--kubeconfig=" + h.Kubeconfig},
	} {
		r := h.StartServer(t, args...)
		if status, body := r.Get(t, "/healthz", ""); status != http.StatusOK {
			t.Errorf("%q: /healthz answers %d: %s", args, status, body)
		}
		r.Signal(t, syscall.SIGTERM)
		r.WantExit(t, 0)
	}
}

func checkMetrics(t *testing.T, h *suite.Hub, replicas ...*suite.Replica) {
	t.Helper()
	reader, stranger := h.MetricsReader(t), h.Stranger(t)
	for i, r := range replicas {
		for _, tc := range []struct {
			who, token string
			want       int
		}{
			{"nobody", "", http.StatusUnauthorized},
			{"an unknown token", "made-up", http.StatusUnauthorized},
			{"a user without the right", stranger, http.StatusForbidden},
			{"a user with the right", reader, http.StatusOK},
		} {
			status, body := r.Get(t, "/metrics", tc.token)
			if status != tc.want {
				t.Errorf("replica %d: %s gets %d, want %d: %s", i, tc.who, status, tc.want, body)
			}
			if served := strings.Contains(body, "\nworkqueue_depth{"); served != (tc.want == http.StatusOK) {
				t.Errorf("replica %d: %s sees metrics: %t", i, tc.who, served)
			}
		}
	}
}

// checkPlacementGauges checks the metrics of the placements of the samples: the leader exports them, and standbys do not.
func checkPlacementGauges(t *testing.T, h *suite.Hub, leader *suite.Replica, standbys ...*suite.Replica) {
	t.Helper()
	reader := h.MetricsReader(t)
	suite.Eventually(t, "waiting for the metrics of placements", func() error {
		_, body := leader.Get(t, "/metrics", reader)
		if sum := suite.Summed(t, body, "placement_hub_placements"); sum != samplePlacements {
			return fmt.Errorf("%v placements are told of, want %d", sum, samplePlacements)
		}
		if synced := suite.Summed(t, body, "placement_hub_inventory_synced"); synced < 5 {
			return fmt.Errorf("the lists of %v kinds are told to be in", synced)
		}
		return nil
	})
	for _, r := range standbys {
		if _, body := r.Get(t, "/metrics", reader); suite.Summed(t, body, "placement_hub_placements") != 0 {
			t.Error("a standby tells how placements stand")
		}
	}
}

// checkSilentRestart starts a replica, waits until it has looked at every placement and set, and asks the audit log what it wrote.
func checkSilentRestart(t *testing.T, h *suite.Hub) {
	t.Helper()
	reader := h.MetricsReader(t)
	before := len(h.Writes(t))
	if before == 0 {
		t.Fatal("the audit log knows no write of the controllers so far, so it would not show one of a restart either")
	}
	r := h.StartReplica(t)
	h.WantHolder(t, r)
	suite.Eventually(t, "waiting for every placement and set to be looked at", func() error {
		_, body := r.Get(t, "/metrics", reader)
		for name, least := range map[string]float64{
			"placement": 6, "clusterset": 5, "clustersetbinding": 4, "vocabulary": 1, "webhook-certificates": 1,
		} {
			if done := suite.Reconciles(t, body, name); done < least {
				return fmt.Errorf("controller %s has looked at %v of %v", name, done, least)
			}
		}
		return nil
	})
	r.Signal(t, syscall.SIGTERM)
	r.WantExit(t, 0)
	h.WantHolder(t, nil)
	for _, event := range h.Writes(t)[before:] {
		t.Errorf("the restart sent %s %s", event.Verb, event.RequestURI)
	}
}
