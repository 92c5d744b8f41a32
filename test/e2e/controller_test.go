package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// quickElection makes a standby take the lease of a leader that died after four seconds instead of two minutes.
var quickElection = []string{
	"--leader-election-lease-duration=4s", "--leader-election-renew-deadline=3s", "--leader-election-retry-period=1s",
}

// samplePlacements is how many placements the sample world has.
const samplePlacements = 10

// TestControllerAgainstAHub is one story on one control plane: each step starts with the hub as the last one left it.
func TestControllerAgainstAHub(t *testing.T) {
	h := startHub(t)
	standby := types.NamespacedName{Namespace: "team-a", Name: "standby"}

	t.Run("run prepares an existing cluster", func(t *testing.T) {
		p := run(t, "run", "--kubeconfig", h.adminKubeconfig, "--samples", "--once")
		p.wantExit(t, 0)
		wantDecisions(t, tableDecisions(t, p.stdout.String()))
		p.wantNothingLeft(t)
	})

	var leader, second *replica
	t.Run("one replica leads, both are ready", func(t *testing.T) {
		leader = h.startReplica(t)
		second = h.startReplica(t)
		h.wantHolder(t, leader)
		h.moveCluster(t, "eu3", "ap-south")
		h.wantDecisions(t, standby, "ap1", "eu3")
	})
	if t.Failed() {
		return
	}
	t.Run("metrics are for those who may read them", func(t *testing.T) { checkMetrics(t, h, leader, second) })
	t.Run("the leader tells how the placements stand", func(t *testing.T) { checkPlacementGauges(t, h, leader, second) })

	t.Run("questions are answered by all", func(t *testing.T) { checkDebug(t, h, leader, second) })

	t.Run("run stands by", func(t *testing.T) {
		p := start(t, "run", "--kubeconfig", h.adminKubeconfig, "--no-install")
		p.waitFor(t, &p.stdout, "another process holds the lease open-cluster-management-hub/placement-lock")
		p.waitFor(t, &p.stdout, "\nteam-a/standby  2/2  Satisfied  ap1, eu3\n")
		p.signal(t, syscall.SIGINT)
		p.wantExit(t, 0)
		p.wantNothingLeft(t)
	})

	t.Run("SIGTERM hands the lease over", func(t *testing.T) {
		begin := time.Now()
		leader.signal(t, syscall.SIGTERM)
		leader.wantExit(t, 0)
		h.wantHolder(t, second)
		t.Logf("handed over within %v", time.Since(begin))
		h.moveCluster(t, "eu3", "eu-north")
		h.wantDecisions(t, standby, "ap1")
		checkPlacementGauges(t, h, second)
		second.signal(t, syscall.SIGTERM)
		second.wantExit(t, 0)
	})
	if t.Failed() {
		return
	}

	t.Run("the arguments of upstream's containers start it", func(t *testing.T) { checkUpstreamArguments(t, h) })

	t.Run("a restart over a settled hub writes nothing", func(t *testing.T) { checkSilentRestart(t, h) })

	t.Run("SIGKILL is survived when the lease has run out", func(t *testing.T) {
		leader := h.startReplica(t, quickElection...)
		h.wantHolder(t, leader)
		second := h.startReplica(t, quickElection...)
		leader.signal(t, syscall.SIGKILL)
		leader.wantExit(t, -1)
		h.moveCluster(t, "eu3", "ap-south")
		h.wantHolder(t, second)
		h.wantDecisions(t, standby, "ap1", "eu3")
		second.signal(t, syscall.SIGTERM)
		second.wantExit(t, 0)
		second.wantNothingLeft(t)
	})
}

// checkUpstreamArguments starts the binary as upstream's Deployment does, whose image has no entrypoint. Only the ports are others.
func checkUpstreamArguments(t *testing.T, h *hub) {
	t.Helper()
	for _, args := range [][]string{
		{"/placement", "controller", "--kubeconfig=" + h.kubeconfig, "--listen=127.0.0.1:0"},
		{"/placement", "debug", "--listen=0.0.0.0:0", "--disable-leader-election", "--kubeconfig=" + h.kubeconfig},
	} {
		r := h.startServer(t, args...)
		if status, body := r.get(t, "/healthz", ""); status != http.StatusOK {
			t.Errorf("%q: /healthz answers %d: %s", args, status, body)
		}
		r.signal(t, syscall.SIGTERM)
		r.wantExit(t, 0)
	}
}

func checkMetrics(t *testing.T, h *hub, replicas ...*replica) {
	t.Helper()
	reader, stranger := h.metricsReader(t), h.stranger(t)
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
			status, body := r.get(t, "/metrics", tc.token)
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
func checkPlacementGauges(t *testing.T, h *hub, leader *replica, standbys ...*replica) {
	t.Helper()
	reader := h.metricsReader(t)
	eventually(t, "waiting for the metrics of placements", func() error {
		_, body := leader.get(t, "/metrics", reader)
		if sum := summed(t, body, "placement_hub_placements"); sum != samplePlacements {
			return fmt.Errorf("%v placements are told of, want %d", sum, samplePlacements)
		}
		if synced := summed(t, body, "placement_hub_inventory_synced"); synced < 5 {
			return fmt.Errorf("the lists of %v kinds are told to be in", synced)
		}
		return nil
	})
	for _, r := range standbys {
		if _, body := r.get(t, "/metrics", reader); summed(t, body, "placement_hub_placements") != 0 {
			t.Error("a standby tells how placements stand")
		}
	}
}

// checkSilentRestart starts a replica, waits until it has looked at every placement and set, and asks the audit log what it wrote.
func checkSilentRestart(t *testing.T, h *hub) {
	t.Helper()
	reader := h.metricsReader(t)
	before := len(h.writes(t))
	if before == 0 {
		t.Fatal("the audit log knows no write of the controllers so far, so it would not show one of a restart either")
	}
	r := h.startReplica(t)
	h.wantHolder(t, r)
	eventually(t, "waiting for every placement and set to be looked at", func() error {
		_, body := r.get(t, "/metrics", reader)
		for name, least := range map[string]float64{
			"placement": 6, "clusterset": 5, "clustersetbinding": 4, "vocabulary": 1, "webhook-certificates": 1,
		} {
			if done := reconciles(t, body, name); done < least {
				return fmt.Errorf("controller %s has looked at %v of %v", name, done, least)
			}
		}
		return nil
	})
	r.signal(t, syscall.SIGTERM)
	r.wantExit(t, 0)
	h.wantHolder(t, nil)
	for _, event := range h.writes(t)[before:] {
		t.Errorf("the restart sent %s %s", event.Verb, event.RequestURI)
	}
}
